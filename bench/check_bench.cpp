// How fast `zevent check` is, and what it needs: traces of 100 thousand, 1 million and 10 million
// calls, written by the writer of real ones, are opened and checked by all rules. Says calls a
// second of processor time for reading alone, reading with the model, and all of it, and how much
// memory the check took beyond what the open trace takes.
//
//   check_bench [CALLS...]

#include <fcntl.h>
#include <fmt/format.h>
#include <level_zero/ze_api.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "api/call_encoder.hpp"
#include "api/model_file.hpp"
#include "base/byte_writer.hpp"
#include "check/trace_check.hpp"
#include "model/call_sequence.hpp"
#include "model/process_model.hpp"
#include "model/trace_calls.hpp"
#include "trace/object_tracker.hpp"
#include "trace/trace_file.hpp"

namespace {

namespace fs = std::filesystem;
using namespace zevent;

void require(bool good, std::string_view what) {
  if (good) return;
  fmt::print(stderr, "check_bench: {} failed\n", what);
  std::exit(1);
}

// A call as a recorder would have encoded it.
struct encoded_call {
  uint32_t function = 0;
  ze_result_t result = ZE_RESULT_SUCCESS;
  std::vector<std::byte> inputs, outputs;
};

class call_maker {
 public:
  std::vector<encoded_call> made;

  // The arguments exactly as the function has them; what it puts out is there already.
  template <typename... Args>
  void call(std::string_view name, Args... args) {
    const auto& described = api::builtin_model();
    const auto* f = described.find_function(name);
    require(f != nullptr && f->parameters.size() == sizeof...(args), name);
    const void* const addresses[] = {&args...};
    api::call_encoder encoder(described);
    byte_writer inputs, outputs;
    encoder.inputs(*f, addresses, inputs);
    encoder.outputs(*f, addresses, nullptr, outputs);
    made.push_back({described.index_of(*f), ZE_RESULT_SUCCESS, inputs.take(), outputs.take()});
  }
  void fails_with(ze_result_t result) {
    made.back().result = result;
    made.back().outputs.clear();
  }
};

template <typename Handle>
Handle handle(uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

// What one thread works with: three lists, a queue, a fence, events and memory.
class worker {
 public:
  explicit worker(uint64_t index) : base_(0x10'0000 * (index + 1)) {}

  std::vector<encoded_call> create(ze_context_handle_t context, ze_device_handle_t device);
  std::vector<encoded_call> turn(ze_context_handle_t context, ze_device_handle_t device) const;

 private:
  template <typename Handle>
  Handle at(uint64_t offset) const {
    return handle<Handle>(base_ + offset);
  }
  ze_event_handle_t event(uint64_t i) const { return at<ze_event_handle_t>(0x400 + 0x20 * i); }
  void* memory(uint64_t i) const { return at<void*>(0x1'0000 * (i + 1)); }

  uint64_t base_;
};

constexpr uint64_t plain = 0x100, ordered = 0x120, regular = 0x140, queue = 0x160, fence = 0x180,
                   pool = 0x1a0, kernel = 0x1c0, module = 0x1e0;
constexpr size_t bytes = 4096;

std::vector<encoded_call> worker::create(ze_context_handle_t context, ze_device_handle_t device) {
  call_maker make;
  for (const auto& [offset, flags] : {std::pair<uint64_t, ze_command_queue_flags_t>{plain, 0},
                                      {ordered, ZE_COMMAND_QUEUE_FLAG_IN_ORDER}}) {
    ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    nullptr,
                                    0,
                                    0,
                                    flags,
                                    ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                    ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    auto list = at<ze_command_list_handle_t>(offset);
    make.call("zeCommandListCreateImmediate", context, device, &desc, &list);
  }
  ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  auto list = at<ze_command_list_handle_t>(regular);
  make.call("zeCommandListCreate", context, device, &list_desc, &list);
  ze_command_queue_desc_t queue_desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  auto made_queue = at<ze_command_queue_handle_t>(queue);
  make.call("zeCommandQueueCreate", context, device, &queue_desc, &made_queue);
  ze_fence_desc_t fence_desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  auto made_fence = at<ze_fence_handle_t>(fence);
  make.call("zeFenceCreate", made_queue, &fence_desc, &made_fence);
  ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                    ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 8};
  auto made_pool = at<ze_event_pool_handle_t>(pool);
  make.call("zeEventPoolCreate", context, &pool_desc, uint32_t{0},
            static_cast<ze_device_handle_t*>(nullptr), &made_pool);
  for (uint32_t i = 0; i < 5; ++i) {
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    auto made_event = event(i);
    make.call("zeEventCreate", made_pool, &desc, &made_event);
  }
  ze_device_mem_alloc_desc_t memory_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  for (uint64_t i = 0; i < 3; ++i) {
    void* made_memory = memory(i);
    make.call("zeMemAllocDevice", context, &memory_desc, bytes, size_t{64}, device, &made_memory);
  }
  ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "work"};
  auto made_kernel = at<ze_kernel_handle_t>(kernel);
  make.call("zeKernelCreate", at<ze_module_handle_t>(module), &kernel_desc, &made_kernel);
  return std::move(make.made);
}

// One round of work: a copy in, a kernel and a copy out by events, polled and waited for; a list
// built, executed and waited for by its fence; memory and an event made and given back.
std::vector<encoded_call> worker::turn(ze_context_handle_t context,
                                       ze_device_handle_t device) const {
  call_maker make;
  const auto append_list = at<ze_command_list_handle_t>(plain);
  const auto launched = at<ze_kernel_handle_t>(kernel);
  std::array<ze_event_handle_t, 5> e{};
  for (size_t i = 0; i < e.size(); ++i) e[i] = event(i);
  ze_event_handle_t* const none = nullptr;
  const ze_event_handle_t no_event = nullptr;
  void* const a = memory(0);
  void* const b = memory(1);
  void* const c = memory(2);

  make.call("zeKernelSetArgumentValue", launched, uint32_t{0}, sizeof(a),
            static_cast<const void*>(&a));
  make.call("zeKernelSetArgumentValue", launched, uint32_t{1}, sizeof(b),
            static_cast<const void*>(&b));
  make.call("zeCommandListAppendMemoryCopy", append_list, a, c, bytes, e[0], uint32_t{0}, none);
  const ze_group_count_t groups = {64, 1, 1};
  make.call("zeCommandListAppendLaunchKernel", append_list, launched, &groups, e[1], uint32_t{1},
            &e[0]);
  make.call("zeCommandListAppendMemoryCopy", append_list, c, b, bytes, e[2], uint32_t{1}, &e[1]);
  make.call("zeCommandListAppendBarrier", append_list, e[3], uint32_t{1}, &e[2]);
  for (int i = 0; i < 4; ++i) {
    make.call("zeEventQueryStatus", e[3]);
    make.fails_with(ZE_RESULT_NOT_READY);
  }
  make.call("zeEventHostSynchronize", e[3], UINT64_MAX);
  for (size_t i = 0; i < 4; ++i) make.call("zeEventHostReset", e[i]);

  auto list = at<ze_command_list_handle_t>(regular);
  const auto executed_on = at<ze_command_queue_handle_t>(queue);
  const auto made_fence = at<ze_fence_handle_t>(fence);
  make.call("zeCommandListReset", list);
  const uint32_t pattern = 0;
  make.call("zeCommandListAppendMemoryFill", list, a, static_cast<const void*>(&pattern),
            sizeof(pattern), bytes, no_event, uint32_t{0}, none);
  make.call("zeCommandListAppendBarrier", list, no_event, uint32_t{0}, none);
  const ze_copy_region_t region = {0, 0, 0, 64, 32, 0};
  make.call("zeCommandListAppendMemoryCopyRegion", list, b, &region, uint32_t{128}, uint32_t{0}, a,
            &region, uint32_t{128}, uint32_t{0}, no_event, uint32_t{0}, none);
  make.call("zeCommandListClose", list);
  make.call("zeCommandQueueExecuteCommandLists", executed_on, uint32_t{1}, &list, made_fence);
  make.call("zeFenceHostSynchronize", made_fence, UINT64_MAX);
  make.call("zeFenceReset", made_fence);

  const auto in_order = at<ze_command_list_handle_t>(ordered);
  ze_device_mem_alloc_desc_t memory_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void* scratch = memory(3);
  make.call("zeMemAllocDevice", context, &memory_desc, bytes, size_t{64}, device, &scratch);
  make.call("zeCommandListAppendMemoryCopy", in_order, scratch, a, bytes, no_event, uint32_t{0},
            none);
  make.call("zeCommandListAppendMemoryCopy", in_order, c, scratch, bytes, e[4], uint32_t{0}, none);
  make.call("zeEventHostSynchronize", e[4], UINT64_MAX);
  make.call("zeMemFree", context, scratch);
  ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 5, ZE_EVENT_SCOPE_FLAG_HOST, 0};
  auto short_lived = event(5);
  make.call("zeEventCreate", at<ze_event_pool_handle_t>(pool), &desc, &short_lived);
  make.call("zeEventDestroy", short_lived);
  make.call("zeEventHostReset", e[4]);
  return std::move(make.made);
}

// Writes a program of so many threads, whose calls overlap when there is more than one, with so
// many sets of objects alive.
class program_writer {
 public:
  program_writer(int descriptor, uint32_t threads)
      : threads_(threads), objects_(api::builtin_model()), out_(begin(descriptor, threads)) {}

  void write(uint64_t calls, uint64_t sets) {
    auto context = handle<ze_context_handle_t>(0x2000);
    auto device = handle<ze_device_handle_t>(0x3000);
    call_maker make;
    uint32_t one = 1;
    make.call("zeDeviceGet", handle<ze_driver_handle_t>(0x1000), &one, &device);
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    make.call("zeContextCreate", handle<ze_driver_handle_t>(0x1000), &desc, &context);
    for (const auto& each : make.made) add(each, 0, 900);
    std::vector<std::vector<encoded_call>> turns;
    for (uint64_t i = 0; i < sets; ++i) {
      worker each(i);
      for (const auto& call : each.create(context, device)) add(call, 0, 900);
      turns.push_back(each.turn(context, device));
    }
    // Each thread has sets of its own, and all go through their turns side by side.
    for (uint64_t round = 0; number_ < calls; ++round) {
      for (size_t i = 0; i < turns.front().size() && number_ < calls; ++i) {
        for (uint32_t thread = 0; thread < threads_ && number_ < calls; ++thread) {
          const uint64_t set = (round * threads_ + thread) % sets;
          add(turns[set][i], thread, threads_ == 1 ? 900 : 1000 * threads_ - 500);
        }
      }
    }
    const trace::object_table table(objects_.take());
    require(out_.finish(table.all()).has_value(), "writing the trace");
  }

 private:
  static trace::trace_writer begin(int descriptor, uint32_t threads) {
    trace::run_info run;
    trace::process_info process;
    process.process_id = 1;
    process.host = "bench";
    process.state = trace::process_state::ended;
    run.processes.push_back(std::move(process));
    for (uint32_t i = 0; i < threads; ++i) run.threads.push_back({0, i + 1, "worker"});
    auto out =
        trace::trace_writer::begin(descriptor, 1, api::write_model(api::builtin_model()), run);
    require(out.has_value(), "writing the trace");
    return std::move(*out);
  }

  void add(const encoded_call& each, uint32_t thread, uint64_t duration_ns) {
    trace::call call;
    call.number = trace::call_number{number_};
    call.start_ns = number_ * 1000;
    call.duration_ns = duration_ns;
    call.function = each.function;
    call.thread = thread;
    call.result = static_cast<uint32_t>(each.result);
    call.flags = trace::call_returned;
    const trace::call_arguments arguments{each.inputs, each.outputs};
    if (objects_.concerns(call.function)) objects_.add(call, 0, arguments);
    require(out_.add_call(call, arguments).has_value(), "writing the trace");
    ++number_;
  }

  uint32_t threads_;
  trace::object_tracker objects_;
  trace::trace_writer out_;
  uint64_t number_ = 0;
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Memory of this process that is not a file's.
double own_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) / 1024;
  }
  return 0;
}

// Takes in the calls and looks at nothing.
struct bare_model {
  model::listener nobody;
  model::process_model state{nobody};
  void begin(const model::call_view& call) { state.begin(call); }
  void end(const model::call_view& call) { state.end(call); }
  bool wants_end(const model::call_view& call) const { return state.learns_at_end(call); }
};

// Each is measured in a process of its own, as it is when zevent runs: what was written and read
// before has left no holes in its memory, and it is never given back, so that what the process has
// at the end is the most that it had.
const std::map<std::string_view, void (*)(const trace::trace_file&)> measured = {
    {"--read",
     [](const trace::trace_file& trace) {
       model::trace_calls calls(trace);
       while (calls.next() != nullptr) {
       }
     }},
    {"--model",
     [](const trace::trace_file& trace) {
       bare_model model;
       model::call_sequence<bare_model> sequence(model);
       model::trace_calls calls(trace);
       while (const auto* call = calls.next()) sequence.add(*call, calls.next_start_ns());
       sequence.finish();
     }},
    {"--check",
     [](const trace::trace_file& trace) {
       const auto checked = check::check_trace(trace, {});
       require(checked.calls == trace.calls(), "reading all calls");
       require(checked.findings.empty(), "finding nothing in a program that is right");
     }},
};

struct measurement {
  double seconds = 0, megabytes = 0;
};

void print_measurement(std::string_view what, const std::string& path) {
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  const auto trace = trace::trace_file::open(path);
  require(trace.has_value(), "opening the trace");
  malloc_trim(0);
  const double before = own_megabytes();
  const double began = processor_seconds();
  measured.at(what)(*trace);
  const double seconds = processor_seconds() - began;
  fmt::print("{} {}\n", seconds, own_megabytes() - before);
}

measurement measure(std::string_view what, const std::string& path) {
  const auto program = fs::read_symlink("/proc/self/exe").string();
  FILE* output = popen(fmt::format("'{}' {} '{}'", program, what, path).c_str(), "r");
  require(output != nullptr, "starting a process");
  measurement out;
  const int read = std::fscanf(output, "%lf %lf", &out.seconds, &out.megabytes);
  require(pclose(output) == 0 && read == 2, what);
  return out;
}

void run(uint64_t calls, uint32_t threads, uint64_t sets) {
  std::string path = (fs::temp_directory_path() / "check_bench_XXXXXX").string();
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  require(descriptor >= 0, "making a temporary file");
  program_writer(descriptor, threads).write(calls, sets);
  close(descriptor);
  const auto rate = [&](const measurement& each) {
    return static_cast<double>(calls) / each.seconds / 1e6;
  };
  const double reading = rate(measure("--read", path));
  const double with_model = rate(measure("--model", path));
  const auto checking = measure("--check", path);
  fs::remove(path);
  fmt::print("{:>9} calls {:>2} threads {:>5} objects {:>9.2f} {:>9.2f} {:>9.2f} {:>11.1f}\n",
             calls, threads, sets * 16, reading, with_model, rate(checking), checking.megabytes);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && measured.contains(argv[1])) {
    print_measurement(argv[1], argv[2]);
    return 0;
  }
  std::vector<uint64_t> sizes = {100'000, 1'000'000, 10'000'000};
  if (argc > 1) {
    sizes.clear();
    for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  fmt::print(
      "\nzevent check: million calls a second of one core (target: 1 or more, and as many\n"
      "however long the trace), and the most memory it takes at a time beyond the open trace\n");
  fmt::print("{:<41} {:>9} {:>9} {:>9} {:>11}\n", "", "read", "+ model", "+ rules", "memory MB");
  for (const auto& [threads, sets] : {std::pair<uint32_t, uint64_t>{1, 1}, {8, 256}}) {
    for (const uint64_t size : sizes) run(size, threads, sets);
  }
}
