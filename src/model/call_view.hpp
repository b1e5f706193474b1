#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "trace/call.hpp"

// What the model reads: one call with just those arguments that it understands. Whoever has calls
// fills one in: trace_calls.hpp from the bytes of a trace, a test by hand.
namespace zevent::model {

enum class function : uint16_t {
#define F(name, exclusive) name,
#include "model/functions.inc"
#undef F
  other_append,  // appends a command that the model does not know by name
  other_query,   // asks something of an event, pool, list or queue
  other,
};

inline constexpr size_t function_count = static_cast<size_t>(function::other) + 1;

enum class argument : uint8_t {
#define A(name, path) name,
#include "model/arguments.inc"
#undef A
  none,
};

inline constexpr size_t argument_count = static_cast<size_t>(argument::none);

function function_named(std::string_view name);
// "" for those that stand for many.
std::string_view name_of(function which);
// The argument whose object no two threads may pass at once; argument::none when it may be shared.
argument exclusive_argument(function which);
// Appends a command to a list.
bool is_append(function which);
// Launches a kernel, in whatever way.
bool is_launch(function which);

// Where the argument stands in a function's parameters: arguments.inc.
std::string_view path_of(argument which);

class call_view {
 public:
  trace::call_number number{};
  function which = function::other;
  std::string_view name;  // of the function
  uint32_t process = 0;
  uint32_t thread = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;  // UINT64_MAX when it did not return
  uint32_t result = 0;  // bits of the ze_result_t
  bool did_return = true;

  bool succeeded() const { return did_return && result == 0; }

  // The function has the argument, and it is not a null pointer.
  bool has(argument a) const { return given_[at(a)]; }
  // A pointer that was null. What the function does not have at all is not null.
  bool is_null(argument a) const { return null_[at(a)]; }
  // The number or handle; 0 when there is none.
  uint64_t operator[](argument a) const { return given_[at(a)] ? values_[at(a)] : 0; }
  // The elements of an array; empty when there is none.
  std::span<const uint64_t> list(argument a) const {
    if (!given_[at(a)]) return {};
    const auto where = lists_[at(a)];
    return std::span(elements_).subspan(where.first, where.count);
  }
  // Bytes that are not numbers: an IPC handle, a module, a kernel argument.
  std::span<const std::byte> bytes(argument a) const {
    return given_[at(a)] ? bytes_[at(a)] : std::span<const std::byte>{};
  }

  void clear() {
    given_.reset();
    null_.reset();
    elements_.clear();
  }
  void set(argument a, uint64_t value) {
    given_.set(at(a));
    values_[at(a)] = value;
    lists_[at(a)] = {};
    bytes_[at(a)] = {};
  }
  void set_null(argument a) { null_.set(at(a)); }
  void set_list(argument a, std::span<const uint64_t> elements) {
    begin_list(a);
    for (const auto each : elements) add_element(a, each);
  }
  void begin_list(argument a) {
    set(a, 0);
    lists_[at(a)] = {elements_.size(), 0};
  }
  // Of the list begun last.
  void add_element(argument a, uint64_t element) {
    elements_.push_back(element);
    ++lists_[at(a)].count;
  }
  // The bytes stay the caller's. As a number they are the first eight of them.
  void set_bytes(argument a, std::span<const std::byte> bytes) {
    uint64_t first = 0;
    if (!bytes.empty()) std::memcpy(&first, bytes.data(), std::min(bytes.size(), sizeof(first)));
    set(a, first);
    bytes_[at(a)] = bytes;
  }

 private:
  struct stretch {
    size_t first = 0;
    size_t count = 0;
  };
  static constexpr size_t at(argument a) { return static_cast<size_t>(a); }

  std::bitset<argument_count> given_, null_;
  std::array<uint64_t, argument_count> values_{};
  std::array<stretch, argument_count> lists_{};
  std::array<std::span<const std::byte>, argument_count> bytes_{};
  std::vector<uint64_t> elements_;
};

}  // namespace zevent::model
