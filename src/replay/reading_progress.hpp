#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace zevent::replay {

// Is told what is done, of how much.
using progress_listener = std::function<void(uint64_t done, uint64_t total)>;

// A trace that is read several times, as one piece of work.
class reading_progress {
 public:
  reading_progress(progress_listener told, uint64_t calls, uint64_t readings)
      : told_(std::move(told)), calls_(calls), total_(calls * readings) {}

  void call_read() {
    ++done_;
    if (told_ && done_ % calls_per_word == 0) told_(done_, total_);
  }
  // Calls of other processes may have been stepped over.
  void reading_is_over() { done_ = ++readings_done_ * calls_; }

 private:
  static constexpr uint64_t calls_per_word = 4096;

  progress_listener told_;
  uint64_t calls_, total_;
  uint64_t done_ = 0, readings_done_ = 0;
};

}  // namespace zevent::replay
