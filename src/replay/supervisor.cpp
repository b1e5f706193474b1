#include "replay/supervisor.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "replay/call_clock.hpp"

namespace zevent::replay {
namespace {

constexpr uint64_t first_look_ns = 1'000'000;
constexpr uint64_t longest_look_ns = 100'000'000;

[[noreturn]] void run_in_child(const program& what, const run_options& options,
                               const journal& log) {
  // Whoever watches may die; the replay has no reason to go on then.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto& header = log.header();
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  auto driver = driver_library::open(options.driver);
  if (!driver) {
    std::strncpy(header.message, driver.error().message.c_str(), sizeof(header.message) - 1);
    header.phase.store(run_phase::failed, std::memory_order_release);
    _exit(1);
  }
  player plays(what, *driver, log, options.play);
  // Pages that a call is the first to write to would cost it a fault, and a copy after the fork.
  what.images.populate();
  log.populate();
  header.phase.store(run_phase::running, std::memory_order_release);
  plays.run();
  header.phase.store(run_phase::finished, std::memory_order_release);
  // Objects that the program left behind stay so: no destructor makes a call that was not recorded.
  _exit(0);
}

// Looks at a running replay for calls that take too long.
class watchdog {
 public:
  watchdog(const program& what, const journal& log, const call_clock& clock, uint64_t timeout_ns)
      : program_(what), journal_(log), clock_(clock), timeout_ns_(timeout_ns) {}

  bool sees_a_hang() {
    if (journal_.header().phase.load(std::memory_order_acquire) != run_phase::running) return false;
    const double scale = clock_.ns_per_tick();
    const uint64_t now = call_clock::ticks();
    // Calls begin in order: all before `first_` have returned.
    const auto entries = journal_.calls();
    bool all_returned = true;
    for (size_t i = first_; i < entries.size(); ++i) {
      const auto state = entries[i].state.load(std::memory_order_acquire);
      if (state == call_state::not_made) break;
      if (state == call_state::under_way) {
        all_returned = false;
        const auto passed = static_cast<double>(now - entries[i].start_ticks) * scale;
        const uint64_t patience = std::max(timeout_ns_, 2 * program_.calls[i].duration_ns);
        if (now > entries[i].start_ticks && passed > static_cast<double>(patience)) return true;
      }
      if (all_returned) first_ = i;
    }
    return false;
  }

 private:
  const program& program_;
  const journal& journal_;
  const call_clock& clock_;
  uint64_t timeout_ns_;
  size_t first_ = 0;
};

void sleep_ns(uint64_t ns) {
  const timespec length{static_cast<time_t>(ns / 1'000'000'000u),
                        static_cast<long>(ns % 1'000'000'000u)};
  nanosleep(&length, nullptr);
}

struct child_end {
  int status = 0;
  bool hung = false;
};

child_end watch(pid_t child, watchdog& dog) {
  child_end end;
  uint64_t look_ns = first_look_ns;
  while (waitpid(child, &end.status, WNOHANG) == 0) {
    if (dog.sees_a_hang()) {
      end.hung = true;
      kill(child, SIGKILL);
      while (waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
      }
      return end;
    }
    sleep_ns(look_ns);
    look_ns = std::min(2 * look_ns, longest_look_ns);
  }
  return end;
}

}  // namespace

call_outcome run_outcome::call(size_t index) const {
  const auto& entry = journal_.calls()[index];
  call_outcome out;
  out.state = entry.state.load(std::memory_order_acquire);
  if (out.state == call_state::returned) {
    out.result = entry.detail;
    out.duration_ns = static_cast<uint64_t>(static_cast<double>(entry.duration_ticks) * scale_);
  } else if (out.state == call_state::impossible) {
    out.missing = entry.detail;
  }
  return out;
}

std::vector<uint32_t> run_outcome::under_way() const {
  std::vector<uint32_t> out;
  const auto entries = journal_.calls();
  for (uint32_t i = 0; i < entries.size(); ++i)
    if (entries[i].state.load(std::memory_order_acquire) == call_state::under_way) out.push_back(i);
  return out;
}

std::vector<memory_difference> run_outcome::memory() const {
  const auto& header = journal_.header();
  const uint32_t listed =
      std::min(header.memory_differences.load(), journal_header::most_memory_differences);
  return {header.memory, header.memory + listed};
}

result<run_outcome> run(const program& what, const run_options& options) {
  auto log = journal::make(what.calls.size(), what.hashes);
  if (!log) return tl::unexpected(log.error());
  const call_clock clock;
  const uint64_t first_ticks = call_clock::ticks();
  const pid_t child = fork();
  if (child < 0) return fail("cannot start a process: {}", std::strerror(errno));
  if (child == 0) run_in_child(what, options, *log);
  watchdog dog(what, *log, clock, options.timeout_ns);
  const auto end = watch(child, dog);

  const auto phase = log->header().phase.load(std::memory_order_acquire);
  const std::string message = log->header().message;
  run_outcome out(std::move(*log), first_ticks, clock.ns_per_tick());
  if (end.hung) {
    out.ending = run_ending::hung;
  } else if (WIFSIGNALED(end.status)) {
    out.ending = run_ending::crashed;
    out.signal = WTERMSIG(end.status);
  } else if (phase == run_phase::failed) {
    out.ending = run_ending::could_not_start;
    out.message = message;
  } else if (phase != run_phase::finished) {
    out.ending = run_ending::crashed;
    out.message =
        fmt::format("the driver ended the process with status {}", WEXITSTATUS(end.status));
  }
  return out;
}

}  // namespace zevent::replay
