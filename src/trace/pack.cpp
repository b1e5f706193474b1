#include "trace/pack.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include "api/model_file.hpp"
#include "api/program_image.hpp"
#include "base/checked_cast.hpp"
#include "trace/call_usage.hpp"
#include "trace/device_line.hpp"
#include "trace/device_times.hpp"
#include "trace/object_tracker.hpp"
#include "trace/run_clock.hpp"
#include "trace/trace_file.hpp"

namespace zevent::trace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t calls_per_progress = 65536;

// By how much the clocks of host and device may differ about when something was.
constexpr uint64_t most_clock_error_ns = 2'000'000;

// The model that the parts were recorded by, and its bytes.
struct recorded_model {
  blob_hash hash{};
  std::vector<std::byte> bytes;
  std::shared_ptr<const api::model> model;
};

std::optional<std::span<const std::byte>> find_blob(std::span<const recording_part> parts,
                                                    const blob_hash& hash) {
  for (const auto& part : parts)
    for (const auto& blob : part.blobs())
      if (blob.hash == hash && hash_of(blob.content) == hash) return blob.content;
  return std::nullopt;
}

result<recorded_model> find_model(std::span<const recording_part> parts,
                                  const recording_part& part) {
  recorded_model found;
  found.hash = part.header().schema;
  if (found.hash == blob_hash{})
    return part.header().state == recording::part_state::stopped
               ? fail("{}: nothing was recorded: {}", part.name(), part.stop_reason())
               : fail("{}: nothing was recorded: the process ended too early", part.name());
  if (const auto bytes = find_blob(parts, found.hash)) {
    found.bytes.assign(bytes->begin(), bytes->end());
  } else {
    // The process may have died before it wrote the description; this build's own may be the same.
    found.bytes = api::write_model(api::builtin_model());
    if (hash_of(found.bytes) != found.hash)
      return fail("{}: the description of the API is missing", part.name());
  }
  auto model = api::read_model(found.bytes);
  if (!model) return fail("{}: {}", part.name(), model.error().message);
  found.model = std::move(*model);
  return found;
}

// The first that there is: a process may have died before it said which one it has.
result<recorded_model> find_model(std::span<const recording_part> parts) {
  auto first = find_model(parts, parts.front());
  for (size_t i = 1; i < parts.size() && !first; ++i)
    if (auto other = find_model(parts, parts[i])) return other;
  return first;
}

process_state state_of(const recording::file_header& header) {
  switch (header.state) {
    case recording::part_state::closed:
      return process_state::ended;
    case recording::part_state::stopped:
      return process_state::stopped;
    case recording::part_state::recording:
      break;
  }
  return process_state::cut_off;
}

process_end end_of(const recording_part& part, uint64_t run_start_ns) {
  const auto& noted = part.header().end;
  process_end end;
  switch (noted.kind) {
    case recording::end_kind::exited:
      end.kind = end_kind::exited;
      break;
    case recording::end_kind::by_signal:
      end.kind = end_kind::by_signal;
      break;
    default:
      return end;
  }
  end.status = noted.status;
  // The clock may have been set meanwhile.
  if (noted.realtime_ns >= run_start_ns)
    end.at_ns = std::min(latest_time_ns, noted.realtime_ns - run_start_ns);
  return end;
}

// The process that forked this one off: the last part of its id that had begun by then.
std::optional<process_fork> fork_of(std::span<const recording_part* const> parts, size_t index,
                                    const tick_line& line, uint64_t run_start_ns) {
  const auto& part = *parts[index];
  const auto fact = std::find_if(part.facts().begin(), part.facts().end(), [](const auto& each) {
    return each.first == recording::fork_fact;
  });
  if (fact == part.facts().end()) return std::nullopt;
  const std::string_view text = fact->second;
  const char* const end = text.data() + text.size();
  uint32_t parent_id = 0;
  uint64_t ticks = 0;
  const auto parent = std::from_chars(text.data(), end, parent_id);
  if (parent.ec != std::errc{} || parent.ptr == end) return std::nullopt;
  if (std::from_chars(parent.ptr + 1, end, ticks).ec != std::errc{}) return std::nullopt;
  for (size_t i = index; i > 0; --i) {
    const auto& candidate = *parts[i - 1];
    if (candidate.header().process_id != parent_id || candidate.host() != part.host() ||
        candidate.header().open_ticks > ticks)
      continue;
    const uint64_t at_ns = line.to_ns(ticks);
    return process_fork{checked_cast<uint32_t>(i - 1), at_ns - std::min(at_ns, run_start_ns)};
  }
  return std::nullopt;
}

// The index of the last part of each process: one that becomes another program begins a part anew.
class last_parts {
 public:
  explicit last_parts(std::span<const recording_part* const> parts) {
    for (size_t i = 0; i < parts.size(); ++i)
      last_[process_of(*parts[i])] = {i, recording::program_image(parts[i]->header())};
  }

  bool is_last(const recording_part& part, size_t index) const {
    // Of a process without a time of start it is not known which it is.
    if (part.header().process_start == 0) return true;
    const auto& last = last_.at(process_of(part));
    const uint64_t image = recording::program_image(part.header());
    // One program with several drivers has a part for each.
    return last.index == index || (image != 0 && image == last.image);
  }

 private:
  using process = std::tuple<uint32_t, uint64_t, std::string>;

  static process process_of(const recording_part& part) {
    return {part.header().process_id, part.header().process_start, part.host()};
  }

  struct last_part {
    size_t index = 0;
    uint64_t image = 0;
  };
  std::map<process, last_part> last_;
};

process_info describe_process(const recording_part& part) {
  const auto& header = part.header();
  process_info info;
  info.process_id = header.process_id;
  info.parent_process_id = header.parent_process_id;
  info.host = part.host();
  info.state = state_of(header);
  info.stop_reason = part.stop_reason();
  info.lost_calls = header.lost_calls;
  info.memory_mode = static_cast<uint32_t>(header.memory);
  for (const auto& fact : part.facts())
    if (fact.first != recording::fork_fact) info.facts.push_back(fact);
  info.counters.assign(part.counters().begin(), part.counters().end());
  return info;
}

// The calls of one thread on the axis of the run.
class timed_calls {
 public:
  timed_calls(const recorded_thread& thread, const tick_line& line, uint32_t process)
      : calls_(thread), line_(&line), process_(process), thread_(&thread) {
    advance();
  }

  bool at_end() const { return !current_.has_value(); }
  const recorded_call& current() const { return *current_; }
  uint64_t start_ns() const { return start_ns_; }
  uint64_t end_ns() const { return std::max(start_ns_, line_->to_ns(current_->end_ticks)); }
  uint32_t process() const { return process_; }
  const recorded_thread& thread() const { return *thread_; }

  // What its thread did meanwhile. Nothing where that was not looked at, or where the times are not
  // those of a recorder: from before the call until after it.
  std::optional<call_usage> usage() const;

  void advance() {
    current_ = calls_.next();
    if (current_) start_ns_ = std::max(start_ns_, line_->to_ns(current_->start_ticks));
  }

 private:
  recorded_calls calls_;
  const tick_line* line_;
  uint32_t process_;
  const recorded_thread* thread_;
  std::optional<recorded_call> current_;
  uint64_t start_ns_ = 0;
};

std::optional<call_usage> timed_calls::usage() const {
  if (current_->usage.empty()) return std::nullopt;
  recording::usage_record raw;
  std::memcpy(&raw, current_->usage.data(), sizeof raw);
  if (raw.from > current_->start_ticks || raw.until < current_->end_ticks) return std::nullopt;
  const auto ns_between = [&](uint64_t from, uint64_t until) {
    const uint64_t from_ns = line_->to_ns(from), until_ns = line_->to_ns(until);
    return std::min(latest_time_ns, until_ns - std::min(from_ns, until_ns));
  };
  const auto bounded = [](uint64_t ns) { return std::min(latest_time_ns, ns); };
  call_usage note;
  note.before_ns = ns_between(raw.from, current_->start_ticks);
  note.after_ns = ns_between(current_->end_ticks, raw.until);
  note.processor_ns = bounded(raw.processor_ns);
  note.minor_faults = raw.minor_faults;
  note.major_faults = raw.major_faults;
  note.voluntary_switches = raw.voluntary_switches;
  note.involuntary_switches = raw.involuntary_switches;
  note.runnable_tasks = raw.runnable_tasks;
  note.processors = raw.processors;
  if ((raw.header.flags & recording::usage_has_run_delay) != 0) {
    note.flags |= usage_has_run_delay;
    note.run_delay_ns = bounded(raw.run_delay_ns);
  }
  if ((raw.header.flags & recording::usage_has_others) != 0) {
    note.flags |= usage_has_others;
    note.others_before_ns = ns_between(raw.others_from, current_->start_ticks);
    note.other_run_delay_ns = bounded(raw.other_run_delay_ns);
    note.other_processor_ns = bounded(raw.other_processor_ns);
    note.other_threads = raw.other_threads;
  }
  return note;
}

class packer {
 public:
  packer(std::vector<const recording_part*> parts, const pack_options& options)
      : parts_(std::move(parts)), options_(options) {}

  result<pack_report> pack(int descriptor, const recorded_model& by);

  pack_report& report() { return report_; }

 private:
  void begin_threads(const run_clock& clock);
  run_info describe_run() const;
  result<void> write_blobs(trace_writer& out, const recorded_model& by);
  result<void> write_calls(trace_writer& out, const recorded_model& by);
  result<void> write_device_times(trace_writer& out);
  void add_device_times(size_t process, std::vector<device_time>& times) const;
  result<void> write_call(trace_writer& out, const timed_calls& from, uint32_t thread,
                          object_tracker& objects);

  std::vector<const recording_part*> parts_;  // in the order of their start
  const pack_options& options_;
  std::vector<timed_calls> threads_;  // in the order of their first calls
  const run_clock* clock_ = nullptr;
  // Of each process the calls that its device times speak of: position in the part, and number.
  std::vector<std::vector<std::pair<uint64_t, std::optional<call_number>>>> timed_calls_;
  uint64_t run_start_ns_ = 0;
  uint64_t foreign_calls_ = 0;  // of functions that the model does not have
  pack_report report_;
};

void packer::begin_threads(const run_clock& clock) {
  clock_ = &clock;
  for (const auto* part : parts_) {
    auto& wanted = timed_calls_.emplace_back();
    for (const auto& each : part->device_times()) {
      wanted.emplace_back(each.call, std::nullopt);
      wanted.emplace_back(each.execution, std::nullopt);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  }
  for (uint32_t process = 0; process < parts_.size(); ++process) {
    for (const auto& thread : parts_[process]->threads()) {
      timed_calls calls(thread, clock.line_of(process), process);
      if (!calls.at_end()) threads_.push_back(std::move(calls));
    }
  }
  std::stable_sort(threads_.begin(), threads_.end(),
                   [](const auto& a, const auto& b) { return a.start_ns() < b.start_ns(); });
  if (!threads_.empty()) run_start_ns_ = threads_.front().start_ns();
}

run_info packer::describe_run() const {
  run_info run;
  run.start_realtime_ns = run_start_ns_;
  const last_parts last(parts_);
  for (size_t i = 0; i < parts_.size(); ++i) {
    auto& process = run.processes.emplace_back(describe_process(*parts_[i]));
    if (last.is_last(*parts_[i], i))
      process.end = end_of(*parts_[i], run_start_ns_);
    else if (process.state == process_state::cut_off)
      process.end.kind = end_kind::replaced;
    process.fork = fork_of(parts_, i, clock_->line_of(i), run_start_ns_);
  }
  for (const auto& each : threads_)
    run.threads.push_back({each.process(), each.thread().thread_id, each.thread().name});
  return run;
}

result<void> packer::write_blobs(trace_writer& out, const recorded_model& by) {
  for (const auto* part : parts_) {
    for (const auto& blob : part->blobs()) {
      if (blob.hash == by.hash) continue;
      if (hash_of(blob.content) != blob.hash) {
        report_.damage.push_back(
            fmt::format("{}: the blob {} is damaged", part->name(), to_text(blob.hash)));
        continue;
      }
      if (auto added = out.add_blob(blob.hash, blob.content); !added) return added;
      if (options_.cancelled && options_.cancelled()) return fail("packing was interrupted");
    }
  }
  return {};
}

result<void> packer::write_calls(trace_writer& out, const recorded_model& by) {
  uint64_t total = 0;
  for (const auto* part : parts_) total += part->calls();
  object_tracker objects(*by.model);

  // The thread whose next call is the earliest; among equals the first.
  using turn = std::pair<uint64_t, uint32_t>;
  std::priority_queue<turn, std::vector<turn>, std::greater<>> turns;
  for (uint32_t i = 0; i < threads_.size(); ++i) turns.emplace(threads_[i].start_ns(), i);
  while (!turns.empty()) {
    const uint32_t index = turns.top().second;
    turns.pop();
    auto& thread = threads_[index];
    // As long as no other thread comes first, there is no need to queue.
    do {
      if (thread.current().function >= by.model->functions.size())
        ++foreign_calls_;
      else if (auto written = write_call(out, thread, index, objects); !written)
        return written;
      if (report_.calls % calls_per_progress == 0) {
        if (options_.progress) options_.progress(report_.calls, total);
        if (options_.cancelled && options_.cancelled()) return fail("packing was interrupted");
      }
      thread.advance();
    } while (!thread.at_end() && (turns.empty() || turn(thread.start_ns(), index) < turns.top()));
    if (!thread.at_end()) turns.emplace(thread.start_ns(), index);
  }
  if (auto written = write_device_times(out); !written) return written;
  const auto table = object_table(objects.take());
  const auto size = out.finish(table.all());
  if (!size) return tl::unexpected(size.error());
  report_.size_bytes = *size;
  return {};
}

namespace {

// The entry for a place in a sorted vector of places and numbers; null when there is none.
template <typename Entries>
auto* entry_at(Entries& entries, uint64_t place) {
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), place,
                       [](const auto& each, uint64_t wanted) { return each.first < wanted; });
  return found != entries.end() && found->first == place ? &*found : nullptr;
}

}  // namespace

void packer::add_device_times(size_t process, std::vector<device_time>& times) const {
  const auto& host = clock_->line_of(process);
  std::map<uint16_t, std::vector<recording::device_clock_record>> comparisons;
  for (const auto& each : parts_[process]->device_clocks())
    comparisons[each.header.detail].push_back(each);
  std::map<uint16_t, device_line> lines;
  for (const auto& [device, points] : comparisons) lines.emplace(device, device_line(points, host));

  for (const auto& each : parts_[process]->device_times()) {
    const auto line = lines.find(each.header.detail);
    const auto* call = entry_at(timed_calls_[process], each.call);
    const auto* execution = entry_at(timed_calls_[process], each.execution);
    if (line == lines.end() || !call->second || !execution->second) continue;
    const uint64_t submitted_ns = host.to_ns(each.submitted);
    const uint64_t collected_ns = host.to_ns(each.collected);
    const auto when = line->second.to_ns(each.start, each.end, submitted_ns, collected_ns);
    device_time time;
    time.call = *call->second;
    time.execution = std::max(*call->second, *execution->second);
    time.start_ns =
        std::min(latest_time_ns, when.start_ns - std::min(when.start_ns, run_start_ns_));
    time.duration_ns = std::min(latest_time_ns, when.end_ns - when.start_ns);
    time.device = each.header.detail;
    if (when.start_ns + most_clock_error_ns < submitted_ns ||
        when.end_ns > collected_ns + most_clock_error_ns)
      time.flags |= time_is_impossible;
    times.push_back(time);
  }
}

result<void> packer::write_device_times(trace_writer& out) {
  std::vector<device_time> times;
  for (size_t process = 0; process < parts_.size(); ++process) add_device_times(process, times);
  report_.timed_commands = times.size();
  return out.add_device_times(std::move(times));
}

result<void> packer::write_call(trace_writer& out, const timed_calls& from, uint32_t thread,
                                object_tracker& objects) {
  const auto& recorded = from.current();
  call each;
  each.number = call_number{report_.calls++};
  if (auto& timed = timed_calls_[from.process()]; !timed.empty())
    if (auto* entry = entry_at(timed, recorded.position)) entry->second = each.number;
  each.start_ns = std::min(latest_time_ns, from.start_ns() - run_start_ns_);
  each.function = recorded.function;
  each.thread = thread;
  if (recorded.injected) each.flags |= call_injected;
  call_arguments arguments{recorded.inputs, {}};
  if (recorded.returned) {
    each.flags |= call_returned;
    each.duration_ns = std::min(latest_time_ns, from.end_ns() - from.start_ns());
    each.result = recorded.result;
    arguments.outputs = recorded.outputs;
  } else {
    ++report_.unreturned_calls;
  }
  if (objects.concerns(each.function)) objects.add(each, from.process(), arguments);
  if (auto added = out.add_call(each, arguments); !added) return added;
  if (recorded.returned && !recorded.usage.empty())
    if (auto note = from.usage()) {
      note->call = each.number;
      if (auto added = out.add_usage(*note); !added) return added;
    }
  for (const auto& memory : recorded.memory)
    if (auto added = out.add_memory(
            {each.number, memory.address, memory.bytes, memory.header.flags, memory.content});
        !added)
      return added;
  return {};
}

result<pack_report> packer::pack(int descriptor, const recorded_model& by) {
  const run_clock clock(parts_);
  begin_threads(clock);
  const auto run = describe_run();
  auto out = trace_writer::begin(descriptor, options_.compression_level, by.bytes, run);
  if (!out) return tl::unexpected(out.error());
  for (auto step : {&packer::write_blobs, &packer::write_calls})
    if (auto done = (this->*step)(*out, by); !done) return tl::unexpected(done.error());

  report_.threads = run.threads.size();
  report_.processes = run.processes.size();
  for (const auto& process : run.processes) {
    report_.lost_calls += process.lost_calls;
    if (report_.stop_reason.empty()) report_.stop_reason = process.stop_reason;
  }
  if (foreign_calls_ != 0)
    report_.damage.push_back(
        fmt::format("{} calls of functions that the recording does not describe", foreign_calls_));
  return std::move(report_);
}

// A recorder writes the magic when the rest of the header is there, and grows the file after that:
// a process that was killed before had recorded nothing.
bool was_begun(const fs::path& path) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  if (error || bytes > sizeof(recording::file_header)) return true;
  uint64_t magic = 0;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&magic), sizeof magic);
  return magic != 0;
}

}  // namespace

result<std::vector<recording_part>> open_parts(const fs::path& folder,
                                               std::vector<std::string>& damage) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (each->path().extension() == recording::part_suffix) paths.push_back(each->path());
  if (error) return fail("cannot read {}: {}", folder.string(), error.message());
  std::sort(paths.begin(), paths.end());
  std::vector<recording_part> parts;
  for (const auto& path : paths) {
    if (!was_begun(path)) continue;
    auto part = recording_part::open(path);
    if (!part) {
      damage.push_back(part.error().message);
      continue;
    }
    for (const auto& each : part->damage())
      damage.push_back(fmt::format("{}: {}", part->name(), each));
    parts.push_back(std::move(*part));
  }
  if (parts.empty() && damage.empty()) {
    if (folder.extension() != recording::parts_suffix)
      return fail("{} is a folder, and no recording: there are no parts of one in it",
                  folder.string());
    return fail("nothing was recorded in {}: no program made a Level Zero call", folder.string());
  }
  if (parts.empty()) return fail("{}", damage.front());
  return parts;
}

result<pack_report> pack_parts(std::span<const recording_part> parts, int descriptor,
                               const pack_options& options) {
  if (parts.empty()) return fail("there is nothing to pack");
  const auto by = find_model(parts);
  if (!by) return tl::unexpected(by.error());
  std::vector<std::string> damage;
  std::vector<const recording_part*> used;
  for (const auto& part : parts) {
    if (part.header().schema == by->hash) {
      used.push_back(&part);
    } else if (part.header().schema == blob_hash{}) {
      // A process that ended before it could have recorded anything has lost nothing. One that
      // found no room for anything is to be known of.
      if (part.header().lost_calls != 0) used.push_back(&part);
    } else {
      damage.push_back(fmt::format(
          "{}: recorded by another version of zevent than the rest: left out", part.name()));
    }
  }
  std::stable_sort(used.begin(), used.end(), [](const auto* a, const auto* b) {
    return a->header().open_ticks < b->header().open_ticks;
  });
  packer work(std::move(used), options);
  work.report().damage = std::move(damage);
  return work.pack(descriptor, *by);
}

result<pack_report> pack_recording(const fs::path& folder, const fs::path& output,
                                   const pack_options& options) {
  std::vector<std::string> damage;
  const auto parts = open_parts(folder, damage);
  if (!parts) return tl::unexpected(parts.error());

  const std::string unfinished = fmt::format("{}.{}.unfinished", output.string(), getpid());
  const int descriptor = open(unfinished.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return fail("cannot write {}: {}", output.string(), strerror(errno));
  auto report = pack_parts(*parts, descriptor, options);
  const int closed = close(descriptor);
  const bool written = report && closed == 0;
  if (written && rename(unfinished.c_str(), output.c_str()) == 0) {
    report->damage.insert(report->damage.begin(), damage.begin(), damage.end());
    return report;
  }
  const int reason = errno;
  unlink(unfinished.c_str());
  if (!report) return report;
  return fail("cannot write {}: {}", output.string(), strerror(reason));
}

namespace {

// Whether the folder has only parts, and only of processes that found no room for anything or died
// before they had recorded anything.
bool holds_nothing(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    recording::file_header header{};
    std::ifstream(entry.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(&header), sizeof header);
    const bool is_part = entry.path().extension() == recording::part_suffix &&
                         (header.magic == recording::file_magic || header.magic == 0);
    if (!is_part || header.schema != blob_hash{}) return false;
  }
  return !error;
}

}  // namespace

result<pack_report> pack_finished_run(const fs::path& folder, const fs::path& output,
                                      bool keep_parts, const pack_options& options) {
  std::error_code error;
  if (!fs::exists(folder, error))
    return fail("the recording is gone: there is no {}", folder.string());
  if (fs::is_empty(folder, error)) {
    fs::remove(folder, error);
    return fail(
        "nothing was recorded: the program called no Level Zero function, or may not be recorded");
  }
  auto report = pack_recording(folder, output, options);
  if (!report && holds_nothing(folder)) {
    fs::remove_all(folder, error);
    return report;
  }
  if (!report) return fail("{}; the recording is in {}", report.error().message, folder.string());
  if (report->damage.empty() && !keep_parts) fs::remove_all(folder, error);
  return report;
}

}  // namespace zevent::trace
