#include "driver/kernel_compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/environment.hpp"

namespace zevent::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::array inherited_variables = {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"};

// The compiler stands beside the library that this code is in: see src/driver/pocl/CMakeLists.txt.
result<fs::path> find_compiler() {
  if (const auto chosen = read_environment("ZEVENT_KERNEL_COMPILER")) return fs::path(*chosen);
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&run_kernel_compiler), &self) == 0) {
    return fail("the driver does not know where it was loaded from");
  }
  std::error_code error;
  const fs::path own = fs::canonical(self.dli_fname, error);
  for (const char* up : {"..", "../.."}) {
    const fs::path candidate =
        (own.parent_path() / up / "libexec/zevent/zevent-kernelc").lexically_normal();
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return fail(
      "the kernel compiler libexec/zevent/zevent-kernelc is not installed beside {}; "
      "ZEVENT_KERNEL_COMPILER says where it is",
      own.string());
}

std::vector<std::string> clean_environment() {
  std::vector<std::string> variables = {"LC_ALL=C"};
  for (const char* name : inherited_variables) {
    const char* value = std::getenv(name);
    if (value != nullptr) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (std::string& each : strings) all.push_back(each.data());
  all.push_back(nullptr);
  return all;
}

class pipe_end {
 public:
  explicit pipe_end(int descriptor) : descriptor_(descriptor) {}
  ~pipe_end() { close(); }
  pipe_end(const pipe_end&) = delete;
  pipe_end& operator=(const pipe_end&) = delete;
  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

int spawn(pid_t& child, const fs::path& program, std::vector<std::string> arguments, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> environment = clean_environment();
  const int error = posix_spawn(&child, program.c_str(), &files, &attributes,
                                pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

result<std::string> run_kernel_compiler(const fs::path& folder, const std::string& options,
                                        const std::vector<std::string>& kernels) {
  const auto program = find_compiler();
  if (!program) return tl::unexpected(program.error());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail("the kernel compiler cannot be run: {}", std::strerror(errno));
  }
  pipe_end input(ends[0]), output(ends[1]);
  std::vector<std::string> arguments = {program->string(), folder.string(), options};
  arguments.insert(arguments.end(), kernels.begin(), kernels.end());
  pid_t child = 0;
  const int error = spawn(child, *program, std::move(arguments), output.get());
  if (error != 0) return fail("{} cannot be run: {}", program->string(), std::strerror(error));
  output.close();
  // The end of its output is the end of the compiler and of all that it started.
  std::string text = read_all(input.get());
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace zevent::driver
