#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "fake_level_zero.hpp"
#include "zevent/counter_event.hpp"
#include "zevent/event_pool.hpp"
#include "zevent/strided_copy.hpp"

namespace {

thread_local uint64_t allocations = 0;

}  // namespace

// Not inlined: GCC would see a free of what it takes for another operator's memory.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace zevent {
namespace {

TEST(allocation, four_dimensions_are_planned_and_walked_without_any) {
  const uint64_t extents[] = {3, 7, 10, 50};
  const int64_t source_strides[] = {100000, -9000, 100, 2};
  const int64_t destination_strides[] = {100000, 9000, 100, 2};
  const uint64_t before = allocations;
  const copy_plan plan = plan_strided_copy({extents, source_strides, destination_strides, 1});
  uint64_t bytes = 0;
  for (const copy_operation& operation : plan) {
    bytes += operation.width_bytes * operation.height * operation.depth;
  }
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(bytes, plan.total_bytes());
}

TEST(allocation, recycled_events_are_taken_queried_and_given_back_without_any) {
  fake::install();
  event_pool events(fake::context(), fake::device());
  counter_event_pool counter_events(fake::context(), fake::device());
  (void)events.acquire();  // the first one is made
  const uint64_t before = allocations;
  for (int i = 0; i < 10; ++i) {
    const event e = events.acquire();
    const counter_event c = counter_events.acquire();
    EXPECT_FALSE(e.ready());
    EXPECT_TRUE(c.ready());
    EXPECT_TRUE(c.wait(std::chrono::hours(24)));
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace zevent
