#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/recorded_call.hpp"

namespace zevent::repro {

// Reads the calls of several processes in the order of their numbers. Each selection is of another
// process.
class merged_calls {
 public:
  merged_calls(const trace::trace_file& trace, std::span<const replay::call_selection> selections) {
    for (const auto& each : selections) readers_.emplace_back(trace, each);
    next_.resize(selections.size());
    wanted_.assign(selections.size(), true);
  }

  struct placed_call {
    const replay::recorded_call* call = nullptr;  // null at the end
    uint32_t process = 0;                         // index of the selection
  };

  // The next call. It is valid until the next one is asked for.
  result<placed_call> next() {
    placed_call out;
    for (uint32_t i = 0; i < readers_.size(); ++i) {
      if (wanted_[i]) {
        const auto read = readers_[i].next();
        if (!read) return tl::unexpected(read.error());
        next_[i] = *read;
        wanted_[i] = false;
      }
      if (next_[i] != nullptr &&
          (out.call == nullptr || next_[i]->call.number < out.call->call.number))
        out = {next_[i], i};
    }
    if (out.call != nullptr) wanted_[out.process] = true;
    return out;
  }

 private:
  std::vector<replay::recorded_calls> readers_;
  std::vector<const replay::recorded_call*> next_;  // by selection
  std::vector<bool> wanted_;                        // the next one is to be read
};

// Of each of these processes the calls up to that one, without those that the loader made; in the
// order of their first calls.
std::vector<replay::call_selection> select_calls(const trace::trace_file& trace,
                                                 std::span<const uint32_t> processes,
                                                 uint64_t last);

}  // namespace zevent::repro
