#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/argument_plan.hpp"
#include "model/call_view.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// The calls of a trace as the model sees them, one after the other. Calls that a tool made are left
// out.
class trace_calls {
 public:
  explicit trace_calls(const trace::trace_file& trace);
  trace_calls(const trace_calls&) = delete;
  trace_calls& operator=(const trace_calls&) = delete;

  // The next call, valid until this is called again; null at the end.
  const call_view* next();
  // When the call after it starts; UINT64_MAX when there is none.
  uint64_t next_start_ns() const;

  // Calls whose arguments could not be read, among those that the model needs them of.
  uint64_t unreadable() const { return unreadable_; }
  // Blocks of calls that could not be read at all.
  uint64_t missing_blocks() const { return missing_blocks_; }

 private:
  std::optional<trace::call_block> read_next_block();
  std::span<const std::byte> read_blob(std::span<const std::byte> hash);

  const trace::trace_file& trace_;
  argument_plan plan_;
  size_t next_block_ = 0;
  std::optional<trace::call_block> block_, following_;
  size_t position_ = 0;  // in block_, of the call that comes next
  call_view view_;
  std::vector<std::byte> blob_;
  uint64_t unreadable_ = 0;
  uint64_t missing_blocks_ = 0;
};

}  // namespace zevent::model
