// A counter-based event stands for the last command that was given it, and only lists that run in
// order can signal it.
//
//   counter_wrong_list wrong   takes the refusal of a list that is not in-order for granted, and
//                              reads the result when the event, complete from its creation, says so
//   counter_wrong_list right   the same on an in-order list
#include <cstdio>
#include <string_view>

#include "example_device.hpp"

int main(int argc, char** argv) try {
  const std::string_view way = argc == 2 ? argv[1] : "";
  if (way != "wrong" && way != "right") {
    std::fprintf(stderr, "usage: counter_wrong_list wrong|right\n");
    return 2;
  }
  const auto at = example::first_device();
  const auto list = example::immediate_list(
      at, way == "right" ? example::order::in_order : example::order::unordered);
  ze_event_counter_based_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
  desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
  desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  example::event_owner done;
  CHECK(zeEventCounterBasedCreate(at.context, at.device, &desc, done.out()));

  int from = 42, to = 0;
  const ze_result_t appended =
      zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, done, 0, nullptr);
  if (way == "right") CHECK(appended);
  CHECK(zeEventHostSynchronize(done, UINT64_MAX));
  const bool arrived = to == 42;
  std::printf("%s: complete %s\n", way.data(), arrived ? "with the copy" : "WITHOUT THE COPY");
  CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
  return arrived ? 0 : 1;
} catch (const zevent::error& problem) {
  std::fprintf(stderr, "counter_wrong_list: %s\n", problem.what());
  return 3;
}
