#include "driver/fence.hpp"

#include "driver/chaos.hpp"
#include "driver/command_queue.hpp"
#include "driver/host_demand.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {

fence::fence(command_queue& queue, context& owner, bool signalled)
    : queue_(&queue), context_(&owner) {
  if (signalled) cell_.value.store(1, std::memory_order_relaxed);
}

ze_result_t fence::query() const noexcept {
  const bool complete = cell_.value.load(std::memory_order_acquire) != 0;
  if (has_chaos()) host_demand::instance().note_question(!complete, &cell_.value);
  if (complete) return ZE_RESULT_SUCCESS;
  return context_->is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
}

ze_result_t fence::host_synchronize(uint64_t timeout_ns) {
  const ref<fence> alive(this);
  switch (host_wait(wait_point::of(cell_, 1, futex_scope::process), timeout_ns, *this)) {
    case host_wait_result::reached:
      return ZE_RESULT_SUCCESS;
    case host_wait_result::timed_out:
      return is_abandoned() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
    case host_wait_result::abandoned:
      return ZE_RESULT_ERROR_DEVICE_LOST;
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

namespace entry {

ze_result_t zeFenceCreate(ze_command_queue_handle_t hCommandQueue, const ze_fence_desc_t* desc,
                          ze_fence_handle_t* phFence) {
  return with<command_queue>(hCommandQueue, [&](command_queue& queue) {
    const bool signalled = (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0;
    *phFence = to_handle<ze_fence_handle_t>(new fence(queue, queue.owner_context(), signalled));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeFenceDestroy(ze_fence_handle_t hFence) {
  return with<fence>(hFence, [](fence& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout) {
  return with<fence>(hFence, [&](fence& target) { return target.host_synchronize(timeout); });
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t hFence) noexcept {
  return with<fence>(hFence, [](fence& target) { return target.query(); });
}

ze_result_t zeFenceReset(ze_fence_handle_t hFence) {
  return with<fence>(hFence, [](fence& target) {
    target.reset();
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
