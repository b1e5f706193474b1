#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// Small Level Zero programs, two for each rule: one that breaks it, and one that looks alike and is
// legal. `rule_programs NAME broken|legal` runs one of them; a test records it and checks the
// trace.
namespace rule_programs {

// What every program starts from.
struct machine {
  ze_driver_handle_t driver = nullptr;
  std::vector<ze_device_handle_t> devices;
  ze_device_handle_t device = nullptr;  // the first
  ze_context_handle_t context = nullptr;

  machine();
};

struct program {
  const char* name;  // the number of the rule, and what tells several of one rule apart: "0-last"
  void (*broken)(machine&);
  void (*legal)(machine&);  // null where every program is legal
};

using program_list = std::vector<program>;
program_list pool_programs();
program_list event_programs();
program_list deadlock_programs();
program_list order_programs();
program_list timestamp_programs();
program_list list_programs();
program_list thread_programs();
program_list memory_programs();
program_list counter_programs();
program_list ipc_programs();
program_list graph_programs();
program_list blocking_programs();
program_list bounds_programs();
program_list kernel_programs();
program_list lifetime_programs();
program_list driver_programs();
program_list result_programs();

// Ends the program with a message unless the call succeeded.
void must(ze_result_t result, const char* what);
#define MUST(call) ::rule_programs::must((call), #call)
// For calls that are wrong: the driver may refuse them or not. A device that is lost or memory that
// has run out is no refusal and ends the program.
void maybe(ze_result_t result);

// The process is killed once all its threads sleep and go on sleeping, or one spins for long.
void die_when_stuck();

inline constexpr size_t page = 4096;
inline constexpr uint64_t for_ever = UINT64_MAX;

ze_event_pool_handle_t new_pool(machine& m, uint32_t count = 8,
                                ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                const void* next = nullptr);
ze_event_handle_t new_event(ze_event_pool_handle_t pool, uint32_t index = 0,
                            ze_event_scope_flags_t signal = ZE_EVENT_SCOPE_FLAG_HOST,
                            ze_event_scope_flags_t wait = 0);
ze_event_handle_t new_counter_event(machine& m, ze_event_counter_based_flags_t more = 0,
                                    const void* next = nullptr);
ze_command_list_handle_t new_list(machine& m, ze_command_list_flags_t flags = 0);
ze_command_list_handle_t new_in_order_list(machine& m);
ze_command_list_handle_t new_immediate(
    machine& m, ze_command_queue_flags_t flags = 0,
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    ze_device_handle_t device = nullptr);
ze_command_list_handle_t new_in_order_immediate(machine& m);
ze_command_queue_handle_t new_queue(
    machine& m, ze_command_queue_flags_t flags = 0,
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
ze_fence_handle_t new_fence(ze_command_queue_handle_t queue);
char* new_memory(machine& m, size_t bytes = page);
char* new_host_memory(machine& m, size_t bytes = page);

// A copy of a page, or as many bytes as are given.
void copy(ze_command_list_handle_t list, char* to, const char* from, size_t bytes = page,
          ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {});
void barrier(ze_command_list_handle_t list, ze_event_handle_t signal = nullptr,
             std::vector<ze_event_handle_t> waits = {});
void close(ze_command_list_handle_t list);
void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
             ze_fence_handle_t fence = nullptr);
void finish(ze_command_queue_handle_t queue);
void finish(ze_command_list_handle_t immediate);
void wait(ze_event_handle_t event);

}  // namespace rule_programs
