#pragma once

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

// Sessions of LTTng for the benchmarks to compare with. Every process that is started here is ended
// here.
namespace zevent::bench {

inline void check(bool good, const std::string& what) {
  if (good) return;
  fmt::print(stderr, "bench: {} failed\n", what);
  std::exit(1);
}

inline void run(const std::string& command) {
  check(std::system(command.c_str()) == 0, command);
}

inline bool lttng_is_installed(const char* who) {
  if (std::system("command -v lttng lttng-sessiond babeltrace2 >/dev/null") == 0) return true;
  fmt::print(stderr,
             "{}: lttng-tools and babeltrace2 are not installed; run scripts/setup --bench\n", who);
  return false;
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
  explicit lttng_session(const std::filesystem::path& output)
      : name_(fmt::format("zevent{}", getpid())) {
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

}  // namespace zevent::bench
