// The event types on the software driver.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include <thread>
#include <vector>

#include "device_fixture.hpp"
#include "zevent/counter_event.hpp"
#include "zevent/event_pool.hpp"

namespace zevent {
namespace {

using namespace std::chrono_literals;

class events_device_test : public device_test {};

TEST_F(events_device_test, the_host_signals_waits_and_resets) {
  event_pool pool(context, device);
  const event e = pool.acquire();
  EXPECT_FALSE(e.ready());
  EXPECT_FALSE(e.wait(1ms));
  e.signal();
  EXPECT_TRUE(e.ready());
  e.wait();
  e.reset();
  EXPECT_FALSE(e.ready());
}

TEST_F(events_device_test, a_wait_is_woken_by_another_thread) {
  const event e = event::create(context, device);
  std::thread signaller([&] { e.signal(); });
  EXPECT_TRUE(e.wait(24h));
  signaller.join();
}

TEST_F(events_device_test, recycled_events_work_on_the_device) {
  event_pool pool(context, device);
  test_list list(context, device, list_kind::immediate);
  for (int round = 0; round < 100; ++round) {
    const event begun = pool.acquire();
    const event done = pool.acquire();
    ze_event_handle_t wait = begun.handle();
    ZE_OK(zeCommandListAppendBarrier(list, done.handle(), 1, &wait));
    EXPECT_FALSE(done.ready());
    begun.signal();
    ASSERT_TRUE(done.wait(24h));
  }
  EXPECT_EQ(pool.capacity(), 2u);
}

TEST_F(events_device_test, a_thousand_events_live_at_once) {
  event_pool pool(context, device);
  std::vector<event> events;
  for (int i = 0; i < 1000; ++i) events.push_back(pool.acquire());
  for (const event& e : events) e.signal();
  for (const event& e : events) EXPECT_TRUE(e.ready());
}

TEST_F(events_device_test, timestamps_tell_how_long_a_command_ran) {
  timestamp_event_pool pool(context, device);
  test_list list(context, device, list_kind::immediate);
  const timestamp_event e = pool.acquire();
  EXPECT_THROW(e.duration(), error);
  std::vector<char> from(1 << 20), to(1 << 20);
  ZE_OK(zeCommandListAppendMemoryCopy(list, to.data(), from.data(), from.size(), e.handle(), 0,
                                      nullptr));
  ASSERT_TRUE(e.wait(24h));
  EXPECT_GT(e.duration().count(), 0);
}

TEST_F(events_device_test, counter_events_are_the_real_thing_and_need_no_reset) {
  counter_event_pool pool(context, device, {.allow_regular_events = false});
  EXPECT_EQ(pool.backing(), counter_backing::standard);
  const counter_event e = pool.acquire();
  EXPECT_TRUE(e.reusable());
  EXPECT_TRUE(e.ready()) << "a counter-based event is complete until it is to be signalled";

  // Several lists, one event, no reset; the event speaks of the last signal.
  const event go = event::create(context, device);
  ze_event_handle_t wait = go.handle();
  test_list first(context, device, list_kind::immediate_in_order);
  test_list second(context, device, list_kind::immediate_in_order);
  ZE_OK(zeCommandListAppendBarrier(first, e.handle(), 0, nullptr));
  ASSERT_TRUE(e.wait(24h));
  ZE_OK(zeCommandListAppendBarrier(second, e.handle(), 1, &wait));
  EXPECT_FALSE(e.ready());
  go.signal();
  EXPECT_TRUE(e.wait(24h));
}

TEST_F(events_device_test, a_counter_event_may_be_given_back_while_its_signal_is_pending) {
  counter_event_pool pool(context, device);
  const event go = event::create(context, device);
  ze_event_handle_t wait = go.handle();
  test_list list(context, device, list_kind::immediate_in_order);
  {
    const counter_event pending = pool.acquire();
    ZE_OK(zeCommandListAppendBarrier(list, pending.handle(), 1, &wait));
  }
  const counter_event next = pool.acquire();
  EXPECT_EQ(pool.capacity(), 1u);
  ZE_OK(zeCommandListAppendBarrier(list, next.handle(), 0, nullptr));
  EXPECT_FALSE(next.ready());
  go.signal();
  EXPECT_TRUE(next.wait(24h));
  list.finish();
}

TEST_F(events_device_test, counter_events_with_timestamps_tell_the_last_duration) {
  counter_timestamp_event_pool pool(context, device);
  const counter_timestamp_event e = pool.acquire();
  test_list list(context, device, list_kind::immediate_in_order);
  std::vector<char> from(1 << 20), to(1 << 20);
  ZE_OK(zeCommandListAppendMemoryCopy(list, to.data(), from.data(), from.size(), e.handle(), 0,
                                      nullptr));
  ASSERT_TRUE(e.wait(24h));
  EXPECT_GT(e.duration().count(), 0);
  list.finish();
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

struct hot_path {
  event_pool* pool;
  counter_event_pool* counter_pool;
  std::atomic<bool> survived{false};
};

// In this mode the kernel ends the thread at its first system call.
void* run_without_system_calls(void* argument) {
  auto& path = *static_cast<hot_path*>(argument);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return nullptr;
  for (int i = 0; i < 10'000; ++i) {
    const event e = path.pool->acquire();
    const counter_event c = path.counter_pool->acquire();
    if (e.ready() || !c.ready()) syscall(SYS_exit, 0);
    e.signal();
  }
  path.survived = true;
  syscall(SYS_exit, 0);
  return nullptr;
}

TEST_F(events_device_test, taking_querying_and_giving_back_make_no_system_call) {
  event_pool pool(context, device);
  counter_event_pool counter_pool(context, device);
  (void)pool.acquire();  // the first one is made
  hot_path path{&pool, &counter_pool};
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, run_without_system_calls, &path), 0);
  pthread_join(thread, nullptr);
  EXPECT_TRUE(path.survived) << "the kernel saw a system call";
}

#endif

}  // namespace
}  // namespace zevent
