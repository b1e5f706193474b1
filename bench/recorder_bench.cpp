// What recording costs, against LTTng-UST tracepoints with the same fields: one before and one
// after each call, as tracers built on it have them.
//
// The program starts an LTTng session, then itself again inside it (LTTng finds programs when they
// start). It needs lttng-tools and babeltrace2; it ends every process that it starts.

#include <dlfcn.h>
#include <fmt/format.h>
#include <level_zero/ze_api.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "ratio.hpp"
#include "trace/open_trace.hpp"
#include "trace/pack.hpp"

extern "C" {
#include "lttng_calls.h"
}

namespace {

namespace fs = std::filesystem;
using namespace zevent;

constexpr uint64_t calls_in_a_round = 50'000;
constexpr int rounds = 41;
constexpr uint64_t calls_on_disk = 10'000'000;

void check(bool good, const char* what) {
  if (good) return;
  fmt::print(stderr, "recorder_bench: {} failed\n", what);
  std::exit(1);
}

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

// Processor time of this thread for one call: what others do on the machine meanwhile, and what the
// helpers of both sides do on other processors, is not in it.
template <typename Call>
double cost_ns(Call call) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  for (uint64_t i = 0; i < calls_in_a_round; ++i) call();
  return (now() - begin) / static_cast<double>(calls_in_a_round);
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

// Calls a second of so many threads that do `call` at the same time.
template <typename Call>
double rate(int threads, Call call) {
  constexpr auto span = std::chrono::milliseconds(200);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> calls{0};
  std::vector<std::thread> all;
  const auto begin = std::chrono::steady_clock::now();
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
  return static_cast<double>(calls.load()) / spent.count();
}

// How near two threads come to twice the rate of one; the median of several.
template <typename Call>
double scaling(Call call) {
  std::vector<double> ratios;
  for (int i = 0; i < 9; ++i) {
    const double one = rate(1, call);
    ratios.push_back(rate(2, call) / (2 * one));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
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
  const double recorded = scaling([&] { p.recorded_query(); });
  const double bare = scaling([&] { p.query(); });
  fmt::print("{:<52} {:>12.2f} {:>12.2f} {:>8.2f}  {}\n",
             "rate of two threads / twice that of one; bare", recorded, bare, recorded / bare,
             ">= 0.90");
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

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

void run(const std::string& command) {
  check(std::system(command.c_str()) == 0, command.c_str());
}

double seconds_of(const std::string& command) {
  const auto begin = std::chrono::steady_clock::now();
  run(command);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// LTTng's daemon, where none runs yet; ended with this object.
class lttng_daemon {
 public:
  lttng_daemon() {
    if (std::system("lttng --no-sessiond list >/dev/null 2>&1") == 0) return;
    process_ = fork();
    if (process_ == 0) {
      std::freopen("/dev/null", "w", stderr);
      execlp("lttng-sessiond", "lttng-sessiond", "--no-kernel", "-q", nullptr);
      _exit(127);
    }
    for (int i = 0; i < 100; ++i) {
      if (std::system("lttng --no-sessiond list >/dev/null 2>&1") == 0) return;
      usleep(100'000);
    }
    check(false, "starting lttng-sessiond");
  }
  lttng_daemon(const lttng_daemon&) = delete;
  lttng_daemon& operator=(const lttng_daemon&) = delete;
  ~lttng_daemon() {
    if (process_ <= 0) return;
    kill(process_, SIGTERM);
    int status = 0;
    waitpid(process_, &status, 0);
  }

 private:
  pid_t process_ = -1;
};

// A session as THAPI makes it: nothing is discarded, the program waits for room instead.
class lttng_session {
 public:
  explicit lttng_session(const fs::path& output) : name_(fmt::format("zevent{}", getpid())) {
    lttng(fmt::format("create {} --output={}", name_, output.string()));
    lttng(
        "enable-channel --userspace --blocking-timeout=inf --subbuf-size=4M --num-subbuf=4 calls");
    lttng("enable-event --userspace --channel=calls 'zevent_bench:*'");
    lttng("start");
  }
  lttng_session(const lttng_session&) = delete;
  lttng_session& operator=(const lttng_session&) = delete;
  ~lttng_session() { lttng(fmt::format("destroy {}", name_)); }

 private:
  static void lttng(const std::string& command) {
    run("lttng --no-sessiond --quiet " + command + " >/dev/null 2>&1");
  }
  std::string name_;
};

void compare_on_disk(const std::string& self, const fs::path& folder) {
  const fs::path ctf = folder / "ctf", zev = folder / "calls.zev";
  {
    const lttng_session session(ctf);
    run(fmt::format("{} calls lttng {}", self, calls_on_disk));
  }
  run(fmt::format("ZEVENT_RECORD={} {} calls recorder {}", zev.string(), self, calls_on_disk));
  const auto packed = trace::pack_recording(zev.string() + ".parts", zev);
  check(packed.has_value(), "packing");
  check(packed->lost_calls == 0, "recording every call");
  const double count = static_cast<double>(calls_on_disk);
  const double ours = static_cast<double>(packed->size_bytes) / count;
  const double peers = static_cast<double>(bytes_in(ctf)) / count;
  fmt::print("\n{} calls on disk\n", calls_on_disk);
  fmt::print("{:<52} {:>12.2f} {:>12.2f} {:>8.3f}  {}\n", "bytes a call, packed; CTF", ours, peers,
             ours / peers, "<= 0.33");

  const auto begin = std::chrono::steady_clock::now();
  const auto opened = trace::open_trace(zev);
  check(opened.has_value(), "opening the trace");
  trace::call_reader reader(opened->trace);
  uint64_t calls = 0, sum = 0;
  while (const auto* call = reader.next()) {
    ++calls;
    sum += call->duration_ns;
  }
  const double ours_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  check(calls >= calls_on_disk && sum > 0, "reading every call");
  const double peers_s = seconds_of(fmt::format("babeltrace2 -o dummy {}", ctf.string()));
  fmt::print("{:<52} {:>10.2f} s {:>10.2f} s {:>7.1f}x  {}\n",
             "reading all calls; babeltrace2, without printing", ours_s, peers_s, peers_s / ours_s,
             ">= 20x");
}

void measure_everything(const std::string& self) {
  if (std::system("command -v lttng lttng-sessiond babeltrace2 >/dev/null") != 0) {
    fmt::print(stderr,
               "recorder_bench: lttng-tools and babeltrace2 are not installed; "
               "run scripts/setup --bench\n");
    return;
  }
  std::string pattern = fs::temp_directory_path() / "zevent-bench-XXXXXX";
  check(mkdtemp(pattern.data()) != nullptr, "making a folder");
  setenv("LTTNG_UST_ALLOW_BLOCKING", "1", 1);
  const lttng_daemon daemon;
  {
    const lttng_session session(pattern + "/cost");
    run(fmt::format("ZEVENT_RECORD={}/cost.zev {} costs", pattern, self));
  }
  compare_on_disk(self, pattern);
  fs::remove_all(pattern);
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
