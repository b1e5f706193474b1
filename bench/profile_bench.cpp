// What profiling costs the program that appends commands, against what recording the same append
// costs. Each is measured in a process of its own, in turns with the driver's function by itself:
// what is compared is the time that is added.

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
  ze_command_list_handle_t regular = nullptr;
  ze_command_list_handle_t immediate = nullptr;
  ze_event_handle_t event = nullptr;
  decltype(&zeCommandListAppendBarrier) append = nullptr;

  program() {
    ze_driver_handle_t driver = nullptr;
    good(zeInit(0));
    uint32_t one = 1;
    good(zeDriverGet(&one, &driver));
    good(zeDeviceGet(driver, &(one = 1), &device));
    const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    good(zeContextCreate(driver, &context_desc, &context));
    const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0,
                                           ZE_COMMAND_LIST_FLAG_IN_ORDER};
    good(zeCommandListCreate(context, device, &list_desc, &regular));
    const ze_command_queue_desc_t queue_desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                             nullptr,
                                             0,
                                             0,
                                             ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                             ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                             ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    good(zeCommandListCreateImmediate(context, device, &queue_desc, &immediate));
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_pool_handle_t pool = nullptr;
    good(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));
    const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
    good(zeEventCreate(pool, &event_desc, &event));
    void* library = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    check(library != nullptr, "loading the driver");
    append = reinterpret_cast<decltype(append)>(dlsym(library, "zeCommandListAppendBarrier"));
  }
};

// Processor time of this thread for one call: what the device and the helpers do elsewhere is not
// in it.
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

struct added {
  double regular_ns = 0;         // an append to a regular list, no signal
  double regular_signal_ns = 0;  // with a signal
  double immediate_ns = 0;       // to an immediate list, no signal, times collected on the way
};

// Time that watching adds to one append.
template <typename Between>
double added_ns(const program& p, ze_command_list_handle_t list, ze_event_handle_t signal,
                Between between) {
  std::vector<double> measured;
  for (int i = 0; i < rounds; ++i) {
    const double base = cost_ns([&] { p.append(list, signal, 0, nullptr); });
    between();
    const double watched = cost_ns([&] { zeCommandListAppendBarrier(list, signal, 0, nullptr); });
    between();
    if (i > 0) measured.push_back(watched - base);  // the first makes the events
  }
  std::sort(measured.begin(), measured.end());
  return measured[measured.size() / 2];
}

added measure() {
  const program p;
  const auto reset = [&] { good(zeCommandListReset(p.regular)); };
  const auto wait = [&] { good(zeCommandListHostSynchronize(p.immediate, UINT64_MAX)); };
  added result;
  result.regular_ns = added_ns(p, p.regular, nullptr, reset);
  result.regular_signal_ns = added_ns(p, p.regular, p.event, reset);
  result.immediate_ns = added_ns(p, p.immediate, nullptr, wait);
  return result;
}

added measure_in_child(const char* profile) {
  std::string folder = fs::temp_directory_path() / "zevent-bench-XXXXXX";
  check(mkdtemp(folder.data()) != nullptr, "making a folder");
  int ends[2];
  check(pipe(ends) == 0, "making a pipe");
  const pid_t child = fork();
  if (child == 0) {
    setenv("ZEVENT_RECORD", (folder + "/bench.zev").c_str(), 1);
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
  fs::remove_all(folder);
  return result;
}

}  // namespace

int main() {
  const added recorded = measure_in_child("");
  const added profiled = measure_in_child("1");
  bench::print_heading("time added to an append: profiled against recorded");
  bench::print_row("to a regular list, no signal", {profiled.regular_ns, recorded.regular_ns},
                   "<= 5");
  bench::print_row("to a regular list, with a signal",
                   {profiled.regular_signal_ns, recorded.regular_signal_ns}, "");
  bench::print_row("to an immediate list, no signal, times collected",
                   {profiled.immediate_ns, recorded.immediate_ns}, "");
  return 0;
}
