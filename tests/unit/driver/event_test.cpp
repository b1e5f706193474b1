#include <sys/resource.h>

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

using regular_events = driver_fixture;

TEST_F(regular_events, are_not_signalled_when_created) {
  EXPECT_EQ(zeEventQueryStatus(regular_event()), ZE_RESULT_NOT_READY);
}

TEST_F(regular_events, can_be_signalled_and_reset_by_the_host_any_number_of_times) {
  const auto event = regular_event();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS) << "a second signal has no effect";
    EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS) << "a second reset has no effect";
    EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
  }
}

TEST_F(regular_events, a_timeout_of_zero_is_a_query) {
  const auto event = regular_event();
  EXPECT_EQ(zeEventHostSynchronize(event, 0), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, 0), ZE_RESULT_SUCCESS);
}

TEST_F(regular_events, a_wait_that_times_out_says_not_ready) {
  EXPECT_EQ(zeEventHostSynchronize(regular_event(), 1), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeEventHostSynchronize(regular_event(), 100'000), ZE_RESULT_NOT_READY);
}

TEST_F(regular_events, wake_every_host_thread_that_waits) {
  const auto event = regular_event();
  std::vector<std::thread> waiters;
  std::atomic<int> woken{0};
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
      ++woken;
    });
  }
  ASSERT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
  for (auto& each : waiters) each.join();
  EXPECT_EQ(woken, 4);
}

TEST_F(regular_events, are_signalled_and_reset_by_the_device) {
  const auto list = in_order_list();
  const auto event = regular_event();
  ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendEventReset(list, event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
}

TEST_F(regular_events, a_new_event_in_a_used_slot_starts_unsignalled) {
  const auto from = pool(1);
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  ze_event_handle_t first = nullptr;
  ASSERT_EQ(zeEventCreate(from, &desc, &first), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(first), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventDestroy(first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event_of(from)), ZE_RESULT_NOT_READY);
}

TEST_F(regular_events, of_one_pool_do_not_touch_each_other) {
  const auto from = pool(2048, 0);
  std::vector<ze_event_handle_t> events;
  for (uint32_t i = 0; i < 2048; ++i) events.push_back(event_of(from, i));
  ASSERT_EQ(zeEventHostSignal(events[1000]), ZE_RESULT_SUCCESS);
  for (uint32_t i = 0; i < 2048; ++i) {
    EXPECT_EQ(zeEventQueryStatus(events[i]), i == 1000 ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
  }
}

TEST_F(regular_events, tell_what_they_were_created_with) {
  const auto from = pool(4, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  ze_event_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = 3;
  desc.signal = ZE_EVENT_SCOPE_FLAG_DEVICE;
  desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(zeEventCreate(from, &desc, &event), ZE_RESULT_SUCCESS);

  ze_event_pool_handle_t its_pool = nullptr;
  ze_event_scope_flags_t signal = 0;
  ze_event_scope_flags_t wait = 0;
  ze_event_pool_flags_t flags = 0;
  ze_context_handle_t context = nullptr;
  ze_event_counter_based_flags_t counter_flags = 1;
  EXPECT_EQ(zeEventGetEventPool(event, &its_pool), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventGetSignalScope(event, &signal), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventGetWaitScope(event, &wait), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventGetCounterBasedFlags(event, &counter_flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventPoolGetFlags(from, &flags), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventPoolGetContextHandle(from, &context), ZE_RESULT_SUCCESS);
  EXPECT_EQ(its_pool, from);
  EXPECT_EQ(signal, ZE_EVENT_SCOPE_FLAG_DEVICE);
  EXPECT_EQ(wait, ZE_EVENT_SCOPE_FLAG_HOST);
  EXPECT_EQ(counter_flags, 0u);
  EXPECT_EQ(flags, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  EXPECT_EQ(context, context_);
  EXPECT_EQ(zeEventDestroy(event), ZE_RESULT_SUCCESS);
}

TEST_F(regular_events, may_be_polled_by_one_thread_while_others_append) {
  const auto list = in_order_list();
  const auto event = regular_event();
  std::atomic<bool> done{false};
  std::thread monitor([&] {
    while (!done) {
      const ze_result_t status = zeEventQueryStatus(event);
      EXPECT_TRUE(status == ZE_RESULT_SUCCESS || status == ZE_RESULT_NOT_READY);
    }
  });
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
    ze_result_t waited = ZE_RESULT_NOT_READY;
    while (waited == ZE_RESULT_NOT_READY) waited = zeEventHostSynchronize(event, 1);
    ASSERT_EQ(waited, ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeEventHostReset(event), ZE_RESULT_SUCCESS);
  }
  done = true;
  monitor.join();
}

TEST_F(regular_events, waited_for_in_a_loop_of_tiny_waits_leave_the_core_to_others) {
  constexpr long rounds = 2000;
  const auto event = regular_event();
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  for (long round = 0; round < rounds; ++round)
    ASSERT_EQ(zeEventHostSynchronize(event, 1), ZE_RESULT_NOT_READY);
  getrusage(RUSAGE_THREAD, &after);
  // A thread that sleeps gives its core up of its own accord; one that yields does not.
  EXPECT_GT(after.ru_nvcsw - before.ru_nvcsw, rounds / 2);
  ASSERT_EQ(zeEventHostSignal(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event, 1), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
