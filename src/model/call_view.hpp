#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
  bool has(argument a) const { return given_.contains(a); }
  // A pointer that was null. What the function does not have at all is not null.
  bool is_null(argument a) const { return null_.contains(a); }
  // The number or handle; 0 when there is none.
  uint64_t operator[](argument a) const { return has(a) ? slots_[at(a)].value : 0; }
  // The elements of an array; empty when there is none.
  std::span<const uint64_t> list(argument a) const {
    if (!has(a)) return {};
    const auto& where = slots_[at(a)];
    return std::span(elements_).subspan(where.first_element, where.element_count);
  }
  // Bytes that are not numbers: an IPC handle, a module, a kernel argument.
  std::span<const std::byte> bytes(argument a) const {
    return has(a) ? slots_[at(a)].bytes : std::span<const std::byte>{};
  }

  call_view() = default;
  // Only what is given is copied: of some hundred arguments a function has a handful. A copy has
  // bytes of its own.
  call_view(const call_view& other) { *this = other; }
  call_view& operator=(const call_view& other) {
    if (this == &other) return *this;
    number = other.number;
    which = other.which;
    name = other.name;
    process = other.process;
    thread = other.thread;
    start_ns = other.start_ns;
    end_ns = other.end_ns;
    result = other.result;
    did_return = other.did_return;
    given_ = other.given_;
    null_ = other.null_;
    elements_ = other.elements_;
    size_t all_bytes = 0;
    given_.for_each([&](size_t i) {
      slots_[i] = other.slots_[i];
      all_bytes += slots_[i].bytes.size();
    });
    if (all_bytes > 0) own_bytes(all_bytes);
    return *this;
  }

  void clear() {
    given_ = {};
    null_ = {};
    elements_.clear();
  }
  void set(argument a, uint64_t value) {
    given_.add(a);
    slots_[at(a)] = {value, {}, 0, 0};
  }
  void set_null(argument a) { null_.add(a); }
  void set_list(argument a, std::span<const uint64_t> elements) {
    begin_list(a);
    for (const auto each : elements) add_element(a, each);
  }
  void begin_list(argument a) {
    set(a, 0);
    slots_[at(a)].first_element = static_cast<uint32_t>(elements_.size());
  }
  // Of the list begun last.
  void add_element(argument a, uint64_t element) {
    elements_.push_back(element);
    ++slots_[at(a)].element_count;
  }
  // The bytes stay the caller's. As a number they are the first eight of them.
  void set_bytes(argument a, std::span<const std::byte> bytes) {
    uint64_t first = 0;
    if (!bytes.empty()) std::memcpy(&first, bytes.data(), std::min(bytes.size(), sizeof(first)));
    set(a, first);
    slots_[at(a)].bytes = bytes;
  }

 private:
  static constexpr size_t at(argument a) { return static_cast<size_t>(a); }

  class argument_set {
   public:
    bool contains(argument a) const { return (words_[at(a) / 64] >> (at(a) % 64) & 1) != 0; }
    void add(argument a) { words_[at(a) / 64] |= uint64_t{1} << (at(a) % 64); }
    template <typename Visit>
    void for_each(Visit&& visit) const {
      for (size_t i = 0; i < words_.size(); ++i) {
        for (uint64_t left = words_[i]; left != 0; left &= left - 1)
          visit(i * 64 + static_cast<size_t>(std::countr_zero(left)));
      }
    }

   private:
    std::array<uint64_t, argument_count / 64 + 1> words_{};
  };

  struct slot {
    uint64_t value = 0;
    std::span<const std::byte> bytes;
    uint32_t first_element = 0;  // of elements_
    uint32_t element_count = 0;
  };

  void own_bytes(size_t all) {
    std::vector<std::byte> copies;
    copies.reserve(all);  // so that none moves
    given_.for_each([&](size_t i) {
      const auto bytes = slots_[i].bytes;
      if (bytes.empty()) return;
      copies.insert(copies.end(), bytes.begin(), bytes.end());
      slots_[i].bytes = std::span<const std::byte>(copies).last(bytes.size());
    });
    owned_bytes_ = std::move(copies);
  }

  argument_set given_, null_;
  std::array<slot, argument_count> slots_;  // those that are not given hold anything
  std::vector<uint64_t> elements_;
  std::vector<std::byte> owned_bytes_;
};

}  // namespace zevent::model
