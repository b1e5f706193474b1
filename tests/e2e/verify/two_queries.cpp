// Asks for the status of an event, signals it and asks again.
//
//   two_queries         and nothing else
//   two_queries race    before that, two fills of the same memory that nothing orders
//   two_queries leak    after that, a queue is destroyed before its fence
#include <string_view>

#include "examples/example_device.hpp"

namespace {

void destroy_queue_before_fence(const example::device_and_context& at) {
  ze_command_queue_desc_t queue_desc = {};
  queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  ze_command_queue_handle_t queue = nullptr;
  CHECK(zeCommandQueueCreate(at.context, at.device, &queue_desc, &queue));
  const ze_fence_desc_t fence_desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  CHECK(zeFenceCreate(queue, &fence_desc, &fence));
  CHECK(zeCommandQueueDestroy(queue));
}

}  // namespace

int main(int argc, char** argv) {
  const auto at = example::first_device();
  const std::string_view more = argc == 2 ? argv[1] : "";
  if (more == "race") {
    static char memory[64];
    const auto list = example::immediate_list(at, example::order::unordered);
    for (const char pattern : {'a', 'b'})
      CHECK(zeCommandListAppendMemoryFill(list, memory, &pattern, 1, sizeof memory, nullptr, 0,
                                          nullptr));
    CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
  }
  example::pool_owner pool;
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                          ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
  CHECK(zeEventPoolCreate(at.context, &pool_desc, 0, nullptr, pool.out()));
  example::event_owner event;
  ze_event_desc_t event_desc = {};
  event_desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  CHECK(zeEventCreate(pool, &event_desc, event.out()));
  const bool is_ready = zeEventQueryStatus(event) == ZE_RESULT_SUCCESS;
  CHECK(zeEventHostSignal(event));
  const bool is_ready_then = zeEventQueryStatus(event) == ZE_RESULT_SUCCESS;
  if (more == "leak") destroy_queue_before_fence(at);
  return !is_ready && is_ready_then ? 0 : 1;
}
