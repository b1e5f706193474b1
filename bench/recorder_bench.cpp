// What recording costs, against LTTng-UST tracepoints with the same fields: one before and one
// after each call, as tracers built on it have them.
//
// The program starts an LTTng session, then itself again inside it (LTTng finds programs when they
// start). `recorder_bench calls WHO COUNT` makes the calls that trace_bench reads.

#include <dlfcn.h>
#include <fmt/format.h>
#include <level_zero/ze_api.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/temporary_folder.hpp"
#include "lttng_session.hpp"
#include "ratio.hpp"

extern "C" {
#include "lttng_calls.h"
}

namespace {

using namespace zevent;
using bench::check;

constexpr uint64_t calls_in_a_round = 50'000;
constexpr int rounds = 41;

// The program under test. Linked with the recorder, so that ze… is recorded; `driver` is the same
// function of the driver behind it.
struct program {
  ze_event_handle_t events[3] = {};
  ze_command_list_handle_t list = nullptr;
  decltype(&zeEventQueryStatus) driver_query = nullptr;
  decltype(&zeCommandListAppendBarrier) driver_append = nullptr;

  program() {
    const auto good = [](ze_result_t result) { check(result == ZE_RESULT_SUCCESS, "a call"); };
    ze_driver_handle_t driver = nullptr;
    ze_device_handle_t device = nullptr;
    ze_context_handle_t context = nullptr;
    ze_event_pool_handle_t pool = nullptr;
    good(zeInit(0));
    uint32_t one = 1;
    good(zeDriverGet(&one, &driver));
    good(zeDeviceGet(driver, &(one = 1), &device));
    const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    good(zeContextCreate(driver, &context_desc, &context));
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 3};
    good(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));
    for (uint32_t i = 0; i < 3; ++i) {
      const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, 0, 0};
      good(zeEventCreate(pool, &desc, &events[i]));
    }
    const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    good(zeCommandListCreate(context, device, &list_desc, &list));

    void* library = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    check(library != nullptr, "loading the driver");
    driver_query = reinterpret_cast<decltype(driver_query)>(dlsym(library, "zeEventQueryStatus"));
    driver_append =
        reinterpret_cast<decltype(driver_append)>(dlsym(library, "zeCommandListAppendBarrier"));
  }

  void query() { driver_query(events[0]); }
  void recorded_query() { zeEventQueryStatus(events[0]); }
  void traced_query() {
    lttng_ust_tracepoint(zevent_bench, zeEventQueryStatus_entry,
                         reinterpret_cast<uint64_t>(events[0]));
    const auto result = driver_query(events[0]);
    lttng_ust_tracepoint(zevent_bench, zeEventQueryStatus_exit, static_cast<uint32_t>(result));
  }

  void append() { driver_append(list, events[0], 2, events + 1); }
  void recorded_append() { zeCommandListAppendBarrier(list, events[0], 2, events + 1); }
  void traced_append() {
    lttng_ust_tracepoint(zevent_bench, zeCommandListAppendBarrier_entry,
                         reinterpret_cast<uint64_t>(list), reinterpret_cast<uint64_t>(events[0]), 2,
                         reinterpret_cast<const uint64_t*>(events + 1));
    const auto result = driver_append(list, events[0], 2, events + 1);
    lttng_ust_tracepoint(zevent_bench, zeCommandListAppendBarrier_exit,
                         static_cast<uint32_t>(result));
  }
};

double time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Processor time of this thread for one call: what others do on the machine meanwhile, and what
// LTTng's daemon does on another processor, is not in it. The recorder does all of its work in the
// program's own threads.
template <typename Call>
double cost_ns(Call call) {
  const double begin = time_of(CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t i = 0; i < calls_in_a_round; ++i) call();
  return (time_of(CLOCK_THREAD_CPUTIME_ID) - begin) / static_cast<double>(calls_in_a_round);
}

// Time added to one call, by each of two ways of watching it.
template <typename Bare, typename Recorded, typename Traced, typename Between>
bench::comparison added_cost(Bare bare, Recorded recorded, Traced traced, Between between) {
  std::vector<double> ours, peers;
  for (int i = 0; i < rounds; ++i) {
    const double base = cost_ns(bare);
    between();
    const double with_lttng = cost_ns(traced);
    between();
    const double with_recorder = cost_ns(recorded);
    between();
    ours.push_back(with_recorder - base);
    peers.push_back(with_lttng - base);
  }
  std::sort(ours.begin(), ours.end());
  std::sort(peers.begin(), peers.end());
  return {ours[rounds / 2], peers[rounds / 2]};
}

// All threads of the process share so many of its processors.
class processors {
 public:
  explicit processors(int count) {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t some;
    CPU_ZERO(&some);
    for (size_t i = 0; i < CPU_SETSIZE && count > 0; ++i)
      if (CPU_ISSET(i, &all_)) CPU_SET(i, &some), --count;
    give(some);
  }
  ~processors() { give(all_); }
  processors(const processors&) = delete;
  processors& operator=(const processors&) = delete;

 private:
  static void give(const cpu_set_t& set) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      sched_setaffinity(std::stoi(task.path().filename()), sizeof set, &set);
  }
  cpu_set_t all_{};
};

// What so many threads get done that do `call` at the same time.
struct work_done {
  double calls_per_second = 0;
  double processor_ns_per_call = 0;  // of the whole process
};

template <typename Call>
work_done work(int threads, Call call) {
  constexpr auto span = std::chrono::milliseconds(30);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> calls{0};
  std::vector<std::thread> all;
  const auto begin = std::chrono::steady_clock::now();
  const double begin_processor = time_of(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      uint64_t own = 0;
      for (; !stop.load(std::memory_order_relaxed); own += 1000)
        for (int c = 0; c < 1000; ++c) call();
      calls += own;
    });
  std::this_thread::sleep_for(span);
  stop = true;
  for (auto& each : all) each.join();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  const auto count = static_cast<double>(calls.load());
  return {count / spent.count(), (time_of(CLOCK_PROCESS_CPUTIME_ID) - begin_processor) / count};
}

// How near two threads come to twice the work of one, by the clock, and by what a call costs all
// processors together. Whoever else uses the machine takes more from two threads than from one, so
// that each counts as it was in the best of many short spans.
struct scaling {
  double by_clock = 0;  // one thread has the same processors as two, and so one to spare
  double bound = 0;     // two on two processors, one on one
  double by_processor = 0;
};

struct best_work {
  double calls_per_second = 0;
  double processor_ns_per_call = 1e9;

  template <typename Call>
  void measure(int threads, Call call) {
    const auto done = work(threads, call);
    calls_per_second = std::max(calls_per_second, done.calls_per_second);
    processor_ns_per_call = std::min(processor_ns_per_call, done.processor_ns_per_call);
  }
};

struct best_of_threads {
  best_work bound, one, two;

  template <typename Call>
  void measure(Call call) {
    {
      const processors single(1);
      bound.measure(1, call);
    }
    one.measure(1, call);
    two.measure(2, call);
  }
  scaling ratios() const {
    return {two.calls_per_second / (2 * one.calls_per_second),
            two.calls_per_second / (2 * bound.calls_per_second),
            one.processor_ns_per_call / two.processor_ns_per_call};
  }
};

void print_scaling(const char* what, double recorded, double bare, const char* target) {
  fmt::print("{:<52} {:>12.2f} {:>12.2f} {:>8.2f}  {}\n", what, recorded, bare, recorded / bare,
             target);
}

void measure_costs() {
  program p;
  const auto nothing = [] {};
  const auto reset = [&] { zeCommandListReset(p.list); };
  bench::print_heading("recording a call: processor time added to it");
  bench::print_row("zeEventQueryStatus, against two tracepoints",
                   added_cost([&] { p.query(); }, [&] { p.recorded_query(); },
                              [&] { p.traced_query(); }, nothing),
                   "<= 0.17");
  bench::print_row("an append with two wait events, the same",
                   added_cost([&] { p.append(); }, [&] { p.recorded_append(); },
                              [&] { p.traced_append(); }, reset),
                   "<= 0.25");
  constexpr int spans = 41;
  best_of_threads recorded_best, bare_best;
  for (int i = 0; i < spans; ++i) {
    recorded_best.measure([&] { p.recorded_query(); });
    bare_best.measure([&] { p.query(); });
  }
  const auto recorded = recorded_best.ratios(), bare = bare_best.ratios();
  // Two processors of a virtual machine may be less than twice one: what the same threads reach
  // when nothing is recorded is all that can be had.
  fmt::print("\ntwo threads at once on {} processors {:>27} {:>12} {:>8}\n",
             std::thread::hardware_concurrency(), "recorded", "bare", "ratio");
  print_scaling("rate: two threads / twice one thread", recorded.by_clock, bare.by_clock,
                ">= 0.90");
  print_scaling("rate: the same, one thread on one processor", recorded.bound, bare.bound, "");
  print_scaling("processor time of a call: of one thread / of two", recorded.by_processor,
                bare.by_processor, "");
}

// The calls whose traces are compared on disk: mostly polls, some appends.
template <typename Query, typename Append, typename Reset>
void make_calls(uint64_t count, Query query, Append append, Reset reset) {
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 8 == 7)
      append();
    else
      query();
    if (i % 65'536 == 65'535) reset();
  }
}

void make_calls_for(const std::string& who, uint64_t count) {
  program p;
  const auto reset = [&] { zeCommandListReset(p.list); };
  if (who == "lttng")
    make_calls(
        count, [&] { p.traced_query(); }, [&] { p.traced_append(); }, reset);
  else
    make_calls(
        count, [&] { p.recorded_query(); }, [&] { p.recorded_append(); }, reset);
}

void measure_everything(const std::string& self) {
  if (!bench::lttng_is_installed("recorder_bench")) return;
  const zevent::temporary_folder folder("zevent-bench");
  setenv("LTTNG_UST_ALLOW_BLOCKING", "1", 1);
  const bench::lttng_daemon daemon;
  const bench::lttng_session session(folder.path() / "cost");
  bench::run(fmt::format("ZEVENT_RECORD={}/cost.zev {} costs", folder.path().string(), self));
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string what = argument_count > 1 ? arguments[1] : "";
  if (what == "costs")
    measure_costs();
  else if (what == "calls" && argument_count == 4)
    make_calls_for(arguments[2], std::strtoull(arguments[3], nullptr, 10));
  else
    measure_everything(arguments[0]);
}
