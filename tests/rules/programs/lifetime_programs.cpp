#include <unistd.h>

#include <csignal>
#include <thread>

#include "rule_program.hpp"

// What is left when a process ends.

namespace rule_programs {
namespace {

constexpr size_t large = size_t{64} << 20;

void copy_and_end(machine& m, bool waits) {
  const auto list = new_in_order_immediate(m);
  copy(list, new_memory(m, large), new_memory(m, large), large);
  if (waits) finish(list);
}

// Whoever kills a process keeps it from waiting.
void copy_and_be_killed(machine& m) {
  const auto list = new_in_order_immediate(m);
  copy(list, new_memory(m, large), new_memory(m, large), large);
  std::signal(SIGALRM, SIG_DFL);
  (void)raise(SIGALRM);
}

void leave_events(machine& m) {
  const auto pool = new_pool(m, 8);
  for (uint32_t i = 0; i < 3; ++i) new_event(pool, i);
  std::thread([&] { new_event(pool, 3); }).join();
}

void destroy_all(machine& m) {
  const auto pool = new_pool(m, 8);
  const auto event = new_event(pool);
  const auto list = new_in_order_immediate(m);
  char* memory = new_memory(m);
  copy(list, memory, memory + page / 2, page / 2, event);
  wait(event);
  finish(list);
  MUST(zeMemFree(m.context, memory));
  MUST(zeCommandListDestroy(list));
  MUST(zeEventDestroy(event));
  MUST(zeEventPoolDestroy(pool));
  MUST(zeContextDestroy(m.context));
}

}  // namespace

program_list lifetime_programs() {
  return {
      {"76", [](machine& m) { copy_and_end(m, false); }, [](machine& m) { copy_and_end(m, true); }},
      {"76-killed", nullptr, copy_and_be_killed},
      {"76-leaks", leave_events, destroy_all},
  };
}

}  // namespace rule_programs
