// A copy that should wait for a fill and does not. The fill waits for work that takes longer than
// the software driver holds a later command back for an earlier one (50 ms), so the copy comes
// first, without chaos, too.
//
//   lost_race wrong   the copy waits for nothing
//   lost_race right   the copy waits for the fill
//
// Times of the device stand beside what is copied, and are copied, too.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include "examples/example_device.hpp"

namespace {

constexpr size_t large_bytes = 16 << 20;
constexpr std::chrono::milliseconds work_time(150);

struct piece {
  uint64_t time = 0;
  uint64_t copied_time = 0;
  uint64_t content = 0;
};

// So many take about `work_time` on this machine.
int64_t large_fills(std::vector<char>& large) {
  using clock = std::chrono::steady_clock;
  clock::duration shortest = work_time;
  for (int i = 0; i < 4; ++i) {
    const auto start = clock::now();
    std::memset(large.data(), i, large.size());
    shortest = std::min(shortest, clock::now() - start);
  }
  return std::clamp<int64_t>(work_time / shortest, 8, 4096);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc == 2 ? argv[1] : "";
  if (way != "wrong" && way != "right") return 2;
  const auto at = example::first_device();
  const auto busy = example::immediate_list(at, example::order::in_order);
  const auto filling = example::immediate_list(at, example::order::in_order);
  const auto copying = example::immediate_list(at, example::order::in_order);
  example::pool_owner pool;
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                          ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
  CHECK(zeEventPoolCreate(at.context, &pool_desc, 0, nullptr, pool.out()));
  example::event_owner worked, filled;
  ze_event_desc_t event_desc = {};
  event_desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  CHECK(zeEventCreate(pool, &event_desc, worked.out()));
  event_desc.index = 1;
  CHECK(zeEventCreate(pool, &event_desc, filled.out()));

  std::vector<char> large(large_bytes);
  piece from, to;
  const int64_t fills = large_fills(large);
  for (int64_t i = 0; i < fills; ++i) {
    const char pattern = 'x';
    const bool is_last = i + 1 == fills;
    CHECK(zeCommandListAppendMemoryFill(busy, large.data(), &pattern, 1, large_bytes,
                                        is_last ? ze_event_handle_t(worked) : nullptr, 0, nullptr));
  }
  ze_event_handle_t wait = worked;
  const char pattern = 'y';
  CHECK(zeCommandListAppendMemoryFill(filling, &from.content, &pattern, 1, sizeof from.content,
                                      filled, 1, &wait));
  CHECK(zeCommandListAppendWriteGlobalTimestamp(copying, &to.time, nullptr, 0, nullptr));
  CHECK(zeCommandListAppendMemoryCopy(copying, &to.copied_time, &to.time, sizeof to.time, nullptr,
                                      0, nullptr));
  // A time that the copy takes away.
  CHECK(zeCommandListAppendWriteGlobalTimestamp(copying, &to.content, nullptr, 0, nullptr));
  wait = filled;
  CHECK(zeCommandListAppendMemoryCopy(copying, &to.content, &from.content, sizeof to.content,
                                      nullptr, way == "right" ? 1 : 0, &wait));
  for (const auto* list : {&busy, &filling, &copying})
    CHECK(zeCommandListHostSynchronize(*list, UINT64_MAX));
  return to.time != 0 && to.time == to.copied_time ? 0 : 1;
}
