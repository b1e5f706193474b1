#include <array>
#include <cmath>
#include <numeric>

#include "kernel_fixture.hpp"
#include "kernels/atomics_spv.h"
#include "kernels/dimensions_spv.h"
#include "kernels/division_spv.h"
#include "kernels/float_atomics_spv.h"
#include "kernels/group_reduce_spv.h"
#include "kernels/ids_spv.h"
#include "kernels/misplaced_merges_spv.h"
#include "kernels/not_inlined_spv.h"
#include "kernels/pointer_comparisons_spv.h"
#include "kernels/reverse_add_spv.h"
#include "kernels/vector_add_spv.h"

namespace zevent::driver::test {
namespace {

class launching : public kernel_fixture {};

TEST_F(launching, compares_pointers) {
  auto* numbers = shared_memory<uint64_t>(16);
  const auto kernel = kernel_of(module_of(pointer_comparisons_spv), "compare_pointers");
  const auto compare = [&](uint64_t* a, uint64_t* b) {
    set_all(kernel, a, b, numbers);
    run(kernel, 1, 1);
    return std::vector(numbers, numbers + 3);
  };
  EXPECT_EQ(compare(numbers + 4, numbers + 4), (std::vector<uint64_t>{1, 0, 0}));
  EXPECT_EQ(compare(numbers + 9, numbers + 4), (std::vector<uint64_t>{0, 1, 5}));
  EXPECT_EQ(compare(numbers + 4, numbers + 9), (std::vector<uint64_t>{0, 1, uint64_t(-5)}));
}

TEST_F(launching, runs_loops_whose_merge_is_written_twice) {
  auto* sum = shared_memory<uint64_t>(1);
  const auto kernel = kernel_of(module_of(misplaced_merges_spv), "sum_below");
  set_all(kernel, uint64_t{10}, sum);
  run(kernel, 1, 1);
  EXPECT_EQ(*sum, 45u);
}

TEST_F(launching, adds_two_vectors) {
  constexpr uint32_t count = 1000;
  auto* a = shared_memory<float>(count);
  auto* b = shared_memory<float>(count);
  auto* sum = shared_memory<float>(count + 24);
  for (uint32_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  std::fill(sum, sum + count + 24, -1.0F);
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, a, b, sum, count);
  run(kernel, 64, 16);
  for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(sum[i], static_cast<float>(3 * i)) << i;
  for (uint32_t i = count; i < count + 24; ++i) EXPECT_EQ(sum[i], -1.0F) << "past the end: " << i;
}

TEST_F(launching, works_on_plain_memory_and_on_interior_pointers) {
  std::vector<float> a(40, 1.5F), b(40, 2.5F), sum(40, 0.0F);
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, a.data() + 8, b.data() + 8, sum.data() + 8, uint32_t{16});
  run(kernel, 16, 1);
  EXPECT_EQ(sum[7], 0.0F);
  EXPECT_EQ(sum[8], 4.0F);
  EXPECT_EQ(sum[23], 4.0F);
  EXPECT_EQ(sum[24], 0.0F);
}

TEST_F(launching, groups_share_local_memory_and_meet_at_barriers) {
  constexpr uint32_t groups = 5, size = 64;
  auto* in = shared_memory<int>(groups * size);
  auto* out = shared_memory<int>(groups);
  std::iota(in, in + groups * size, 0);
  const auto module = module_of(group_reduce_spv);
  for (const char* name : {"sum_in_argument", "sum_in_variable"}) {
    SCOPED_TRACE(name);
    const auto kernel = kernel_of(module, name);
    set_all(kernel, in, out);
    if (name == std::string("sum_in_argument")) set_local(kernel, 2, size * sizeof(int));
    run(kernel, size, groups);
    for (uint32_t group = 0; group < groups; ++group) {
      const int first = static_cast<int>(group * size);
      const int expected = std::accumulate(in + first, in + first + size, 0);
      EXPECT_EQ(out[group], expected) << "group " << group;
      out[group] = -1;
    }
  }
}

TEST_F(launching, functions_that_ask_not_to_be_inlined_know_their_group_and_meet_at_barriers) {
  constexpr uint32_t groups = 3, size = 8;
  auto* in = shared_memory<int>(groups * size);
  auto* out = shared_memory<int>(groups * size);
  std::iota(in, in + groups * size, 0);
  const auto kernel = kernel_of(module_of(not_inlined_spv), "call_functions");
  set_all(kernel, in, out);
  set_local(kernel, 2, size * sizeof(int));
  run(kernel, size, groups);
  for (uint32_t i = 0; i < groups * size; ++i) {
    const int group = static_cast<int>(i / size);
    const int first = group * static_cast<int>(size) + group * 1000;
    EXPECT_EQ(out[i], static_cast<int>(i) + group * 1000 + first) << i;
  }
}

TEST_F(launching, one_compiled_kernel_serves_every_group_size) {
  auto* in = shared_memory<int>(256);
  auto* out = shared_memory<int>(256);
  std::fill(in, in + 256, 1);
  const auto kernel = kernel_of(module_of(group_reduce_spv), "sum_in_variable");
  set_all(kernel, in, out);
  for (uint32_t size : {2U, 3U, 17U, 64U, 100U, 256U}) {
    run(kernel, size, 1);
    EXPECT_EQ(out[0], static_cast<int>(size));
  }
}

TEST_F(launching, a_long_kernel_computes_the_same_as_the_host) {
  constexpr int64_t count = 100'000;
  constexpr int rounds = 50;
  auto* in = shared_memory<int>(count);
  auto* out = shared_memory<int>(count);
  for (int64_t i = 0; i < count; ++i) in[i] = static_cast<int>(i * 7 % 1000);
  const auto kernel = kernel_of(module_of(reverse_add_spv), "add_count_reverse");
  set_all(kernel, in, out, count, rounds);
  run(kernel, 256, 512);
  for (int64_t i = 0; i < count; i += 991) {
    const int expected = in[count - 1 - i] * rounds + rounds * (rounds - 1) / 2;
    ASSERT_EQ(out[i], expected) << i;
  }
  EXPECT_EQ(out[count - 1], in[0] * rounds + rounds * (rounds - 1) / 2);
}

TEST_F(launching, three_dimensions_and_a_global_offset_reach_the_kernel) {
  constexpr uint64_t size[3] = {2, 3, 4}, groups[3] = {3, 2, 2}, offset[3] = {100, 20, 3};
  constexpr uint64_t width = size[0] * groups[0], height = size[1] * groups[1],
                     depth = size[2] * groups[2];
  auto* out = shared_memory<uint64_t>(16 * width * height * depth);
  const auto kernel = kernel_of(module_of(ids_spv), "record_ids");
  set_all(kernel, out);
  ASSERT_EQ(zeKernelSetGlobalOffsetExp(kernel, 100, 20, 3), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 2, 3, 4), ZE_RESULT_SUCCESS);
  run(kernel, ze_group_count_t{3, 2, 2});
  for (uint64_t z = 0; z < depth; ++z) {
    for (uint64_t y = 0; y < height; ++y) {
      for (uint64_t x = 0; x < width; ++x) {
        const uint64_t position[3] = {x, y, z};
        const uint64_t* own = out + 16 * ((z * height + y) * width + x);
        for (size_t axis = 0; axis < 3; ++axis) {
          ASSERT_EQ(own[axis], position[axis] + offset[axis]) << "global id " << axis;
          ASSERT_EQ(own[3 + axis], position[axis] % size[axis]) << "local id " << axis;
          ASSERT_EQ(own[6 + axis], position[axis] / size[axis]) << "group id " << axis;
          ASSERT_EQ(own[9 + axis], offset[axis]) << "offset " << axis;
          ASSERT_EQ(own[12 + axis], groups[axis]) << "group count " << axis;
        }
        ASSERT_EQ(own[15], 20304U);
      }
    }
  }
}

TEST_F(launching, a_dimension_that_is_not_there_has_ids_of_zero_and_a_size_of_one) {
  constexpr uint32_t items = 6;
  auto* out = shared_memory<uint64_t>(16 * items);
  const auto kernel = kernel_of(module_of(dimensions_spv), "record_dimension");
  const auto expect = [&](uint32_t dimension, std::array<uint64_t, 8> expected) {
    set_all(kernel, out, dimension);
    run(kernel, 3, 2);
    for (size_t i = 0; i < 8; ++i) {
      const uint64_t* last = out + 16 * (items - 1);
      EXPECT_EQ(last[i], expected[i]) << "built-in " << i << " of dimension " << dimension;
      EXPECT_EQ(last[8 + i], i < 4 ? 0U : 1U) << "built-in " << i << " of a constant dimension";
    }
  };
  expect(0, {5, 2, 1, 0, 6, 3, 2, 3});
  for (const uint32_t dimension : {1U, 2U, 3U, 4U, 7U, 0x8000'0000U, 0xffff'ffffU}) {
    expect(dimension, {0, 0, 0, 0, 1, 1, 1, 1});
  }
}

TEST_F(launching, zero_groups_complete_and_signal_without_running) {
  auto* out = shared_memory<uint64_t>(16);
  out[0] = 77;
  const auto kernel = kernel_of(module_of(ids_spv), "record_ids");
  set_all(kernel, out);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 1, 1, 1), ZE_RESULT_SUCCESS);
  const auto done = regular_event();
  const auto list = immediate_list();
  for (const ze_group_count_t groups : {ze_group_count_t{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}) {
    ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &groups, done, 0, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostReset(done), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(out[0], 77U);
}

TEST_F(launching, an_append_takes_a_copy_of_the_arguments_and_the_shape) {
  auto* a = shared_memory<float>(64);
  auto* sums = shared_memory<float>(128);
  std::fill(a, a + 64, 1.0F);
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  const auto list = regular_list();
  const ze_group_count_t one = {1, 1, 1};
  set_all(kernel, a, a, sums, uint32_t{64});
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 64, 1, 1), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  set_all(kernel, a, a, sums + 64, uint32_t{64});
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 8, 1, 1), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  set_all(kernel, a, a, static_cast<float*>(nullptr), uint32_t{0});
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  const auto on = queue();
  for (int round = 0; round < 2; ++round) {
    std::fill(sums, sums + 128, 0.0F);
    auto executed = list;
    ASSERT_EQ(zeCommandQueueExecuteCommandLists(on, 1, &executed, nullptr), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
    EXPECT_EQ(std::count(sums, sums + 64, 2.0F), 64);
    EXPECT_EQ(std::count(sums + 64, sums + 128, 2.0F), 8);
  }
}

TEST_F(launching, a_destroyed_kernel_and_module_serve_what_is_in_flight) {
  auto* a = shared_memory<float>(64);
  std::fill(a, a + 64, 1.0F);
  ze_module_handle_t module = nullptr;
  const ze_module_desc_t desc = spirv_desc(vector_add_spv);
  ASSERT_EQ(zeModuleCreate(context_, device_, &desc, &module, nullptr), ZE_RESULT_SUCCESS);
  const ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "vector_add"};
  ze_kernel_handle_t kernel = nullptr;
  ASSERT_EQ(zeKernelCreate(module, &kernel_desc, &kernel), ZE_RESULT_SUCCESS);
  set_all(kernel, a, a, a, uint32_t{64});
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 64, 1, 1), ZE_RESULT_SUCCESS);
  auto gate = regular_event();
  const auto list = in_order_list();
  const ze_group_count_t one = {1, 1, 1};
  ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 1, &gate),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeKernelDestroy(kernel), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeModuleDestroy(module), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::count(a, a + 64, 2.0F), 64);
}

TEST_F(launching, indirect_launches_read_their_group_counts_when_they_run) {
  auto* a = shared_memory<float>(64);
  auto* sum = shared_memory<float>(64);
  auto* groups = shared_memory<ze_group_count_t>(1);
  std::fill(a, a + 64, 1.0F);
  std::fill(sum, sum + 64, 0.0F);
  *groups = {0, 0, 0};
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, a, a, sum, uint32_t{64});
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 8, 1, 1), ZE_RESULT_SUCCESS);
  auto gate = regular_event();
  const auto list = in_order_list();
  ASSERT_EQ(zeCommandListAppendLaunchKernelIndirect(list, kernel, groups, nullptr, 1, &gate),
            ZE_RESULT_SUCCESS);
  *groups = {3, 1, 1};
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::count(sum, sum + 64, 2.0F), 24);
}

TEST_F(launching, several_kernels_launch_as_many_as_the_count_in_memory_says) {
  auto* a = shared_memory<float>(16);
  auto* sums = shared_memory<float>(48);
  auto* groups = shared_memory<ze_group_count_t>(3);
  auto* count = shared_memory<uint32_t>(1);
  std::fill(a, a + 16, 1.0F);
  std::fill(sums, sums + 48, 0.0F);
  const auto module = module_of(vector_add_spv);
  std::vector<ze_kernel_handle_t> kernels;
  for (uint32_t i = 0; i < 3; ++i) {
    kernels.push_back(kernel_of(module, "vector_add"));
    set_all(kernels[i], a, a, sums + 16 * i, uint32_t{16});
    ASSERT_EQ(zeKernelSetGroupSize(kernels[i], 4, 1, 1), ZE_RESULT_SUCCESS);
    groups[i] = {i + 1, 1, 1};
  }
  *count = 2;
  const auto list = in_order_list();
  ASSERT_EQ(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 3, kernels.data(), count, groups,
                                                             nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::count(sums, sums + 16, 2.0F), 4);
  EXPECT_EQ(std::count(sums + 16, sums + 32, 2.0F), 8);
  EXPECT_EQ(std::count(sums + 32, sums + 48, 2.0F), 0);
}

TEST_F(launching, arguments_can_come_with_the_launch) {
  constexpr uint32_t groups = 2, size = 32;
  auto* in = shared_memory<int>(groups * size);
  auto* out = shared_memory<int>(groups);
  std::fill(in, in + groups * size, 3);
  const auto kernel = kernel_of(module_of(group_reduce_spv), "sum_in_argument");
  size_t local_bytes = size * sizeof(int);
  void* arguments[] = {&in, &out, &local_bytes};
  const auto list = in_order_list();
  ASSERT_EQ(zeCommandListAppendLaunchKernelWithArguments(list, kernel, {groups, 1, 1}, {size, 1, 1},
                                                         arguments, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(out[0], 96);
  EXPECT_EQ(out[1], 96);
  EXPECT_EQ(zeCommandListAppendLaunchKernelWithArguments(list, kernel, {groups, 1, 1}, {size, 1, 1},
                                                         nullptr, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "a kernel with arguments, and none given";
}

TEST_F(launching, groups_of_a_cooperative_launch_can_wait_for_one_another) {
  const auto kernel = kernel_of(module_of(atomics_spv), "meet");
  uint32_t most = 0;
  ASSERT_EQ(zeKernelSuggestMaxCooperativeGroupCount(kernel, &most), ZE_RESULT_SUCCESS);
  ASSERT_GE(most, 4U);
  const uint32_t groups = std::min(most, 8U);
  auto* arrived = shared_memory<int>(1);
  auto* seen = shared_memory<int>(groups);
  *arrived = 0;
  set_all(kernel, arrived, seen);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 1, 1, 1), ZE_RESULT_SUCCESS);
  const auto list = in_order_list();
  const ze_group_count_t count = {groups, 1, 1};
  ASSERT_EQ(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &count, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  for (uint32_t i = 0; i < groups; ++i) EXPECT_EQ(seen[i], static_cast<int>(groups));

  *arrived = 0;
  const ze_command_list_append_launch_kernel_param_cooperative_desc_t cooperative = {
      ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, nullptr, true};
  ASSERT_EQ(zeCommandListAppendLaunchKernelWithParameters(list, kernel, &count, &cooperative,
                                                          nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);

  const ze_group_count_t too_many = {most + 1, 1, 1};
  EXPECT_EQ(
      zeCommandListAppendLaunchCooperativeKernel(list, kernel, &too_many, nullptr, 0, nullptr),
      ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(launching, atomics_count_every_work_item) {
  constexpr uint32_t size = 128, groups = 300;
  auto* total = shared_memory<int>(1);
  auto* wide = shared_memory<int64_t>(1);
  *total = 0;
  const auto module = module_of(atomics_spv);
  const auto kernel = kernel_of(module, "count_up");
  set_all(kernel, total, wide);
  set_local(kernel, 2, sizeof(int));
  run(kernel, size, groups);
  EXPECT_EQ(*total, static_cast<int>(size * groups));

  *total = 0;
  const auto generic = kernel_of(module, "generic_count_up");
  set_all(generic, total);
  run(generic, size, groups);
  EXPECT_EQ(*total, static_cast<int>(2 * size * groups));
}

TEST_F(launching, atomics_on_floating_point_numbers_lose_nothing) {
  constexpr uint32_t groups = 20'000;
  auto* floats = shared_memory<float>(2);
  auto* doubles = shared_memory<double>(2);
  auto* halves = shared_memory<uint16_t>(4);
  floats[0] = floats[1] = 0;
  doubles[0] = std::nan("");  // gives way to any number
  doubles[1] = -1;
  std::fill(halves, halves + 4, uint16_t{0x1234});
  const auto kernel = kernel_of(module_of(float_atomics_spv), "float_atomics");
  set_all(kernel, floats, doubles, halves);
  set_local(kernel, 3, sizeof(float));
  run(kernel, 1, groups);
  EXPECT_EQ(floats[0], float{groups});
  EXPECT_EQ(floats[1], 3.0F);
  EXPECT_EQ(doubles[0], 0);
  EXPECT_EQ(doubles[1], groups - 1);
  const uint16_t one_and_a_half = 0x3e00;
  EXPECT_EQ(std::vector(halves, halves + 4),
            (std::vector<uint16_t>{one_and_a_half, one_and_a_half, 0x1234, 0x1234}));

  ze_float_atomic_ext_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES;
  ze_device_module_properties_t module_properties = {};
  module_properties.pNext = &properties;
  ASSERT_EQ(zeDeviceGetModuleProperties(device_, &module_properties), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(properties.fp32Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD);
  EXPECT_TRUE(properties.fp64Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX);
  EXPECT_TRUE(properties.fp16Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE);
  EXPECT_FALSE(properties.fp16Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD);
}

TEST_F(launching, divisions_that_have_no_result_do_not_end_the_process) {
  constexpr uint32_t count = 6;
  const int dividends[count] = {7, -7, INT32_MIN, INT32_MIN, 0, 9};
  const int divisors[count] = {2, 2, -1, 0, 0, 0};
  auto* a = shared_memory<int>(count);
  auto* b = shared_memory<int>(count);
  auto* quotient = shared_memory<int>(count);
  auto* rest = shared_memory<int>(count);
  auto* whole = shared_memory<uint32_t>(count);
  std::copy(dividends, dividends + count, a);
  std::copy(divisors, divisors + count, b);
  const auto module = module_of(division_spv);
  const auto kernel = kernel_of(module, "divide");
  set_all(kernel, a, b, quotient, rest, whole);
  run(kernel, count, 1);
  EXPECT_EQ(quotient[0], 3);
  EXPECT_EQ(rest[0], 1);
  EXPECT_EQ(quotient[1], -3);
  EXPECT_EQ(rest[1], -1);
  EXPECT_EQ(whole[1], (UINT32_MAX - 6) / 2);

  const auto vectors = kernel_of(module, "divide_vectors");
  set_all(vectors, a, b, quotient);
  run(vectors, 1, 1);
  EXPECT_EQ(quotient[0], 3);
  EXPECT_EQ(quotient[1], -3);
}

TEST_F(launching, powers_to_a_constant_are_those_of_the_host) {
  auto* out = shared_memory<float>(5);
  const auto kernel = kernel_of(module_of(division_spv), "raise_to_powers");
  for (const float x : {0.0F, -0.0F, 1.5F, -3.0F, 1e30F, -1e-30F, INFINITY, -INFINITY}) {
    set_all(kernel, x, out);
    run(kernel, 1, 1);
    const int powers[] = {1, 2, 3, 13, -2};
    for (int i = 0; i < 5; ++i) {
      const float expected = static_cast<float>(std::pow(double{x}, powers[i]));
      EXPECT_FLOAT_EQ(out[i], expected) << x << " to the power of " << powers[i];
      EXPECT_EQ(std::signbit(out[i]), std::signbit(expected));
    }
  }
}

TEST_F(launching, several_lists_run_kernels_at_the_same_time) {
  constexpr uint32_t count = 4096, lists = 4, rounds = 20;
  auto* a = shared_memory<float>(count);
  std::fill(a, a + count, 1.0F);
  const auto module = module_of(vector_add_spv);
  std::vector<std::thread> threads;
  std::vector<float*> sums;
  std::vector<ze_kernel_handle_t> kernels;
  std::vector<ze_command_list_handle_t> targets;
  for (uint32_t i = 0; i < lists; ++i) {
    sums.push_back(shared_memory<float>(count));
    kernels.push_back(kernel_of(module, "vector_add"));
    targets.push_back(in_order_list());
  }
  for (uint32_t i = 0; i < lists; ++i) {
    threads.emplace_back([&, i] {
      set_all(kernels[i], a, a, sums[i], count);
      EXPECT_EQ(zeKernelSetGroupSize(kernels[i], 64, 1, 1), ZE_RESULT_SUCCESS);
      const ze_group_count_t groups = {count / 64, 1, 1};
      for (uint32_t round = 0; round < rounds; ++round) {
        EXPECT_EQ(
            zeCommandListAppendLaunchKernel(targets[i], kernels[i], &groups, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
      }
      EXPECT_EQ(zeCommandListHostSynchronize(targets[i], forever), ZE_RESULT_SUCCESS);
    });
  }
  for (std::thread& each : threads) each.join();
  for (const float* sum : sums) EXPECT_EQ(std::count(sum, sum + count, 2.0F), int{count});
}

}  // namespace
}  // namespace zevent::driver::test
