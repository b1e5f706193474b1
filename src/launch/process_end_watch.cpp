#include "launch/process_end_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "api/program_image.hpp"
#include "api/recording_format.hpp"
#include "launch/host_name.hpp"
#include "launch/process_stat.hpp"

namespace zevent::launch {
namespace {

using recording::file_header;

// linux/pidfd.h of Linux 6.15, which build machines do not have yet.
struct pidfd_info {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t ids[11];
  int32_t exit_code;
};
static_assert(sizeof(pidfd_info) == 64);
constexpr unsigned long pidfd_get_info = _IOWR(0xff, 11, pidfd_info);
constexpr uint64_t pidfd_info_exit = 1u << 3;

// As waitpid() has it; nothing before somebody has waited for the process, and on older kernels.
std::optional<int> status_of_ended(int descriptor) {
  pidfd_info info{};
  info.mask = pidfd_info_exit;
  if (ioctl(descriptor, pidfd_get_info, &info) != 0 || (info.mask & pidfd_info_exit) == 0)
    return std::nullopt;
  return info.exit_code;
}

uint64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Of HOST-PROCESS-NUMBER.part, where it is of this host.
std::optional<uint32_t> process_of_part(std::string_view name, std::string_view host) {
  if (!name.starts_with(host) || !name.ends_with(recording::part_suffix)) return std::nullopt;
  name.remove_prefix(host.size());
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  uint32_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || end == name.data() + name.size() || *end != '-') return std::nullopt;
  return process;
}

std::optional<file_header> read_header(int part) {
  file_header header{};
  const bool whole = pread(part, &header, sizeof(header), 0) == sizeof(header);
  if (!whole || header.magic != recording::file_magic) return std::nullopt;
  return header;
}

// Whoever reads the part meanwhile sees the kind last.
void write_end(const std::string& path, const recording::process_end& end) {
  const int part = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (part < 0) return;
  recording::process_end without_kind = end;
  without_kind.kind = recording::end_kind::unknown;
  constexpr off_t place = offsetof(file_header, end);
  if (pwrite(part, &without_kind, sizeof(without_kind), place) == sizeof(without_kind))
      [[maybe_unused]]
    const auto written =
        pwrite(part, &end.kind, sizeof(end.kind), place + offsetof(recording::process_end, kind));
  close(part);
}

// Into the last part of the process, and those of the same program for its other drivers. Parts
// before it are of programs that became others.
void note_end(const std::string& folder, const std::string& host, uint32_t process_id,
              uint64_t start, const recording::process_end& end) {
  struct found_part {
    std::string path;
    uint64_t open_ticks = 0, program_image = 0;
  };
  std::vector<found_part> parts;
  // Of another process of this number there may be parts among them.
  for (uint32_t n = 0;; ++n) {
    auto path = fmt::format("{}/{}-{}-{}{}", folder, host, process_id, n, recording::part_suffix);
    const int part = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (part < 0) break;
    const auto header = read_header(part);
    close(part);
    if (header && header->process_id == process_id && header->process_start == start)
      parts.push_back({std::move(path), header->open_ticks, recording::program_image(*header)});
  }
  const auto last = std::max_element(
      parts.begin(), parts.end(),
      [](const found_part& a, const found_part& b) { return a.open_ticks < b.open_ticks; });
  if (last == parts.end()) return;
  for (const auto& each : parts)
    if (&each == &*last || (each.program_image != 0 && each.program_image == last->program_image))
      write_end(each.path, end);
}

recording::process_end end_from_status(int status, uint64_t at_ns) {
  if (WIFSIGNALED(status))
    return {recording::end_kind::by_signal, static_cast<uint32_t>(WTERMSIG(status)), at_ns};
  return {recording::end_kind::exited, static_cast<uint32_t>(WEXITSTATUS(status)), at_ns};
}

}  // namespace

process_end_watch::process_end_watch(const std::string& parts_folder)
    : folder_(parts_folder), host_(host_name()) {
  if (folder_.empty()) return;
  folder_watch_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  watch_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event parts{};
  parts.events = EPOLLIN;
  const bool watched = folder_watch_ >= 0 && watch_ >= 0 &&
                       inotify_add_watch(folder_watch_, folder_.c_str(), IN_CREATE) >= 0 &&
                       epoll_ctl(watch_, EPOLL_CTL_ADD, folder_watch_, &parts) == 0;
  if (watched) return;
  if (watch_ >= 0) close(watch_);
  watch_ = -1;
}

process_end_watch::~process_end_watch() {
  for (const auto& [process_id, each] : processes_) close(each.descriptor);
  if (folder_watch_ >= 0) close(folder_watch_);
  if (watch_ >= 0) close(watch_);
}

void process_end_watch::look() {
  if (watch_ < 0) return;
  epoll_event happened[64];
  int count = 0;
  while ((count = epoll_wait(watch_, happened, std::size(happened), 0)) > 0) {
    for (int i = 0; i < count; ++i) {
      if (happened[i].data.u32 == 0)
        see_new_parts();
      else
        see_end(happened[i].data.u32);
    }
  }
}

void process_end_watch::see_new_parts() {
  alignas(inotify_event) char events[4096];
  ssize_t bytes = 0;
  while ((bytes = read(folder_watch_, events, sizeof(events))) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      if (event->len != 0) watch(event->name);
      at += static_cast<ssize_t>(sizeof(*event) + event->len);
    }
  }
}

void process_end_watch::watch(std::string_view part_name) {
  const auto process_id = process_of_part(part_name, host_);
  if (!process_id || *process_id == 0) return;
  const auto stat = read_process_stat(*process_id);
  if (!stat) return;
  if (const auto known = processes_.find(*process_id); known != processes_.end()) {
    if (known->second.start == stat->start) return;
    forget(*process_id);
  }
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, *process_id, 0));
  if (descriptor < 0) return;
  // Told twice: when it has ended, and when somebody has waited for it.
  epoll_event its_end{};
  its_end.events = EPOLLIN | EPOLLET;
  its_end.data.u32 = *process_id;
  if (epoll_ctl(watch_, EPOLL_CTL_ADD, descriptor, &its_end) != 0) {
    close(descriptor);
    return;
  }
  processes_[*process_id] = {descriptor, stat->start, 0};
}

void process_end_watch::see_end(uint32_t process_id) {
  const auto found = processes_.find(process_id);
  if (found == processes_.end()) return;
  auto& process = found->second;
  if (process.ended_at_ns == 0) process.ended_at_ns = realtime_ns();
  if (const auto status = status_of_ended(process.descriptor)) note_status(process_id, *status);
}

void process_end_watch::note_status(uint32_t process_id, int status) {
  const auto& process = processes_.at(process_id);
  note_end(folder_, host_, process_id, process.start, end_from_status(status, process.ended_at_ns));
  forget(process_id);
}

// Orphans, say, whose new parent is not quick.
void process_end_watch::finish() {
  look();
  std::vector<std::pair<uint32_t, int>> ended;
  for (const auto& [process_id, each] : processes_) {
    const auto stat = read_process_stat(process_id);
    if (stat && stat->start == each.start && stat->state == 'Z' && stat->status != 0 &&
        each.ended_at_ns != 0)
      ended.emplace_back(process_id, stat->status);
  }
  for (const auto& [process_id, status] : ended) note_status(process_id, status);
}

void process_end_watch::forget(uint32_t process_id) {
  const auto found = processes_.find(process_id);
  if (found == processes_.end()) return;
  close(found->second.descriptor);
  processes_.erase(found);
}

void process_end_watch::note(const program_end& end) {
  if (folder_.empty()) return;
  forget(end.process_id);
  note_end(folder_, host_, end.process_id, end.process_start,
           {end.signal != 0 ? recording::end_kind::by_signal : recording::end_kind::exited,
            static_cast<uint32_t>(end.signal != 0 ? end.signal : end.exit_status),
            end.ended_at_ns != 0 ? end.ended_at_ns : realtime_ns()});
}

}  // namespace zevent::launch
