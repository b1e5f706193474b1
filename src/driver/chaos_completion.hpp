#pragma once

#include <vector>

#include "driver/chaos.hpp"
#include "driver/completion_order.hpp"
#include "driver/host_demand.hpp"
#include "driver/promised_values.hpp"
#include "driver/thread_watch.hpp"

namespace zevent::driver {

// The order of completion under chaos, and a device that does nothing before it must.
//
// A device may take as long as it likes for what nobody waits for. So a stream executes a command
// only when
//
//   - a thread of the program, or another stream, waits for something that the stream's commands
//     will bring and that has not come: what came too early for it is all that it finds, and what
//     it waits for comes last; a stream of high priority goes on when anything is waited for;
//   - a thread has asked for such a thing in vain: each question is worth a command, many are worth
//     more;
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
  void wake() override { come_first(has_contrary_chaos()); }
  void rest() override { come_first(false); }
  void begin() override;
  void hold_back(stream& held) override;
  void before_signal() override;

 private:
  void come_first(bool comes);
  void look_at_questions_anew();
  void let_look();
  void look_at_promises(stream& held);
  bool is_wanted(stream& held);
  bool is_allowed_by_questions();
  bool give_way();
  void wait_for_demand(stream& held);

  const uint64_t stream_;
  const size_t window_;
  const uint64_t pile_;  // commands that are held back at most
  uint64_t completions_ = 0;

  uint64_t allowed_ = 0;  // nothing is held back until all up to this number are complete
  // What the stream's commands will bring, as it was when so many were submitted and executed, and
  // so many were not.
  promised_values promised_;
  size_t promised_commands_ = 0;
  uint64_t promised_submissions_ = UINT64_MAX;
  uint64_t promised_executions_ = 0;

  bool comes_first_ = false;  // it has something to do and nobody waits for it; see give_way()
  bool gives_way_ = false;    // until that was in vain
  uint64_t questions_seen_ = 0;
  uint64_t worth_of_questions_ = 0;          // commands that the last ones were worth
  uint64_t owed_ = 0;                        // of those still to be executed
  bool has_signalled_ = false;               // since it was last asked to go on
  std::vector<host_demand::waiter> waited_;  // when the last signal was given
};

}  // namespace zevent::driver
