#pragma once

#include <atomic>
#include <cstdint>

namespace zevent::driver {

// Chaos (ZEVENT_CHAOS=SEED): wherever the specification leaves the order of execution or completion
// open, the seed decides, and against the program: late commands complete first, early ones are
// held back, signals come as late as they may. What the specification orders stays ordered.
//
// A choice depends on the seed, the stream and the number of the command, not on time: a program
// that makes the same calls meets the same choices again.
bool has_chaos();

// What is held back is held back until it is wanted, whatever time passes.
bool chaos_waits_forever();

// Every twentieth seed is for programs that count on a device that takes its time: there, what can
// be done is done at once. Under all others nothing is done before it must be (chaos_completion).
bool has_hasty_chaos();

// Seeds 19, 59, 99 and so on are for programs that count on what they wait for being done before
// the rest: there, it is the other way round.
bool has_contrary_chaos();

enum class chaos_purpose : uint64_t {
  window,
  next_completion,
  delay_of_start,
  delay_of_signal,
  delay_of_end,
  delay_of_append,
  head_start,
  pile,
};

// A number below `bound` for this occasion.
uint64_t chaos_choice(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t bound);

// Sleeps for a time of the seed's choosing up to `most_us`, on one occasion in `one_in`, and more
// seldom after many.
void chaos_delay(chaos_purpose purpose, uint64_t stream, uint64_t number, uint64_t one_in,
                 uint64_t most_us);

// Of an object that threads may not use at the same time (EV-40). Calls on it take a moment longer,
// so that calls which nothing keeps apart overlap, and a recording shows it.
class chaos_dwell {
 public:
  // In the first calls on the object, and in all once a second thread has come: these wait for one
  // of another thread.
  void stay();

 private:
  void wait_for_another_call();

  // They decide how long a call takes and nothing else: relaxed.
  std::atomic<uint64_t> calls_{0};
  std::atomic<int> first_thread_{0};
  std::atomic<bool> is_shared_{false};
  std::atomic<int> inside_{0};
  std::atomic<int> missed_{0};
};

}  // namespace zevent::driver
