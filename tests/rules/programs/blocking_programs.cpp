#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "rule_program.hpp"

namespace rule_programs {
namespace {

// With the fault query-slow, a query of an event with timestamps takes long.
void query_slowly(machine& m, ze_event_pool_flags_t more) {
  const auto list = new_immediate(m);
  const auto gate = new_event(new_pool(m));
  const auto event = new_event(new_pool(m, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | more));
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  maybe(zeEventQueryStatus(event));
  MUST(zeEventHostSignal(gate));
  finish(list);
}

void poll(machine& m, int times) {
  const auto event = new_event(new_pool(m));
  for (int i = 0; i < times; ++i) maybe(zeEventQueryStatus(event));
}

std::atomic<int> times_to_hold_up;

// Keeps the thread for as long as a driver might that is at something else.
void hold_up(int) {
  if (times_to_hold_up == 0) return;
  --times_to_hold_up;
  const timespec a_while = {0, 300'000'000};
  nanosleep(&a_while, nullptr);
}

void wait_held_up(machine& m, uint64_t timeout_ns) {
  const auto event = new_event(new_pool(m));
  std::thread later([&] {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    MUST(zeEventHostSignal(event));
  });
  std::signal(SIGALRM, hold_up);
  itimerval often = {{0, 30'000}, {0, 30'000}};
  times_to_hold_up = 2;
  setitimer(ITIMER_REAL, &often, nullptr);
  maybe(zeEventHostSynchronize(event, timeout_ns));
  times_to_hold_up = 0;
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  later.join();
}

}  // namespace

program_list blocking_programs() {
  return {
      {"70", [](machine& m) { query_slowly(m, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP); },
       [](machine& m) { query_slowly(m, 0); }},
      {"71", [](machine& m) { wait_held_up(m, 100'000'000); },
       [](machine& m) { wait_held_up(m, 60'000'000'000); }},
      {"72", [](machine& m) { poll(m, 3000); }, [](machine& m) { poll(m, 100); }},
  };
}

}  // namespace rule_programs
