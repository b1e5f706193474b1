#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/process_model.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// Memory that was looked at when a call had returned.
struct memory_look {
  call_number call = no_call;
  byte_range where;
};

// Listens to the model of one process, whose calls are given to begin() and end().
class unfinished_writes final : public listener {
 public:
  // In the order of their calls.
  explicit unfinished_writes(std::span<const memory_look> looks)
      : looks_(looks), out_(looks.size()), state_(*this) {}

  void begin(const call_view& call);
  void end(const call_view& call);
  void starting(const run& about_to) override;
  std::vector<bool> take() { return std::move(out_); }

 private:
  std::span<const memory_look> looks_;
  std::vector<bool> out_;
  process_model state_;
  // By thread that has made no other call since: from and to in looks_.
  std::unordered_map<uint32_t, std::pair<size_t, size_t>> looking_;
};

// For each look whether commands may have been writing there at that time, so that what was seen
// may have been something between: those that nobody had waited for, and those that other threads
// submitted before the thread that looked went on. The looks are in the order of their calls.
std::vector<bool> seen_unfinished(const trace::trace_file& trace, uint32_t process,
                                  std::span<const memory_look> looks);

}  // namespace zevent::model
