#pragma once

#include <vector>

#include "driver/completion_order.hpp"
#include "driver/host_demand.hpp"
#include "driver/thread_watch.hpp"

namespace zevent::driver {

// The order of completion under chaos, and a device that does nothing before it must.
//
// A device may take as long as it likes for what nobody waits for. So a stream executes a command
// only when
//
//   - a thread of the program waits for something that has not come: what came too early for it is
//     all that it finds, and what it waits for comes last;
//   - one has asked in vain: each such question is worth a command, many are worth more;
//   - commands have piled up;
//   - the program does not come: it looks at memory by itself, or works. Its patience is measured
//     in time that its thread has had (thread_watch), not in time that has passed, and is the
//     shorter the more often it was in vain.
//
// Whoever gets what it waited for has time to look at the rest before the stream goes on, even
// where others wait.
class chaos_completion final : public completion_order {
 public:
  explicit chaos_completion(uint64_t stream);

  bool starts_another(size_t in_flight) override { return in_flight < window_; }
  size_t completes_next(size_t in_flight) override;
  void begin() override;
  void hold_back(const std::atomic<uint64_t>& submitted, uint64_t complete) override;
  void before_signal() override;

 private:
  void let_look();
  bool is_allowed_by_questions();
  void wait_for_demand(const std::atomic<uint64_t>& submitted, uint64_t complete);

  const uint64_t stream_;
  const size_t window_;
  const uint64_t pile_;  // commands that are held back at most
  uint64_t completions_ = 0;

  uint64_t allowed_ = 0;  // nothing is held back until all up to this number are complete
  uint64_t questions_seen_ = 0;
  uint64_t worth_of_questions_ = 0;          // commands that the last ones were worth
  uint64_t owed_ = 0;                        // of those still to be executed
  bool has_signalled_ = false;               // since it was last asked to go on
  std::vector<host_demand::waiter> waited_;  // when the last signal was given
};

}  // namespace zevent::driver
