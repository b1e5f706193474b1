// An event that is reset while somebody may still wait for it. One list signals; another waits for
// the event and then copies. The host sees the signal and resets the event for its next use.
//
//   reset_race wrong   resets as soon as it has seen the signal: the waiter may come later, and
//                      then waits for a signal that is gone
//   reset_race right   resets when the waiter is done
#include <cstdio>
#include <string_view>

#include "example_device.hpp"

namespace {

constexpr uint64_t long_enough_ns = 500'000'000;

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view way = argc == 2 ? argv[1] : "";
  if (way != "wrong" && way != "right") {
    std::fprintf(stderr, "usage: reset_race wrong|right\n");
    return 2;
  }
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
  // The waiter is appended when the signal is there, but when it looks is up to the device.
  CHECK(zeCommandListAppendMemoryCopy(waiting, &to, &from, sizeof to, nullptr, 1, &awaited));
  if (way == "wrong") CHECK(zeEventHostReset(ready));
  // What is right comes to its end, however slow the machine is.
  const ze_result_t end =
      zeCommandListHostSynchronize(waiting, way == "right" ? UINT64_MAX : long_enough_ns);
  if (way == "right") CHECK(zeEventHostReset(ready));

  std::printf("%s: the waiter %s\n", way.data(),
              end == ZE_RESULT_SUCCESS && to == 42 ? "got through" : "WAITS FOR EVER");
  if (end != ZE_RESULT_SUCCESS) {
    CHECK(zeEventHostSignal(ready));  // let it go, so that the memory it copies can go too
    CHECK(zeCommandListHostSynchronize(waiting, UINT64_MAX));
  }
  return end == ZE_RESULT_SUCCESS ? 0 : 1;
} catch (const zevent::error& problem) {
  std::fprintf(stderr, "reset_race: %s\n", problem.what());
  return 3;
}
