#include "driver/command_queue.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "driver/command_list.hpp"
#include "driver/fence.hpp"
#include "driver/quirks.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

class fence_command final : public command {
 public:
  explicit fence_command(fence& target) : command(order::barrier), target_(&target) {}

  ze_result_t run() override {
    target_->signal();
    return ZE_RESULT_SUCCESS;
  }
  const std::atomic<uint64_t>* raised() const override { return target_->raised(); }

 private:
  const ref<fence> target_;
};

}  // namespace

command_queue::command_queue(context& owner, device& target, const ze_command_queue_desc_t& desc)
    : context_(&owner), desc_(desc), stream_(stream::create(owner, target, false, desc)) {}

ze_result_t command_queue::create(context& owner, device& target,
                                  const ze_command_queue_desc_t& desc, command_queue** out) {
  const queue_group* group = device::group(desc.ordinal);
  if (group == nullptr || desc.index >= group->queue_count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *out = new command_queue(owner, target, desc);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue::execute(std::span<command_list* const> lists, fence* signalled) {
  if (context_->is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
  if (signalled != nullptr && signalled->queue() != this &&
      !has_quirk(quirk::accepts_fence_of_another_queue)) {
    return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
  }
  for (const command_list* each : lists) {
    if (each->is_immediate() && has_quirk(quirk::immediate_list_execution_result)) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (each->is_immediate() || each->queue_group_ordinal() != desc_.ordinal) {
      return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    }
    if (!each->is_closed()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  uint64_t last = 0;
  for (const command_list* each : lists) {
    last = stream_->submit(std::make_unique<batch>(each->commands()));
  }
  if (signalled != nullptr) {
    signalled->reset();
    last = stream_->submit(std::make_unique<fence_command>(*signalled));
  }
  if (desc_.mode != ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) return ZE_RESULT_SUCCESS;
  return stream_->synchronize(last, UINT64_MAX);
}

namespace entry {

ze_result_t zeCommandQueueCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_command_queue_desc_t* desc,
                                 ze_command_queue_handle_t* phCommandQueue) {
  return with<context>(hContext, [&](context& owner) {
    return with<device>(hDevice, [&](device& target) {
      command_queue* made = nullptr;
      const ze_result_t result = command_queue::create(owner, target, *desc, &made);
      if (result == ZE_RESULT_SUCCESS) {
        *phCommandQueue = to_handle<ze_command_queue_handle_t>(made);
      }
      return result;
    });
  });
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue) {
  return with<command_queue>(hCommandQueue, [](command_queue& queue) {
    queue.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t numCommandLists,
                                              ze_command_list_handle_t* phCommandLists,
                                              ze_fence_handle_t hFence) {
  return with<command_queue>(hCommandQueue, [&](command_queue& queue) {
    std::vector<command_list*> lists;
    lists.reserve(numCommandLists);
    for (uint32_t i = 0; i < numCommandLists; ++i) {
      lists.push_back(try_from_handle<command_list>(phCommandLists[i]));
      if (lists.back() == nullptr) {
        return answer_misuse(quirk::crash_on_null_handle, ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                             "zeCommandQueueExecuteCommandLists");
      }
    }
    auto* signalled = try_from_handle<fence>(hFence);
    if (hFence != nullptr && signalled == nullptr) {
      return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    }
    return queue.execute(lists, signalled);
  });
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue, uint64_t timeout) {
  return with<command_queue>(hCommandQueue,
                             [&](command_queue& queue) { return queue.synchronize(timeout); });
}

ze_result_t zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue, uint32_t* pOrdinal) {
  return with<command_queue>(hCommandQueue, [&](command_queue& queue) {
    *pOrdinal = queue.desc().ordinal;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue, uint32_t* pIndex) {
  return with<command_queue>(hCommandQueue, [&](command_queue& queue) {
    *pIndex = queue.desc().index;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandQueueGetFlags(ze_command_queue_handle_t hCmdQueue,
                                   ze_command_queue_flags_t* pFlags) {
  return with<command_queue>(hCmdQueue, [&](command_queue& queue) {
    *pFlags = queue.desc().flags;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandQueueGetMode(ze_command_queue_handle_t hCmdQueue,
                                  ze_command_queue_mode_t* pMode) {
  return with<command_queue>(hCmdQueue, [&](command_queue& queue) {
    *pMode = queue.desc().mode;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeCommandQueueGetPriority(ze_command_queue_handle_t hCmdQueue,
                                      ze_command_queue_priority_t* pPriority) {
  return with<command_queue>(hCmdQueue, [&](command_queue& queue) {
    *pPriority = queue.desc().priority;
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
