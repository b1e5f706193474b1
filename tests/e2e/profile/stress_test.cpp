// Exactly as many commands are timed as were executed, on any number of threads.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "profiled_child.hpp"

namespace zevent::profile_test {
namespace {

class ProfiledStress : public ProfiledChild {
 protected:
  // ZEVENT_TEST_RUNS: more of them by hand.
  static int runs() {
    const char* wanted = std::getenv("ZEVENT_TEST_RUNS");
    return wanted != nullptr ? std::atoi(wanted) : 2;
  }
};

template <typename Work>
void on_threads(unsigned count, const Work& work) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (auto& each : threads) each.join();
}

void barrier(ze_command_list_handle_t list, ze_event_handle_t signal = nullptr) {
  device_program::check(zeCommandListAppendBarrier(list, signal, 0, nullptr));
}

// Immediate lists with and without order, regular lists executed again and again, events or none,
// waits of all kinds or none at all.
void work_hard(const device_program& p, findings& found, unsigned seed) {
  const auto pool = p.pool(8);
  ze_event_handle_t events[8];
  for (uint32_t i = 0; i < 8; ++i) events[i] = p.event(pool, i);
  const auto queue = p.queue();
  auto* memory = static_cast<unsigned char*>(p.memory(1024));
  unsigned state = seed * 7919 + 17;
  const auto next = [&](unsigned bound) {
    state = state * 1664525 + 1013904223;
    return (state >> 16) % bound;
  };
  for (int round = 0; round < 6; ++round) {
    const auto list = p.immediate(next(2) == 0 ? in_order_queue : 0);
    const unsigned commands = 10 + next(400);
    for (unsigned i = 0; i < commands; ++i) {
      auto* signal = next(3) == 0 ? events[next(8)] : nullptr;
      device_program::check(zeCommandListAppendMemoryFill(list, memory + next(8) * 64, "x", 1, 64,
                                                          signal, 0, nullptr));
      if (signal != nullptr && next(4) == 0)
        device_program::check(zeEventHostSynchronize(signal, no_timeout));
      if (signal != nullptr && next(4) == 0) device_program::check(zeEventHostReset(signal));
    }
    found.executed(commands);
    if (next(3) != 0) device_program::check(zeCommandListHostSynchronize(list, no_timeout));

    const auto regular = p.regular(next(2) == 0 ? in_order_list : 0);
    const unsigned length = 1 + next(20), times = 1 + next(6);
    for (unsigned i = 0; i < length; ++i)
      barrier(regular, next(2) == 0 ? events[next(8)] : nullptr);
    device_program::check(zeCommandListClose(regular));
    ze_command_list_handle_t lists[] = {regular};
    for (unsigned i = 0; i < times; ++i) {
      device_program::check(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
      if (next(2) == 0) device_program::check(zeCommandQueueSynchronize(queue, no_timeout));
    }
    found.executed(uint64_t{length} * times);
    device_program::check(zeCommandQueueSynchronize(queue, no_timeout));
    device_program::check(zeCommandListDestroy(regular));
    device_program::check(zeCommandListHostSynchronize(list, no_timeout));
    device_program::check(zeCommandListDestroy(list));
  }
}

TEST_F(ProfiledStress, TimesEveryCommandOfOneThread) {
  for (int i = 0; i < runs(); ++i)
    expect_all_timed([&](findings& found) {
      const device_program p;
      work_hard(p, found, static_cast<unsigned>(i));
    });
}

TEST_F(ProfiledStress, TimesEveryCommandOfTwoThreads) {
  for (int i = 0; i < runs(); ++i)
    expect_all_timed([&](findings& found) {
      const device_program p;
      on_threads(2, [&](unsigned t) { work_hard(p, found, static_cast<unsigned>(i) * 2 + t); });
    });
}

TEST_F(ProfiledStress, TimesEveryCommandOfEightThreads) {
  for (int i = 0; i < runs(); ++i)
    expect_all_timed([&](findings& found) {
      const device_program p;
      on_threads(8, [&](unsigned t) { work_hard(p, found, static_cast<unsigned>(i) * 8 + t); });
    });
}

TEST_F(ProfiledStress, TimesEveryCommandInTheWorstOrder) {
  for (const char* seed : {"11", "12"})
    expect_all_timed(
        [&](findings& found) {
          const device_program p;
          on_threads(2, [&](unsigned t) {
            const auto list = p.immediate();
            const auto pool = p.pool(4);
            ze_event_handle_t events[] = {p.event(pool, 0), p.event(pool, 1), p.event(pool, 2),
                                          p.event(pool, 3)};
            auto* memory = p.memory(1024);
            for (unsigned i = 0; i < 60; ++i) {
              auto* signal = (i + t) % 3 == 0 ? events[i % 4] : nullptr;
              device_program::check(
                  zeCommandListAppendMemoryFill(list, memory, "y", 1, 64, signal, 0, nullptr));
            }
            device_program::check(zeCommandListHostSynchronize(list, no_timeout));
            found.executed(60);
          });
        },
        {{"ZEVENT_CHAOS", seed}});
}

TEST_F(ProfiledStress, MakesAndDestroysContextsInALoop) {
  expect_all_timed([](findings& found) {
    device_program p;
    on_threads(2, [&](unsigned) {
      for (int i = 0; i < 100; ++i) {
        const auto context = p.new_context();
        const auto list = p.immediate(i % 2 == 0 ? in_order_queue : 0, context);
        for (int k = 0; k < 5; ++k) barrier(list);
        device_program::check(zeCommandListHostSynchronize(list, no_timeout));
        device_program::check(zeCommandListDestroy(list));
        device_program::check(zeContextDestroy(context));
        found.executed(5);
      }
    });
  });
}

TEST_F(ProfiledStress, UsesManyContextsAtOnce) {
  expect_all_timed([](findings& found) {
    const device_program p;
    std::vector<ze_context_handle_t> contexts;
    std::vector<ze_command_list_handle_t> lists;
    for (int i = 0; i < 200; ++i) {
      contexts.push_back(p.new_context());
      lists.push_back(p.immediate(0, contexts.back()));
    }
    for (int round = 0; round < 3; ++round)
      for (auto* list : lists) barrier(list);
    for (auto* list : lists) device_program::check(zeCommandListHostSynchronize(list, no_timeout));
    found.executed(600);
    for (auto* list : lists) device_program::check(zeCommandListDestroy(list));
    for (auto* context : contexts) device_program::check(zeContextDestroy(context));
  });
}

TEST_F(ProfiledStress, AppendsToDistinctListsOfSharedObjectsAtTheSameTime) {
  expect_all_timed([](findings& found) {
    const device_program p;
    const auto pool = p.pool(64);
    std::vector<ze_event_handle_t> events;
    for (uint32_t i = 0; i < 64; ++i) events.push_back(p.event(pool, i));
    on_threads(8, [&](unsigned t) {
      const auto list = p.immediate(t % 2 == 0 ? in_order_queue : 0);
      for (unsigned i = 0; i < 200; ++i) barrier(list, events[(t * 8 + i % 8) % 64]);
      device_program::check(zeCommandListHostSynchronize(list, no_timeout));
      found.executed(200);
    });
  });
}

// A monitor asks about events that others signal, and nobody ever waits.
TEST_F(ProfiledStress, AsksWithoutAWait) {
  expect_all_timed([](findings& found) {
    const device_program p;
    const auto pool = p.pool(64);
    std::vector<ze_event_handle_t> events;
    for (uint32_t i = 0; i < 64; ++i) events.push_back(p.event(pool, i));
    std::atomic<bool> over{false};
    std::thread monitor([&] {
      while (!over) {
        for (size_t i = events.size(); i-- > 0;) zeEventQueryStatus(events[i]);
        std::this_thread::yield();
      }
    });
    const auto list = p.immediate();
    for (unsigned i = 0; i < 2000; ++i) barrier(list, events[i * 37 % 64]);
    found.executed(2000);
    for (auto* each : events)
      while (zeEventQueryStatus(each) == ZE_RESULT_NOT_READY) {
      }
    over = true;
    monitor.join();
  });
}

TEST_F(ProfiledStress, DestroysListsOnAnotherThread) {
  expect_all_timed([](findings& found) {
    const device_program p;
    for (int round = 0; round < 50; ++round) {
      const auto list = p.immediate(round % 2 == 0 ? in_order_queue : 0);
      const auto pool = p.pool(1);
      auto* event = p.event(pool, 0);
      for (int i = 0; i < 10; ++i) barrier(list, i % 2 == 0 ? event : nullptr);
      device_program::check(zeCommandListHostSynchronize(list, no_timeout));
      std::thread([&] {
        device_program::check(zeCommandListDestroy(list));
        device_program::check(zeEventDestroy(event));
        device_program::check(zeEventPoolDestroy(pool));
      }).join();
      found.executed(10);
    }
  });
}

// Nothing is waited for, and yet what is done is collected on the way: the program's lists do not
// grow without end.
TEST_F(ProfiledStress, NeverSynchronises) {
  expect_all_timed([](findings& found) {
    const device_program p;
    const auto list = p.immediate(in_order_queue);
    for (int i = 0; i < 20'000; ++i) barrier(list);
    found.executed(20'000);
  });
  uint64_t late = 0;
  const auto all = times();
  EXPECT_EQ(all.size(), 20'000u);
  for (const auto& each : all) late += each.execution != each.call ? 1 : 0;
  EXPECT_EQ(late, 0u);
}

TEST_F(ProfiledStress, LosesNothingWhenTheProgramForks) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
  expect_all_timed([](findings& found) {
    const device_program p;
    const auto list = p.immediate(in_order_queue);
    for (int i = 0; i < 10; ++i) barrier(list);
    device_program::check(zeCommandListHostSynchronize(list, no_timeout));
    found.executed(10);
    std::fflush(nullptr);
    const pid_t child = fork();
    const auto own = p.immediate(in_order_queue);
    for (int i = 0; i < 7; ++i) barrier(own);
    device_program::check(zeCommandListHostSynchronize(own, no_timeout));
    found.executed(7);
    if (child == 0) {
      for (int i = 0; i < 5; ++i) barrier(list);
      device_program::check(zeCommandListHostSynchronize(list, no_timeout));
      found.executed(5);
      device_program::check(zeCommandListDestroy(list));
      std::exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) std::_Exit(98);
  });
}

}  // namespace
}  // namespace zevent::profile_test
