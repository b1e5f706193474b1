#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "driver/command.hpp"

namespace zevent::driver {

// A command of a regular list. What it does is shared with clones and with copies of the list.
struct recorded_command {
  std::shared_ptr<command> work;
  command_links links;
};

// The commands of a regular list between two resets. The list and every execution in flight share
// it, so the list may be reset or destroyed while it runs. Only a list that nobody else holds is
// changed: a mutable list takes a copy first while executions are in flight, and they keep what
// they had.
class recording {
 public:
  explicit recording(bool in_order) : in_order_(in_order) {
    if (in_order) counter_ = in_order_counter::create();
  }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // Acquire: what executions did with it is over.
  bool is_shared() const { return references_.load(std::memory_order_acquire) > 1; }

  bool is_in_order() const { return in_order_; }
  const ref<in_order_counter>& counter() const { return counter_; }

  size_t size() const { return commands_.size(); }
  const recorded_command& at(size_t position) const { return commands_[position]; }
  // `signalled` may be null.
  void add(std::unique_ptr<command> work, event* signalled);

  // The same list, to be changed: it goes on counting where this one stops.
  ref<recording> copy() const;
  // Another list of the same commands.
  ref<recording> clone() const;

  // What mutable lists do, until finish_changes().
  void change_work(size_t position, std::shared_ptr<command> work);
  void change_signal(size_t position, event* signalled);
  void change_waits(size_t position, std::span<event* const> events);  // null: that slot is empty
  void finish_changes();

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
  // The list as it is at the source, without what belongs to one recording alone.
  recording(const recording& source, ref<in_order_counter> counter, uint64_t runs);
  ~recording() = default;

  void bind_signal(size_t position, event& signalled);
  void index(size_t position);
  void index_anew();
  void take_events_over();  // from clones

  std::atomic<uint32_t> references_{1};
  const bool in_order_;
  ref<in_order_counter> counter_;
  std::vector<recorded_command> commands_;
  std::vector<std::pair<const in_order_counter*, uint64_t>> moving_waits_;
  std::vector<size_t> published_;  // positions
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
