#include <pthread.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <thread>

#include "rule_program.hpp"
#include "support/other_thread.hpp"

namespace rule_programs {
namespace {

uint64_t processor_time_ns(std::thread& of) {
  clockid_t clock = 0;
  timespec used{};
  if (pthread_getcpuclockid(of.native_handle(), &clock) != 0) return 0;
  clock_gettime(clock, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

// Makes a call on a thread of its own. When this returns, the call has returned or the thread is
// inside of it: it sleeps there, or spins, as some drivers let it.
template <typename Call>
std::thread start(const Call& call) {
  struct progress {
    std::atomic<pid_t> thread{0};
    std::atomic<bool> has_returned{false};
  };
  const auto seen = std::make_shared<progress>();
  std::thread made([seen, call] {
    seen->thread = gettid();
    call();
    seen->has_returned = true;
  });
  constexpr int enough_looks = 20;
  constexpr uint64_t spinning_ns = 50'000'000;
  for (int asleep = 0; asleep < enough_looks; std::this_thread::yield()) {
    if (seen->has_returned) break;
    if (seen->thread == 0) continue;
    if (processor_time_ns(made) >= spinning_ns) break;
    asleep = zevent::test::state_of_thread(seen->thread) == 'S' ? asleep + 1 : 0;
  }
  return made;
}

// While one thread is inside of an append that waits, the other one appends, to the same list or to
// its own.
void append_at_once(machine& m, bool same_list) {
  const auto gate = new_event(new_pool(m));
  const auto list = new_immediate(m, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const auto other = same_list ? list : new_immediate(m, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  std::thread first = start([&] { barrier(list, nullptr, {gate}); });
  std::thread second = start([&] { barrier(other); });
  MUST(zeEventHostSignal(gate));
  first.join();
  second.join();
}

// The same with two executions on one queue, of lists that use the same memory or not.
void execute_at_once(machine& m, bool same_memory) {
  const auto gate = new_event(new_pool(m));
  const auto queue = new_queue(m, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const auto one = new_list(m), two = new_list(m);
  char* target = new_memory(m);
  barrier(one, nullptr, {gate});
  copy(one, target, new_memory(m));
  barrier(two);
  copy(two, same_memory ? target : new_memory(m), new_memory(m));
  close(one);
  close(two);
  std::thread first = start([&] { execute(queue, one); });
  std::thread second = start([&] { execute(queue, two); });
  MUST(zeEventHostSignal(gate));
  first.join();
  second.join();
}

struct callback_data {
  ze_event_handle_t event = nullptr;
  std::atomic<bool> called{false};
};

void ask_from_callback(void* data) {
  auto* given = static_cast<callback_data*>(data);
  maybe(zeEventQueryStatus(given->event));
  given->called = true;
}

void note_from_callback(void* data) {
  static_cast<callback_data*>(data)->called = true;
}

void call_back(machine& m, ze_host_function_callback_t function) {
  callback_data data;
  data.event = new_event(new_pool(m));
  const auto list = new_immediate(m);
  MUST(zeCommandListAppendHostFunction(list, function, &data, nullptr, nullptr, 0, nullptr));
  finish(list);
}

}  // namespace

program_list thread_programs() {
  return {
      {"40", [](machine& m) { append_at_once(m, true); },
       [](machine& m) { append_at_once(m, false); }},
      {"41", [](machine& m) { execute_at_once(m, true); },
       [](machine& m) { execute_at_once(m, false); }},
      {"42", [](machine& m) { call_back(m, ask_from_callback); },
       [](machine& m) { call_back(m, note_from_callback); }},
  };
}

}  // namespace rule_programs
