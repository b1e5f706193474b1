// A pipeline of two in-order lists that hand work to each other with counter-based events:
// signalled again and again, never reset.
#include <zevent/counter_event.hpp>

#include <array>
#include <cstdio>

#include "example_device.hpp"

int main() try {
  const auto at = example::first_device();
  const auto loads = example::immediate_list(at, example::order::in_order);
  const auto stores = example::immediate_list(at, example::order::in_order);

  zevent::counter_event_pool events(at.context, at.device, {.allow_regular_events = false});
  std::printf("counter-based events: %s\n", to_string(events.backing()));
  const zevent::counter_event loaded = events.acquire();
  const zevent::counter_event stored = events.acquire();
  ze_event_handle_t after_load = loaded.handle();
  ze_event_handle_t after_store = stored.handle();

  std::array<int, 8> source{};
  std::array<int, 8> result{};
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<int>(i * i);
  int stage = 0;

  // Each load waits until the last store has emptied the stage, each store until the load has
  // filled it. A wait means the signal appended last before it, so the same two events do for all
  // rounds. The first load has no store to wait for: to wait for an event that nothing was to
  // signal yet would be over at once, but Intel's driver refuses it.
  for (size_t i = 0; i < source.size(); ++i) {
    CHECK(zeCommandListAppendMemoryCopy(loads, &stage, &source[i], sizeof stage, after_load,
                                        i > 0 ? 1 : 0, i > 0 ? &after_store : nullptr));
    CHECK(zeCommandListAppendMemoryCopy(stores, &result[i], &stage, sizeof stage, after_store, 1,
                                        &after_load));
  }
  stored.wait();  // the last store

  std::printf("%d ... %d: %s\n", result.front(), result.back(),
              result == source ? "all arrived" : "something got lost");
  return result == source ? 0 : 1;
} catch (const zevent::error& failure) {
  std::fprintf(stderr, "counter_events: %s\n", failure.what());
  return 1;
}
