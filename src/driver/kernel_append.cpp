#include <algorithm>
#include <optional>

#include "driver/command.hpp"
#include "driver/command_list.hpp"
#include "driver/kernel.hpp"
#include "driver/launch_command.hpp"
#include "driver/launch_draft.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// The group counts, and how many of the kernels to launch, lie in memory and are read when the
// command runs.
class indirect_launch_command final : public command {
 public:
  indirect_launch_command(std::vector<kernel::launch> launches, const ze_group_count_t* groups,
                          const uint32_t* count)
      : launches_(std::move(launches)), groups_(groups), count_(count) {}

  ze_result_t run() override {
    const size_t count =
        count_ != nullptr ? std::min<size_t>(*count_, launches_.size()) : launches_.size();
    for (size_t i = 0; i < count; ++i) {
      launch_shape shape = launches_[i].shape;
      shape.group_count = to_array(groups_[i]);
      const ze_result_t status = launch_command::run(launches_[i], shape);
      if (status != ZE_RESULT_SUCCESS) return status;
    }
    return ZE_RESULT_SUCCESS;
  }

 private:
  const std::vector<kernel::launch> launches_;
  const ze_group_count_t* const groups_;
  const uint32_t* const count_;  // null: all
};

ze_result_t check_list(const command_list& list) {
  return list.is_copy_only() ? ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE : ZE_RESULT_SUCCESS;
}

ze_result_t append_launch(ze_command_list_handle_t list, kernel& launched,
                          const ze_group_count_t& groups, bool is_cooperative,
                          const dependencies& events) {
  return with<command_list>(list, [&](command_list& target) {
    if (const ze_result_t status = check_list(target); status != ZE_RESULT_SUCCESS) return status;
    kernel::launch launch;
    ze_result_t status = launched.snapshot(launch);
    if (status != ZE_RESULT_SUCCESS) return status;
    launch.shape.group_count = to_array(groups);
    launch.options.is_cooperative = is_cooperative;
    status = launch.check();
    if (status != ZE_RESULT_SUCCESS) return status;
    std::optional<launch_draft> draft;
    if (target.wants_draft()) draft.emplace(launched, launch);
    return target.append(std::make_unique<launch_command>(std::move(launch)), events,
                         std::move(draft));
  });
}

ze_result_t append_indirect(ze_command_list_handle_t list, uint32_t kernel_count,
                            const ze_kernel_handle_t* kernels, const ze_group_count_t* groups,
                            const uint32_t* count, const dependencies& events) {
  return with<command_list>(list, [&](command_list& target) {
    if (const ze_result_t status = check_list(target); status != ZE_RESULT_SUCCESS) return status;
    std::vector<kernel::launch> launches(kernel_count);
    for (uint32_t i = 0; i < kernel_count; ++i) {
      const ze_result_t status =
          with<kernel>(kernels[i], [&](kernel& each) { return each.snapshot(launches[i]); });
      if (status != ZE_RESULT_SUCCESS) return status;
    }
    return target.append(
        std::make_unique<indirect_launch_command>(std::move(launches), groups, count), events);
  });
}

bool asks_for_cooperation(const void* chain) {
  const auto* found = find_in_chain<ze_command_list_append_launch_kernel_param_cooperative_desc_t>(
      chain, ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC);
  return found != nullptr && found->isCooperative != 0;
}

}  // namespace

namespace entry {

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                            ze_kernel_handle_t hKernel,
                                            const ze_group_count_t* pLaunchFuncArgs,
                                            ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                            ze_event_handle_t* phWaitEvents) {
  return with<kernel>(hKernel, [&](kernel& launched) {
    return append_launch(hCommandList, launched, *pLaunchFuncArgs, false,
                         {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t hCommandList,
                                                       ze_kernel_handle_t hKernel,
                                                       const ze_group_count_t* pLaunchFuncArgs,
                                                       ze_event_handle_t hSignalEvent,
                                                       uint32_t numWaitEvents,
                                                       ze_event_handle_t* phWaitEvents) {
  return with<kernel>(hKernel, [&](kernel& launched) {
    return append_launch(hCommandList, launched, *pLaunchFuncArgs, true,
                         {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t* pGroupCounts, const void* pNext, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return with<kernel>(hKernel, [&](kernel& launched) {
    return append_launch(hCommandList, launched, *pGroupCounts, asks_for_cooperation(pNext),
                         {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t groupCounts, const ze_group_size_t groupSizes, void** pArguments,
    const void* pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t* phWaitEvents) {
  return with<kernel>(hKernel, [&](kernel& launched) {
    ze_result_t status = launched.set_group_size(groupSizes.groupSizeX, groupSizes.groupSizeY,
                                                 groupSizes.groupSizeZ);
    if (status != ZE_RESULT_SUCCESS) return status;
    status = launched.set_arguments(pArguments);
    if (status != ZE_RESULT_SUCCESS) return status;
    return append_launch(hCommandList, launched, groupCounts, asks_for_cooperation(pNext),
                         {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t hCommandList,
                                                    ze_kernel_handle_t hKernel,
                                                    const ze_group_count_t* pLaunchArgumentsBuffer,
                                                    ze_event_handle_t hSignalEvent,
                                                    uint32_t numWaitEvents,
                                                    ze_event_handle_t* phWaitEvents) {
  return append_indirect(hCommandList, 1, &hKernel, pLaunchArgumentsBuffer, nullptr,
                         {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListAppendLaunchMultipleKernelsIndirect(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, ze_kernel_handle_t* phKernels,
    const uint32_t* pCountBuffer, const ze_group_count_t* pLaunchArgumentsBuffer,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return append_indirect(hCommandList, numKernels, phKernels, pLaunchArgumentsBuffer, pCountBuffer,
                         {hSignalEvent, numWaitEvents, phWaitEvents});
}

}  // namespace entry
}  // namespace zevent::driver
