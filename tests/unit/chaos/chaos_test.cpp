// What chaos may do and what it may not, on programs that are right and on programs that are wrong.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/chaos/configured_driver.hpp"

namespace zevent::driver::test {
namespace {

constexpr size_t chunks = 16;

class chaos : public configured_driver, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(start("ZEVENT_CHAOS", std::to_string(GetParam()).c_str()));
    source_ = shared_memory<uint32_t>(chunks);
    target_ = shared_memory<uint32_t>(chunks);
    for (uint32_t i = 0; i < chunks; ++i) source_[i] = i + 1;
  }

  size_t arrived() const {
    size_t count = 0;
    for (size_t i = 0; i < chunks; ++i) count += target_[i] == source_[i] ? 1 : 0;
    return count;
  }

  void append_chunks(ze_command_list_handle_t list, ze_event_handle_t signal_of_last) {
    for (size_t i = 0; i < chunks; ++i) {
      ze_event_handle_t signal = i + 1 == chunks ? signal_of_last : nullptr;
      ASSERT_EQ(copy(list, &target_[i], &source_[i], signal), ZE_RESULT_SUCCESS);
    }
  }

  uint32_t* source_ = nullptr;
  uint32_t* target_ = nullptr;
};

TEST_P(chaos, signal_of_the_last_chunk_comes_before_the_others_where_the_list_is_not_in_order) {
  ze_event_handle_t done = regular_event();
  append_chunks(immediate_list(), done);
  ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_LT(arrived(), chunks);
}

TEST_P(chaos, signal_of_the_last_chunk_comes_last_on_an_in_order_list) {
  ze_event_handle_t done = regular_event();
  append_chunks(in_order_list(), done);
  ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(arrived(), chunks);
}

TEST_P(chaos, barrier_without_waits_comes_after_all_chunks_of_any_list) {
  ze_event_handle_t done = regular_event();
  ze_command_list_handle_t list = immediate_list();
  append_chunks(list, nullptr);
  ASSERT_EQ(zeCommandListAppendBarrier(list, done, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(arrived(), chunks);
}

TEST_P(chaos, chain_of_events_keeps_its_order) {
  ze_command_list_handle_t list = immediate_list();
  ze_event_pool_handle_t events = pool(chunks);
  std::vector<ze_event_handle_t> each;
  for (uint32_t i = 0; i < chunks; ++i) each.push_back(event_of(events, i));
  // Each link copies what the one before has written.
  target_[0] = 99;
  for (size_t i = 1; i < chunks; ++i) {
    std::vector<ze_event_handle_t> waits;
    if (i > 1) waits.push_back(each[i - 1]);
    ASSERT_EQ(copy(list, &target_[i], &target_[i - 1], each[i], waits), ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeEventHostSynchronize(each.back(), forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(target_[chunks - 1], 99u);
}

TEST_P(chaos, synchronising_with_a_queue_or_a_fence_waits_for_everything) {
  ze_command_list_handle_t list = regular_list();
  append_chunks(list, nullptr);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  ze_command_queue_handle_t on = queue();
  execute(on, list);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(arrived(), chunks);
}

TEST_P(chaos, timestamps_of_an_in_order_list_follow_one_another) {
  ze_command_list_handle_t list = in_order_list();
  ze_event_pool_handle_t events =
      pool(chunks, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  std::vector<ze_event_handle_t> each;
  for (uint32_t i = 0; i < chunks; ++i) {
    each.push_back(event_of(events, i));
    ASSERT_EQ(copy(list, &target_[i], &source_[i], each[i]), ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  uint64_t end_of_the_one_before = 0;
  for (ze_event_handle_t event : each) {
    ze_kernel_timestamp_result_t times = {};
    ASSERT_EQ(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_SUCCESS);
    EXPECT_LE(end_of_the_one_before, times.global.kernelStart);
    EXPECT_LE(times.global.kernelStart, times.global.kernelEnd);
    end_of_the_one_before = times.global.kernelEnd;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, chaos, ::testing::Range(1, 11));

}  // namespace
}  // namespace zevent::driver::test
