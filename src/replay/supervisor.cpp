#include "replay/supervisor.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/invariant.hpp"
#include "replay/call_clock.hpp"
#include "replay/meeting_place.hpp"

namespace zevent::replay {
namespace {

constexpr uint64_t first_look_ns = 1'000'000;
constexpr uint64_t longest_look_ns = 100'000'000;

// An exception that comes out of the driver ends it as it ends a program: by SIGABRT.
[[noreturn]] void run_in_child(const program& what, const run_options& options, const journal& log,
                               const meeting_place& place) noexcept {
  // Whoever watches may die; the replay has no reason to go on then.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The others may fetch the file descriptors of IPC handles.
  if (place.is_of_several()) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  auto& header = log.header();
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  auto driver = driver_library::open(options.driver);
  if (!driver) {
    std::strncpy(header.message, driver.error().message.c_str(), sizeof(header.message) - 1);
    header.phase.store(run_phase::failed, std::memory_order_release);
    _exit(1);
  }
  player plays(what, *driver, log, place, options.play);
  // Pages that a call is the first to write to would cost it a fault, and a copy after the fork.
  what.images.populate();
  log.populate();
  header.phase.store(run_phase::running, std::memory_order_release);
  place.meet(meeting_place::gate::start);
  plays.run();
  header.phase.store(run_phase::finished, std::memory_order_release);
  // What this process shares may still be of use to others.
  place.meet(meeting_place::gate::end);
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
        const uint64_t patience = std::max(timeout_ns_, 2 * program_.calls[i].span_ns);
        if (now > entries[i].start_ticks && passed > static_cast<double>(patience)) return true;
      }
      if (all_returned) first_ = i;
    }
    return false;
  }

  // As of the last look.
  size_t calls_over() const { return first_; }
  size_t calls() const { return program_.calls.size(); }

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

// A process of a replay, and how it ended.
struct child {
  pid_t id = 0;
  const journal_header& header;
  watchdog dog;
  bool running = true;
  int status = 0;
  bool hung = false, stopped = false;
};

void look_after(child& each, int flags) {
  pid_t ended = 0;
  while ((ended = waitpid(each.id, &each.status, flags)) < 0 && errno == EINTR) {
  }
  each.running = ended == 0;
}

// Ends those that still run; which of them hang is found out first.
void stop(std::vector<child>& children) {
  for (auto& each : children)
    if (each.running) {
      each.hung = each.dog.sees_a_hang();
      each.stopped = !each.hung;
    }
  for (auto& each : children)
    if (each.running) kill(each.id, SIGKILL);
  for (auto& each : children)
    if (each.running) look_after(each, 0);
}

void tell(const progress_listener& progress, const std::vector<child>& children) {
  if (!progress) return;
  uint64_t done = 0, total = 0;
  for (const auto& each : children) {
    done += each.running ? each.dog.calls_over() : each.dog.calls();
    total += each.dog.calls();
  }
  progress(done, total);
}

void watch(std::vector<child>& children, const progress_listener& progress) {
  uint64_t look_ns = first_look_ns;
  for (;;) {
    bool any_runs = false, any_failed = false;
    for (auto& each : children) {
      if (each.running) look_after(each, WNOHANG);
      if (each.running)
        any_runs = true;
      else
        any_failed |= each.status != 0 || each.header.phase.load() != run_phase::finished;
    }
    if (!any_runs) return;
    const bool any_hangs = std::any_of(children.begin(), children.end(), [](child& each) {
      return each.running && each.dog.sees_a_hang();
    });
    if (any_failed || any_hangs) return stop(children);
    tell(progress, children);
    sleep_ns(look_ns);
    look_ns = std::min(2 * look_ns, longest_look_ns);
  }
}

void note_end(const child& ended, const journal_header& header, run_outcome& out) {
  const auto phase = header.phase.load(std::memory_order_acquire);
  if (ended.hung) {
    out.ending = run_ending::hung;
  } else if (ended.stopped && phase != run_phase::finished) {
    out.ending = run_ending::stopped;
  } else if (WIFSIGNALED(ended.status) && !ended.stopped) {
    out.ending = run_ending::crashed;
    out.signal = WTERMSIG(ended.status);
  } else if (phase == run_phase::failed) {
    out.ending = run_ending::could_not_start;
    out.message = header.message;
  } else if (phase != run_phase::finished) {
    out.ending = run_ending::crashed;
    out.message =
        fmt::format("the driver ended the process with status {}", WEXITSTATUS(ended.status));
  }
}

}  // namespace

call_outcome run_outcome::call(size_t index) const {
  const auto& entry = journal_.calls()[index];
  call_outcome out;
  out.asks = std::max<uint64_t>(entry.asks.load(std::memory_order_relaxed), 1);
  out.state = entry.state.load(std::memory_order_acquire);
  if (out.state == call_state::returned) {
    out.result = entry.detail;
    out.first_answer = entry.first_answer;
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
  auto all = run_together({&what, 1}, {&options, 1});
  if (!all) return tl::unexpected(all.error());
  return std::move(all->front());
}

result<std::vector<run_outcome>> run_together(std::span<const program> programs,
                                              std::span<const run_options> options,
                                              const progress_listener& progress) {
  ZEVENT_INVARIANT(!programs.empty() && programs.size() == options.size());
  uint32_t takers = 0, handles = 0;
  for (const auto& each : programs) {
    takers += static_cast<uint32_t>(each.threads.size());
    handles = std::max(handles, each.opaque_count);
  }
  const auto place = meeting_place::make(takers, static_cast<uint32_t>(programs.size()), handles);
  if (!place) return tl::unexpected(place.error());
  std::vector<journal> logs;
  for (const auto& each : programs) {
    auto log = journal::make(each.calls.size(), each.hashes, each.slot_count);
    if (!log) return tl::unexpected(log.error());
    logs.push_back(std::move(*log));
  }
  const call_clock clock;
  const uint64_t first_ticks = call_clock::ticks();
  std::vector<child> children;
  for (size_t i = 0; i < programs.size(); ++i) {
    const pid_t id = fork();
    if (id == 0) run_in_child(programs[i], options[i], logs[i], *place);
    if (id < 0) {
      const int reason = errno;
      stop(children);
      return fail("cannot start a process: {}", std::strerror(reason));
    }
    children.push_back({.id = id,
                        .header = logs[i].header(),
                        .dog = watchdog(programs[i], logs[i], clock, options.front().timeout_ns)});
  }
  watch(children, progress);
  std::vector<run_outcome> out;
  for (size_t i = 0; i < programs.size(); ++i) {
    run_outcome outcome(std::move(logs[i]), first_ticks, clock.ns_per_tick());
    note_end(children[i], outcome.header(), outcome);
    out.push_back(std::move(outcome));
  }
  return out;
}

}  // namespace zevent::replay
