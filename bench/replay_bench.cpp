// What a replayed call costs the host beyond what the driver takes for it.
//
// A program of one kind of call is recorded by `zevent record` and replayed as `zevent replay` does
// it. From the start of one call to the start of the next is what a replayed call takes; the same
// calls made by hand are what the driver takes. Of several rounds the median counts: a machine that
// others use too stalls now and then.
#include <dlfcn.h>
#include <level_zero/ze_api.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.hpp"
#include "ratio.hpp"
#include "replay/supervisor.hpp"
#include "trace/open_trace.hpp"

namespace {

using namespace zevent;

constexpr uint32_t calls_of_a_kind = 200'000;
constexpr uint32_t appends_in_a_list = 1'000;
constexpr double target_ns = 150;

[[noreturn]] void fail_with(const std::string& message) {
  fmt::print(stderr, "replay_bench: {}\n", message);
  std::exit(1);
}

// The functions that the programs call, of whatever library is asked.
struct driver_functions {
// clang-format off
#define FUNCTIONS(F) \
  F(zeInit) F(zeDriverGet) F(zeDeviceGet) F(zeContextCreate) F(zeEventPoolCreate) \
  F(zeEventCreate) F(zeEventQueryStatus) F(zeEventHostSignal) F(zeEventHostReset) \
  F(zeCommandListCreate) F(zeCommandListAppendMemoryCopy) F(zeCommandListReset) \
  F(zeMemAllocDevice)
// clang-format on
#define F(name) decltype(&::name) name = nullptr;
  FUNCTIONS(F)
#undef F

  explicit driver_functions(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail_with(dlerror());
#define F(name) name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));
    FUNCTIONS(F)
#undef F
  }
};

void must(ze_result_t result) {
  if (result != ZE_RESULT_SUCCESS)
    fail_with(fmt::format("a call returned {:#x}", unsigned(result)));
}

class program {
 public:
  explicit program(const driver_functions& driver) : ze_(driver) {
    ze_driver_handle_t first = nullptr;
    uint32_t one = 1;
    must(ze_.zeInit(0));
    must(ze_.zeDriverGet(&one, &first));
    must(ze_.zeDeviceGet(first, &(one = 1), &device_));
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    must(ze_.zeContextCreate(first, &desc, &context_));
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 3};
    ze_event_pool_handle_t pool = nullptr;
    must(ze_.zeEventPoolCreate(context_, &pool_desc, 0, nullptr, &pool));
    for (uint32_t i = 0; i < 3; ++i) {
      const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i,
                                       ZE_EVENT_SCOPE_FLAG_HOST, 0};
      must(ze_.zeEventCreate(pool, &event_desc, &events_[i]));
    }
    const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    must(ze_.zeCommandListCreate(context_, device_, &list_desc, &list_));
    const ze_device_mem_alloc_desc_t memory_desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr,
                                                 0, 0};
    must(ze_.zeMemAllocDevice(context_, &memory_desc, 4096, 64, device_, &memory_));
  }

  void query() {
    for (uint32_t i = 0; i < calls_of_a_kind; ++i) ze_.zeEventQueryStatus(events_[0]);
  }
  void signal_and_reset() {
    for (uint32_t i = 0; i < calls_of_a_kind / 2; ++i) {
      ze_.zeEventHostSignal(events_[0]);
      ze_.zeEventHostReset(events_[0]);
    }
  }
  void append() {
    auto* from = static_cast<char*>(memory_);
    for (uint32_t i = 0; i < calls_of_a_kind; ++i) {
      if (i % appends_in_a_list == 0) ze_.zeCommandListReset(list_);
      ze_.zeCommandListAppendMemoryCopy(list_, from + 64, from, 64, events_[2], 2, events_);
    }
  }

 private:
  const driver_functions& ze_;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
  ze_event_handle_t events_[3] = {};
  ze_command_list_handle_t list_ = nullptr;
  void* memory_ = nullptr;
};

struct kind {
  const char* name;
  const char* what;
  void (program::*run)();
};
constexpr kind kinds[] = {
    {"query", "zeEventQueryStatus", &program::query},
    {"signal", "zeEventHostSignal and zeEventHostReset", &program::signal_and_reset},
    {"append", "an append with a signal and two waits", &program::append},
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double driver_alone_ns(const kind& which) {
  const driver_functions driver(SOFTWARE_DRIVER);
  program calls(driver);
  std::vector<double> rounds;
  for (int i = 0; i < 9; ++i)
    rounds.push_back(bench::measure_ns([&] { (calls.*which.run)(); }, calls_of_a_kind));
  return median(rounds);
}

double replayed_ns(const trace::trace_file& trace) {
  const auto compiled =
      replay::compile(trace, {.polls = {.mode = replay::poll_mode::exact, .named_call = {}}});
  if (!compiled) fail_with(compiled.error().message);
  replay::run_options running;
  running.driver = SOFTWARE_DRIVER;
  std::vector<double> rounds;
  for (int i = 0; i < 5; ++i) {
    const auto outcome = replay::run(*compiled, running);
    if (!outcome || outcome->ending != replay::run_ending::finished) fail_with("the replay failed");
    const size_t last = outcome->calls() - 1, first = last + 1 - calls_of_a_kind;
    rounds.push_back((outcome->start_ns(last) - outcome->start_ns(first)) / (calls_of_a_kind - 1));
  }
  return median(rounds);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2) {
    const driver_functions loader("libze_loader.so.1");
    program calls(loader);
    for (const auto& each : kinds)
      if (std::string_view(arguments[1]) == each.name) (calls.*each.run)();
    return 0;
  }
  fmt::print("\nReplay\n{:<52} {:>12} {:>12} {:>8}  {}\n", "", "replayed", "driver", "added",
             "target");
  const temporary_folder folder("zevent-bench");
  if (folder.path().empty()) fail_with("no temporary folder");
  for (const auto& each : kinds) {
    const std::string path = fmt::format("{}/{}.zev", folder.path().string(), each.name);
    const std::string record = fmt::format(
        "'{}' record --way direct --driver software --memory=off -o '{}' -- '{}' {} "
        "2>/dev/null",
        ZEVENT, path, std::filesystem::read_symlink("/proc/self/exe").string(), each.name);
    if (std::system(record.c_str()) != 0) fail_with("could not be recorded: " + record);
    const auto opened = trace::open_trace(path);
    if (!opened) fail_with(opened.error().message);
    const double driver_ns = driver_alone_ns(each), ours_ns = replayed_ns(opened->trace);
    fmt::print("{:<52} {:>9.1f} ns {:>9.1f} ns {:>5.0f} ns  <= {} ns\n", each.what, ours_ns,
               driver_ns, ours_ns - driver_ns, target_ns);
  }
}
