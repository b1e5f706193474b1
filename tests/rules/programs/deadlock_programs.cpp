#include <atomic>
#include <thread>

#include "rule_program.hpp"

namespace rule_programs {
namespace {

// Two lists that each wait for an event of the other.
void wait_for_each_other(machine& m, bool circle) {
  const auto pool = new_pool(m);
  const auto one = new_event(pool, 0), two = new_event(pool, 1);
  const auto left = new_in_order_immediate(m), right = new_in_order_immediate(m);
  if (circle) {
    barrier(left, nullptr, {two});
    barrier(left, one);
    barrier(right, nullptr, {one});
    barrier(right, two);
    maybe(zeCommandListHostSynchronize(right, 1'000'000));
    return;
  }
  barrier(left, one);
  barrier(left, nullptr, {two});
  barrier(right, nullptr, {one});
  barrier(right, two);
  finish(left);
  finish(right);
}

// The signal is behind the wait, on the same in-order list or in front of it.
void wait_in_front(machine& m, bool wait_first) {
  const auto event = new_event(new_pool(m));
  const auto list = new_in_order_immediate(m);
  if (wait_first) barrier(list, nullptr, {event});
  barrier(list, event);
  if (!wait_first) barrier(list, nullptr, {event});
  maybe(zeCommandListHostSynchronize(list, wait_first ? 1'000'000 : for_ever));
}

void wait_for_list(machine& m, bool executed) {
  const auto event = new_event(new_pool(m));
  const auto producer = new_list(m), consumer = new_list(m);
  const auto one = new_queue(m), other = new_queue(m);
  barrier(producer, event);
  barrier(consumer, nullptr, {event});
  close(producer);
  close(consumer);
  execute(other, consumer);
  if (executed) execute(one, producer);
  maybe(zeCommandQueueSynchronize(other, executed ? for_ever : 1'000'000));
  if (executed) finish(one);
}

void wait_on_host(machine& m, bool signalled) {
  const auto event = new_event(new_pool(m));
  const auto list = new_immediate(m);
  if (signalled)
    barrier(list, event);
  else
    die_when_stuck();
  wait(event);
  finish(list);
}

constexpr uint64_t a_moment_ns = 1'000'000;

// A wait with a timeout for an event that nothing signals by then; the signal comes afterwards.
void wait_a_moment(machine& m, bool signalled) {
  const auto event = new_event(new_pool(m));
  const auto list = new_immediate(m);
  if (signalled) barrier(list, event);
  maybe(zeEventHostSynchronize(event, signalled ? for_ever - 1 : a_moment_ns));
  if (!signalled) barrier(list, event);
  finish(list);
}

void wait_a_moment_for_list(machine& m, bool executed) {
  const auto event = new_event(new_pool(m));
  const auto list = new_list(m);
  const auto queue = new_queue(m);
  barrier(list, event);
  close(list);
  if (executed) execute(queue, list);
  maybe(zeEventHostSynchronize(event, executed ? for_ever - 1 : a_moment_ns));
  finish(queue);
}

void wait_a_moment_after_reset(machine& m, bool reset_after) {
  const auto event = new_event(new_pool(m));
  const auto list = new_immediate(m);
  if (!reset_after) MUST(zeEventHostReset(event));
  barrier(list, event);
  finish(list);
  if (reset_after) MUST(zeEventHostReset(event));
  maybe(zeEventHostSynchronize(event, reset_after ? a_moment_ns : for_ever - 1));
  MUST(zeEventDestroy(event));
}

// The wait may be too short for what is under way.
void wait_a_moment_for_gate(machine& m) {
  const auto pool = new_pool(m);
  const auto gate = new_event(pool, 0), event = new_event(pool, 1);
  const auto list = new_immediate(m);
  barrier(list, event, {gate});
  maybe(zeEventHostSynchronize(event, a_moment_ns));
  MUST(zeEventHostSignal(gate));
  wait(event);
  finish(list);
}

// One thread waits again and again until another one has signalled.
void wait_for_other_thread(machine& m) {
  const auto event = new_event(new_pool(m));
  std::atomic<bool> has_waited = false;
  std::thread other([&] {
    while (!has_waited) std::this_thread::yield();
    MUST(zeEventHostSignal(event));
  });
  while (zeEventHostSynchronize(event, 1000) == ZE_RESULT_NOT_READY) has_waited = true;
  has_waited = true;
  other.join();
}

// A ring of two lists that the host gets going, before or after it has waited in vain.
void break_cycle(machine& m, bool after_wait) {
  const auto pool = new_pool(m);
  const auto one = new_event(pool, 0), two = new_event(pool, 1);
  const auto left = new_in_order_immediate(m), right = new_in_order_immediate(m);
  barrier(left, nullptr, {two});
  barrier(left, one);
  barrier(right, nullptr, {one});
  barrier(right, two);
  if (after_wait) maybe(zeCommandListHostSynchronize(right, a_moment_ns));
  MUST(zeEventHostSignal(two));
  finish(left);
  finish(right);
}

void wait_for_reset(machine& m, bool reset_after) {
  const auto event = new_event(new_pool(m));
  const auto list = new_immediate(m);
  if (!reset_after) MUST(zeEventHostReset(event));
  MUST(zeEventHostSignal(event));
  if (reset_after) MUST(zeEventHostReset(event));
  barrier(list, nullptr, {event});
  maybe(zeCommandListHostSynchronize(list, reset_after ? 1'000'000 : for_ever));
}

// Appends to a synchronous list what waits for an event that this thread would signal next.
void append_then_signal(machine& m, ze_command_queue_mode_t mode) {
  const auto event = new_event(new_pool(m));
  const auto list = new_immediate(m, 0, mode);
  if (mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) die_when_stuck();
  barrier(list, nullptr, {event});
  MUST(zeEventHostSignal(event));
  finish(list);
}

void synchronise_device(machine& m, bool signalled) {
  const auto event = new_event(new_pool(m));
  const auto list = new_immediate(m);
  barrier(list, nullptr, {event});
  if (signalled)
    MUST(zeEventHostSignal(event));
  else
    die_when_stuck();
  MUST(zeDeviceSynchronize(m.device));
}

}  // namespace

program_list deadlock_programs() {
  return {
      {"12-reset", [](machine& m) { wait_for_reset(m, true); },
       [](machine& m) { wait_for_reset(m, false); }},
      {"12-list", [](machine& m) { wait_for_list(m, false); },
       [](machine& m) { wait_for_list(m, true); }},
      {"12-host", [](machine& m) { wait_on_host(m, false); },
       [](machine& m) { wait_on_host(m, true); }},
      {"12-moment", [](machine& m) { wait_a_moment(m, false); },
       [](machine& m) { wait_a_moment(m, true); }},
      {"12-moment-list", [](machine& m) { wait_a_moment_for_list(m, false); },
       [](machine& m) { wait_a_moment_for_list(m, true); }},
      {"12-moment-reset", [](machine& m) { wait_a_moment_after_reset(m, true); },
       [](machine& m) { wait_a_moment_after_reset(m, false); }},
      {"12-moment-gate", nullptr, wait_a_moment_for_gate},
      {"12-moment-thread", nullptr, wait_for_other_thread},
      {"13", [](machine& m) { wait_for_each_other(m, true); },
       [](machine& m) { wait_for_each_other(m, false); }},
      {"13-in-order", [](machine& m) { wait_in_front(m, true); },
       [](machine& m) { wait_in_front(m, false); }},
      {"13-broken", [](machine& m) { break_cycle(m, true); },
       [](machine& m) { break_cycle(m, false); }},
      {"14", [](machine& m) { append_then_signal(m, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS); },
       [](machine& m) { append_then_signal(m, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS); }},
      {"19", [](machine& m) { synchronise_device(m, false); },
       [](machine& m) { synchronise_device(m, true); }},
      {"21-submitted",
       [](machine& m) {
         const auto event = new_event(new_pool(m));
         const auto list = new_immediate(m);
         barrier(list, event, {event});
         maybe(zeCommandListHostSynchronize(list, 1'000'000));
       },
       nullptr},
  };
}

}  // namespace rule_programs
