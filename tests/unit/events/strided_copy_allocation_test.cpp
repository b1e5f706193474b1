#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "zevent/strided_copy.hpp"

namespace {

thread_local uint64_t allocations = 0;

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace zevent {
namespace {

TEST(strided_copy_allocation, four_dimensions_are_planned_and_walked_without_allocating) {
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

}  // namespace
}  // namespace zevent
