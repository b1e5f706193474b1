#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/model.hpp"
#include "base/result.hpp"
#include "trace/call.hpp"
#include "trace/chunk_file.hpp"

// Handles are addresses, and drivers give the same address out again as soon as it is free. Here
// each life of a handle is an object of its own, with a name that is the same in every verb.
//
// A life begins at the *end* of the call that put the handle out, and ends at the *start* of the
// call that takes it back: sorted by these times, lives of one value never overlap, although calls
// of several threads do.
namespace zevent::trace {

// Position in the table of objects, which is in the order in which their lives began.
enum class object_id : uint32_t {};

constexpr uint32_t index_of(object_id id) {
  return static_cast<uint32_t>(id);
}

// Memory is an object too: its class is none of the model's, its value is its address.
inline constexpr uint16_t memory_class = UINT16_MAX;

// The class of a type of handle, by its name in C; memory_class when the model has no such type.
uint16_t class_named(const api::model& model, std::string_view name);

// Within a process a handle is told from others by its class and its value.
struct handle_key {
  uint32_t process = 0;       // index into the run's processes
  uint16_t handle_class = 0;  // index into the model's handles, or memory_class
  uint64_t value = 0;         // of the handle, or the address

  friend bool operator==(const handle_key&, const handle_key&) = default;
};

struct handle_key_hash {
  size_t operator()(const handle_key& key) const;
};

struct object {
  handle_key handle;
  uint32_t ordinal = 0;      // among the objects of its class, from 0
  bool created = false;      // false: it was there already, as a device is
  uint64_t size_bytes = 0;   // of memory; 0 when it is not known
  call_number first_call{};  // that created it, or first put it out
  std::optional<call_number> released_by;
  uint64_t from_ns = 0;
  uint64_t until_ns = UINT64_MAX;
};

class object_table {
 public:
  object_table() = default;
  // Objects in any order; they are sorted and counted here.
  explicit object_table(std::vector<object> objects);

  std::span<const object> all() const { return objects_; }
  const object& operator[](object_id id) const { return objects_[index_of(id)]; }

  // Whose handle it is for a call that begins (or, for what the call puts out, ends) at `time_ns`.
  // After its release an object still goes by the handle, until the value is given out again.
  std::optional<object_id> find(const handle_key& handle, uint64_t time_ns) const;
  // The memory that an address points into.
  std::optional<object_id> find_memory(uint32_t process, uint64_t address, uint64_t time_ns) const;

  // "event_3", "memory_0".
  std::string name(object_id id, const api::model& model) const;

 private:
  struct region {
    uint64_t begin = 0;
    uint64_t furthest_end = 0;  // of this one and of all before it
    object_id id{};
  };

  std::vector<object> objects_;
  std::unordered_map<handle_key, std::vector<object_id>, handle_key_hash> lives_;  // in order
  std::unordered_map<uint32_t, std::vector<region>> regions_;  // of a process, by address
};

// A chunk of objects.
//
//   column                of every object, in order
//   process, class, value, size
//   first call            distance from the first call of the object before it, zigzag
//   released by           0: never; else 1 + the distance from the first call, zigzag
//   from                  ns since the object before it began
//   until                 where released: ns since it began
//   flags                 1: created
result<void> write_objects(std::span<const object> objects, chunk_writer& file);
result<std::vector<object>> read_objects(const chunk& source, const chunk_entry& entry);

}  // namespace zevent::trace
