#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recorder/profile_mode.hpp"

// Device time of every command of the program, by events of the profiler's own.
//
// The command gets one of them as its signal. What the program asked for is passed on at the same
// place: in an in-order list, and behind a barrier of the program's, by a signal behind the
// command; else by a barrier that waits for ours and signals the program's. Where the program's
// event takes times itself, it stays the command's, and its times are copied by a query behind it.
//
//   hook ──► append_timing ──► list ──► timed_batch (commands, runs) ──► timing_pool (events)
//   hook ──► execution_timing ──┘            │
//   hooks of waits and destroys ─────────────┴──► device_time records in the thread's log
//
// The program's own objects and descriptors are never touched, and nothing is asked of a handle
// after its destruction has begun. Calls made here go to the driver directly.
namespace zevent::recorder {

class timed_batch;
struct timed_command;
struct profiled_list;

// Kernels that a command launches.
struct launched_kernels {
  launched_kernels() = default;
  launched_kernels(ze_kernel_handle_t only) : one(only), all(&one, 1) {}
  launched_kernels(std::span<const ze_kernel_handle_t> several) : all(several) {}

  ze_kernel_handle_t one = nullptr;
  std::span<const ze_kernel_handle_t> all;
};

// What a command means for those behind it.
enum class order : uint8_t {
  of_the_list,
  holds_back_all_behind,  // until it is complete, in any list: a barrier
};

// One append of the program on its way to the driver.
class append_timing {
 public:
  append_timing(ze_command_list_handle_t list, ze_event_handle_t signal, uint64_t call,
                uint64_t now_ticks, const launched_kernels& kernels = {},
                order kind = order::of_the_list)
      : list_(list), signal_(signal), order_(kind) {
    if (profiles()) [[unlikely]]
      begin(call, now_ticks, kernels);
  }

  // What the command is to signal.
  ze_event_handle_t signal() const { return signal_; }
  // There is something to do when the driver has returned.
  bool is_timed() const { return command_ != nullptr || cannot_be_timed_; }
  // The driver has returned: passes the signal on. What the program is told.
  ze_result_t finish(ze_result_t result);

 private:
  enum class way : uint8_t {
    plain,    // the program's command has no signal
    signal,   // a signal behind the command
    barrier,  // a barrier behind the command
    query,    // the program's event takes the times, which are copied
  };

  void begin(uint64_t call, uint64_t now_ticks, const launched_kernels& kernels);
  bool choose_way();
  // Whatever is appended next runs after the command.
  bool is_ordered() const;

  const ze_command_list_handle_t list_;
  ze_event_handle_t signal_;
  ze_event_handle_t programs_ = nullptr;  // the program's signal
  const order order_;
  way way_ = way::plain;
  bool cannot_be_timed_ = false;
  profiled_list* state_ = nullptr;
  timed_command* command_ = nullptr;
};

// One execution of lists on its way to the driver.
class execution_timing {
 public:
  // On a queue, or through an immediate list; the other one is null.
  execution_timing(ze_command_queue_handle_t queue, ze_command_list_handle_t through,
                   uint32_t count, ze_command_list_handle_t* lists, uint64_t call,
                   uint64_t now_ticks)
      : queue_(queue), through_(through), count_(count), lists_(lists) {
    if (profiles()) [[unlikely]]
      begin(call, now_ticks);
  }

  // What the driver is to execute.
  uint32_t count() const { return count_; }
  ze_command_list_handle_t* lists() const { return lists_; }

  void finish(ze_result_t result) {
    if (!executed_.empty() || untimed_ != 0) [[unlikely]]
      end(result);
  }

 private:
  struct executed {
    std::shared_ptr<timed_batch> batch;
    size_t runs = 0;
  };
  void begin(uint64_t call, uint64_t now_ticks);
  void end(ze_result_t result);

  const ze_command_queue_handle_t queue_;
  const ze_command_list_handle_t through_;
  uint32_t count_;
  ze_command_list_handle_t* lists_;
  std::vector<executed> executed_;
  uint64_t untimed_ = 0;  // commands in the lists that are not timed
  std::vector<ze_command_list_handle_t> own_lists_;
};

// What the hooks tell; only while profiles().
namespace profile {

void list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                  ze_device_handle_t device, const ze_command_list_desc_t* desc);
void list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                  ze_device_handle_t device, const ze_command_queue_desc_t* desc);
void list_cloned(ze_command_list_handle_t list, ze_command_list_handle_t from);
void queue_created(ze_command_queue_handle_t queue);
void fence_created(ze_fence_handle_t fence, ze_command_queue_handle_t queue);
void pool_created(ze_event_pool_handle_t pool, ze_context_handle_t context,
                  const ze_event_pool_desc_t* desc);
// Of another process.
void pool_opened(ze_event_pool_handle_t pool, ze_context_handle_t context);
void event_created(ze_event_handle_t event, ze_event_pool_handle_t pool);
void counter_event_created(ze_event_handle_t event, ze_context_handle_t context,
                           ze_event_counter_based_flags_t flags);
void counter_event_opened(ze_event_handle_t event);
void kernel_created(ze_kernel_handle_t kernel, const char* name);

// Before the driver is told to destroy it.
void is_destroyed(ze_command_list_handle_t list);
void is_destroyed(ze_command_queue_handle_t queue);
void is_destroyed(ze_fence_handle_t fence);
void is_destroyed(ze_event_pool_handle_t pool);
void is_destroyed(ze_event_handle_t event);
void is_destroyed(ze_kernel_handle_t kernel);
void is_destroyed(ze_context_handle_t context);

// Before the driver is told.
void list_closes(ze_command_list_handle_t list);
void list_resets(ze_command_list_handle_t list);
// After it.
void list_captures(ze_command_list_handle_t list);
void list_ends_capture(ze_command_list_handle_t list);
void signal_appended(ze_command_list_handle_t list, ze_event_handle_t event, uint64_t call,
                     uint64_t now_ticks);

// How many commands the list was given before the host began to wait for them.
uint64_t commands_before_wait(ze_command_list_handle_t list);
// The host knows that something is complete.
void list_complete(ze_command_list_handle_t list, uint64_t commands_before);
void complete(ze_event_handle_t event);
void complete(ze_command_queue_handle_t queue);
void complete(ze_fence_handle_t fence);
void complete(ze_device_handle_t device);

}  // namespace profile
}  // namespace zevent::recorder
