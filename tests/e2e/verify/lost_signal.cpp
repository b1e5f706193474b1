// An event is reset, and nothing orders the reset after a command that waits for the event. The
// program looks at memory to know that the command is done, which no recording shows; then it waits
// without a time limit. Replayed, the wait may never end.
#include <atomic>
#include <thread>

#include "examples/example_device.hpp"

int main() {
  const auto at = example::first_device();
  const auto signalling = example::immediate_list(at, example::order::unordered);
  const auto waiting = example::immediate_list(at, example::order::unordered);
  example::pool_owner pool;
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                          ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
  CHECK(zeEventPoolCreate(at.context, &pool_desc, 0, nullptr, pool.out()));
  example::event_owner ready;
  ze_event_desc_t event_desc = {};
  event_desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  event_desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  CHECK(zeEventCreate(pool, &event_desc, ready.out()));
  ze_event_handle_t awaited = ready;

  int from = 42, to = 0;
  CHECK(zeCommandListAppendSignalEvent(signalling, ready));
  CHECK(zeEventHostSynchronize(ready, UINT64_MAX));
  CHECK(zeCommandListAppendMemoryCopy(waiting, &to, &from, sizeof to, nullptr, 1, &awaited));
  while (std::atomic_ref(to).load() != from) std::this_thread::yield();
  CHECK(zeEventHostReset(ready));
  CHECK(zeCommandListHostSynchronize(waiting, UINT64_MAX));
}
