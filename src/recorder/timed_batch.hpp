#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "recorder/block_queue.hpp"
#include "recorder/timing_pool.hpp"

namespace zevent::recorder {

// One command of the program and the profiler's event that takes its times.
struct timed_command {
  enum class state : uint8_t {
    appending,  // the driver has not returned yet
    appended,
    refused,    // by the driver: there is no such command
    collected,  // its time is in the log, its event still in use
  };

  ze_event_handle_t event = nullptr;
  // Where a copy of the times is once the event is signalled; null: they are in the event.
  ze_kernel_timestamp_result_t* room = nullptr;
  uint64_t call = 0;             // the append's place in the part
  uint64_t submitted_ticks = 0;  // of the append; matters for immediate lists
  std::atomic<state> now{state::appending};
  // A command behind this one waits for the event: it may be used again only when that has passed.
  bool is_waited_for = false;
};

// Copies the times of one run of a list to memory of its own and makes the list's events ready for
// the next: a list of the profiler's that runs between the two.
struct timing_copy {
  ze_command_list_handle_t list = nullptr;
  ze_event_handle_t done = nullptr;
  ze_kernel_timestamp_result_t* times = nullptr;  // of all commands
};

// The timed commands of a list: of an immediate one since its creation, of a regular one since its
// last reset. It outlives the list as long as there is something to collect.
//
//   immediate   commands ──► (event signalled) ──► time written, event used again
//   regular     commands stay; each execution is a run; when all events of a run are signalled,
//               their times are written and the events reset for the next one
//
// One thread appends, as the rules for lists say; any thread may collect. The mutex is held for
// moments only. The turn is what keeps collectors, and executions of the list, apart: it is held
// while times are read. Collectors that find it taken go on without waiting.
class timed_batch : public std::enable_shared_from_this<timed_batch> {
 public:
  struct kind {
    bool immediate = false;
    bool in_order = false;
    uint32_t ordinal = 0;
  };

  timed_batch(std::shared_ptr<timing_pool> pool, kind what) : pool_(std::move(pool)), what_(what) {}

  timing_pool& pool() { return *pool_; }
  bool is_immediate() const { return what_.immediate; }
  bool is_in_order() const { return what_.in_order; }
  bool has_commands();
  // No run is to be collected.
  bool is_over();

  // An event for a command that is about to be appended; null when there is none to be had.
  timed_command* begin(uint64_t call, uint64_t now_ticks);
  // The driver has taken the command, or refused it.
  void end(timed_command& command, bool was_taken) {
    // release: what was set meanwhile is seen by the collector.
    command.now.store(was_taken ? timed_command::state::appended : timed_command::state::refused,
                      std::memory_order_release);
  }

  // Writes the times of what is complete. Never waits.
  void collect();
  // The same for what is not complete yet, until the deadline.
  void collect_until(uint64_t deadline_ns);
  // The host knows that all commands are complete that were appended before number `count`.
  void all_complete_before(uint64_t count);
  uint64_t appended();

  // Of an immediate list: lists that were executed through it.
  void add_inner(std::shared_ptr<timed_batch> batch);

  // Regular lists. Before the list is closed.
  void before_close(ze_command_list_handle_t list);
  // Before the list is executed: takes the turn, adds a run, and gives the list to be executed
  // before this one, if the last run is not over yet.
  struct execution {
    ze_command_list_handle_t first = nullptr;
    bool is_possible = true;  // false: this run cannot be told from the last, it is not timed
  };
  execution begin_execution(uint64_t call, uint64_t now_ticks, bool has_turn);
  // Gives the turn back; takes the last `runs` runs back unless they were taken by the driver.
  void end_execution(size_t runs, bool were_taken);

  // The list is being reset or destroyed; `list` is null where nothing can be appended any more.
  void retire(ze_command_list_handle_t list);
  // The context is being destroyed: what is not there now is lost. How many times that is.
  uint64_t abandon();

 private:
  struct run {
    uint64_t call = 0;  // of the execution
    uint64_t submitted_ticks = 0;
    size_t next = 0;  // the first command whose time is not written
    std::unique_ptr<timing_copy> copy;
  };

  bool try_turn() { return !turn_.exchange(true, std::memory_order_acquire); }
  void take_turn();
  void end_turn() { turn_.store(false, std::memory_order_release); }

  void collect_inner();
  // With the turn.
  void collect_own();
  void collect_appended();
  bool wait_for_runs();
  bool is_lost();
  size_t collect_group(std::span<timed_command* const> group);
  void collect_runs();
  bool collect_run(run& each);
  bool collect_copy(run& each);
  void release_if_over();
  bool read_times(const timed_command& command, ze_kernel_timestamp_result_t& times) const;
  void write(const timed_command& command, const ze_kernel_timestamp_result_t& times,
             uint64_t given_by, uint64_t submitted_ticks, uint64_t now_ticks) const;
  // With the mutex.
  uint64_t commands_in(timed_command::state wanted) const;
  std::unique_ptr<timing_copy> make_copy();
  bool fill_copy(timing_copy& copy);
  void destroy_copy(timing_copy& copy);

  const std::shared_ptr<timing_pool> pool_;
  const kind what_;
  std::atomic<bool> turn_{false};

  std::mutex mutex_;  // guards all below; commands and runs are changed only with the turn
  block_queue<timed_command> commands_;
  uint64_t popped_ = 0;          // commands that were in front of commands_
  uint64_t known_complete_ = 0;  // all commands before this one
  std::vector<ze_event_handle_t> free_;
  size_t next_take_ = 4;
  ze_event_handle_t last_ = nullptr;  // of a regular list: signalled behind all of its commands
  std::deque<run> runs_;
  std::vector<std::unique_ptr<timing_copy>> free_copies_;
  std::vector<std::shared_ptr<timed_batch>> inner_;
  bool retired_ = false;
};

// Counts commands that could not be timed; the number is in the trace.
void count_untimed(uint64_t commands);

}  // namespace zevent::recorder
