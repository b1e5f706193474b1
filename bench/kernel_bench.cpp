// Kernels: a launch and the wait for it, against PoCL's own enqueue and finish of the same kernel.

#include <level_zero/ze_api.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <thread>
#include <vector>

#include "driver/pocl/opencl.hpp"
#include "kernels/reverse_add_spv.h"
#include "kernels/vector_add_spv.h"
#include "ratio.hpp"

namespace zevent::bench {
namespace {

constexpr int rounds = 15;

void check(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "kernel_bench: {} failed\n", what);
  std::exit(1);
}

void check(ze_result_t result, const char* what) {
  check(result == ZE_RESULT_SUCCESS, what);
}

struct launch {
  uint32_t group_size;
  uint32_t groups;
};

// An argument's size and where its value is; PoCL wants to know which are pointers.
struct argument {
  size_t bytes;
  const void* value;
  bool is_pointer;
};

class our_kernel {
 public:
  our_kernel(std::span<const uint32_t> spirv, const char* name, std::span<const argument> arguments,
             launch shape)
      : groups_{shape.groups, 1, 1} {
    check(zeInit(0), "zeInit");
    uint32_t count = 1;
    ze_driver_handle_t driver = nullptr;
    check(zeDriverGet(&count, &driver), "zeDriverGet");
    ze_device_handle_t device = nullptr;
    check(zeDeviceGet(driver, &count, &device), "zeDeviceGet");
    const ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_context_handle_t context = nullptr;
    check(zeContextCreate(driver, &context_desc, &context), "zeContextCreate");
    ze_command_queue_desc_t queue_desc = {};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    check(zeCommandListCreateImmediate(context, device, &queue_desc, &list_), "list");
    ze_module_desc_t module_desc = {};
    module_desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    module_desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    module_desc.inputSize = spirv.size_bytes();
    module_desc.pInputModule = reinterpret_cast<const uint8_t*>(spirv.data());
    ze_module_handle_t module = nullptr;
    check(zeModuleCreate(context, device, &module_desc, &module, nullptr), "zeModuleCreate");
    const ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    check(zeKernelCreate(module, &kernel_desc, &kernel_), "zeKernelCreate");
    check(zeKernelSetGroupSize(kernel_, shape.group_size, 1, 1), "zeKernelSetGroupSize");
    for (uint32_t i = 0; i < arguments.size(); ++i) {
      check(zeKernelSetArgumentValue(kernel_, i, arguments[i].bytes, arguments[i].value),
            "zeKernelSetArgumentValue");
    }
  }

  void run() {
    check(zeCommandListAppendLaunchKernel(list_, kernel_, &groups_, nullptr, 0, nullptr), "append");
    check(zeCommandListHostSynchronize(list_, UINT64_MAX), "zeCommandListHostSynchronize");
  }

 private:
  const ze_group_count_t groups_;
  ze_command_list_handle_t list_ = nullptr;
  ze_kernel_handle_t kernel_ = nullptr;
};

class pocl_kernel {
 public:
  pocl_kernel(const pocl::platform& platform, const std::string& source, const char* name,
              std::span<const argument> arguments, launch shape)
      : cl_(*platform.cl), group_size_(shape.group_size), size_(shape.group_size * shape.groups) {
    cl_int error = 0;
    cl_context context =
        cl_.clCreateContext(nullptr, 1, &platform.device, nullptr, nullptr, &error);
    check(error == CL_SUCCESS, "clCreateContext");
    queue_ = cl_.clCreateCommandQueue(context, platform.device, 0, &error);
    check(error == CL_SUCCESS, "clCreateCommandQueue");
    const char* text = source.c_str();
    cl_program program = cl_.clCreateProgramWithSource(context, 1, &text, nullptr, &error);
    check(error == CL_SUCCESS, "clCreateProgramWithSource");
    check(cl_.clBuildProgram(program, 1, &platform.device, "", nullptr, nullptr) == CL_SUCCESS,
          "clBuildProgram");
    kernel_ = cl_.clCreateKernel(program, name, &error);
    check(error == CL_SUCCESS, "clCreateKernel");
    for (cl_uint i = 0; i < arguments.size(); ++i) {
      const auto& [bytes, value, is_pointer] = arguments[i];
      error = is_pointer
                  ? cl_.clSetKernelArgSVMPointer(kernel_, i, *static_cast<void* const*>(value))
                  : cl_.clSetKernelArg(kernel_, i, bytes, value);
      check(error == CL_SUCCESS, "clSetKernelArg");
    }
  }

  void run() {
    check(cl_.clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &size_, &group_size_, 0, nullptr,
                                     nullptr) == CL_SUCCESS,
          "clEnqueueNDRangeKernel");
    check(cl_.clFinish(queue_) == CL_SUCCESS, "clFinish");
  }

 private:
  const cl_icd_dispatch& cl_;
  const size_t group_size_;
  const size_t size_;
  cl_command_queue queue_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

std::string read_source(const char* name) {
  std::ifstream file(std::string(ZEVENT_KERNEL_SOURCES) + "/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The first runs compile, load and start threads. PoCL compiles for the group size when a kernel is
// first enqueued; the driver does so in the background, when a kernel has run for some time.
void warm_up(const std::function<void()>& run_both) {
  using clock = std::chrono::steady_clock;
  for (const auto start = clock::now(); clock::now() - start < std::chrono::milliseconds(200);) {
    run_both();
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (int i = 0; i < 3; ++i) run_both();
}

void compare_kernels(const char* what, int operations, our_kernel ours, pocl_kernel peer) {
  warm_up([&] {
    ours.run();
    peer.run();
  });
  const auto repeat = [operations](auto& kernel) {
    return [&kernel, operations] {
      for (int i = 0; i < operations; ++i) kernel.run();
    };
  };
  print_row(what, compare(rounds, static_cast<uint64_t>(operations), repeat(ours), repeat(peer)),
            "<= 1.2");
}

void run_all() {
  const auto platform = pocl::load_platform();
  if (!platform) {
    fmt::print(stderr, "kernel_bench: {}\n", platform.error().message);
    std::exit(1);
  }
  constexpr uint32_t count = 1 << 20;
  std::vector<float> numbers(count, 1.0F);
  std::vector<int> integers(count, 1);
  std::vector<int> sums(count);
  const float* in = numbers.data();
  float* out = reinterpret_cast<float*>(sums.data());
  const int* whole_in = integers.data();
  int* whole_out = sums.data();
  const int64_t long_count = count;
  const int rounds_inside = 100;
  const argument add[] = {{8, &in, true}, {8, &in, true}, {8, &out, true}, {4, &count, false}};
  const argument reverse[] = {{8, &whole_in, true},
                              {8, &whole_out, true},
                              {8, &long_count, false},
                              {4, &rounds_inside, false}};
  const std::string add_source = read_source("vector_add.cl");
  const std::string reverse_source = read_source("reverse_add.cl");

  print_heading("kernel launch and wait, against PoCL's enqueue and finish");
  for (const auto& [what, operations, shape] :
       {std::tuple{"1 group of 64: c = a + b", 500, launch{64, 1}},
        {"64 groups of 64: c = a + b", 200, launch{64, 64}},
        {"4096 groups of 256: c = a + b", 10, launch{256, 4096}}}) {
    compare_kernels(what, operations, our_kernel(vector_add_spv, "vector_add", add, shape),
                    pocl_kernel(*platform, add_source, "vector_add", add, shape));
  }
  const launch shape{256, 4096};
  compare_kernels("4096 groups of 256: 100 rounds of additions", 5,
                  our_kernel(reverse_add_spv, "add_count_reverse", reverse, shape),
                  pocl_kernel(*platform, reverse_source, "add_count_reverse", reverse, shape));
}

}  // namespace
}  // namespace zevent::bench

int main() {
  zevent::bench::run_all();
}
