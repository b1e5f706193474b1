#include "report/device_statistics.hpp"

#include <algorithm>

namespace zevent::report {
namespace {

using model::function;
using enum model::argument;

constexpr uint32_t no_queue = UINT32_MAX;

bool is_fill(function which) {
  return which == function::zeCommandListAppendMemoryFill ||
         which == function::zeCommandListAppendMemoryFillWithParameters;
}

bool is_submission(function which) {
  return which == function::zeCommandQueueExecuteCommandLists;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t untimed_commands(const trace::run_info& run) {
  uint64_t untimed = 0;
  for (const auto& process : run.processes)
    for (const auto& [name, value] : process.counters)
      if (name == "commands not timed") untimed += value;
  return untimed;
}

}  // namespace

device_statistics::device_statistics(const trace::trace_file& trace)
    : trace_(trace),
      kernel_class_(trace::class_named(trace.model(), "ze_kernel_handle_t")),
      list_class_(trace::class_named(trace.model(), "ze_command_list_handle_t")),
      queue_class_(trace::class_named(trace.model(), "ze_command_queue_handle_t")) {
  if (auto times = trace.device_times()) times_ = std::move(*times);
  for (const auto& each : times_) {
    appends_[number_of(each.call)];
    submissions_[number_of(each.execution)];
  }
}

bool device_statistics::wants(function which) const {
  if (!is_profile()) return false;
  return model::is_append(which) || is_submission(which) || which == function::zeKernelCreate ||
         copy_statistics::wants(which);
}

void device_statistics::add(const trace::call& each, const model::call_view& view,
                            const copy_statistics& copies, bool counts) {
  if (view.which == function::zeKernelCreate) return note_kernel(each, view);
  if (const auto found = submissions_.find(number_of(each.number)); found != submissions_.end())
    found->second = {each.start_ns, queue_of(each, view)};
  const auto found = appends_.find(number_of(each.number));
  if (found == appends_.end()) return;
  append& noted = found->second;
  noted.start_ns = each.start_ns;
  noted.work = work_named(work_of(each, view, copies));
  noted.bytes = copy_statistics::bytes_moved(view);
  noted.counts = counts;
}

void device_statistics::note_kernel(const trace::call& each, const model::call_view& view) {
  const auto kernel = trace_.objects().find(
      {trace_.process_of(each), kernel_class_, view[phKernel]}, each.end_ns());
  if (kernel) kernels_[index_of(*kernel)] = text_of(view.bytes(model::argument::kernel_name));
}

std::string device_statistics::kernel_name(const trace::call& each, uint64_t handle) const {
  const auto kernel =
      trace_.objects().find({trace_.process_of(each), kernel_class_, handle}, each.start_ns);
  if (!kernel) return "a kernel";
  const auto found = kernels_.find(index_of(*kernel));
  return found != kernels_.end() ? found->second : trace_.objects().name(*kernel, trace_.model());
}

std::string device_statistics::work_of(const trace::call& each, const model::call_view& view,
                                       const copy_statistics& copies) const {
  if (model::is_launch(view.which)) {
    if (!view.has(phKernels)) return kernel_name(each, view[hKernel]);
    std::string names;
    for (const uint64_t handle : view.list(phKernels)) {
      if (!names.empty()) names += " + ";
      names += kernel_name(each, handle);
    }
    return names;
  }
  if (is_fill(view.which)) return "fill of " + copies.kind_at(each, view[ptr]);
  if (copy_statistics::is_copy(view.which))
    return "copy " + copies.kind_at(each, view[srcptr]) + " to " +
           copies.kind_at(each, view[dstptr]);
  return std::string(trace_.function(each).name);
}

uint32_t device_statistics::work_named(const std::string& name) {
  const auto [place, is_new] =
      work_by_name_.try_emplace(name, static_cast<uint32_t>(works_.size()));
  if (is_new) works_.emplace_back().name = name;
  return place->second;
}

uint32_t device_statistics::queue_of(const trace::call& each, const model::call_view& view) {
  const bool on_queue = is_submission(view.which);
  const auto object =
      trace_.objects().find({trace_.process_of(each), on_queue ? queue_class_ : list_class_,
                             on_queue ? view[hCommandQueue] : view[hCommandList]},
                            each.start_ns);
  if (!object) return no_queue;
  const auto [place, is_new] =
      queue_by_object_.try_emplace(index_of(*object), static_cast<uint32_t>(queue_names_.size()));
  if (is_new) queue_names_.push_back(trace_.objects().name(*object, trace_.model()));
  return place->second;
}

device_summary device_statistics::summarise() {
  device_summary summary;
  summary.untimed = untimed_commands(trace_.run());
  for (const auto& each : times_) {
    const append& by = appends_[number_of(each.call)];
    if (!by.counts) continue;
    if (each.is_impossible()) {
      ++summary.impossible;
      continue;
    }
    const submission& given = submissions_[number_of(each.execution)];
    device_work& work = works_[by.work];
    ++summary.commands;
    work.durations.add(each.duration_ns);
    work.bytes += by.bytes;
    work.append_to_submit_ns += given.start_ns - std::min(given.start_ns, by.start_ns);
    work.submit_to_start_ns += each.start_ns - std::min(each.start_ns, given.start_ns);
  }
  sum_up_queues(summary);
  summary.works = std::move(works_);
  std::erase_if(summary.works, [](const auto& each) { return each.durations.count() == 0; });
  std::stable_sort(summary.works.begin(), summary.works.end(), [](const auto& a, const auto& b) {
    return a.durations.total_ns() > b.durations.total_ns();
  });
  return summary;
}

void device_statistics::sum_up_queues(device_summary& summary) const {
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> ran(queue_names_.size());
  for (const auto& each : times_) {
    const uint32_t queue = submissions_.at(number_of(each.execution)).queue;
    if (queue < ran.size() && !each.is_impossible() && appends_.at(number_of(each.call)).counts)
      ran[queue].emplace_back(each.start_ns, each.end_ns());
  }
  for (size_t i = 0; i < ran.size(); ++i) {
    if (ran[i].empty()) continue;
    std::sort(ran[i].begin(), ran[i].end());
    device_queue row{queue_names_[i], ran[i].size()};
    uint64_t until = ran[i].front().first;
    for (const auto& [start, end] : ran[i]) {
      if (start > until) {
        ++row.gaps;
        row.idle_ns += start - until;
        row.longest_gap_ns = std::max(row.longest_gap_ns, start - until);
        until = start;
      }
      row.busy_ns += std::max(until, end) - until;
      until = std::max(until, end);
    }
    summary.queues.push_back(std::move(row));
  }
}

}  // namespace zevent::report
