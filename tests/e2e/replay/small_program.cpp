#include "small_program.hpp"

#include <string_view>

namespace small_programs {

machine::machine() {
  uint32_t count = 1;
  MUST(zeInit(0));
  MUST(zeDriverGet(&count, &driver));
  MUST(zeDeviceGet(driver, &(count = 1), &device));
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(driver, &desc, &context));
}

ze_event_pool_handle_t machine::pool(uint32_t count, ze_event_pool_flags_t flags,
                                     const void* next) const {
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, next, flags, count};
  ze_event_pool_handle_t made = nullptr;
  ze_device_handle_t only = device;
  MUST(zeEventPoolCreate(context, &desc, 1, &only, &made));
  return made;
}

ze_command_list_handle_t machine::list(ze_command_list_flags_t flags, const void* next) const {
  const ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, next, 0, flags};
  ze_command_list_handle_t made = nullptr;
  MUST(zeCommandListCreate(context, device, &desc, &made));
  return made;
}

ze_command_list_handle_t machine::immediate(ze_command_queue_flags_t flags,
                                            ze_command_queue_mode_t mode) const {
  const ze_command_queue_desc_t desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, flags, mode,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t made = nullptr;
  MUST(zeCommandListCreateImmediate(context, device, &desc, &made));
  return made;
}

ze_command_queue_handle_t machine::queue(ze_command_queue_mode_t mode) const {
  const ze_command_queue_desc_t desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, mode,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t made = nullptr;
  MUST(zeCommandQueueCreate(context, device, &desc, &made));
  return made;
}

ze_event_handle_t machine::counter_event(ze_event_counter_based_flags_t more,
                                         const void* next) const {
  const ze_event_counter_based_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, next,
                                              ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                                  ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                                                  ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE | more,
                                              ZE_EVENT_SCOPE_FLAG_HOST, 0};
  ze_event_handle_t made = nullptr;
  MUST(zeEventCounterBasedCreate(context, device, &desc, &made));
  return made;
}

char* machine::device_memory(size_t bytes) const {
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void* made = nullptr;
  MUST(zeMemAllocDevice(context, &desc, bytes, 64, device, &made));
  return static_cast<char*>(made);
}

char* machine::host_memory(size_t bytes) const {
  const ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* made = nullptr;
  MUST(zeMemAllocHost(context, &desc, bytes, 64, &made));
  return static_cast<char*>(made);
}

char* machine::shared_memory(size_t bytes) const {
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                                0};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* made = nullptr;
  MUST(zeMemAllocShared(context, &on_device, &on_host, bytes, 64, device, &made));
  return static_cast<char*>(made);
}

ze_event_handle_t event(ze_event_pool_handle_t pool, uint32_t index, ze_event_scope_flags_t signal,
                        ze_event_scope_flags_t wait) {
  const ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, signal, wait};
  ze_event_handle_t made = nullptr;
  MUST(zeEventCreate(pool, &desc, &made));
  return made;
}

ze_module_handle_t module(const machine& m, std::span<const uint32_t> spirv,
                          ze_module_build_log_handle_t* log) {
  ze_module_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = spirv.size_bytes();
  desc.pInputModule = reinterpret_cast<const uint8_t*>(spirv.data());
  desc.pBuildFlags = "-ze-opt-level=2";
  ze_module_handle_t made = nullptr;
  MUST(zeModuleCreate(m.context, m.device, &desc, &made, log));
  return made;
}

ze_kernel_handle_t kernel(ze_module_handle_t from, const char* name, uint32_t group_size) {
  const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
  ze_kernel_handle_t made = nullptr;
  MUST(zeKernelCreate(from, &desc, &made));
  MUST(zeKernelSetGroupSize(made, group_size, 1, 1));
  return made;
}

void copy(ze_command_list_handle_t list, void* to, const void* from, size_t bytes,
          ze_event_handle_t signal, std::vector<ze_event_handle_t> waits) {
  MUST(zeCommandListAppendMemoryCopy(list, to, from, bytes, signal,
                                     static_cast<uint32_t>(waits.size()),
                                     waits.empty() ? nullptr : waits.data()));
}

void fill(ze_command_list_handle_t list, void* to, uint32_t pattern, size_t bytes,
          ze_event_handle_t signal, std::vector<ze_event_handle_t> waits) {
  MUST(zeCommandListAppendMemoryFill(list, to, &pattern, sizeof(pattern), bytes, signal,
                                     static_cast<uint32_t>(waits.size()),
                                     waits.empty() ? nullptr : waits.data()));
}

void barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
             std::vector<ze_event_handle_t> waits) {
  MUST(zeCommandListAppendBarrier(list, signal, static_cast<uint32_t>(waits.size()),
                                  waits.empty() ? nullptr : waits.data()));
}

void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
             ze_fence_handle_t fence) {
  MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
}

void finish(ze_command_queue_handle_t queue) {
  MUST(zeCommandQueueSynchronize(queue, for_ever));
}

void finish(ze_command_list_handle_t immediate) {
  MUST(zeCommandListHostSynchronize(immediate, for_ever));
}

void wait(ze_event_handle_t event) {
  MUST(zeEventHostSynchronize(event, for_ever));
}

}  // namespace small_programs

int main(int count, char** arguments) {
  using namespace small_programs;
  const std::string_view wanted = count > 1 ? arguments[1] : "";
  for (const auto group :
       {list_programs, event_programs, memory_programs, kernel_programs, image_programs,
        newer_programs, odd_programs, process_programs, poll_programs})
    for (const auto& each : group())
      if (wanted == each.name) {
        each.run();
        return 0;
      }
  std::fprintf(stderr, "usage: small_programs NAME\n");
  return 2;
}
