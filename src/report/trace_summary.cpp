#include "report/trace_summary.hpp"

#include <algorithm>

#include "model/argument_plan.hpp"

namespace zevent::report {
namespace {

using model::function;
using enum model::argument;

constexpr uint64_t calls_per_progress = 65536;

// Keeps the calls whose time is longest, without what explains it (model/call_time.hpp).
class slowest_calls {
 public:
  slowest_calls(const trace::trace_file& trace, size_t most) : usage_(trace), most_(most) {}

  void add(const trace::call& each) {
    if (most_ == 0 || !each.returned()) return;
    const bool is_full = calls_.size() == most_;
    // What is unexplained is no longer than the whole.
    if (is_full && each.duration_ns < calls_.front().time.unexplained_ns()) return;
    const slow_call added{each, model::explain_time(each.duration_ns, usage_.find(each.number))};
    if (is_full) {
      if (!longer(added, calls_.front())) return;
      std::pop_heap(calls_.begin(), calls_.end(), longer);
      calls_.pop_back();
    }
    calls_.push_back(added);
    std::push_heap(calls_.begin(), calls_.end(), longer);
  }

  std::vector<slow_call> take() {
    std::sort_heap(calls_.begin(), calls_.end(), longer);
    return std::move(calls_);
  }

 private:
  // Of two that took as long, the earlier one comes first.
  static bool longer(const slow_call& a, const slow_call& b) {
    const uint64_t a_ns = a.time.unexplained_ns(), b_ns = b.time.unexplained_ns();
    return a_ns != b_ns ? a_ns > b_ns : a.number < b.number;
  }

  trace::call_usage_reader usage_;
  size_t most_;
  std::vector<slow_call> calls_;  // a heap with the shortest in front
};

bool waits_on_host(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos;
}

void count_lives(const trace::trace_file& trace, event_summary& events) {
  const auto event_class = trace::class_named(trace.model(), "ze_event_handle_t");
  std::vector<std::pair<uint64_t, int>> changes;
  for (const auto& object : trace.objects().all()) {
    if (object.handle.handle_class != event_class || !object.created) continue;
    ++events.created;
    changes.emplace_back(object.from_ns, 1);
    if (object.released_by) changes.emplace_back(object.until_ns, -1);
  }
  std::sort(changes.begin(), changes.end());
  int64_t alive = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, alive += change);
  events.most_alive = static_cast<uint64_t>(most);
}

class summariser {
 public:
  summariser(const trace::trace_file& trace, const summary_options& options)
      : trace_(trace),
        plan_(trace.model()),
        copies_(trace),
        device_(trace),
        slowest_(trace, options.slowest) {
    const auto functions = trace.model().functions;
    by_function_.resize(functions.size());
    for (size_t i = 0; i < functions.size(); ++i) {
      by_function_[i].function = static_cast<uint32_t>(i);
      waits_.push_back(waits_on_host(functions[i].name));
      const auto which = plan_.function_of(static_cast<uint32_t>(i));
      wants_arguments_.push_back(copy_statistics::wants(which) || device_.wants(which) ||
                                 which == function::zeEventHostSynchronize);
    }
    for (uint32_t i = 0; i < trace.run().threads.size(); ++i) summary_.threads.push_back({i});
  }

  bool wants_arguments(const trace::call& each) const { return wants_arguments_[each.function]; }

  void add_arguments(const trace::call& each, trace::call_arguments arguments, bool counts) {
    view_.clear();
    view_.which = plan_.function_of(each.function);
    plan_.read(each.function, arguments.inputs, arguments.outputs, view_);
    if (copy_statistics::wants(view_.which)) copies_.add(each, view_, counts);
    if (device_.wants(view_.which)) device_.add(each, view_, copies_, counts);
    if (view_.which != function::zeEventHostSynchronize || !counts) return;
    if (view_[timeout] == 0) return add_poll(each);
    ++summary_.events.waits;
    summary_.events.blocked_ns += each.duration_ns;
  }

  void add(const trace::call& each) {
    const uint64_t end_ns = each.end_ns();
    if (summary_.calls++ == 0) first_start_ns_ = each.start_ns;
    last_end_ns_ = std::max(last_end_ns_, end_ns);
    auto& row = by_function_[each.function];
    auto& thread = summary_.threads[each.thread];
    ++row.calls;
    ++thread.calls;
    thread.in_calls_ns += each.duration_ns;
    if (each.failed()) ++row.failed, ++thread.failed, ++summary_.failed;
    if (each.returned())
      row.durations.add(each.duration_ns);
    else
      ++row.unreturned, ++summary_.unreturned;
    if (waits_[each.function]) summary_.waiting_ns += each.duration_ns;
    if (plan_.function_of(each.function) == function::zeEventQueryStatus) add_poll(each);
    slowest_.add(each);
  }

  void add_injected() { ++summary_.injected; }

  trace_summary take() {
    summary_.duration_ns = last_end_ns_ - first_start_ns_;
    std::erase_if(by_function_, [](const auto& row) { return row.calls == 0; });
    std::stable_sort(by_function_.begin(), by_function_.end(), [](const auto& a, const auto& b) {
      return a.durations.total_ns() > b.durations.total_ns();
    });
    summary_.functions = std::move(by_function_);
    summary_.slowest = slowest_.take();
    summary_.copies = copies_.by_kind();
    if (device_.is_profile()) summary_.device = device_.summarise();
    count_lives(trace_, summary_.events);
    return std::move(summary_);
  }

 private:
  void add_poll(const trace::call& each) {
    ++summary_.events.polls;
    if (each.returned() && each.result == 0) ++summary_.events.polls_ready;
  }

  const trace::trace_file& trace_;
  model::argument_plan plan_;
  model::call_view view_;
  copy_statistics copies_;
  device_statistics device_;
  slowest_calls slowest_;
  std::vector<function_summary> by_function_;
  std::vector<bool> waits_, wants_arguments_;
  uint64_t first_start_ns_ = 0;
  uint64_t last_end_ns_ = 0;
  trace_summary summary_;
};

}  // namespace

trace_summary summarise(const trace::trace_file& trace, const trace::call_filter& filter,
                        const summary_options& options) {
  summariser work(trace, options);
  trace::call_reader reader(trace);
  while (const trace::call* each = reader.next()) {
    const bool passes = filter.matches(*each);
    if (options.progress && number_of(each->number) % calls_per_progress == 0)
      options.progress(number_of(each->number), trace.calls());
    if (each->injected()) {
      if (passes) work.add_injected();
      continue;
    }
    if (passes) work.add(*each);
    if (work.wants_arguments(*each)) work.add_arguments(*each, reader.arguments(), passes);
  }
  auto summary = work.take();
  summary.damage.assign(reader.damage().begin(), reader.damage().end());
  return summary;
}

}  // namespace zevent::report
