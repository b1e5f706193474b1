// Asks for the status of an event, signals it and asks again.
//
//   two_queries         and nothing else
//   two_queries race    before that, two fills of the same memory that nothing orders
#include <string_view>

#include "examples/example_device.hpp"

int main(int argc, char** argv) {
  const auto at = example::first_device();
  if (argc == 2 && std::string_view(argv[1]) == "race") {
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
  return !is_ready && zeEventQueryStatus(event) == ZE_RESULT_SUCCESS ? 0 : 1;
}
