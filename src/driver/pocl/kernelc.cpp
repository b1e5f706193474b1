// zevent-kernelc: compiles the kernels of a SPIR-V module to machine code with PoCL.
//
//   zevent-kernelc DIRECTORY OPTIONS [KERNEL[@XxYxZ]:ARGUMENTS]...
//   zevent-kernelc --check    prints which compiler and translator it uses, or what is missing
//
// DIRECTORY holds module.spv. Made there: program (an empty file: the module has been built),
// KERNEL.so for each kernel, and files that make the next call quicker. OPTIONS are those of
// clBuildProgram. ARGUMENTS is one letter an argument: p pointer, l local pointer, v12 a value of
// 12 bytes. What goes wrong is said on stderr.
//
// KERNEL@XxYxZ.so serves only groups of that size, in launches without a global offset. It is made
// while the program runs that it is for, which goes first.
//
// The driver runs this as a process of its own because LLVM and PoCL end the process when a module
// is beyond them, start processes themselves, and are not to be mixed with what else a program has
// loaded, which may be another OpenCL.

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "driver/pocl/opencl.hpp"

namespace {

namespace fs = std::filesystem;
using zevent::fail;
using zevent::result;

constexpr const char* every_group_size = "0-0-0";  // as PoCL names it
constexpr size_t many_groups = size_t{1} << 20;    // along one axis
constexpr rlim_t most_cpu_seconds = 600;           // of the compiler, in case it never ends

// OUTPUT: where its output goes, if not to this program's.
result<void> run(std::vector<std::string> command, const char* output = nullptr) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& each : command) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output != nullptr) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY, 0);
  }
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return fail("{} is not installed; install it: apt-get install {}", command[0], command[0]);
  }
  if (error != 0) return fail("{} cannot be run", command[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status)) return fail("{} was ended by signal {}", command[0], WTERMSIG(status));
  return fail("{} failed", command[0]);
}

result<std::vector<unsigned char>> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes((std::istreambuf_iterator<char>(file)),
                                   std::istreambuf_iterator<char>());
  if (!file || bytes.empty()) return fail("cannot read {}", path.string());
  return bytes;
}

// What one LLVM has translated another need not be able to read.
fs::path bitcode_in(const fs::path& directory, const zevent::pocl::toolchain& tools) {
  return directory / fmt::format("module-{}.bc", tools.llvm_version);
}

result<void> translate(const fs::path& directory, const zevent::pocl::toolchain& tools) {
  const fs::path bitcode = bitcode_in(directory, tools);
  if (fs::exists(bitcode)) return {};
  const fs::path unfinished = directory / "module.bc.part";
  auto status = run(
      {tools.translator(), "-r", (directory / "module.spv").string(), "-o", unfinished.string()});
  if (!status) return status;
  fs::rename(unfinished, bitcode);
  return {};
}

class compiler {
 public:
  compiler(fs::path directory, zevent::pocl::platform platform)
      : directory_(std::move(directory)), platform_(std::move(platform)), cl_(*platform_.cl) {}

  result<void> build(const char* options) {
    const auto bitcode = read_file(bitcode_in(directory_, platform_.tools));
    if (!bitcode) return tl::unexpected(bitcode.error());
    cl_int error = 0;
    context_ = cl_.clCreateContext(nullptr, 1, &platform_.device, nullptr, nullptr, &error);
    if (error != CL_SUCCESS) return fail("PoCL made no context (error {})", error);
    queue_ = cl_.clCreateCommandQueue(context_, platform_.device, 0, &error);
    if (error != CL_SUCCESS) return fail("PoCL made no queue (error {})", error);
    const size_t size = bitcode->size();
    const unsigned char* bytes = bitcode->data();
    program_ = cl_.clCreateProgramWithBinary(context_, 1, &platform_.device, &size, &bytes, nullptr,
                                             &error);
    if (error != CL_SUCCESS) return fail("PoCL does not accept the module (error {})", error);
    error = cl_.clBuildProgram(program_, 1, &platform_.device, options, nullptr, nullptr);
    print_build_log();
    if (error != CL_SUCCESS) return fail("PoCL cannot build the module (error {})", error);
    if (!std::ofstream(directory_ / "program"))
      return fail("cannot write in {}", directory_.string());
    return {};
  }

  // Enqueues the kernel behind an event that never comes: it is compiled, not run.
  result<void> compile(const std::string& kernel_and_size, std::string_view arguments) {
    const size_t at = kernel_and_size.find('@');
    const std::string name = kernel_and_size.substr(0, at);
    const bool is_special = at != std::string::npos;
    cl_int error = 0;
    const cl_kernel kernel = cl_.clCreateKernel(program_, name.c_str(), &error);
    if (error != CL_SUCCESS) return fail("PoCL has no kernel {} (error {})", name, error);
    if (auto status = set_arguments(kernel, arguments); !status) return status;
    std::array<size_t, 3> size{};
    cl_.clGetKernelWorkGroupInfo(kernel, platform_.device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                 sizeof(size), size.data(), nullptr);
    for (size_t& each : size) each = std::max<size_t>(each, 1);
    if (is_special && std::sscanf(kernel_and_size.c_str() + at, "@%zux%zux%zu", &size[0], &size[1],
                                  &size[2]) != 3) {
      return fail("{} names no group size", kernel_and_size);
    }
    // PoCL either makes a function for all group sizes or one for this launch's. In the latter it
    // takes a small launch for a promise that all will be small.
    setenv("POCL_WORK_GROUP_SPECIALIZATION", is_special ? "1" : "0", 1);
    std::array<size_t, 3> items = size;
    if (is_special) items[0] *= many_groups;
    const cl_event never = cl_.clCreateUserEvent(context_, &error);
    cl_event enqueued = nullptr;
    error = cl_.clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, items.data(), size.data(), 1,
                                       &never, &enqueued);
    if (error != CL_SUCCESS) return fail("PoCL cannot compile {} (error {})", name, error);
    return take_machine_code(
        name + ".so", kernel_and_size + ".so",
        is_special ? fmt::format("{}-{}-{}-goffs0", size[0], size[1], size[2]) : every_group_size);
  }

 private:
  void print_build_log() {
    size_t size = 0;
    cl_.clGetProgramBuildInfo(program_, platform_.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    cl_.clGetProgramBuildInfo(program_, platform_.device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                              nullptr);
    std::fputs(log.c_str(), stderr);
  }

  result<void> set_arguments(cl_kernel kernel, std::string_view arguments) {
    std::vector<char> zeros;
    cl_uint index = 0;
    while (!arguments.empty()) {
      const char kind = arguments.front();
      arguments.remove_prefix(1);
      size_t size = kind == 'l' ? 64 : sizeof(void*);
      const void* value = nullptr;
      if (kind == 'v') {
        const auto parsed =
            std::from_chars(arguments.data(), arguments.data() + arguments.size(), size);
        arguments.remove_prefix(static_cast<size_t>(parsed.ptr - arguments.data()));
        zeros.assign(size, 0);
        value = zeros.data();
      }
      const cl_int error = cl_.clSetKernelArg(kernel, index, size, value);
      if (error != CL_SUCCESS) {
        return fail("PoCL takes no argument {} of {} bytes (error {})", index, size, error);
      }
      ++index;
    }
    return {};
  }

  // PoCL leaves the machine code in its cache, in a folder that is named for what it is made for.
  result<void> take_machine_code(const std::string& file, const std::string& kept_as,
                                 const std::string& made_for) {
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "pocl")) {
      if (entry.path().filename() != file) continue;
      if (entry.path().parent_path().filename() != made_for) continue;
      fs::rename(entry.path(), directory_ / kept_as);
      return {};
    }
    return fail("PoCL left no machine code as {}", kept_as);
  }

  const fs::path directory_;
  const zevent::pocl::platform platform_;
  const cl_icd_dispatch& cl_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

void prepare_process(const fs::path& directory) {
  const rlimit limit{most_cpu_seconds, most_cpu_seconds};
  setrlimit(RLIMIT_CPU, &limit);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  setenv("POCL_CACHE_DIR", (directory / "pocl").c_str(), 1);
  setenv("POCL_DEVICES", "basic", 1);
}

// To the program that is running, should that have been given the processors for itself.
void give_way() {
  const sched_param ordinary{};
  sched_setscheduler(0, SCHED_OTHER, &ordinary);
}

result<void> compile_all(const fs::path& directory, const char* options,
                         const std::vector<std::string>& kernels) {
  const auto is_special = [](const std::string& each) { return each.find('@') != each.npos; };
  if (std::any_of(kernels.begin(), kernels.end(), is_special)) give_way();
  const auto platform = zevent::pocl::load_platform();
  if (!platform) return tl::unexpected(platform.error());
  if (auto status = translate(directory, platform->tools); !status) return status;
  compiler pocl(directory, *platform);
  if (auto status = pocl.build(options); !status) return status;
  for (const std::string& each : kernels) {
    const size_t colon = each.find(':');
    const std::string name = each.substr(0, colon);
    const std::string arguments = colon == std::string::npos ? "" : each.substr(colon + 1);
    if (auto status = pocl.compile(name, arguments); !status) return status;
  }
  return {};
}

result<void> check() {
  setenv("POCL_DEVICES", "basic", 1);
  const auto platform = zevent::pocl::load_platform();
  if (!platform) return tl::unexpected(platform.error());
  const auto& tools = platform->tools;
  if (auto status = run({tools.translator(), "--version"}, "/dev/null"); !status) return status;
  fmt::print("PoCL {} with LLVM {}, {}\n", tools.pocl_version, tools.llvm_version,
             tools.translator());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("--check")) {
    const auto status = check();
    if (!status) fmt::print("{}\n", status.error().message);
    std::fflush(stdout);
    _exit(status ? 0 : 1);
  }
  if (argc < 3) {
    std::fputs("usage: zevent-kernelc DIRECTORY OPTIONS [KERNEL:ARGUMENTS]... | --check\n", stderr);
    return 2;
  }
  const fs::path directory = argv[1];
  prepare_process(directory);
  const auto status = compile_all(directory, argv[2], {argv + 3, argv + argc});
  if (!status) std::fprintf(stderr, "error: %s\n", status.error().message.c_str());
  std::fflush(stderr);
  // PoCL still has the kernels in its queue; it is not asked to end in order.
  _exit(status ? 0 : 1);
}
