#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "replay/host_ranges.hpp"
#include "trace/lineage.hpp"
#include "trace/trace_file.hpp"

namespace zevent::replay {

// A slot is for a value that some call puts out and others take: a handle, or where memory begins.
// The trace's objects come first, by their ids; then the addresses of things inside modules.
enum class slot_id : uint32_t {};

constexpr uint32_t index_of(slot_id slot) {
  return static_cast<uint32_t>(slot);
}

struct slot_place {
  slot_id slot{};
  uint64_t offset = 0;  // bytes
};

// An IPC handle: opaque bytes that one call puts out and others take. The first four are a file
// descriptor, which has another number in each process.
inline constexpr size_t opaque_bytes = 64;
inline constexpr size_t descriptor_bytes = 4;
using opaque_handle = std::array<std::byte, opaque_bytes>;
enum class opaque_id : uint32_t {};

bool is_opaque(const api::record& r);
// Missing bytes are zeros.
opaque_handle to_opaque(std::span<const std::byte> bytes);

// A pointer to memory of the device, or an image or a sampler, inside of plain bytes.
struct embedded_pointer {
  size_t offset = 0;  // bytes
  slot_place target;
  std::optional<host_ranges::place> host = std::nullopt;  // plain memory, instead of the target
};

// The same bytes with zeros for the pointers: recorded addresses mean nothing in another process.
std::vector<std::byte> without_pointers(std::span<const std::byte> content,
                                        std::span<const embedded_pointer> pointers);

// What the handles and addresses of one process of a recording stand for. Times are those of the
// recording: the start of a call for what goes in, its end for what comes out. A process that was
// forked off has the objects that its parent had then.
class address_book {
 public:
  // Books of processes that are replayed together have slots of their own: `first_pointer` is where
  // those for addresses inside of modules begin, behind the objects.
  address_book(const trace::trace_file& trace, uint32_t process, uint64_t host_granule_bytes,
               uint32_t first_pointer = 0);

  // The object behind a handle. A wrong kind of handle is found by its value alone; one that no
  // call put out is not found.
  std::optional<slot_id> find_handle(uint16_t handle_class, uint64_t value, uint64_t time_ns) const;
  // The allocation, or other memory of the device, that an address points into. Memory that was
  // freed is found by the address of its beginning only; physical memory, which has no address, by
  // its handle: zeMemGetIpcHandle takes that in place of one.
  std::optional<slot_place> find_memory(uint64_t address, uint64_t time_ns) const;
  // ... or plain host memory that was added.
  std::optional<host_ranges::place> find_host(uint64_t address) const {
    return host_.find(address);
  }
  // A live image or sampler: kernels take them by value.
  std::optional<slot_id> find_kernel_object(uint64_t value, uint64_t time_ns) const;
  // The same bytes, or else the only ones that are the same but for the file descriptor.
  std::optional<opaque_id> find_opaque(std::span<const std::byte> bytes) const;
  // Whether these very bytes were put out.
  bool knows_opaque(std::span<const std::byte> bytes) const;
  // Words that are addresses of live memory, wherever the driver puts it: below 2^47, or in the
  // upper half of the address space as discrete GPUs have it. That a number is one by chance is
  // very unlikely: addresses are sparse.
  std::vector<embedded_pointer> find_pointers(std::span<const std::byte> content,
                                              uint64_t time_ns) const;
  // ... and those of plain host memory that was added: kernels may get these, too.
  std::vector<embedded_pointer> find_argument_pointers(std::span<const std::byte> content,
                                                       uint64_t time_ns) const;

  // An address that a call put out and that is in no known memory.
  void add_pointer(uint64_t address, uint64_t bytes, uint64_t time_ns);
  opaque_id add_opaque(std::span<const std::byte> bytes);
  host_ranges& host() { return host_; }
  const host_ranges& host() const { return host_; }

  const trace::object_table& objects() const { return trace_.objects(); }
  // Null for a slot that is no object of the trace.
  const trace::object* object_of(slot_id slot) const;
  uint32_t slot_count() const {
    return static_cast<uint32_t>(objects().all().size() + first_pointer_ + pointers_.size());
  }
  uint32_t opaque_count() const { return static_cast<uint32_t>(opaques_.size()); }

 private:
  struct pointer {
    uint64_t bytes = 0;
    uint64_t from_ns = 0;
    uint32_t index = 0;  // behind the objects
  };

  // The least range that holds every address of one half of the address space.
  struct address_bounds {
    uint64_t first = UINT64_MAX, last = 0;
    void include(uint64_t from, uint64_t to) {
      first = std::min(first, from);
      last = std::max(last, to);
    }
    bool contains(uint64_t address) const { return first <= address && address <= last; }
  };
  static size_t half_of(uint64_t address) { return static_cast<size_t>(address >> 63); }
  void widen_bounds(uint64_t address, uint64_t bytes);
  // Cheap: most words of a buffer are not addresses.
  bool may_be_address(uint64_t word) const { return bounds_[half_of(word)].contains(word); }

  // What a look-up among the objects of one process finds, for all that this one's handles and
  // addresses may be of: what was there at the fork is still there, whatever the parent did since.
  template <typename Find>  // std::optional<T>(uint32_t process, uint64_t time_ns)
  auto find_in_lineage(uint64_t time_ns, const Find& find) const {
    auto found = find(line_.members().front().process, time_ns);
    for (const auto& each : line_.ancestors()) {
      if (found) break;
      found = find(each.process, std::min(time_ns, each.until_ns));
    }
    return found;
  }
  bool is_live(const trace::object& object, uint64_t time_ns) const;
  std::optional<slot_id> find_handle_in(uint32_t process, uint16_t handle_class, uint64_t value,
                                        uint64_t time_ns) const;

  const trace::trace_file& trace_;
  trace::lineage line_;
  uint32_t first_pointer_;
  std::vector<std::vector<uint16_t>> alike_;  // by handle class: others to look in
  std::vector<uint16_t> kernel_classes_;
  std::optional<uint16_t> physical_memory_class_;
  host_ranges host_;
  std::array<address_bounds, 2> bounds_;       // of all that find_pointers looks for, by half
  std::multimap<uint64_t, pointer> pointers_;  // by address
  std::map<opaque_handle, opaque_id> opaques_;
};

}  // namespace zevent::replay
