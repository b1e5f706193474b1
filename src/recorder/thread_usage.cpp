#include "recorder/thread_usage.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "recorder/directory_entry.hpp"
#include "recorder/tick_clock.hpp"

namespace zevent::recorder {
namespace {

constexpr uint64_t scans_per_second = 50;
constexpr uint64_t share_of_scans = 200;        // one part in so many
constexpr uint64_t max_credits_a_second = 100;  // 10 ms

class errno_kept {
 public:
  errno_kept() = default;
  ~errno_kept() { errno = before_; }
  errno_kept(const errno_kept&) = delete;
  errno_kept& operator=(const errno_kept&) = delete;

 private:
  const int before_ = errno;
};

using text_buffer = std::array<char, 128>;

// The beginning of a small file of /proc; empty where it cannot be read.
std::string_view read_text(int directory, const char* path, text_buffer& buffer) {
  const int file = openat(directory, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = read(file, buffer.data(), buffer.size());
  close(file);
  return {buffer.data(), bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

// Takes one number and what follows it up to the next one.
std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  return value;
}

struct schedstat {
  uint64_t processor_ns;
  uint64_t run_delay_ns;
};

// "processor time, run-queue delay, time slices", both in ns.
std::optional<schedstat> parse_schedstat(std::string_view text) {
  const auto processor_ns = take_number(text);
  const auto run_delay_ns = processor_ns ? take_number(text) : std::nullopt;
  if (!run_delay_ns) return std::nullopt;
  return schedstat{*processor_ns, *run_delay_ns};
}

uint64_t to_ns(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

thread_usage read_thread_usage() {
  const errno_kept error;
  thread_usage usage;
  text_buffer buffer;
  // The processor time of schedstat is that of the last tick of the kernel; the clock's is exact.
  if (const auto times =
          parse_schedstat(read_text(AT_FDCWD, "/proc/thread-self/schedstat", buffer))) {
    usage.run_delay_ns = times->run_delay_ns;
    usage.has_run_delay = true;
  }
  timespec processor{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &processor);
  usage.processor_ns = to_ns(processor);
  rusage counts{};
  getrusage(RUSAGE_THREAD, &counts);
  usage.minor_faults = static_cast<uint32_t>(counts.ru_minflt);
  usage.major_faults = static_cast<uint32_t>(counts.ru_majflt);
  usage.voluntary_switches = static_cast<uint32_t>(counts.ru_nvcsw);
  usage.involuntary_switches = static_cast<uint32_t>(counts.ru_nivcsw);
  usage.ticks = ticks();
  return usage;
}

machine_load read_machine_load() {
  const errno_kept error;
  machine_load load;
  text_buffer buffer;
  // "0.20 0.18 0.12 1/80 11206": the fourth field is runnable/all.
  auto text = read_text(AT_FDCWD, "/proc/loadavg", buffer);
  for (int field = 0; field < 3; ++field) {
    const size_t blank = text.find(' ');
    text.remove_prefix(blank == text.npos ? text.size() : blank + 1);
  }
  if (const auto runnable = take_number(text))
    load.runnable_tasks = static_cast<uint32_t>(*runnable);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    load.processors = static_cast<uint32_t>(CPU_COUNT(&allowed));
  return load;
}

other_threads::other_threads(uint64_t ticks_per_second)
    : interval_(ticks_per_second / scans_per_second),
      max_credit_(ticks_per_second / max_credits_a_second),
      credit_(max_credit_) {}

void other_threads::refresh(uint64_t now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || now < latest_.ticks + interval_) return;
  earn(now);
  // Half of what may be spent is kept for calls that turn out slow.
  if (credit_ > max_credit_ / 2) scan(now);
}

std::optional<other_threads::delay> other_threads::read(uint64_t now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || latest_.ticks == 0) return std::nullopt;
  earn(now);
  if (credit_ < scan_cost_ || !scan(now)) return std::nullopt;
  return compare();
}

void other_threads::earn(uint64_t now) {
  // Another thread may have been here with a later time.
  if (now > earned_at_)
    credit_ = std::min(max_credit_, credit_ + (now - earned_at_) / share_of_scans);
  earned_at_ = std::max(now, earned_at_);
}

bool other_threads::scan(uint64_t now) {
  const errno_kept error;
  const int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  before_ = latest_;
  latest_.ticks = now;
  latest_.count = 0;
  alignas(linux_dirent64) char listed[4096];
  ssize_t bytes = 0;
  while (latest_.count < max_threads &&
         (bytes = syscall(SYS_getdents64, directory, listed, sizeof(listed))) > 0) {
    for (ssize_t at = 0; at < bytes && latest_.count < max_threads;) {
      const auto* each = reinterpret_cast<const linux_dirent64*>(listed + at);
      at += each->d_reclen;
      const std::string_view name = each->d_name;
      int thread_id = 0;
      std::from_chars(name.data(), name.data() + name.size(), thread_id);
      constexpr std::string_view file = "/schedstat";
      char path[32];
      if (thread_id == 0 || name.size() + file.size() >= sizeof(path)) continue;
      std::memcpy(path, name.data(), name.size());
      std::memcpy(path + name.size(), file.data(), file.size() + 1);
      text_buffer buffer;
      if (const auto times = parse_schedstat(read_text(directory, path, buffer)))
        latest_.entries[latest_.count++] = {thread_id, times->processor_ns, times->run_delay_ns};
    }
  }
  close(directory);
  // Threads are listed in the order of their creation, and ids begin anew at some time.
  std::sort(latest_.entries.begin(), latest_.entries.begin() + latest_.count,
            [](const auto& a, const auto& b) { return a.thread_id < b.thread_id; });
  // One that was interrupted for long is no measure of the next.
  scan_cost_ = std::clamp<uint64_t>(ticks() - now, 1, max_credit_ / 2);
  credit_ -= std::min(credit_, scan_cost_);
  return true;
}

// The kernel lists threads in the order of their numbers as a rule; where it does not, one that is
// not found again is left out.
other_threads::delay other_threads::compare() const {
  delay out;
  out.since = before_.ticks;
  const auto own_id = static_cast<int>(syscall(SYS_gettid));
  size_t at = 0;
  for (size_t i = 0; i < latest_.count; ++i) {
    const auto& now = latest_.entries[i];
    while (at < before_.count && before_.entries[at].thread_id < now.thread_id) ++at;
    if (at == before_.count) break;
    const auto& then = before_.entries[at];
    if (now.thread_id == own_id || then.thread_id != now.thread_id ||
        now.run_delay_ns < then.run_delay_ns || now.processor_ns < then.processor_ns)
      continue;
    ++out.threads;
    const uint64_t delayed_ns = now.run_delay_ns - then.run_delay_ns;
    if (delayed_ns < out.run_delay_ns) continue;
    out.run_delay_ns = delayed_ns;
    out.processor_ns = now.processor_ns - then.processor_ns;
  }
  return out;
}

}  // namespace zevent::recorder
