// What profiling costs the program that appends commands, against what recording the same append
// costs. Each is measured in a process of its own, in turns with the driver's function by itself:
// what is compared is the time that is added.
//
// With --unitrace PATH also against Intel's unitrace -d, on the same driver and under the same
// loader. That has to be one with a tracing layer (1.20 or later), in LD_LIBRARY_PATH.

#include <dlfcn.h>
#include <fmt/format.h>
#include <level_zero/ze_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"
#include "ratio.hpp"

namespace {

namespace fs = std::filesystem;
using namespace zevent;

constexpr uint64_t calls_in_a_round = 20'000;
constexpr int rounds = 21;

void check(bool good, const char* what) {
  if (good) return;
  fmt::print(stderr, "profile_bench: {} failed\n", what);
  std::exit(1);
}

void good(ze_result_t result) {
  check(result == ZE_RESULT_SUCCESS, "a call");
}

// Linked with the recorder; `append` is the same function of the driver behind it.
struct program {
  ze_context_handle_t context = nullptr;
  ze_device_handle_t device = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  void* memory = nullptr;
  ze_command_list_handle_t regular = nullptr;
  ze_command_list_handle_t unordered = nullptr;
  ze_command_list_handle_t immediate = nullptr;
  ze_event_handle_t event = nullptr;
  ze_event_handle_t gate = nullptr;  // holds the device back
  ze_event_handle_t done = nullptr;
  // The driver's own.
  decltype(&zeCommandListAppendBarrier) append = nullptr;
  decltype(&zeCommandListAppendMemoryFill) append_fill = nullptr;
  decltype(&zeCommandListHostSynchronize) synchronize = nullptr;
  decltype(&zeEventHostSignal) signal = nullptr;
  decltype(&zeEventQueryStatus) query = nullptr;
  decltype(&zeEventHostReset) reset = nullptr;

  program() {
    ze_driver_handle_t driver = nullptr;
    good(zeInit(0));
    uint32_t one = 1;
    good(zeDriverGet(&one, &driver));
    good(zeDeviceGet(driver, &(one = 1), &device));
    const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    good(zeContextCreate(driver, &context_desc, &context));
    ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0,
                                     ZE_COMMAND_LIST_FLAG_IN_ORDER};
    good(zeCommandListCreate(context, device, &list_desc, &regular));
    list_desc.flags = 0;
    good(zeCommandListCreate(context, device, &list_desc, &unordered));
    const ze_host_mem_alloc_desc_t memory_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    good(zeMemAllocHost(context, &memory_desc, 4096, 64, &memory));
    ze_command_queue_desc_t queue_desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                       nullptr,
                                       0,
                                       0,
                                       ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                       ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                       ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    good(zeCommandListCreateImmediate(context, device, &queue_desc, &immediate));
    queue_desc.flags = 0;
    good(zeCommandQueueCreate(context, device, &queue_desc, &queue));
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 3};
    ze_event_pool_handle_t pool = nullptr;
    good(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));
    ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
    for (auto* each : {&event, &gate, &done}) {
      good(zeEventCreate(pool, &event_desc, each));
      ++event_desc.index;
    }
    void* library = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    check(library != nullptr, "loading the driver");
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(append, "zeCommandListAppendBarrier");
    find(append_fill, "zeCommandListAppendMemoryFill");
    find(synchronize, "zeCommandListHostSynchronize");
    find(signal, "zeEventHostSignal");
    find(query, "zeEventQueryStatus");
    find(reset, "zeEventHostReset");
  }
};

// Processor time of this thread: what the device and the helpers do elsewhere is not in it.
double thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

template <typename Call>
double cost_ns(Call call, uint64_t calls = calls_in_a_round) {
  const double begin = thread_ns();
  for (uint64_t i = 0; i < calls; ++i) call();
  return (thread_ns() - begin) / static_cast<double>(calls);
}

struct added {
  double regular_ns = 0;           // an append to a regular list, no signal
  double regular_signal_ns = 0;    // with a signal, which is passed on by a signal
  double unordered_signal_ns = 0;  // of a fill in a list that is not in-order: by a barrier
  double unordered_run_ns = 0;     // one such fill, executed, all of it
  double immediate_ns = 0;         // to an immediate list, no signal, times collected
};

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Time that watching adds to one call of `base`.
template <typename Base, typename Watched, typename Between>
double added_ns(Base base, Watched watched, Between between) {
  std::vector<double> measured;
  for (int i = 0; i < rounds; ++i) {
    const double alone = cost_ns(base);
    between();
    const double with = cost_ns(watched);
    between();
    if (i > 0) measured.push_back(with - alone);  // the first makes the events
  }
  return median(measured);
}

// A list of fills that each signal an event, from its execution until it is known to be complete.
double run_ns(const program& p) {
  constexpr uint64_t fills = 1000;
  std::vector<double> measured;
  for (uint64_t i = 0; i < fills; ++i)
    good(zeCommandListAppendMemoryFill(p.unordered, p.memory, "x", 1, 4096, p.event, 0, nullptr));
  good(zeCommandListClose(p.unordered));
  for (int i = 0; i < rounds; ++i)
    measured.push_back(bench::measure_ns(
        [&] {
          ze_command_list_handle_t list = p.unordered;
          good(zeCommandQueueExecuteCommandLists(p.queue, 1, &list, nullptr));
          good(zeCommandQueueSynchronize(p.queue, UINT64_MAX));
        },
        fills));
  good(zeCommandListReset(p.unordered));
  return median(measured);
}

// An append to an immediate list with its share of the wait at the end, where times are read. The
// device is held back meanwhile, and done before the wait: to wake it, and to wait for it, costs
// more than all else, and now this much, now that.
template <typename Append, typename Wait>
double immediate_cost_ns(const program& p, Append append, Wait wait) {
  constexpr uint64_t calls = 2000;
  ze_event_handle_t gate = p.gate;
  good(p.append(p.immediate, nullptr, 1, &gate));
  double cost = cost_ns([&] { good(append(p.immediate, nullptr, 0, nullptr)); }, calls);
  good(p.append(p.immediate, p.done, 0, nullptr));
  good(p.signal(p.gate));
  while (p.query(p.done) != ZE_RESULT_SUCCESS) usleep(200);
  const double begin = thread_ns();
  good(wait(p.immediate, UINT64_MAX));
  cost += (thread_ns() - begin) / static_cast<double>(calls);
  good(p.reset(p.gate));
  good(p.reset(p.done));
  return cost;
}

double immediate_added_ns(const program& p) {
  std::vector<double> measured;
  for (int i = 0; i < 5 * rounds; ++i) {
    const double alone = immediate_cost_ns(p, p.append, p.synchronize);
    const double with =
        immediate_cost_ns(p, zeCommandListAppendBarrier, zeCommandListHostSynchronize);
    if (i > 0) measured.push_back(with - alone);
  }
  return median(measured);
}

added measure() {
  const program p;
  const auto barriers_ns = [&](ze_command_list_handle_t list, ze_event_handle_t signal,
                               const auto& between) {
    return added_ns([&] { p.append(list, signal, 0, nullptr); },
                    [&] { zeCommandListAppendBarrier(list, signal, 0, nullptr); }, between);
  };
  const auto reset = [&] { good(zeCommandListReset(p.regular)); };
  added result;
  result.regular_ns = barriers_ns(p.regular, nullptr, reset);
  result.regular_signal_ns = barriers_ns(p.regular, p.event, reset);
  result.unordered_signal_ns = added_ns(
      [&] { p.append_fill(p.unordered, p.memory, "x", 1, 64, p.event, 0, nullptr); },
      [&] {
        zeCommandListAppendMemoryFill(p.unordered, p.memory, "x", 1, 64, p.event, 0, nullptr);
      },
      [&] { good(zeCommandListReset(p.unordered)); });
  result.unordered_run_ns = run_ns(p);
  result.immediate_ns = immediate_added_ns(p);
  return result;
}

added measure_in_child(const char* profile) {
  const zevent::temporary_folder folder("zevent-bench");
  check(!folder.path().empty(), "making a folder");
  int ends[2];
  check(pipe(ends) == 0, "making a pipe");
  const pid_t child = fork();
  if (child == 0) {
    setenv("ZEVENT_RECORD", (folder / "bench.zev").c_str(), 1);
    setenv("ZEVENT_RECORD_MEMORY", "off", 1);
    setenv("ZEVENT_PROFILE", profile, 1);
    const added result = measure();
    const bool written = write(ends[1], &result, sizeof(result)) == sizeof(result);
    std::_Exit(written ? 0 : 1);
  }
  close(ends[1]);
  added result;
  check(read(ends[0], &result, sizeof(result)) == sizeof(result), "measuring");
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

// What launch_costs prints when it is run so: to an immediate list, to a regular list.
struct launches {
  double immediate_ns = 0;
  double regular_ns = 0;
};

launches launch_costs(const std::string& tool) {
  FILE* output = popen((tool + " " LAUNCH_COSTS " 2>/dev/null").c_str(), "r");
  check(output != nullptr, "starting launch_costs");
  launches found;
  bool is_found = false;
  char line[512];
  while (std::fgets(line, sizeof(line), output) != nullptr)
    is_found |=
        std::sscanf(line, "launch_costs: %lf %lf", &found.immediate_ns, &found.regular_ns) == 2;
  pclose(output);
  check(is_found, tool.empty() ? "launch_costs" : tool.c_str());
  return found;
}

// Each with and without the tool, in turns.
void compare_with_unitrace(const std::string& unitrace) {
  setenv("ZE_ENABLE_ALT_DRIVERS", SOFTWARE_DRIVER, 1);
  std::vector<double> ours[2], theirs[2];
  for (int i = 0; i < 5; ++i) {
    const launches alone = launch_costs("");
    const launches profiled = launch_costs(ZEVENT " profile --driver software --way loader --");
    const launches peer = launch_costs(unitrace + " -d");
    ours[0].push_back(profiled.immediate_ns - alone.immediate_ns);
    ours[1].push_back(profiled.regular_ns - alone.regular_ns);
    theirs[0].push_back(peer.immediate_ns - alone.immediate_ns);
    theirs[1].push_back(peer.regular_ns - alone.regular_ns);
  }
  bench::print_heading(
      "time added to a launch without a signal: zevent profile against unitrace -d");
  bench::print_row("to an immediate list, until it is collected",
                   {median(ours[0]), median(theirs[0])}, "<= 0.25");
  bench::print_row("to a regular list, until it is collected", {median(ours[1]), median(theirs[1])},
                   "<= 0.25");
}

}  // namespace

int main(int argc, char** argv) {
  const added recorded = measure_in_child("");
  const added profiled = measure_in_child("1");
  bench::print_heading("time added to an append: profiled against recorded");
  bench::print_row("to a regular list, no signal", {profiled.regular_ns, recorded.regular_ns},
                   "<= 5");
  bench::print_row("to an immediate list, no signal, times collected",
                   {profiled.immediate_ns, recorded.immediate_ns}, "<= 5");
  bench::print_row("in-order, with a signal",
                   {profiled.regular_signal_ns, recorded.regular_signal_ns}, "");
  bench::print_row("not in-order, with a signal (a barrier)",
                   {profiled.unordered_signal_ns, recorded.unordered_signal_ns}, "");
  bench::print_heading("a list of fills with signals, not in-order: profiled against recorded");
  bench::print_row("one fill of 4 KiB, executed",
                   {profiled.unordered_run_ns, recorded.unordered_run_ns}, "");
  if (argc == 3 && std::string(argv[1]) == "--unitrace") compare_with_unitrace(argv[2]);
  return 0;
}
