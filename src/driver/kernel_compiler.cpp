#include "driver/kernel_compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/environment.hpp"
#include "base/signal_name.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::array inherited_variables = {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"};

// The compiler stands beside the library that this code is in: see src/driver/pocl/CMakeLists.txt.
result<fs::path> find_compiler() {
  if (const auto chosen = read_environment("ZEVENT_KERNEL_COMPILER")) return fs::path(*chosen);
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&find_compiler), &self) == 0) {
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

class descriptor {
 public:
  explicit descriptor(int number) : descriptor_(number) {}
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

// Everything that a process is started with.
class process_start {
 public:
  // Its output goes to the descriptor; -1: nowhere.
  process_start(std::vector<std::string> arguments, std::vector<std::string> environment,
                int output)
      : arguments_(std::move(arguments)), environment_(std::move(environment)) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    if (output < 0) output = STDIN_FILENO;
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, output, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);

    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~process_start() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  process_start(const process_start&) = delete;
  process_start& operator=(const process_start&) = delete;

  // Returns an error number, or 0.
  int as_child(pid_t& child) {
    return posix_spawn(&child, arguments_[0].c_str(), &files_, &attributes_,
                       argument_pointers_.data(), environment_pointers_.data());
  }

  // As the child of a process that is gone at once. That one shares this one's memory, and this
  // thread stands still until it has ended; it gives no signal, and only who asks for such children
  // (__WCLONE) can wait for it.
  int apart(pid_t& process) {
#if defined(__SANITIZE_THREAD__)
    return as_child(process);  // the sanitizer would take the one between for a child of fork()
#else
    constexpr size_t stack_bytes = 256 << 10;
    const std::unique_ptr<char[]> stack(new char[stack_bytes]);
    started_ = 0;
    error_ = 0;
    const auto start = [](void* argument) {
      auto* self = static_cast<process_start*>(argument);
      self->error_ = self->as_child(self->started_);
      return 0;
    };
    const pid_t between = ::clone(start, stack.get() + stack_bytes, CLONE_VM | CLONE_VFORK, this);
    if (between < 0) return errno;
    while (::waitpid(between, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
    }
    process = started_;
    return error_;
#endif
  }

 private:
  std::vector<std::string> arguments_, environment_;
  std::vector<char*> argument_pointers_ = pointers(arguments_);
  std::vector<char*> environment_pointers_ = pointers(environment_);
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
  [[maybe_unused]] pid_t started_ = 0;
  [[maybe_unused]] int error_ = 0;
};

// Held while this process has the end of the pipe that the compiler writes to: a child of fork()
// that had it too would keep the output from ending.
fork_safe_mutex& writing_end() {
  static auto* only = new fork_safe_mutex(fork_safe_mutex::rank::outer);
  return *only;
}

const made_with_driver guard_of_writing_end([] { writing_end(); });

std::string read_all(int source) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(source, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

kernel_compiler::kernel_compiler(std::string options)
    : options_(std::move(options)), program_(find_compiler()), environment_(clean_environment()) {}

std::vector<std::string> kernel_compiler::arguments(const fs::path& folder,
                                                    const std::vector<std::string>& kernels) const {
  std::vector<std::string> all = {program_->string(), folder.string(), options_};
  all.insert(all.end(), kernels.begin(), kernels.end());
  return all;
}

result<std::string> kernel_compiler::run(const fs::path& folder,
                                         const std::vector<std::string>& kernels) const {
  if (!program_) return tl::unexpected(program_.error());
  std::array<int, 2> ends{};
  std::unique_lock lock(writing_end());
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail("the kernel compiler cannot be run: {}", std::strerror(errno));
  }
  descriptor input(ends[0]), output(ends[1]);
  process_start start(arguments(folder, kernels), environment_, output.get());
  pid_t child = 0;
  const int error = start.as_child(child);
  if (error != 0) return fail("{} cannot be run: {}", program_->string(), std::strerror(error));
  output.close();
  lock.unlock();
  // The end of its output is the end of the compiler and of all that it started.
  std::string text = read_all(input.get());
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  // An application that reaps all children may have been quicker; then how it ended is not known.
  if (ended == child && WIFSIGNALED(status)) {
    text += fmt::format("error: the module is beyond the kernel compiler, which was ended by {}\n",
                        signal_name(WTERMSIG(status)));
  }
  return text;
}

bool kernel_compiler::run_apart(const fs::path& folder, const std::string& kernel) const {
  if (!program_) return false;
  process_start start(arguments(folder, {kernel}), environment_, -1);
  pid_t process = 0;
  if (start.apart(process) != 0) return false;
  // Should it have ended already and its number be another's, that one is waited for in vain; what
  // the compiler has made is there all the same.
  const descriptor watched(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (watched.get() < 0) return errno == ESRCH;
  pollfd end = {watched.get(), POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
#if defined(__SANITIZE_THREAD__)
  ::waitpid(process, nullptr, 0);
#endif
  return true;
}

}  // namespace zevent::driver
