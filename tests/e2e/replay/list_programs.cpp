#include <cstring>
#include <thread>

#include "small_program.hpp"

namespace small_programs {
namespace {

// From the host to the device and back, by lists of one kind.
void there_and_back(const machine& m, ze_command_list_handle_t list, bool needs_barrier) {
  char* there = m.shared_memory();
  char* from = m.host_memory();
  char* back = m.host_memory();
  std::memset(from, 'a', page);
  copy(list, there, from);
  if (needs_barrier) barrier(list);
  copy(list, back, there);
}

void regular_list() {
  const machine m;
  const auto list = m.list();
  there_and_back(m, list, true);
  MUST(zeCommandListClose(list));
  const auto queue = m.queue();
  execute(queue, list);
  finish(queue);
  MUST(zeCommandListDestroy(list));
  MUST(zeCommandQueueDestroy(queue));
  MUST(zeContextDestroy(m.context));
}

void regular_in_order_list() {
  const machine m;
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  there_and_back(m, list, false);
  MUST(zeCommandListClose(list));
  const auto queue = m.queue();
  execute(queue, list);
  finish(queue);
}

void immediate_list() {
  const machine m;
  const auto list = m.immediate();
  there_and_back(m, list, true);
  finish(list);
}

void immediate_in_order_list() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  there_and_back(m, list, false);
  finish(list);
}

void relaxed_lists() {
  const machine m;
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING);
  char* memory = m.shared_memory(2 * page);
  fill(list, memory, 1);
  fill(list, memory + page, 2);
  MUST(zeCommandListClose(list));
  const auto queue = m.queue();
  execute(queue, list);
  finish(queue);
}

void synchronous_list() {
  const machine m;
  const auto list = m.immediate(0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  there_and_back(m, list, false);
}

void synchronous_queue() {
  const machine m;
  const auto queue = m.queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const auto list = m.list();
  there_and_back(m, list, true);
  MUST(zeCommandListClose(list));
  execute(queue, list);
}

void executed_again() {
  const machine m;
  const auto queue = m.queue();
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  char* memory = m.shared_memory(2 * page);
  copy(list, memory + page, memory);
  MUST(zeCommandListClose(list));
  for (int i = 0; i < 5; ++i) {
    std::memset(memory, 'a' + i, page);
    execute(queue, list);
    finish(queue);
  }
}

// What a clone copies from plain host memory is what lies there when the clone is executed.
void cloned_list() {
  const machine m;
  const auto queue = m.queue();
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE);
  std::vector<char> plain(page, 'a');
  char* there = m.shared_memory();
  char* back = m.host_memory();
  const auto copied = m.counter_event();
  copy(list, there, plain.data());
  copy(list, back, there, page, copied);
  MUST(zeCommandListClose(list));
  ze_command_list_handle_t clone = nullptr;
  MUST(zeCommandListCreateCloneExp(list, &clone));
  char wanted = 'a';
  for (const auto each : {clone, list, clone}) {
    std::memset(plain.data(), ++wanted, page);
    execute(queue, each);
    wait(copied);
    if (back[page - 1] != wanted) exit_once(4);
    finish(queue);
  }
  MUST(zeCommandListDestroy(clone));
}

void reset_list() {
  const machine m;
  const auto queue = m.queue();
  const auto list = m.list();
  char* memory = m.shared_memory();
  for (uint32_t i = 0; i < 3; ++i) {
    fill(list, memory, i);
    MUST(zeCommandListClose(list));
    execute(queue, list);
    finish(queue);
    MUST(zeCommandListReset(list));
  }
}

void several_lists_at_once() {
  const machine m;
  const auto queue = m.queue();
  char* memory = m.shared_memory(3 * page);
  std::vector<ze_command_list_handle_t> lists;
  for (uint32_t i = 0; i < 3; ++i) {
    lists.push_back(m.list());
    fill(lists.back(), memory + i * page, i);
    MUST(zeCommandListClose(lists.back()));
  }
  MUST(zeCommandQueueExecuteCommandLists(queue, 3, lists.data(), nullptr));
  finish(queue);
}

void several_queues() {
  const machine m;
  const auto pool = m.pool();
  const auto filled = event(pool);
  const auto first = m.queue(), second = m.queue();
  const auto one = m.list(), other = m.list();
  char* memory = m.shared_memory(2 * page);
  fill(one, memory, 7, page, filled);
  copy(other, memory + page, memory, page, nullptr, {filled});
  MUST(zeCommandListClose(one));
  MUST(zeCommandListClose(other));
  execute(second, other);
  execute(first, one);
  finish(first);
  finish(second);
}

void fences() {
  const machine m;
  const auto queue = m.queue();
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  MUST(zeFenceCreate(queue, &desc, &fence));
  const auto list = m.list();
  fill(list, m.shared_memory(), 3);
  MUST(zeCommandListClose(list));
  for (int i = 0; i < 2; ++i) {
    execute(queue, list, fence);
    MUST(zeFenceHostSynchronize(fence, for_ever));
    MUST(zeFenceQueryStatus(fence));
    MUST(zeFenceReset(fence));
  }
  MUST(zeFenceDestroy(fence));
}

void lists_in_immediate_list() {
  const machine m;
  const auto pool = m.pool();
  const auto before = event(pool), after = event(pool, 1);
  auto list = m.list();
  char* memory = m.shared_memory(2 * page);
  fill(list, memory, 5);
  MUST(zeCommandListClose(list));
  const auto immediate = m.immediate();
  fill(immediate, memory + page, 4, page, before);
  auto waits = before;
  MUST(zeCommandListImmediateAppendCommandListsExp(immediate, 1, &list, after, 1, &waits));
  wait(after);
  finish(immediate);
}

void barriers_with_ranges() {
  const machine m;
  const auto pool = m.pool();
  const auto done = event(pool);
  const auto list = m.immediate();
  char* memory = m.shared_memory(2 * page);
  const size_t sizes[] = {page, 64};
  const void* ranges[] = {memory, memory + page};
  fill(list, memory, 6);
  MUST(zeCommandListAppendMemoryRangesBarrier(list, 2, sizes, ranges, done, 0, nullptr));
  copy(list, memory + page, memory, 64);
  finish(list);
}

// Each thread works with a list of its own.
void two_threads() {
  const machine m;
  const auto work = [&](uint32_t number) {
    const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    char* memory = m.shared_memory(2 * page);
    for (uint32_t i = 0; i < 20; ++i) {
      fill(list, memory, number + i);
      copy(list, memory + page, memory);
    }
    finish(list);
    MUST(zeCommandListDestroy(list));
  };
  std::thread one(work, 100), other(work, 200);
  one.join();
  other.join();
}

// A ball goes to and fro between two threads, by events that the host signals.
void ping_pong() {
  const machine m;
  constexpr uint32_t rounds = 10;
  const auto pool = m.pool(2 * rounds);
  std::vector<ze_event_handle_t> pings, pongs;
  for (uint32_t i = 0; i < rounds; ++i) {
    pings.push_back(event(pool, 2 * i));
    pongs.push_back(event(pool, 2 * i + 1));
  }
  std::thread other([&] {
    for (uint32_t i = 0; i < rounds; ++i) {
      wait(pings[i]);
      MUST(zeEventHostSignal(pongs[i]));
    }
  });
  for (uint32_t i = 0; i < rounds; ++i) {
    MUST(zeEventHostSignal(pings[i]));
    wait(pongs[i]);
  }
  other.join();
}

// One thread waits for what another appends.
void waiting_thread() {
  const machine m;
  const auto pool = m.pool();
  const auto done = event(pool);
  const auto list = m.immediate();
  char* memory = m.shared_memory(64 * page);
  std::thread waiter([&] {
    wait(done);
    MUST(zeEventHostReset(done));
  });
  fill(list, memory, 8, 64 * page, done);
  waiter.join();
  finish(list);
}

constexpr program programs[] = {
    {"regular_list", regular_list},
    {"regular_in_order_list", regular_in_order_list},
    {"immediate_list", immediate_list},
    {"immediate_in_order_list", immediate_in_order_list},
    {"relaxed_lists", relaxed_lists},
    {"synchronous_list", synchronous_list},
    {"synchronous_queue", synchronous_queue},
    {"executed_again", executed_again},
    {"cloned_list", cloned_list},
    {"reset_list", reset_list},
    {"several_lists_at_once", several_lists_at_once},
    {"several_queues", several_queues},
    {"fences", fences},
    {"lists_in_immediate_list", lists_in_immediate_list},
    {"barriers_with_ranges", barriers_with_ranges},
    {"two_threads", two_threads},
    {"ping_pong", ping_pong},
    {"waiting_thread", waiting_thread},
};

}  // namespace

std::span<const program> list_programs() {
  return programs;
}

}  // namespace small_programs
