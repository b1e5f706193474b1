#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace zevent {

// Faults: named misbehaviours of the software driver, each taken from a real report. They are
// declared here and nowhere else; the driver, `zevent run --list-faults` and docs/faults.md read
// this table.
enum class fault : uint8_t {
  append_blocks_on_host_event,
  completion_lost,
  device_lost,
  event_create_fails,
  handle_reuse,
  ipc_open_fails,
  ipc_owner_dies,
  out_of_device_memory,
  out_of_host_memory,
  query_blocks_behind_barrier,
  query_blocks_while_busy,
  query_slow,
  reset_keeps_counter_mode,
  slow_engine,
  timestamp_stale_after_reset,
  timestamp_wrap,
};
inline constexpr size_t fault_count = 16;

// A fault has at most one number that shapes it.
struct fault_parameter {
  std::string_view name;  // "" when the fault has none
  uint64_t default_value = 0;
  uint64_t least = 0;
  uint64_t most = 0;
  std::string_view meaning;
};

struct fault_description {
  fault id;
  std::string_view name;
  fault_parameter parameter;
  std::string_view effect;  // what the driver does wrong
  std::string_view story;   // the kind of report it stands for
};

// Sorted by name; the position is the value of `id`.
std::span<const fault_description, fault_count> fault_descriptions();

// The faults that are switched on, with their numbers.
class fault_set {
 public:
  bool has(fault which) const { return (bits_ >> static_cast<unsigned>(which) & 1u) != 0; }
  bool empty() const { return bits_ == 0; }
  uint64_t number(fault which) const { return numbers_[static_cast<size_t>(which)]; }
  void add(fault which, uint64_t number);

 private:
  uint32_t bits_ = 0;
  std::array<uint64_t, fault_count> numbers_{};
};

// Reads "name", "name:number" or "name:parameter=number", several separated by commas. The error
// lists the names that there are.
result<fault_set> parse_faults(std::string_view text);

// The table as docs/faults.md has it.
std::string faults_as_markdown();

// The table for a terminal: a fault a paragraph.
std::string faults_as_text();

}  // namespace zevent
