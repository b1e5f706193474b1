#pragma once

#include <cstdint>

#include "driver/completion_order.hpp"

namespace zevent::driver {

// Chaos (ZEVENT_CHAOS=SEED): wherever the specification leaves the order of execution or completion
// open, the seed decides, and against the program: late commands complete first, early ones are
// held back, signals come as late as they may. What the specification orders stays ordered.
//
// A choice depends on the seed, the stream and the number of the command, not on time: a program
// that makes the same calls meets the same choices again.
bool has_chaos();

enum class chaos_purpose : uint64_t {
  window,
  next_completion,
  delay_of_start,
  delay_of_signal,
  delay_of_end,
  delay_of_append,
  head_start,
};

// A number below `bound` for this occasion.
uint64_t chaos_choice(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t bound);

// Sleeps for a time of the seed's choosing up to `most_us`, on one occasion in `one_in`.
void chaos_delay(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t one_in,
                 uint64_t most_us);

class chaos_completion final : public completion_order {
 public:
  explicit chaos_completion(uint64_t stream);

  bool starts_another(size_t in_flight) override { return in_flight < window_; }
  size_t completes_next(size_t in_flight) override;
  uint64_t lingers_ns() override;
  uint64_t head_start_ns() override;

 private:
  const uint64_t stream_;
  const size_t window_;
  uint64_t completions_ = 0;
};

// Host threads that sleep until the device is done: a stream that holds commands back lets them go.
void count_waiting_host(int change);
bool has_waiting_host();
// How many such threads have gone on so far.
uint64_t ended_host_waits();
// Signals that rang at a sleeping thread, so far.
void count_host_wake_up();
uint64_t host_wake_ups();

}  // namespace zevent::driver
