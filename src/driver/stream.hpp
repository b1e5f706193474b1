#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/command_fifo.hpp"
#include "driver/completion_order.hpp"
#include "driver/context.hpp"
#include "driver/parking_lot.hpp"
#include "driver/submission_order.hpp"

namespace zevent::driver {

class batch;
class promised_values;
struct command_links;

// The commands of one queue or one immediate list, in the order of their submission.
//
//   submit ──► inbox ──► pending ──► in flight ──► complete: event signalled, progress raised
//             (mutex)   └──── only the thread that runs the stream ────┘
//
// A stream is idle (nothing to do), scheduled (in the engine's hands) or parked (its next command
// waits for an event); only a scheduled stream uses a thread, and only one at a time.
class stream {
 public:
  static ref<stream> create(context& owner, device& target, bool in_order,
                            const ze_command_queue_desc_t& desc);

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference();

  // Takes the command; never blocks on what it waits for. The command's number, counted from 1.
  uint64_t submit(std::unique_ptr<command> work);

  // Reaches n when all commands up to number n are complete. For in-order streams this is also the
  // counter that counter-based events are bound to.
  const ref<in_order_counter>& progress() const { return progress_; }

  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  // All up to this number are complete.
  uint64_t complete() const { return progress_->cell.value.load(std::memory_order_relaxed); }
  uint64_t executions() const { return executions_; }
  // What its commands will raise; returns how many commands that are. Of the thread that runs it.
  size_t promise(promised_values& out);

  // Waits until everything submitted so far is complete.
  ze_result_t synchronize(uint64_t timeout_ns);
  ze_result_t synchronize(uint64_t number, uint64_t timeout_ns);

  const device& target() const { return target_; }
  const context& owner() const { return *context_; }
  ze_command_queue_priority_t priority() const { return priority_; }

  // Called by the engine: runs commands until there are none or the next one must wait.
  void run();
  // Called by the parking lot: what the stream was parked for has come.
  void resume();
  // What the stream waits for will never come: its commands are dropped, its context is lost.
  void abandon();

  parking_lot::place& parking_place() { return place_; }

  // All streams that exist, each with a reference.
  static std::vector<ref<stream>> all();

 private:
  friend class engine;
  struct started_command {
    command* work;                   // owned by `alone` or by the batch's recording
    const command_links* links;      // likewise
    std::unique_ptr<command> alone;  // null: part of a batch
    batch* group;                    // null: on its own
  };

  stream(context& owner, device& target, bool in_order, const ze_command_queue_desc_t& desc);
  ~stream();

  // What stands in the way of the next command.
  enum class obstacle { none, in_flight, wait };
  struct blocked_on {
    obstacle what = obstacle::none;
    wait_point point;
    abandonment* check = nullptr;
  };

  void start_anew_after_fork();
  bool fetch();  // false: there is nothing to do, and the stream is idle
  blocked_on next_obstacle() const;
  void start_next();
  void complete_one();
  void complete_at(size_t position);
  void enter_order(const submission_order::turn& first);
  void leave_order();
  void hold_back();
  void execute(const started_command& started);
  void lose_device();
  void signal(const started_command& started);
  void retire(std::unique_ptr<command> alone, batch* group);
  void raise_progress();
  void drop_everything();

  const ref<context> context_;
  device& target_;
  const bool in_order_;
  const ze_command_queue_priority_t priority_;
  const uint64_t index_;  // counted from 0 in the order of creation
  const ref<in_order_counter> progress_;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint64_t> submitted_{0};  // release: written under mutex_, read without
  std::atomic<bool> abandoned_{false};
  bool completions_lost_ = false;  // by a fault: nothing is signalled any more
  uint64_t executions_ = 0;        // so far; chaos chooses by it
  bool may_execute_ = false;       // the next command, as far as order_ is concerned

  std::mutex mutex_;  // guards inbox_, is_idle_ and the order of numbers
  command_fifo inbox_;
  bool is_idle_ = true;

  // Touched only by the thread that runs the stream.
  command_fifo pending_;
  uint64_t last_taken_ = 0;  // number of the last command that left pending_
  std::vector<started_command> in_flight_;
  std::vector<std::unique_ptr<command>> open_batches_;  // all started, not all complete
  std::unique_ptr<completion_order> order_;

  submission_order* const siblings_;  // null: no order is kept among them
  submission_order::place place_in_order_;
  bool is_in_order_of_siblings_ = false;  // of whoever makes the stream busy, then of who runs it

  parking_lot::place place_;
  std::atomic<uint32_t> generation_;  // of the process that the rest is of, see fork_safety.hpp
  stream* next_ready_ = nullptr;      // the engine's list
};

}  // namespace zevent::driver
