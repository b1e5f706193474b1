#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "support/exit_once.hpp"

// Small Level Zero programs of all kinds, to be recorded, replayed and written as C.
// `small_programs NAME` runs one of them.
namespace small_programs {

struct program {
  const char* name;
  void (*run)();
};

std::span<const program> list_programs();
std::span<const program> event_programs();
std::span<const program> memory_programs();
std::span<const program> kernel_programs();
std::span<const program> image_programs();
std::span<const program> newer_programs();
std::span<const program> odd_programs();
std::span<const program> process_programs();
std::span<const program> poll_programs();

inline constexpr size_t page = 4096;
inline constexpr uint64_t for_ever = UINT64_MAX;

inline void must(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::fprintf(stderr, "%s: %#x\n", what, static_cast<unsigned>(result));
  exit_once(3);
}
#define MUST(call) ::small_programs::must((call), #call)

// For what a program expects to be refused.
inline void refused(ze_result_t result, const char* what) {
  if (result != ZE_RESULT_SUCCESS) return;
  std::fprintf(stderr, "%s: was to fail\n", what);
  exit_once(3);
}
#define REFUSED(call) ::small_programs::refused((call), #call)

// A device, a context, and what is made of them.
struct machine {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;

  enum uninitialised { not_yet };

  machine();
  explicit machine(uninitialised) {}
  ze_event_pool_handle_t pool(uint32_t count = 8,
                              ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                              const void* next = nullptr) const;
  ze_command_list_handle_t list(ze_command_list_flags_t flags = 0,
                                const void* next = nullptr) const;
  ze_command_list_handle_t immediate(
      ze_command_queue_flags_t flags = 0,
      ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) const;
  ze_command_queue_handle_t queue(
      ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) const;
  ze_event_handle_t counter_event(ze_event_counter_based_flags_t more = 0,
                                  const void* next = nullptr) const;
  char* device_memory(size_t bytes = page) const;
  char* host_memory(size_t bytes = page) const;
  char* shared_memory(size_t bytes = page) const;
};

ze_event_handle_t event(ze_event_pool_handle_t pool, uint32_t index = 0,
                        ze_event_scope_flags_t signal = ZE_EVENT_SCOPE_FLAG_HOST,
                        ze_event_scope_flags_t wait = ZE_EVENT_SCOPE_FLAG_HOST);
void copy(ze_command_list_handle_t list, void* to, const void* from, size_t bytes = page,
          ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {});
void fill(ze_command_list_handle_t list, void* to, uint32_t pattern, size_t bytes = page,
          ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {});
void barrier(ze_command_list_handle_t list, ze_event_handle_t signal = nullptr,
             std::vector<ze_event_handle_t> waits = {});
void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
             ze_fence_handle_t fence = nullptr);
ze_module_handle_t module(const machine& m, std::span<const uint32_t> spirv,
                          ze_module_build_log_handle_t* log = nullptr);
ze_kernel_handle_t kernel(ze_module_handle_t from, const char* name, uint32_t group_size = 1);
template <typename T>
void argument(ze_kernel_handle_t kernel, uint32_t index, const T& value) {
  MUST(zeKernelSetArgumentValue(kernel, index, sizeof(value), &value));
}
void finish(ze_command_queue_handle_t queue);
void finish(ze_command_list_handle_t immediate);
void wait(ze_event_handle_t event);

}  // namespace small_programs
