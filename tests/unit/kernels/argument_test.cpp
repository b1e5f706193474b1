#include <algorithm>
#include <array>

#include "kernel_fixture.hpp"
#include "kernels/arguments_spv.h"
#include "kernels/vector_add_spv.h"

namespace zevent::driver::test {
namespace {

class kernel_arguments : public kernel_fixture {};

TEST_F(kernel_arguments, numbers_of_every_width_arrive) {
  auto* out = shared_memory<double>(10);
  const auto kernel = kernel_of(module_of(arguments_spv), "by_value");
  set_all(kernel, out, int8_t{-5}, uint8_t{200}, int16_t{-300}, uint16_t{60000}, int32_t{-70000},
          uint32_t{4'000'000'000}, int64_t{-5'000'000'000}, uint64_t{1} << 40, 0.5F, 0.25);
  run(kernel, 1, 1);
  const double expected[] = {-5, 200, -300, 60000, -70000, 4e9, -5e9, 1099511627776.0, 0.5, 0.25};
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(out[i], expected[i]) << "argument " << i + 1;
}

// As with Intel's driver: the launch is accepted, and what was never set is zero.
TEST_F(kernel_arguments, that_were_never_set_are_zero) {
  auto* out = shared_memory<double>(10);
  std::fill(out, out + 10, -1.0);
  const auto kernel = kernel_of(module_of(arguments_spv), "by_value");
  set(kernel, 0, out);
  run(kernel, 1, 1);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(out[i], 0) << "argument " << i + 1;
}

TEST_F(kernel_arguments, that_were_never_set_at_all_do_no_harm_where_they_are_not_used) {
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  run(kernel, 64, 4);  // of 0 items
}

TEST_F(kernel_arguments, vectors_arrive_and_one_of_three_comes_in_two_sizes) {
  auto* out = shared_memory<float>(4);
  const auto kernel = kernel_of(module_of(arguments_spv), "vectors");
  const std::array<float, 4> four = {1, 2, 3, 4};
  std::array<float, 16> sixteen = {};
  sixteen[0] = 10;
  sixteen[15] = 20;
  set_all(kernel, out, std::array<float, 2>{1, 2}, std::array<float, 3>{1, 2, 3}, four, sixteen);
  run(kernel, 1, 1);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 6);
  EXPECT_EQ(out[2], 10);
  EXPECT_EQ(out[3], 30);
  set(kernel, 2, std::array<float, 4>{2, 3, 4, 99});
  run(kernel, 1, 1);
  EXPECT_EQ(out[1], 9);
}

TEST_F(kernel_arguments, a_struct_is_passed_by_value) {
  struct item {
    int8_t tag;
    double weight;
    int32_t counts[3];
    int16_t last;
  };
  auto* out = shared_memory<double>(5);
  const auto kernel = kernel_of(module_of(arguments_spv), "structure");
  set_all(kernel, out, item{'x', 2.5, {1, 2, 3}, -9}, int32_t{11});
  run(kernel, 1, 1);
  EXPECT_EQ(out[0], 'x');
  EXPECT_EQ(out[1], 2.5);
  EXPECT_EQ(out[2], 6);
  EXPECT_EQ(out[3], -9);
  EXPECT_EQ(out[4], 11);
}

TEST_F(kernel_arguments, a_pointer_is_null_however_that_is_said) {
  auto* out = shared_memory<int>(3);
  int value = 5;
  const auto kernel = kernel_of(module_of(arguments_spv), "null_pointers");
  void* const null = nullptr;
  set_all(kernel, out, &value, &value);
  run(kernel, 1, 1);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], 5);
  const auto expect_null = [&] {
    run(kernel, 1, 1);
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], 1);
    set_all(kernel, out, &value, &value);
  };
  for (const uint32_t index : {1U, 2U}) set(kernel, index, null);
  expect_null();
  for (const uint32_t index : {1U, 2U}) {
    ASSERT_EQ(zeKernelSetArgumentValue(kernel, index, 8, nullptr), ZE_RESULT_SUCCESS);
  }
  expect_null();
  for (const uint32_t index : {1U, 2U}) {
    ASSERT_EQ(zeKernelSetArgumentValue(kernel, index, 0, nullptr), ZE_RESULT_SUCCESS);
  }
  expect_null();
}

TEST_F(kernel_arguments, local_pointers_are_apart_and_aligned) {
  auto* out = shared_memory<uint64_t>(4);
  const auto kernel = kernel_of(module_of(arguments_spv), "many_locals");
  set_local(kernel, 0, 3);
  set_local(kernel, 1, 5 * sizeof(int));
  set_local(kernel, 2, sizeof(double));
  set(kernel, 3, out);
  run(kernel, 1, 1);
  EXPECT_EQ(out[0] + out[1] + out[2], 0U);
  EXPECT_EQ(out[3], 6U);
}

TEST_F(kernel_arguments, kernels_follow_pointers_in_memory) {
  auto* numbers = shared_memory<int>(3);
  auto* table = shared_memory<int*>(3);
  auto* out = shared_memory<int>(1);
  for (int i = 0; i < 3; ++i) {
    numbers[i] = 10 * (i + 1);
    table[i] = numbers + i;
  }
  const auto kernel = kernel_of(module_of(arguments_spv), "through_pointer");
  ASSERT_EQ(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED),
            ZE_RESULT_SUCCESS);
  set_all(kernel, table, uint32_t{3}, out);
  run(kernel, 1, 1);
  EXPECT_EQ(*out, 60);
}

TEST_F(kernel_arguments, a_number_may_come_narrower_or_wider_than_it_is) {
  auto* out = shared_memory<double>(10);
  const auto kernel = kernel_of(module_of(arguments_spv), "by_value");
  set(kernel, 0, out);
  set(kernel, 8, UINT64_MAX);
  set(kernel, 8, uint32_t{123});
  set(kernel, 5, uint64_t{77} | uint64_t{1} << 32);
  run(kernel, 1, 1);
  EXPECT_EQ(out[7], 123);
  EXPECT_EQ(out[4], 77);
}

TEST_F(kernel_arguments, an_argument_that_does_not_exist_or_fit_is_refused) {
  const auto kernel = kernel_of(module_of(arguments_spv), "by_value");
  const uint64_t value[2] = {};
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 11, 8, &value),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 0, 4, &value),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 5, 16, &value),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  EXPECT_EQ(zeKernelSetArgumentValue(kernel, 5, 0, &value),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
}

TEST_F(kernel_arguments, more_local_memory_than_there_is_is_refused_when_launched) {
  ze_device_compute_properties_t compute = {};
  ASSERT_EQ(zeDeviceGetComputeProperties(device_, &compute), ZE_RESULT_SUCCESS);
  auto* out = shared_memory<uint64_t>(4);
  const auto kernel = kernel_of(module_of(arguments_spv), "many_locals");
  set(kernel, 3, out);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 1, 1, 1), ZE_RESULT_SUCCESS);
  const ze_group_count_t one = {1, 1, 1};
  const auto list = regular_list();
  const size_t just_too_much = size_t{compute.maxSharedLocalMemory} + 1;
  for (const size_t bytes : {just_too_much, SIZE_MAX - 100, SIZE_MAX, SIZE_MAX / 2 + 1}) {
    set_local(kernel, 0, bytes);
    EXPECT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 0, nullptr),
              ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        << bytes;
  }
  set_local(kernel, 1, SIZE_MAX / 2 + 1);  // twice that is nothing, in 64 bits
  EXPECT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(kernel_arguments, group_sizes_are_checked) {
  ze_device_compute_properties_t compute = {};
  ASSERT_EQ(zeDeviceGetComputeProperties(device_, &compute), ZE_RESULT_SUCCESS);
  const auto module = module_of(arguments_spv);
  const auto kernel = kernel_of(module, "by_value");
  const uint32_t most = compute.maxTotalGroupSize;
  EXPECT_EQ(zeKernelSetGroupSize(kernel, most, 1, 1), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeKernelSetGroupSize(kernel, 1, compute.maxGroupSizeY, 1), ZE_RESULT_SUCCESS);
  for (const auto& [x, y, z] : {std::tuple{most + 1, 1U, 1U},
                                {most, 2U, 1U},
                                {0U, 1U, 1U},
                                {1U, 0U, 1U},
                                {1U, 1U, 0U},
                                {65536U, 65536U, 1U}}) {
    EXPECT_EQ(zeKernelSetGroupSize(kernel, x, y, z), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION)
        << x << ' ' << y << ' ' << z;
  }
  const auto fixed = kernel_of(module, "fixed_size");
  EXPECT_EQ(zeKernelSetGroupSize(fixed, 8, 2, 1), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeKernelSetGroupSize(fixed, 4, 2, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
}

TEST_F(kernel_arguments, suggested_group_sizes_divide_the_global_size) {
  const auto module = module_of(arguments_spv);
  const auto kernel = kernel_of(module, "by_value");
  for (const auto& [x, y, z] : {std::tuple{1U, 1U, 1U},
                                {1000U, 1U, 1U},
                                {7U, 11U, 13U},
                                {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                {1U, 1U, 4096U}}) {
    uint32_t size[3] = {};
    ASSERT_EQ(zeKernelSuggestGroupSize(kernel, x, y, z, &size[0], &size[1], &size[2]),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(x % size[0], 0U);
    EXPECT_EQ(y % size[1], 0U);
    EXPECT_EQ(z % size[2], 0U);
    EXPECT_EQ(zeKernelSetGroupSize(kernel, size[0], size[1], size[2]), ZE_RESULT_SUCCESS);
  }
  uint32_t size[3] = {};
  EXPECT_EQ(zeKernelSuggestGroupSize(kernel, 0, 1, 1, &size[0], &size[1], &size[2]),
            ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
  const auto fixed = kernel_of(module, "fixed_size");
  ASSERT_EQ(zeKernelSuggestGroupSize(fixed, 64, 64, 1, &size[0], &size[1], &size[2]),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(size[0], 8U);
  EXPECT_EQ(size[1], 2U);
}

TEST_F(kernel_arguments, a_kernel_with_a_required_group_size_runs_in_it) {
  auto* out = shared_memory<int>(64);
  const auto kernel = kernel_of(module_of(arguments_spv), "fixed_size");
  set_all(kernel, out);
  run(kernel, ze_group_count_t{2, 2, 1});
  EXPECT_EQ(std::count(out, out + 64, 1), 64);
}

TEST_F(kernel_arguments, a_kernel_tells_what_it_is) {
  const auto module = module_of(arguments_spv);
  const auto kernel = kernel_of(module, "fixed_size");
  ze_kernel_max_group_size_properties_ext_t largest = {};
  largest.stype = ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES;
  ze_kernel_preferred_group_size_properties_t preferred = {};
  preferred.stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES;
  preferred.pNext = &largest;
  ze_kernel_properties_t properties = {};
  properties.pNext = &preferred;
  ASSERT_EQ(zeKernelGetProperties(kernel, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.numKernelArgs, 1U);
  EXPECT_EQ(properties.requiredGroupSizeX, 8U);
  EXPECT_EQ(properties.requiredGroupSizeY, 2U);
  EXPECT_EQ(properties.requiredGroupSizeZ, 1U);
  EXPECT_GT(preferred.preferredMultiple, 0U);
  EXPECT_GE(largest.maxGroupSize, 16U);

  size_t size = 0;
  ASSERT_EQ(zeKernelGetName(kernel, &size, nullptr), ZE_RESULT_SUCCESS);
  std::string name(size, '\0');
  ASSERT_EQ(zeKernelGetName(kernel, &size, name.data()), ZE_RESULT_SUCCESS);
  EXPECT_STREQ(name.c_str(), "fixed_size");

  ASSERT_EQ(zeKernelGetProperties(kernel_of(module, "many_values"), &properties),
            ZE_RESULT_SUCCESS);
  EXPECT_GT(properties.spillMemSize, 0U);

  uint32_t length = 0;
  const auto hinted = kernel_of(module, "hinted");
  ASSERT_EQ(zeKernelGetSourceAttributes(hinted, &length, nullptr), ZE_RESULT_SUCCESS);
  std::string attributes(length, '\0');
  char* place = attributes.data();
  ASSERT_EQ(zeKernelGetSourceAttributes(hinted, &length, &place), ZE_RESULT_SUCCESS);
  EXPECT_STREQ(attributes.c_str(), "work_group_size_hint(4,1,1)");

  ze_kernel_indirect_access_flags_t flags = 0;
  ASSERT_EQ(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeKernelGetIndirectAccess(kernel, &flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(flags, uint32_t{ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST});
  EXPECT_EQ(zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM), ZE_RESULT_SUCCESS);
}

TEST_F(kernel_arguments, a_kernel_does_not_launch_on_a_copy_only_list) {
  uint32_t count = 0;
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(device_, &count, nullptr), ZE_RESULT_SUCCESS);
  std::vector<ze_command_queue_group_properties_t> groups(count);
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(device_, &count, groups.data()),
            ZE_RESULT_SUCCESS);
  const auto kernel = kernel_of(module_of(arguments_spv), "hinted");
  const ze_group_count_t one = {1, 1, 1};
  for (uint32_t i = 0; i < count; ++i) {
    if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0) continue;
    const auto list = immediate_list(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, i);
    EXPECT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &one, nullptr, 0, nullptr),
              ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  }
}

}  // namespace
}  // namespace zevent::driver::test
