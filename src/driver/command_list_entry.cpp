#include <vector>

#include "driver/command_list.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

template <typename Create>
ze_result_t create_list(ze_context_handle_t owner, ze_device_handle_t target,
                        ze_command_list_handle_t* out, Create&& create) {
  return with<context>(owner, [&](context& parent) {
    return with<device>(target, [&](device& on) {
      command_list* made = nullptr;
      const ze_result_t result = create(parent, on, &made);
      if (result == ZE_RESULT_SUCCESS) *out = to_handle<ze_command_list_handle_t>(made);
      return result;
    });
  });
}

// Answers about immediate lists alone.
template <typename Answer>
ze_result_t with_immediate(ze_command_list_handle_t handle, Answer&& answer) {
  return with<command_list>(handle, [&](command_list& list) {
    if (!list.is_immediate()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    answer(list.queue_desc());
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace

namespace entry {

ze_result_t zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                const ze_command_list_desc_t* desc,
                                ze_command_list_handle_t* phCommandList) {
  return create_list(hContext, hDevice, phCommandList,
                     [&](context& owner, device& target, command_list** out) {
                       return command_list::create_regular(owner, target, *desc, out);
                     });
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t* altdesc,
                                         ze_command_list_handle_t* phCommandList) {
  return create_list(hContext, hDevice, phCommandList,
                     [&](context& owner, device& target, command_list** out) {
                       return command_list::create_immediate(owner, target, *altdesc, out);
                     });
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList) {
  return with<command_list>(hCommandList, [](command_list& list) {
    list.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListClose(ze_command_list_handle_t hCommandList) {
  return with<command_list>(hCommandList, [](command_list& list) { return list.close(); });
}

ze_result_t zeCommandListReset(ze_command_list_handle_t hCommandList) {
  return with<command_list>(hCommandList, [](command_list& list) { return list.reset(); });
}

ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList, uint64_t timeout) {
  return with<command_list>(hCommandList,
                            [&](command_list& list) { return list.synchronize(timeout); });
}

ze_result_t zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t* phDevice) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    *phDevice = to_handle<ze_device_handle_t>(&list.owner_device());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                          ze_context_handle_t* phContext) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    *phContext = to_handle<ze_context_handle_t>(&list.owner_context());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList, uint32_t* pOrdinal) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    *pOrdinal = list.queue_group_ordinal();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                     ze_bool_t* pIsImmediate) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    *pIsImmediate = list.is_immediate() ? 1 : 0;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListGetFlags(ze_command_list_handle_t hCommandList,
                                  ze_command_list_flags_t* pFlags) {
  return with<command_list>(hCommandList, [&](command_list& list) {
    *pFlags = list.list_flags();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate,
                                           uint32_t* pIndex) {
  return with_immediate(hCommandListImmediate, [&](const auto& desc) { *pIndex = desc.index; });
}

ze_result_t zeCommandListImmediateGetFlags(ze_command_list_handle_t hCommandList,
                                           ze_command_queue_flags_t* pFlags) {
  return with_immediate(hCommandList, [&](const auto& desc) { *pFlags = desc.flags; });
}

ze_result_t zeCommandListImmediateGetMode(ze_command_list_handle_t hCommandList,
                                          ze_command_queue_mode_t* pMode) {
  return with_immediate(hCommandList, [&](const auto& desc) { *pMode = desc.mode; });
}

ze_result_t zeCommandListImmediateGetPriority(ze_command_list_handle_t hCommandList,
                                              ze_command_queue_priority_t* pPriority) {
  return with_immediate(hCommandList, [&](const auto& desc) { *pPriority = desc.priority; });
}

ze_result_t zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t* phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return with<command_list>(hCommandListImmediate, [&](command_list& outer) {
    std::vector<command_list*> lists;
    for (uint32_t i = 0; i < numCommandLists; ++i) {
      lists.push_back(try_from_handle<command_list>(phCommandLists[i]));
      if (lists.back() == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    return outer.append_lists(lists, {hSignalEvent, numWaitEvents, phWaitEvents});
  });
}

ze_result_t zeCommandListImmediateAppendCommandListsWithParameters(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t* phCommandLists, const void*, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return entry::zeCommandListImmediateAppendCommandListsExp(hCommandListImmediate, numCommandLists,
                                                            phCommandLists, hSignalEvent,
                                                            numWaitEvents, phWaitEvents);
}

}  // namespace entry
}  // namespace zevent::driver
