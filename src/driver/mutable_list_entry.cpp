#include <algorithm>
#include <vector>

#include "driver/command_list.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// Turns handles into objects; false where one is something else. Null stays null.
template <typename Object, typename Handle>
bool objects_of(uint32_t count, const Handle* handles, std::vector<Object*>& out) {
  out.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    out.push_back(try_from_handle<Object>(handles[i]));
    if (handles[i] != nullptr && out.back() == nullptr) return false;
  }
  return true;
}

}  // namespace

namespace entry {

ze_result_t zeCommandListCreateCloneExp(ze_command_list_handle_t hCommandList,
                                        ze_command_list_handle_t* phClonedCommandList) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    command_list* made = nullptr;
    const ze_result_t result = list.clone(&made);
    if (result == ZE_RESULT_SUCCESS) {
      *phClonedCommandList = to_handle<ze_command_list_handle_t>(made);
    }
    return result;
  });
}

ze_result_t zeCommandListIsMutableExp(ze_command_list_handle_t hCommandList,
                                      ze_bool_t* pIsMutable) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    *pIsMutable = list.is_mutable() ? 1 : 0;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListGetNextCommandIdExp(ze_command_list_handle_t hCommandList,
                                             const ze_mutable_command_id_exp_desc_t* desc,
                                             uint64_t* pCommandId) {
  return entry::zeCommandListGetNextCommandIdWithKernelsExp(hCommandList, desc, 0, nullptr,
                                                            pCommandId);
}

ze_result_t zeCommandListGetNextCommandIdWithKernelsExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_command_id_exp_desc_t* desc,
    uint32_t numKernels, ze_kernel_handle_t* phKernels, uint64_t* pCommandId) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    std::vector<kernel*> kernels;
    if (numKernels > 0 && phKernels == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const bool are_kernels = objects_of(numKernels, phKernels, kernels) &&
                             std::find(kernels.begin(), kernels.end(), nullptr) == kernels.end();
    if (!are_kernels) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return list.issue_command_id(desc->flags, kernels, pCommandId);
  });
}

ze_result_t zeCommandListUpdateMutableCommandsExp(ze_command_list_handle_t hCommandList,
                                                  const ze_mutable_commands_exp_desc_t* desc) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    return list.update([&](mutable_commands& commands, recording& recorded) {
      return commands.update(recorded, desc->pNext);
    });
  });
}

ze_result_t zeCommandListUpdateMutableCommandSignalEventExp(ze_command_list_handle_t hCommandList,
                                                            uint64_t commandId,
                                                            ze_event_handle_t hSignalEvent) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    auto* signalled = try_from_handle<event>(hSignalEvent);
    if (hSignalEvent != nullptr && signalled == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return list.update([&](mutable_commands& commands, recording& recorded) {
      return commands.update_signal(recorded, commandId, signalled);
    });
  });
}

ze_result_t zeCommandListUpdateMutableCommandWaitEventsExp(ze_command_list_handle_t hCommandList,
                                                           uint64_t commandId,
                                                           uint32_t numWaitEvents,
                                                           ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    std::vector<event*> events;
    if (phWaitEvents != nullptr && !objects_of(numWaitEvents, phWaitEvents, events)) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return list.update([&](mutable_commands& commands, recording& recorded) {
      return commands.update_waits(recorded, commandId, numWaitEvents,
                                   phWaitEvents != nullptr ? events.data() : nullptr);
    });
  });
}

ze_result_t zeCommandListUpdateMutableCommandKernelsExp(ze_command_list_handle_t hCommandList,
                                                        uint32_t numKernels, uint64_t* pCommandId,
                                                        ze_kernel_handle_t* phKernels) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    std::vector<kernel*> kernels;
    if (!objects_of(numKernels, phKernels, kernels)) return ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE;
    return list.update([&](mutable_commands& commands, recording& recorded) {
      return commands.update_kernels(recorded, {pCommandId, numKernels}, kernels);
    });
  });
}

}  // namespace entry
}  // namespace zevent::driver
