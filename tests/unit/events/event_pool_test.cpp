#include "zevent/event_pool.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fake_level_zero.hpp"
#include "zevent/counter_event.hpp"

namespace zevent {
namespace {

class event_pool_test : public testing::Test {
 protected:
  ~event_pool_test() override {
    EXPECT_EQ(ze.live_events, 0) << "an event was not destroyed";
    EXPECT_EQ(ze.live_pools, 0) << "a pool was not destroyed";
  }
  fake::level_zero& ze = fake::install();
};

TEST_F(event_pool_test, an_event_comes_unsignalled_and_goes_back_reset) {
  event_pool pool(fake::context(), fake::device());
  ze_event_handle_t handle = nullptr;
  {
    const event first = pool.acquire();
    handle = first.handle();
    EXPECT_FALSE(first.ready());
    first.signal();
    EXPECT_TRUE(first.ready());
  }
  const event again = pool.acquire();
  EXPECT_EQ(again.handle(), handle) << "the event was not recycled";
  EXPECT_FALSE(again.ready());
  EXPECT_EQ(pool.capacity(), 1u);
}

TEST_F(event_pool_test, grows_by_pools_that_double) {
  event_pool pool(fake::context(), fake::device());
  std::vector<event> events;
  for (int i = 0; i < 33 + 64; ++i) events.push_back(pool.acquire());
  EXPECT_EQ(ze.pool_counts, (std::vector<uint32_t>{32, 64, 128}));
  EXPECT_EQ(pool.capacity(), 97u);
}

TEST_F(event_pool_test, events_may_outlive_their_pool) {
  std::vector<event> events;
  {
    event_pool pool(fake::context(), fake::device());
    for (int i = 0; i < 40; ++i) events.push_back(pool.acquire());
  }
  EXPECT_EQ(ze.live_events, 40);
  events[7].signal();
  EXPECT_TRUE(events[7].ready());
}

TEST_F(event_pool_test, an_event_that_cannot_be_reset_is_not_handed_out_again) {
  event_pool pool(fake::context(), fake::device());
  ze_event_handle_t handle = nullptr;
  {
    const event stuck = pool.acquire();
    handle = stuck.handle();
    ze.reset_result = ZE_RESULT_ERROR_DEVICE_LOST;
  }
  ze.reset_result = ZE_RESULT_SUCCESS;
  EXPECT_NE(pool.acquire().handle(), handle);
}

TEST_F(event_pool_test, an_event_that_a_reset_leaves_signalled_is_made_anew_in_its_slot) {
  event_pool pool(fake::context(), fake::device());
  ze.reset_keeps_state = true;
  std::vector<event> others;
  for (int i = 0; i < 40; ++i) others.push_back(pool.acquire());
  for (int round = 0; round < 100; ++round) {
    const event taken = pool.acquire();
    EXPECT_FALSE(taken.ready()) << "in round " << round;
    taken.signal();
  }
  EXPECT_EQ(pool.capacity(), 41u);
  EXPECT_EQ(ze.live_events, 41);
  EXPECT_EQ(ze.pool_counts, (std::vector<uint32_t>{32, 64}));
}

TEST_F(event_pool_test, an_event_that_a_reset_leaves_signalled_is_an_error_of_reset) {
  event_pool pool(fake::context(), fake::device());
  const event taken = pool.acquire();
  taken.signal();
  ze.reset_keeps_state = true;
  EXPECT_THROW(taken.reset(), error);
}

TEST_F(event_pool_test, many_threads_never_share_an_event) {
  event_pool pool(fake::context(), fake::device());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        std::vector<event> mine;
        for (int i = 0; i < 1 + round % 5; ++i) {
          mine.push_back(pool.acquire());
          ASSERT_FALSE(mine.back().ready()) << "someone else holds this event too";
          mine.back().signal();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(pool.capacity(), 20u);
}

TEST_F(event_pool_test, a_moved_from_event_says_so) {
  event_pool pool(fake::context(), fake::device());
  event first = pool.acquire();
  const event second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  EXPECT_THROW(first.ready(), error);
  EXPECT_THROW(first.wait(), error);
  EXPECT_THROW(first.reset(), error);
}

TEST_F(event_pool_test, assigning_an_event_gives_the_old_one_back) {
  event_pool pool(fake::context(), fake::device());
  event held = pool.acquire();
  held = pool.acquire();
  EXPECT_EQ(ze.resets, 1);
  const event other = pool.acquire();
  EXPECT_EQ(pool.capacity(), 2u);
}

TEST_F(event_pool_test, a_wait_tells_signalled_from_timed_out_from_failed) {
  event_pool pool(fake::context(), fake::device());
  const event e = pool.acquire();
  EXPECT_FALSE(e.wait(std::chrono::microseconds(1)));
  EXPECT_FALSE(e.wait(std::chrono::seconds(-1)));
  e.signal();
  EXPECT_TRUE(e.wait(std::chrono::microseconds(1)));
  EXPECT_TRUE(e.wait(std::chrono::seconds(0)));
  e.wait();
  ze.query_result = ZE_RESULT_ERROR_DEVICE_LOST;
  try {
    e.ready();
    FAIL() << "a lost device was taken for an answer";
  } catch (const error& lost) {
    EXPECT_EQ(lost.result(), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_STREQ(lost.call(), "zeEventQueryStatus");
  }
}

TEST_F(event_pool_test, a_single_event_takes_its_pool_with_it) {
  const event single = event::create(fake::context(), fake::device());
  EXPECT_EQ(ze.pool_counts, (std::vector<uint32_t>{1}));
}

TEST_F(event_pool_test, durations_are_in_nanoseconds_and_survive_a_wrap_of_the_clock) {
  timestamp_event_pool pool(fake::context(), fake::device());
  const timestamp_event first = pool.acquire();
  const timestamp_event last = pool.acquire();
  EXPECT_THROW(first.duration(), error) << "a time before the signal";
  fake::of(first.handle()).times.global = {0xfffffff0, 0xfffffff8};
  fake::of(last.handle()).times.global = {0xfffffff8, 0x10};
  first.signal();
  last.signal();
  EXPECT_EQ(first.duration().count(), 16);  // 8 ticks of 2 ns
  EXPECT_EQ(last.duration().count(), 48);
  EXPECT_EQ(elapsed(first, last).count(), 64);
}

TEST_F(event_pool_test, counter_events_are_not_reset_when_they_come_back) {
  counter_event_pool pool(fake::context(), fake::device());
  EXPECT_EQ(pool.backing(), counter_backing::standard);
  { const counter_event used = pool.acquire(); }
  { const counter_event used = pool.acquire(); }
  EXPECT_EQ(ze.resets, 0);
  EXPECT_EQ(pool.capacity(), 1u);
  EXPECT_EQ(pool.acquire().kind(), event_kind::counter_based);
  EXPECT_EQ(ze.counter_flags, (std::vector<uint32_t>{7}));  // both kinds of list, host-visible
}

TEST_F(event_pool_test, counter_events_take_the_best_that_the_driver_has) {
  ze.standard_counter_based = false;
  EXPECT_EQ(counter_event_pool(fake::context(), fake::device()).backing(),
            counter_backing::extension);
  ze.extension_counter_based = false;
  {
    counter_event_pool pool(fake::context(), fake::device());
    EXPECT_EQ(pool.backing(), counter_backing::pool_extension);
    EXPECT_TRUE(pool.acquire().reusable());
    EXPECT_EQ(ze.resets, 0);
  }
  ze.pool_extension = false;
  counter_event_pool pool(fake::context(), fake::device());
  EXPECT_EQ(pool.backing(), counter_backing::regular_events);
  EXPECT_FALSE(pool.acquire().reusable());
  EXPECT_EQ(ze.resets, 1);
  EXPECT_EQ(pool.acquire().kind(), event_kind::regular);
}

TEST_F(event_pool_test, counter_events_can_be_had_genuine_or_not_at_all) {
  ze.standard_counter_based = ze.extension_counter_based = ze.pool_extension = false;
  EXPECT_THROW(counter_event_pool(fake::context(), fake::device(), {.allow_regular_events = false}),
               error);
  EXPECT_THROW(counter_event_pool(fake::context(), fake::device(),
                                  {.immediate_lists = false, .regular_lists = false}),
               error);
}

TEST_F(event_pool_test, counter_events_with_times_ask_for_device_times) {
  counter_timestamp_event_pool pool(fake::context(), fake::device(), {.regular_lists = false});
  const counter_timestamp_event e = pool.acquire();
  fake::of(e.handle()).times.global = {100, 200};
  EXPECT_EQ(e.duration().count(), 200);
  EXPECT_EQ(ze.counter_flags, (std::vector<uint32_t>{0x15}));
}

}  // namespace
}  // namespace zevent
