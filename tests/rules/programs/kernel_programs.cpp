#include <cstring>

#include "kernels/vector_add_spv.h"
#include "rule_program.hpp"

namespace rule_programs {
namespace {

constexpr uint32_t items = 32;

ze_kernel_handle_t new_kernel(machine& m) {
  ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = sizeof(vector_add_spv);
  desc.pInputModule = reinterpret_cast<const uint8_t*>(vector_add_spv);
  ze_module_handle_t module = nullptr;
  MUST(zeModuleCreate(m.context, m.device, &desc, &module, nullptr));
  const ze_kernel_desc_t named = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "vector_add"};
  ze_kernel_handle_t made = nullptr;
  MUST(zeKernelCreate(module, &named, &made));
  MUST(zeKernelSetGroupSize(made, items, 1, 1));
  return made;
}

void set_argument(ze_kernel_handle_t kernel, uint32_t index, const void* memory) {
  MUST(zeKernelSetArgumentValue(kernel, index, sizeof(memory), &memory));
}

// Values stay set for the launches that follow. Without a count of items, which is then 0, the
// kernel does nothing.
void launch_twice(machine& m, bool set_all) {
  const auto list = new_in_order_immediate(m);
  const auto add = new_kernel(m);
  for (const uint32_t each : {0, 1, 2}) set_argument(add, each, new_memory(m));
  if (set_all) MUST(zeKernelSetArgumentValue(add, 3, sizeof(items), &items));
  const ze_group_count_t groups = {1, 1, 1};
  for (int i = 0; i < 2; ++i)
    MUST(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr));
  finish(list);
}

float* new_shared_memory(machine& m) {
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void* memory = nullptr;
  MUST(zeMemAllocShared(m.context, &on_device, &on_host, page, 64, m.device, &memory));
  return static_cast<float*>(memory);
}

// The host writes to what a kernel reads. What memory holds is recorded when a launch is submitted.
void write_to_shared_memory(machine& m, bool wait_first) {
  ze_device_memory_access_properties_t access = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
  MUST(zeDeviceGetMemoryAccessProperties(m.device, &access));
  const auto list = new_in_order_immediate(m);
  const auto add = new_kernel(m);
  float* shared = new_shared_memory(m);
  shared[0] = 1;
  set_argument(add, 0, shared);
  set_argument(add, 1, shared);
  set_argument(add, 2, new_memory(m));
  MUST(zeKernelSetArgumentValue(add, 3, sizeof(items), &items));
  const ze_group_count_t groups = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr));
  if (wait_first) finish(list);
  shared[0] = 2;
  MUST(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr));
  finish(list);
}

// A launch that brings all arguments along, and one with the same ones.
void launch_with_arguments(machine& m) {
  const auto list = new_in_order_immediate(m);
  const auto add = new_kernel(m);
  void* memory[] = {new_memory(m), new_memory(m), new_memory(m)};
  uint32_t count = items;
  void* arguments[] = {&memory[0], &memory[1], &memory[2], &count};
  const ze_group_count_t groups = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernelWithArguments(list, add, groups, {items, 1, 1}, arguments,
                                                    nullptr, nullptr, 0, nullptr));
  MUST(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr));
  finish(list);
}

// A kernel writes to memory of the host, which waits for it by an event with that scope.
void wait_for_kernel(machine& m, ze_event_scope_flags_t scope) {
  const auto list = new_immediate(m);
  const auto event = new_event(new_pool(m), 0, scope);
  const auto add = new_kernel(m);
  for (const uint32_t each : {0, 1, 2}) {
    char* memory = new_host_memory(m);
    std::memset(memory, 1, page);
    set_argument(add, each, memory);
  }
  MUST(zeKernelSetArgumentValue(add, 3, sizeof(items), &items));
  const ze_group_count_t groups = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, add, &groups, event, 0, nullptr));
  wait(event);
}

}  // namespace

program_list kernel_programs() {
  return {
      {"22-kernel", [](machine& m) { wait_for_kernel(m, ZE_EVENT_SCOPE_FLAG_DEVICE); },
       [](machine& m) { wait_for_kernel(m, ZE_EVENT_SCOPE_FLAG_HOST); }},
      {"78-shared", [](machine& m) { write_to_shared_memory(m, false); },
       [](machine& m) { write_to_shared_memory(m, true); }},
      {"75", [](machine& m) { launch_twice(m, false); }, [](machine& m) { launch_twice(m, true); }},
      {"75-with", nullptr, launch_with_arguments},
  };
}

}  // namespace rule_programs
