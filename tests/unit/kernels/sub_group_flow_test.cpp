#include <numeric>

#include "kernels/sub_group_flow_spv.h"
#include "sub_group_fixture.hpp"

namespace zevent::driver::test {
namespace {

class sub_group_flow : public sub_group_fixture {
 protected:
  ze_kernel_handle_t kernel(const char* name) {
    return kernel_of(module_of(sub_group_flow_spv), name);
  }
};

TEST_F(sub_group_flow, lets_the_first_sub_group_add_up_what_all_have_added_up) {
  const auto block_sum = kernel("block_sum");
  constexpr uint32_t groups = 5;
  for (const uint32_t size : {32u, 256u, 1024u}) {
    auto* in = shared_memory<float>(size * groups);
    auto* out = shared_memory<float>(groups);
    const auto numbers = random_numbers<float>(size * groups, -500, 500);
    std::copy(numbers.begin(), numbers.end(), in);
    set_all(block_sum, in, out);
    run(block_sum, size, groups);
    for (uint32_t g = 0; g < groups; ++g) {
      EXPECT_EQ(out[g], std::accumulate(in + g * size, in + (g + 1) * size, 0.0f)) << size;
    }
  }
}

TEST_F(sub_group_flow, keeps_the_rounds_of_loops_apart) {
  const auto rounds = kernel("rounds");
  const cut shape = {{40, 1, 1}, {3, 1, 1}};
  const auto in = random_numbers<uint32_t>(shape.items(), 0, 9);
  const auto out = columns<uint32_t, uint32_t>(rounds, shape, in, 1);
  for (const auto& part : shape.by_sub_group(32)) {
    std::vector<uint32_t> seen(part.size());
    for (uint32_t round = 0; round < 9; ++round) {
      const auto takes_part = [&](size_t item) {
        return round < in[item] && (in[item] + round) % 3 != 0;
      };
      const auto is_second = [&](size_t item) {
        return takes_part(item) && (in[item] + round) % 3 == 1;
      };
      const auto count = static_cast<uint32_t>(std::count_if(part.begin(), part.end(), takes_part));
      uint32_t greatest = 0;
      for (const size_t item : part) {
        if (is_second(item)) greatest = std::max(greatest, round + static_cast<uint32_t>(item));
      }
      for (size_t i = 0; i < part.size(); ++i) {
        if (takes_part(part[i])) seen[i] = seen[i] * 33 + count;
        if (is_second(part[i])) seen[i] += greatest;
      }
    }
    for (size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(out[part[i]], seen[i] + 7 * part.size()) << "work-item " << part[i];
    }
  }
}

TEST_F(sub_group_flow, crosses_barriers_in_loops) {
  const auto ring = kernel("ring");
  constexpr uint32_t size = 40, groups = 2, rounds = 7;
  auto* data = shared_memory<uint32_t>(size * groups);
  auto expected = random_numbers<uint32_t>(size * groups, 0, 1000);
  std::copy(expected.begin(), expected.end(), data);
  set_all(ring, data, rounds);
  set_local(ring, 2, size * sizeof(uint32_t));
  run(ring, size, groups);
  for (uint32_t g = 0; g < groups; ++g) {
    for (uint32_t round = 0; round < rounds; ++round) {
      std::rotate(&expected[g * size], &expected[g * size + 1], &expected[0] + (g + 1) * size);
      const uint32_t first = round % 3 * 16, last = std::min(first + 16, size);
      const uint32_t sum =
          std::accumulate(&expected[g * size + first], &expected[0] + g * size + last, 0u);
      for (uint32_t i = first; i < last; ++i) expected[g * size + i] += sum;
    }
  }
  EXPECT_EQ(std::vector<uint32_t>(data, data + size * groups), expected);
}

TEST_F(sub_group_flow, has_barriers_of_one_sub_group) {
  const auto reversed = kernel("reversed");
  constexpr uint32_t size = 14;
  auto* data = shared_memory<uint32_t>(size);
  std::iota(data, data + size, 0u);
  set_all(reversed, data);
  run(reversed, size, 1);
  const std::vector<uint32_t> expected = {0, 1, 2, 3, 4, 5, 6, 7, 13, 12, 11, 10, 9, 8};
  EXPECT_EQ(std::vector<uint32_t>(data, data + size), expected);
}

TEST_F(sub_group_flow, does_not_wait_for_work_items_that_are_done) {
  const auto leavers = kernel("leavers");
  constexpr uint32_t size = 40;
  const auto out = columns<uint32_t, uint32_t>(leavers, {{size, 1, 1}, {1, 1, 1}}, {}, 1);
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t there = i < 32 ? 24 : 6;
    EXPECT_EQ(out[i], i % 4 == 3 ? 99 : there + 38) << i;
  }
}

TEST_F(sub_group_flow, ends_where_work_items_wait_at_different_barriers) {
  const auto two_barriers = kernel("two_barriers");
  const auto out = columns<uint32_t, uint32_t>(two_barriers, {{64, 1, 1}, {2, 1, 1}}, {}, 1);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 16u : 5u) << i;
}

TEST_F(sub_group_flow, shares_functions_and_variables_with_kernels_that_have_none) {
  const auto module = module_of(sub_group_flow_spv);
  const auto apart = kernel_of(module, "place_apart");
  const auto together = kernel_of(module, "place_together");
  const cut shape = {{40, 1, 1}, {2, 1, 1}};
  void* variable = nullptr;
  ASSERT_EQ(zeModuleGetGlobalPointer(module, "offset_of_all", nullptr, &variable),
            ZE_RESULT_SUCCESS);
  *static_cast<uint32_t*>(variable) = 5;
  const auto place = [](uint32_t i) { return i * 100 + i % 40 + 5; };
  const auto first = columns<uint32_t, uint32_t>(apart, shape, {}, 1);
  const auto second = columns<uint32_t, uint32_t>(together, shape, {}, 1);
  for (uint32_t i = 0; i < shape.items(); ++i) {
    const uint32_t lane = i % 40 % 32;
    EXPECT_EQ(first[i], place(i - lane) * 1000 + place(i)) << i;
    EXPECT_EQ(second[i], place(i)) << i;
  }
}

TEST_F(sub_group_flow, copies_with_the_whole_group) {
  const auto copied = kernel("copied");
  constexpr uint32_t size = 20, groups = 3;
  auto* in = shared_memory<uint32_t>(size * groups * 2);
  auto* out = shared_memory<uint32_t>(size * groups);
  std::iota(in, in + size * groups * 2, 0u);
  set_all(copied, in, out);
  set_local(copied, 2, size * sizeof(uint32_t));
  run(copied, size, groups);
  for (uint32_t i = 0; i < size * groups; ++i) EXPECT_EQ(out[i], 2 * i + 1);
}

TEST_F(sub_group_flow, lets_work_items_take_turns) {
  const auto by_turns = kernel("by_turns");
  const cut shape = {{64, 1, 1}, {1, 1, 1}};
  const auto in = random_numbers<uint32_t>(shape.items(), 0, 5);
  const auto out = columns<uint32_t, uint32_t>(by_turns, shape, in, 1);
  for (const auto& part : shape.by_sub_group(32)) {
    std::vector<uint32_t> numbers;
    for (const size_t item : part) {
      if (std::find(numbers.begin(), numbers.end(), in[item]) == numbers.end()) {
        numbers.push_back(in[item]);
      }
    }
    for (const size_t item : part) {
      const auto turn = std::find(numbers.begin(), numbers.end(), in[item]) - numbers.begin() + 1;
      const auto count = std::count_if(part.begin(), part.end(),
                                       [&](size_t other) { return in[other] == in[item]; });
      EXPECT_EQ(out[item], turn * 1000 + count) << item;
    }
  }
}

TEST_F(sub_group_flow, is_the_same_in_many_groups_at_once) {
  const auto block_sum = kernel("block_sum");
  constexpr uint32_t size = 128, groups = 500;
  auto* in = shared_memory<float>(size * groups);
  auto* out = shared_memory<float>(groups);
  for (uint32_t i = 0; i < size * groups; ++i) in[i] = static_cast<float>(i % 7);
  set_all(block_sum, in, out);
  run(block_sum, size, groups);
  for (uint32_t g = 0; g < groups; ++g) {
    ASSERT_EQ(out[g], std::accumulate(in + g * size, in + (g + 1) * size, 0.0f)) << g;
  }
}

TEST_F(sub_group_flow, is_refused_to_sub_groups_that_no_mask_of_lanes_holds) {
  const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "too_large"};
  ze_kernel_handle_t made = nullptr;
  EXPECT_EQ(zeKernelCreate(module_of(sub_group_flow_spv), &desc, &made),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(sub_group_flow, is_the_same_in_cooperative_launches_and_behind_an_offset) {
  const auto module = module_of(sub_group_flow_spv);
  const auto apart = kernel_of(module, "place_apart");
  constexpr uint32_t size = 40, groups = 6, offset = 1000;
  auto* out = shared_memory<uint32_t>(size * groups + offset);
  set_all(apart, out);
  ASSERT_EQ(zeKernelSetGroupSize(apart, size, 1, 1), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeKernelSetGlobalOffsetExp(apart, offset, 0, 0), ZE_RESULT_SUCCESS);
  const auto list = in_order_list();
  const ze_group_count_t count = {groups, 1, 1};
  ASSERT_EQ(zeCommandListAppendLaunchCooperativeKernel(list, apart, &count, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  const auto place = [](uint32_t i) { return (i + offset) * 100 + i % size + 3; };
  for (uint32_t i = 0; i < size * groups; ++i) {
    const uint32_t lane = i % size % 32;
    EXPECT_EQ(out[i + offset], place(i - lane) * 1000 + place(i)) << i;
  }
}

}  // namespace
}  // namespace zevent::driver::test
