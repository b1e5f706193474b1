// Two commands that need an order, on a list that gives them none. A copy takes what a fill has
// written; without a barrier between them it may take what was there before.
//
//   missing_barrier wrong   no barrier
//   missing_barrier right   a barrier
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "example_device.hpp"

int main(int argc, char** argv) try {
  const std::string_view way = argc == 2 ? argv[1] : "";
  if (way != "wrong" && way != "right") {
    std::fprintf(stderr, "usage: missing_barrier wrong|right\n");
    return 2;
  }
  const auto at = example::first_device();
  const auto list = example::immediate_list(at, example::order::unordered);
  constexpr size_t bytes = 64 << 10;
  const example::host_memory middle(at, bytes, 'o'), result(at, bytes, 'o');

  const char pattern = 'x';
  CHECK(
      zeCommandListAppendMemoryFill(list, middle.data(), &pattern, 1, bytes, nullptr, 0, nullptr));
  if (way == "right") CHECK(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  CHECK(zeCommandListAppendMemoryCopy(list, result.data(), middle.data(), bytes, nullptr, 0,
                                      nullptr));
  CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));

  const bool complete = std::all_of(result.begin(), result.end(), [](char c) { return c == 'x'; });
  std::printf("%s: the copy took %s\n", way.data(), complete ? "what was filled" : "OLD BYTES");
  return complete ? 0 : 1;
} catch (const zevent::error& problem) {
  std::fprintf(stderr, "missing_barrier: %s\n", problem.what());
  return 3;
}
