// Copies a tile out of a cube and waits for it, with one call that is right on every kind of list.
#include <zevent/append_strided_copy.hpp>
#include <zevent/event_pool.hpp>

#include <cstdio>
#include <vector>

#include "example_device.hpp"

int main() try {
  const auto at = example::first_device();
  const auto list = example::immediate_list(at, example::order::unordered);

  // A cube of 64 x 64 x 64 floats, and a tile of 8 x 16 x 32 of them, packed.
  constexpr int64_t side = 64;
  std::vector<float> cube(side * side * side);
  for (size_t i = 0; i < cube.size(); ++i) cube[i] = static_cast<float>(i);
  std::vector<float> tile(8 * 16 * 32);

  constexpr int64_t element = sizeof(float);
  const uint64_t extents[] = {8, 16, 32};
  const int64_t in_cube[] = {side * side * element, side * element, element};
  const int64_t in_tile[] = {16 * 32 * element, 32 * element, element};
  const zevent::copy_plan plan = zevent::plan_strided_copy({extents, in_cube, in_tile, element});
  std::printf("%llu bytes in %llu operation(s)\n",
              static_cast<unsigned long long>(plan.total_bytes()),
              static_cast<unsigned long long>(plan.operation_count()));

  // From (z, y, x) = (3, 5, 7). The event says that all of it is there.
  zevent::event_pool events(at.context, at.device);
  const zevent::event copied = events.acquire();
  const float* corner = &cube[(3 * side + 5) * side + 7];
  zevent::append_strided_copy(list, tile.data(), corner, plan, {.signal = copied});
  copied.wait();

  const bool right = tile.front() == *corner && tile.back() == corner[(7 * side + 15) * side + 31];
  std::printf("the tile is %s\n", right ? "there" : "wrong");
  return right ? 0 : 1;
} catch (const zevent::error& failure) {
  std::fprintf(stderr, "strided_copy: %s\n", failure.what());
  return 1;
}
