// Two lists, the one to take what the other writes. Each runs in order, but that says nothing about
// the two of them: the copy must wait for an event of the fill.
//
//   missing_wait wrong   does not wait; it works as long as the fill happens to come first
//   missing_wait right   waits
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "example_device.hpp"

int main(int argc, char** argv) try {
  const std::string_view way = argc == 2 ? argv[1] : "";
  if (way != "wrong" && way != "right") {
    std::fprintf(stderr, "usage: missing_wait wrong|right\n");
    return 2;
  }
  const auto at = example::first_device();
  const auto filling = example::immediate_list(at, example::order::in_order);
  const auto copying = example::immediate_list(at, example::order::in_order);
  ze_event_counter_based_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
  desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
  desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  desc.wait = ZE_EVENT_SCOPE_FLAG_DEVICE;
  example::event_owner filled, copied;
  CHECK(zeEventCounterBasedCreate(at.context, at.device, &desc, filled.out()));
  CHECK(zeEventCounterBasedCreate(at.context, at.device, &desc, copied.out()));

  constexpr size_t bytes = 64 << 10;
  const example::host_memory middle(at, bytes, 'o'), result(at, bytes, 'o');
  const char pattern = 'x';
  CHECK(zeCommandListAppendMemoryFill(filling, middle.data(), &pattern, 1, bytes, filled, 0,
                                      nullptr));
  ze_event_handle_t waits[] = {filled};
  CHECK(zeCommandListAppendMemoryCopy(copying, result.data(), middle.data(), bytes, copied,
                                      way == "right" ? 1 : 0, way == "right" ? waits : nullptr));
  CHECK(zeEventHostSynchronize(copied, UINT64_MAX));

  const bool complete = std::all_of(result.begin(), result.end(), [](char c) { return c == 'x'; });
  std::printf("%s: the copy took %s\n", way.data(), complete ? "what was filled" : "OLD BYTES");
  CHECK(zeEventHostSynchronize(filled, UINT64_MAX));
  return complete ? 0 : 1;
} catch (const zevent::error& problem) {
  std::fprintf(stderr, "missing_wait: %s\n", problem.what());
  return 3;
}
