#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace zevent {

// Quirks: where Intel's driver behaves otherwise than the specification says, or than the software
// driver does where the specification leaves it open. They are declared here and nowhere else; the
// software driver, `zevent run --list-quirks`, `zevent doctor` and docs/quirks.md read this table.
enum class quirk : uint8_t {
  accepts_both_timestamp_flags,
  accepts_fence_of_another_queue,
  accepts_null_context,
  accepts_partial_fill_pattern,
  accepts_pool_without_events,
  accepts_unknown_counter_flags,
  accepts_unknown_flags,
  byte_fill_on_copy_engine,
  counter_event_stays_complete,
  crash_on_null_extension_name,
  crash_on_null_handle,
  crash_on_null_pointer,
  free_of_null_result,
  immediate_list_execution_result,
  kernel_argument_index_result,
  no_concurrent_access,
  no_counter_maximum,
  no_event_pool_put_ipc_handle,
  no_shared_system_memory,
  partial_counter_flags,
  reset_keeps_counter_mode,
  unsignalled_counter_wait_refused,
};
inline constexpr size_t quirk_count = 22;

// A release of Intel's driver: 26.27 is that of week 27 of 2026.
struct intel_release {
  uint16_t year = 0;
  uint16_t week = 0;
  bool operator==(const intel_release&) const = default;
  bool operator<=(const intel_release& other) const {
    return year < other.year || (year == other.year && week <= other.week);
  }
};

struct quirk_description {
  quirk id;
  std::string_view name;
  std::optional<intel_release> first;  // nothing: not known, so any before `last`
  std::optional<intel_release> last;   // nothing: the newest release that is known has it
  std::string_view devices;            // "" when all
  std::string_view specification;      // what the specification says
  std::string_view behaviour;          // what the driver does

  bool concerns(intel_release release) const {
    return (!first || *first <= release) && (!last || release <= *last);
  }
};

// Sorted by name; the position is the value of `id`.
std::span<const quirk_description, quirk_count> quirk_descriptions();

// The quirks that are switched on.
class quirk_set {
 public:
  bool has(quirk which) const { return (bits_ >> static_cast<unsigned>(which) & 1u) != 0; }
  bool empty() const { return bits_ == 0; }
  void add(quirk which) { bits_ |= 1u << static_cast<unsigned>(which); }
  uint32_t bits() const { return bits_; }

 private:
  static_assert(quirk_count <= 32);
  uint32_t bits_ = 0;
};

// Reads the names of quirks and of releases ("intel-26.27": every quirk of that release, of
// whatever device), several separated by commas. The error lists the names that there are.
result<quirk_set> parse_quirks(std::string_view text);

// The release that a driver library is of, by the build number at the end of its file name
// (libze_intel_gpu.so.1.16.39122). Nothing where the name has none, and for builds older than the
// releases that are known.
std::optional<intel_release> release_of_library(std::string_view path);

std::string to_string(intel_release release);

// The table as docs/quirks.md has it.
std::string quirks_as_markdown();

// The table for a terminal: a quirk a paragraph.
std::string quirks_as_text();

}  // namespace zevent
