#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "driver/command.hpp"

namespace zevent::driver {

// The commands of a regular list between two resets. The list and every execution in flight share
// it, so the list may be reset or destroyed while it runs.
class recording {
 public:
  explicit recording(bool in_order) : in_order_(in_order) {
    if (in_order) counter_ = in_order_counter::create();
  }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  bool is_in_order() const { return in_order_; }
  const ref<in_order_counter>& counter() const { return counter_; }

  size_t size() const { return commands_.size(); }
  command& at(size_t position) const { return *commands_[position]; }
  void add(std::unique_ptr<command> work);

  // One execution: what differs from the others.
  struct run {
    uint64_t counter_base = 0;             // the counter's value at its start
    std::vector<uint64_t> moving_targets;  // of waits for other regular lists
    std::vector<uint64_t> published;       // numbers of signals that other processes see
  };
  // EV-56: re-arms the events that the list signals, and binds its waits to the runs submitted
  // before.
  run begin_run();

 private:
  ~recording() = default;

  std::atomic<uint32_t> references_{1};
  const bool in_order_;
  ref<in_order_counter> counter_;
  std::vector<std::unique_ptr<command>> commands_;
  std::vector<std::pair<const in_order_counter*, uint64_t>> moving_waits_;
  std::vector<command*> published_;
  std::atomic<uint64_t> runs_{0};
};

// One execution of a recording, as it stands in a queue's stream.
class batch final : public command {
 public:
  explicit batch(ref<recording> source);

  ze_result_t run() override;  // never called: the stream takes the commands one by one

 private:
  friend class stream;

  const ref<recording> source_;
  const recording::run run_;
  size_t position_ = 0;   // the next command to start
  size_t in_flight_ = 0;  // started and not complete
};

}  // namespace zevent::driver
