#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "small_program.hpp"

// Programs that find out by asking. What they do when they have been told "done" is right only
// then.
namespace small_programs {
namespace {

void ask_until_done(ze_event_handle_t event) {
  ze_result_t answer = ZE_RESULT_NOT_READY;
  while ((answer = zeEventQueryStatus(event)) == ZE_RESULT_NOT_READY) {
  }
  MUST(answer);
}

// Some asks are answered NOT_READY for sure: the command waits for the host.
void poll_and_free() {
  const machine m;
  const auto list = m.immediate();
  const auto pool = m.pool();
  const auto go = event(pool, 0), done = event(pool, 1);
  char* memory = m.shared_memory(64 * page);
  fill(list, memory, 7, 64 * page, done, {go});
  for (int i = 0; i < 50; ++i) (void)zeEventQueryStatus(done);
  MUST(zeEventHostSignal(go));
  ask_until_done(done);
  MUST(zeMemFree(m.context, memory));
  MUST(zeEventDestroy(done));
  MUST(zeEventDestroy(go));
  MUST(zeEventPoolDestroy(pool));
  MUST(zeCommandListDestroy(list));
}

// A thread polls; the other one appends and signals meanwhile, and the poller cleans up.
void poller_on_second_thread() {
  const machine m;
  const auto list = m.immediate();
  const auto pool = m.pool();
  const auto go = event(pool, 0), done = event(pool, 1);
  char* memory = m.shared_memory(16 * page);
  std::atomic<bool> polls{false};
  std::thread poller([&] {
    while (zeEventQueryStatus(done) == ZE_RESULT_NOT_READY) polls = true;
    MUST(zeMemFree(m.context, memory));
    MUST(zeEventDestroy(done));
  });
  while (!polls) std::this_thread::yield();
  barrier(list, nullptr, {go});
  fill(list, memory, 1, 8 * page, nullptr, {go});
  fill(list, memory + 8 * page, 2, 8 * page, nullptr, {go});
  barrier(list, done);
  MUST(zeEventHostSignal(go));
  poller.join();
  MUST(zeEventDestroy(go));
  MUST(zeCommandListDestroy(list));
}

// A runtime's monitor: one thread asks for all events in turn and takes those away that are done.
void monitor_thread() {
  constexpr uint32_t count = 6;
  const machine m;
  const auto pool = m.pool(2 * count);
  std::array<ze_event_handle_t, count> go, done;
  std::array<ze_command_list_handle_t, count> lists;
  std::array<char*, count> memory;
  for (uint32_t i = 0; i < count; ++i) {
    go[i] = event(pool, 2 * i);
    done[i] = event(pool, 2 * i + 1);
    lists[i] = m.immediate();
    memory[i] = m.shared_memory();
  }
  std::atomic<uint32_t> rounds{0};
  std::thread monitor([&] {
    std::array<bool, count> is_done{};
    for (uint32_t left = count; left != 0; ++rounds)
      for (uint32_t i = 0; i < count; ++i)
        if (!is_done[i] && zeEventQueryStatus(done[i]) == ZE_RESULT_SUCCESS) {
          is_done[i] = true;
          --left;
          MUST(zeMemFree(m.context, memory[i]));
        }
  });
  for (uint32_t i = 0; i < count; ++i) {
    fill(lists[i], memory[i], i, page, done[i], {go[i]});
    while (rounds < 10 * i) std::this_thread::yield();
    MUST(zeEventHostSignal(go[count - 1 - i]));
    if (i + 1 < count) continue;
    for (const auto each : go) MUST(zeEventHostSignal(each));
  }
  monitor.join();
  for (uint32_t i = 0; i < count; ++i) {
    MUST(zeEventDestroy(done[i]));
    MUST(zeEventDestroy(go[i]));
    MUST(zeCommandListDestroy(lists[i]));
  }
}

// Two threads use one event again and again: the one resets it when the other has seen it.
void recycled_event() {
  const machine m;
  const auto list = m.immediate();
  const auto done = event(m.pool());
  char* memory = m.shared_memory();
  std::atomic<uint32_t> appended{0}, seen{0};
  constexpr uint32_t rounds = 8;
  std::thread poller([&] {
    for (uint32_t i = 1; i <= rounds; ++i) {
      while (appended != i) std::this_thread::yield();
      ask_until_done(done);
      seen = i;
    }
  });
  for (uint32_t i = 1; i <= rounds; ++i) {
    fill(list, memory, i, page, done);
    appended = i;
    while (seen != i) std::this_thread::yield();
    MUST(zeEventHostReset(done));
  }
  poller.join();
  MUST(zeMemFree(m.context, memory));
  MUST(zeEventDestroy(done));
}

void fence_polls() {
  const machine m;
  const auto queue = m.queue();
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  MUST(zeFenceCreate(queue, &desc, &fence));
  for (uint32_t i = 0; i < 3; ++i) {
    const auto list = m.list();
    char* memory = m.shared_memory(256 * page);
    fill(list, memory, i, 256 * page);
    MUST(zeCommandListClose(list));
    execute(queue, list, fence);
    while (zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY) {
    }
    MUST(zeFenceReset(fence));
    MUST(zeMemFree(m.context, memory));
    MUST(zeCommandListDestroy(list));
  }
  MUST(zeFenceDestroy(fence));
  MUST(zeCommandQueueDestroy(queue));
}

// Waits with time limits, of events, lists, queues and fences.
void bounded_waits() {
  constexpr uint64_t short_ns = 1'000;
  const machine m;
  const auto pool = m.pool();
  const auto immediate = m.immediate();
  const auto go = event(pool, 0), done = event(pool, 1);
  char* memory = m.shared_memory();
  fill(immediate, memory, 3, page, done, {go});
  for (int i = 0; i < 5; ++i) (void)zeEventHostSynchronize(done, short_ns);
  for (int i = 0; i < 5; ++i) (void)zeCommandListHostSynchronize(immediate, 0);
  MUST(zeEventHostSignal(go));
  while (zeEventHostSynchronize(done, short_ns) == ZE_RESULT_NOT_READY) {
  }
  while (zeCommandListHostSynchronize(immediate, short_ns) == ZE_RESULT_NOT_READY) {
  }
  MUST(zeMemFree(m.context, memory));
  const auto queue = m.queue();
  const auto list = m.list();
  memory = m.shared_memory();
  fill(list, memory, 4);
  MUST(zeCommandListClose(list));
  execute(queue, list);
  while (zeCommandQueueSynchronize(queue, 0) == ZE_RESULT_NOT_READY) {
  }
  MUST(zeMemFree(m.context, memory));
  MUST(zeCommandListDestroy(list));
  MUST(zeCommandListDestroy(immediate));
}

void timestamp_polls() {
  const machine m;
  const auto list = m.immediate();
  const auto pool =
      m.pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const auto go = event(pool, 0), done = event(pool, 1);
  char* memory = m.shared_memory();
  fill(list, memory, 5, page, done, {go});
  ze_kernel_timestamp_result_t times = {};
  for (int i = 0; i < 3; ++i) (void)zeEventQueryKernelTimestamp(done, &times);
  MUST(zeEventHostSignal(go));
  while (zeEventQueryKernelTimestamp(done, &times) == ZE_RESULT_NOT_READY) {
  }
  MUST(zeMemFree(m.context, memory));
  MUST(zeEventDestroy(done));
}

// As runtimes do that recycle: the main thread executes lists, and a monitor asks for their fences
// and makes lists, fences and events ready for the next use. The main thread waits for one in
// between.
void recycling_runtime() {
  constexpr uint32_t slots = 4, submissions = 24;
  const machine m;
  const auto queue = m.queue();
  const auto pool = m.pool(slots);
  struct slot {
    ze_command_list_handle_t list = nullptr;
    ze_fence_handle_t fence = nullptr;
    ze_event_handle_t done = nullptr;
    char* memory = nullptr;
    bool in_use = false;  // guarded by the mutex, and so is the monitor's look at it
  };
  std::array<slot, slots> all;
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  for (uint32_t i = 0; i < slots; ++i) {
    all[i].list = m.list();
    MUST(zeFenceCreate(queue, &desc, &all[i].fence));
    all[i].done = event(pool, i);
    all[i].memory = m.shared_memory(16 * page);
  }
  std::mutex guard;
  bool is_over = false;
  std::thread monitor([&] {
    for (;;) {
      const std::lock_guard lock(guard);
      bool any = false;
      for (auto& each : all) {
        if (!each.in_use) continue;
        any = true;
        if (zeFenceQueryStatus(each.fence) == ZE_RESULT_NOT_READY) continue;
        MUST(zeEventQueryStatus(each.done));
        MUST(zeEventHostReset(each.done));
        MUST(zeFenceReset(each.fence));
        MUST(zeCommandListReset(each.list));
        each.in_use = false;
      }
      if (!any && is_over) return;
    }
  });
  for (uint32_t i = 0; i < submissions;) {
    const std::lock_guard lock(guard);
    const auto free = std::find_if(all.begin(), all.end(), [](slot& each) { return !each.in_use; });
    if (free == all.end()) continue;
    fill(free->list, free->memory, i, 16 * page, free->done);
    MUST(zeCommandListClose(free->list));
    execute(queue, free->list, free->fence);
    free->in_use = true;
    if (++i % 6 == 0) MUST(zeFenceHostSynchronize(free->fence, for_ever));
    is_over = i == submissions;
  }
  finish(queue);
  monitor.join();
  for (const auto& each : all) {
    MUST(zeMemFree(m.context, each.memory));
    MUST(zeEventDestroy(each.done));
    MUST(zeFenceDestroy(each.fence));
    MUST(zeCommandListDestroy(each.list));
  }
  MUST(zeCommandQueueDestroy(queue));
}

// As runtimes do: nearly all calls are polls of a thread that does nothing else. POLLS says how
// many.
void many_polls() {
  const char* wanted = std::getenv("POLLS");
  const uint64_t polls = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 20'000;
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const auto pool = m.pool();
  const auto go = event(pool, 0), done = event(pool, 1);
  char* memory = m.shared_memory();
  std::atomic<uint64_t> asked{0};
  std::thread poller([&] {
    while (zeEventQueryStatus(done) == ZE_RESULT_NOT_READY) ++asked;
    MUST(zeMemFree(m.context, memory));
  });
  constexpr uint64_t commands = 20;
  for (uint64_t i = 0; i < commands; ++i) {
    while (asked < polls / commands * i) std::this_thread::yield();
    fill(list, memory, 6, page, nullptr, {go});
  }
  while (asked < polls) std::this_thread::yield();
  barrier(list, done);
  MUST(zeEventHostSignal(go));
  poller.join();
}

// One a line: the tests are named after them.
// clang-format off
constexpr program programs[] = {
    {"poll_and_free", poll_and_free},
    {"poller_on_second_thread", poller_on_second_thread},
    {"monitor_thread", monitor_thread},
    {"recycled_event", recycled_event},
    {"fence_polls", fence_polls},
    {"bounded_waits", bounded_waits},
    {"timestamp_polls", timestamp_polls},
    {"recycling_runtime", recycling_runtime},
    {"many_polls", many_polls},
};
// clang-format on

}  // namespace

std::span<const program> poll_programs() {
  return programs;
}

}  // namespace small_programs
