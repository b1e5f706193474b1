// A program does the same with and without a profiler, and each of its commands is timed once.

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "profiled_child.hpp"

namespace zevent::profile_test {
namespace {

class UnchangedProgram : public ProfiledChild {
 protected:
  // Plainly, and where the driver completes commands in the worst order that is allowed.
  void expect_unchanged_in_any_order(const program& what) {
    expect_unchanged(what);
    for (const char* seed : {"1", "2"}) {
      SCOPED_TRACE(std::string("chaos seed ") + seed);
      expect_unchanged(what, {{"ZEVENT_CHAOS", seed}});
    }
  }
};

constexpr size_t bytes = 4096;

void fill(ze_command_list_handle_t list, void* target, unsigned char value, size_t size,
          ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {}) {
  device_program::check(zeCommandListAppendMemoryFill(list, target, &value, 1, size, signal,
                                                      static_cast<uint32_t>(waits.size()),
                                                      waits.empty() ? nullptr : waits.data()));
}

void copy(ze_command_list_handle_t list, void* target, const void* source, size_t size,
          ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {}) {
  device_program::check(zeCommandListAppendMemoryCopy(list, target, source, size, signal,
                                                      static_cast<uint32_t>(waits.size()),
                                                      waits.empty() ? nullptr : waits.data()));
}

TEST_F(UnchangedProgram, ChainsCommandsOfSeveralListsByEvents) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(3);
    ze_event_handle_t events[] = {p.event(pool, 0), p.event(pool, 1), p.event(pool, 2)};
    const auto first = p.immediate(), second = p.immediate(in_order_queue);
    auto* a = static_cast<unsigned char*>(p.memory(bytes));
    auto* b = static_cast<unsigned char*>(p.memory(bytes));
    fill(first, a, 7, bytes, events[0]);
    copy(second, b, a, bytes, events[1], {events[0]});
    fill(first, a, 9, bytes / 2, events[2], {events[1]});
    for (auto* each : events) found.add(zeEventHostSynchronize(each, no_timeout));
    found.add_bytes(a, bytes);
    found.add_bytes(b, bytes);
    found.executed(3);
    for (auto* each : events) found.add(zeEventDestroy(each));
    found.add(zeEventPoolDestroy(pool));
    found.add(zeCommandListDestroy(first));
    found.add(zeCommandListDestroy(second));
    found.add(zeContextDestroy(p.context));
  });
}

// Barriers of the program's own, in lists without order, whose events say that all is done: read on
// the host at once, and by commands of another list.
TEST_F(UnchangedProgram, SignalsByBarriers) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(3), timed_pool = p.pool(1, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t events[] = {p.event(pool, 0), p.event(pool, 1), p.event(pool, 2)};
    auto* timed = p.event(timed_pool, 0);
    const auto list = p.immediate(), other = p.immediate(), regular = p.regular();
    const auto queue = p.queue();
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    auto* copied = static_cast<unsigned char*>(p.memory(bytes));
    for (unsigned char round = 1; round <= 2; ++round) {
      for (size_t i = 0; i < 8; ++i) fill(list, memory + i * 64, round, 64);
      device_program::check(zeCommandListAppendBarrier(list, events[0], 0, nullptr));
      fill(list, memory + 512, round, 64, events[1]);
      const size_t size = 576;
      const void* range = memory;
      device_program::check(
          zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, events[2], 1, events + 1));
      copy(other, copied, memory, 576, nullptr, {events[2]});
      found.add(zeEventHostSynchronize(events[0], no_timeout));
      found.add_bytes(memory, 512);
      device_program::check(zeCommandListAppendBarrier(other, timed, 0, nullptr));
      found.add(zeEventHostSynchronize(timed, no_timeout));
      found.add_bytes(copied, 576);
      ze_kernel_timestamp_result_t times{};
      found.add(zeEventQueryKernelTimestamp(timed, &times));
      for (auto* each : {events[0], events[1], events[2], timed}) found.add(zeEventHostReset(each));
    }
    found.executed(2 * 13);

    for (size_t i = 0; i < 4; ++i) fill(regular, memory + i * 64, 77, 64);
    device_program::check(zeCommandListAppendBarrier(regular, events[0], 0, nullptr));
    device_program::check(zeCommandListClose(regular));
    ze_command_list_handle_t lists[] = {regular};
    for (int round = 0; round < 2; ++round) {
      std::memset(memory, 0, 256);
      found.add(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
      found.add(zeEventHostSynchronize(events[0], no_timeout));
      found.add_bytes(memory, 256);
      found.add(zeEventHostReset(events[0]));
    }
    found.executed(2 * 5);
    found.add(zeCommandQueueSynchronize(queue, no_timeout));
  });
}

TEST_F(UnchangedProgram, UsesEveryKindOfCommand) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(1);
    auto* done = p.event(pool, 0);
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    auto* when = static_cast<uint64_t*>(p.memory(64));
    int calls = 0;
    for (const bool in_order : {true, false}) {
      const auto list = p.immediate(in_order ? in_order_queue : 0);
      const auto barrier = [&] {
        device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
      };
      fill(list, memory, 1, bytes);
      barrier();
      copy(list, memory + 1024, memory, 512);
      barrier();
      const ze_copy_region_t region{0, 0, 0, 16, 4, 0};
      device_program::check(zeCommandListAppendMemoryCopyRegion(
          list, memory + 2048, &region, 32, 0, memory, &region, 32, 0, nullptr, 0, nullptr));
      barrier();
      const void* ranges[] = {memory};
      const size_t sizes[] = {bytes};
      device_program::check(
          zeCommandListAppendMemoryRangesBarrier(list, 1, sizes, ranges, nullptr, 0, nullptr));
      device_program::check(zeCommandListAppendHostFunction(
          list, [](void* count) { ++*static_cast<int*>(count); }, &calls, nullptr, nullptr, 0,
          nullptr));
      barrier();
      device_program::check(
          zeCommandListAppendWriteGlobalTimestamp(list, when, nullptr, 0, nullptr));
      barrier();
      device_program::check(zeCommandListAppendSignalEvent(list, done));
      found.add(zeEventHostSynchronize(done, no_timeout));
      found.add(zeEventHostReset(done));
      found.add(zeCommandListHostSynchronize(list, no_timeout));
      found.add(static_cast<uint64_t>(*when != 0));
      found.executed(12);
    }
    found.add_bytes(memory, bytes);
    found.add(static_cast<uint64_t>(calls));
  });
}

TEST_F(UnchangedProgram, SignalsCounterBasedEvents) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto any = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                     ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                     ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
    auto* event = p.counter_event(any);
    const auto list = p.immediate(in_order_queue), other = p.immediate();
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    for (unsigned char round = 1; round <= 20; ++round) {  // used again without a reset
      fill(list, memory, round, bytes, event);
      copy(other, memory + bytes / 2, memory, 16, nullptr, {event});
      copy(list, memory + 64, memory, 64, event, {event});
      found.add(zeEventHostSynchronize(event, no_timeout));
      found.add(zeEventQueryStatus(event));
      found.add(static_cast<uint64_t>(memory[100]));
      found.add(zeCommandListHostSynchronize(other, no_timeout));
    }
    // On a regular list too; its execution arms the event again.
    const auto regular = p.regular(in_order_list);
    const auto queue = p.queue();
    fill(regular, memory, 200, 64, event);
    device_program::check(zeCommandListClose(regular));
    ze_command_list_handle_t lists[] = {regular};
    for (int round = 0; round < 5; ++round) {
      memory[0] = 0;
      found.add(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
      found.add(zeEventHostSynchronize(event, no_timeout));
      found.add(static_cast<uint64_t>(memory[0]));
      found.add(zeCommandQueueSynchronize(queue, no_timeout));
    }
    found.executed(20 * 3 + 5);
  });
}

TEST_F(UnchangedProgram, MisusesEvents) {
  expect_unchanged([](findings& found) {
    const device_program p;
    auto* counter = p.counter_event(ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
    const auto pool = p.pool(1);
    auto* event = p.event(pool, 0);
    const auto list = p.immediate(), in_order = p.immediate(in_order_queue);
    auto* memory = p.memory(bytes);
    // Counter-based on a list that is not in-order; on the wrong kind of list; no event at all.
    found.add(zeCommandListAppendBarrier(list, counter, 0, nullptr));
    found.add(zeCommandListAppendBarrier(in_order, counter, 0, nullptr));
    alignas(64) static unsigned char nothing[4096] = {};
    found.add(
        zeCommandListAppendBarrier(list, reinterpret_cast<ze_event_handle_t>(nothing), 0, nullptr));
    // Waits that are none.
    found.add(zeCommandListAppendBarrier(list, event, 1, nullptr));
    found.add(zeCommandListAppendMemoryFill(list, memory, "abc", 3, 3, event, 0, nullptr));
    found.add(zeEventQueryStatus(event));
    found.add(zeCommandListAppendEventReset(in_order, counter));
    found.add(zeCommandListAppendMemoryFill(list, memory, "a", 1, 64, event, 0, nullptr));
    found.add(zeEventHostSynchronize(event, no_timeout));
    found.executed(1);
  });
}

TEST_F(UnchangedProgram, SignalsAndResetsOneEventAgainAndAgain) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(2);
    auto* event = p.event(pool, 0);
    auto* last = p.event(pool, 1);
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    for (const bool in_order : {true, false}) {
      const auto list = p.immediate(in_order ? in_order_queue : 0);
      for (unsigned char round = 0; round < 10; ++round) {
        fill(list, memory + round * 64, round, 64, event);
        fill(list, memory + round * 64, 100, 32, nullptr, {event});
        device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
        device_program::check(zeCommandListAppendEventReset(list, event));
        device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
      }
      // Several signals, no reset between them.
      for (int i = 0; i < 4; ++i)
        device_program::check(zeCommandListAppendBarrier(list, event, 0, nullptr));
      device_program::check(zeCommandListAppendBarrier(list, last, 0, nullptr));
      found.add(zeEventHostSynchronize(last, no_timeout));
      found.add(zeEventQueryStatus(event));
      found.add(zeEventHostReset(event));
      found.add(zeEventHostReset(last));
      found.add(zeEventQueryStatus(event));
      found.add_bytes(memory, bytes);
      found.executed(10 * 4 + 5);
    }
  });
}

TEST_F(UnchangedProgram, ExecutesListsManyTimes) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(1);
    auto* event = p.event(pool, 0);
    const auto queue = p.queue();
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    for (const bool in_order : {true, false}) {
      const auto list = p.regular(in_order ? in_order_list : 0);
      fill(list, memory, 5, 256, event);
      copy(list, memory + 256, memory, 256, nullptr, {event});
      device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
      device_program::check(zeCommandListAppendEventReset(list, event));
      device_program::check(zeCommandListClose(list));
      ze_command_list_handle_t lists[] = {list};
      for (int round = 0; round < 10; ++round) {
        std::memset(memory, 0, 512);
        found.add(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
        found.add(zeCommandQueueSynchronize(queue, no_timeout));
        found.add_bytes(memory, 512);
        found.add(zeEventQueryStatus(event));
      }
      found.add(zeCommandListReset(list));
      fill(list, memory, 6, 128);
      device_program::check(zeCommandListClose(list));
      found.add(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
      found.add(zeCommandQueueSynchronize(queue, no_timeout));
      found.add_bytes(memory, 512);
      found.add(zeCommandListDestroy(list));
      found.executed(10 * 3 + 1);
    }
  });
}

TEST_F(UnchangedProgram, ExecutesAListAgainBeforeItIsThrough) {
  expect_unchanged([](findings& found) {
    const device_program p;
    const auto pool = p.pool(3);
    auto* go = p.event(pool, 0);
    auto* event = p.event(pool, 1);
    const auto queue = p.queue();
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    const auto list = p.regular();
    fill(list, memory, 1, 64, nullptr, {go});
    fill(list, memory + 64, 2, 64, event);
    device_program::check(zeCommandListClose(list));
    ze_command_list_handle_t lists[] = {list, list};
    const ze_fence_desc_t desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
    ze_fence_handle_t fence = nullptr;
    device_program::check(zeFenceCreate(queue, &desc, &fence));
    for (int round = 0; round < 5; ++round) {
      device_program::check(zeEventHostReset(go));
      device_program::check(zeFenceReset(fence));
      found.add(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
      found.add(zeCommandQueueExecuteCommandLists(queue, 2, lists, fence));
      found.add(zeFenceQueryStatus(fence));
      device_program::check(zeEventHostSignal(go));
      found.add(zeFenceHostSynchronize(fence, no_timeout));
      found.add_bytes(memory, 128);
    }
    found.executed(5 * 3 * 2);
  });
}

TEST_F(UnchangedProgram, AppendsListsToAnImmediateList) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(1);
    auto* event = p.event(pool, 0);
    auto* memory = static_cast<unsigned char*>(p.memory(bytes));
    const auto inner = p.regular(in_order_list);
    fill(inner, memory, 3, 64);
    copy(inner, memory + 64, memory, 64);
    device_program::check(zeCommandListClose(inner));
    ze_command_list_handle_t lists[] = {inner};
    for (const bool in_order : {true, false}) {
      const auto outer = p.immediate(in_order ? in_order_queue : 0);
      for (int round = 0; round < 4; ++round) {
        std::memset(memory, 0, 128);
        found.add(zeCommandListImmediateAppendCommandListsExp(outer, 1, lists, event, 0, nullptr));
        found.add(zeEventHostSynchronize(event, no_timeout));
        found.add(zeEventHostReset(event));
        found.add(zeCommandListHostSynchronize(outer, no_timeout));
        found.add_bytes(memory, 128);
      }
      found.executed(4 * 3);
    }
  });
}

// Each command keeps the times of its own event: the profiler does not put its own in their place.
TEST_F(UnchangedProgram, TakesTimesItself) {
  expect_unchanged_in_any_order([](findings& found) {
    const device_program p;
    const auto pool = p.pool(2, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    auto* event = p.event(pool, 0);
    auto* counter = p.counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                    ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE |
                                    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
    // The sleep is the least that the command takes.
    const auto sleeps = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
    for (const bool in_order : {true, false}) {
      const auto list = p.immediate(in_order ? in_order_queue : 0);
      for (auto* signal : {event, counter}) {
        if (signal == counter && !in_order) continue;
        device_program::check(
            zeCommandListAppendHostFunction(list, sleeps, nullptr, nullptr, signal, 0, nullptr));
        found.add(zeEventHostSynchronize(signal, no_timeout));
        ze_kernel_timestamp_result_t times{};
        found.add(zeEventQueryKernelTimestamp(signal, &times));
        found.add(
            static_cast<uint64_t>(times.global.kernelEnd - times.global.kernelStart >= 3'000'000));
        found.executed(1);
      }
      device_program::check(zeEventHostReset(event));
    }
  });
}

TEST_F(UnchangedProgram, SharesItsEvents) {
  expect_unchanged([](findings& found) {
    const device_program p;
    const auto pool = p.pool(1, ZE_EVENT_POOL_FLAG_IPC);
    auto* event = p.event(pool, 0);
    ze_ipc_event_pool_handle_t handle{};
    found.add(zeEventPoolGetIpcHandle(pool, &handle));
    const auto other = p.new_context();
    ze_event_pool_handle_t opened = nullptr;
    found.add(zeEventPoolOpenIpcHandle(other, handle, &opened));
    auto* same = p.event(opened, 0);
    auto* memory = static_cast<unsigned char*>(p.memory(bytes, other));
    const auto list = p.immediate(0, other), in_order = p.immediate(in_order_queue);
    fill(list, memory, 4, 64, same);
    found.add(zeEventHostSynchronize(event, no_timeout));
    // One state in two mappings: the thread sanitizer orders only by the one that was written.
    found.add(zeEventQueryStatus(same));
    found.add_bytes(memory, 64);
    found.add(zeEventHostReset(event));
    found.add(zeCommandListAppendBarrier(in_order, event, 0, nullptr));
    found.add(zeEventHostSynchronize(same, no_timeout));
    found.executed(2);
    found.add(zeEventDestroy(same));
    found.add(zeEventPoolCloseIpcHandle(opened));
  });
}

// What a graph captures is what the program appended.
TEST_F(UnchangedProgram, CapturesAGraph) {
  const program capture = [](findings& found) {
    const device_program p;
    const auto pool = p.pool(1);
    auto* event = p.event(pool, 0);
    const auto list = p.immediate(in_order_queue), other = p.immediate(in_order_queue);
    device_program::check(zeCommandListAppendBarrier(list, event, 0, nullptr));
    device_program::check(zeCommandListBeginGraphCaptureExt(list, nullptr));
    device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    device_program::check(zeCommandListAppendBarrier(list, event, 0, nullptr));
    device_program::check(zeCommandListAppendSignalEvent(list, event));
    device_program::check(zeCommandListAppendBarrier(other, nullptr, 0, nullptr));
    ze_graph_handle_t graph = nullptr;
    device_program::check(zeCommandListEndGraphCaptureExt(list, nullptr, &graph));
    device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    found.add(zeCommandListHostSynchronize(list, no_timeout));
    found.add(zeCommandListHostSynchronize(other, no_timeout));
    found.executed(3);

    void* driver = dlopen(GRAPH_DRIVER, RTLD_NOW | RTLD_NOLOAD);
    using getter = const std::vector<ze_event_handle_t>*();
    const auto& signals = *reinterpret_cast<getter*>(dlsym(driver, "captured_signals"))();
    found.add(signals.size());
    for (auto* each : signals) found.add(uint64_t{each == nullptr ? 0u : each == event ? 1u : 2u});
  };
  const settings on{{"ZEVENT_DRIVER", GRAPH_DRIVER}};
  const auto plain = run(capture, false, on);
  const auto profiled = run(capture, true, on);
  EXPECT_EQ(profiled.status, 0);
  EXPECT_EQ(plain.values, profiled.values);
  EXPECT_EQ(times().size(), profiled.executed);
  EXPECT_EQ(untimed(), 3u) << "they are counted";
}

// Their commands could be copied or changed with our events in them. How many of them ran is known.
TEST_F(UnchangedProgram, CountsTheCommandsOfListsThatMayBeCloned) {
  const program clone = [](findings& found) {
    const device_program p;
    const auto pool = p.pool(1);
    auto* event = p.event(pool, 0);
    const auto queue = p.queue();
    const auto list = p.regular(ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE), other = p.regular();
    for (int i = 0; i < 2; ++i) {
      device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
      device_program::check(zeCommandListAppendSignalEvent(list, event));
    }
    device_program::check(zeCommandListClose(list));
    device_program::check(zeCommandListAppendBarrier(other, nullptr, 0, nullptr));
    device_program::check(zeCommandListClose(other));
    ze_command_list_handle_t copy = nullptr;
    device_program::check(zeCommandListCreateCloneExp(list, &copy));
    ze_command_list_handle_t lists[] = {copy, list, other};
    for (int i = 0; i < 2; ++i)
      found.add(zeCommandQueueExecuteCommandLists(queue, 3, lists, nullptr));
    found.add(zeCommandQueueSynchronize(queue, no_timeout));
    found.add(zeCommandListReset(list));
    found.add(zeCommandListClose(list));
    found.add(zeCommandQueueExecuteCommandLists(queue, 1, lists + 1, nullptr));
    found.add(zeCommandQueueSynchronize(queue, no_timeout));
    found.executed(2);
  };
  const auto plain = run(clone, false);
  const auto profiled = run(clone, true);
  EXPECT_EQ(profiled.status, 0);
  EXPECT_EQ(plain.values, profiled.values);
  EXPECT_EQ(times().size(), profiled.executed);
  EXPECT_EQ(untimed(), 16u);
}

// Lists that never ran, and a list that waits for ever, hold nothing up.
TEST_F(UnchangedProgram, ThrowsAwayWhatNeverRan) {
  expect_unchanged([](findings& found) {
    const device_program p;
    const auto pool = p.pool(2);
    auto* event = p.event(pool, 0);
    auto* memory = p.memory(bytes);
    const auto list = p.regular();
    for (int round = 0; round < 3; ++round) {
      fill(list, memory, 1, 64, event);
      found.add(zeCommandListReset(list));
    }
    fill(list, memory, 1, 64, event);
    found.add(zeCommandListClose(list));
    found.add(zeCommandListDestroy(list));
    found.add(zeEventQueryStatus(event));
    found.add(zeContextDestroy(p.new_context()));
  });
}

}  // namespace
}  // namespace zevent::profile_test
