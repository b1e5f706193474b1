#include "model/append_waits.hpp"

#include <fmt/format.h>
#include <level_zero/ze_api.h>

#include <algorithm>

namespace zevent::model {
namespace {

using enum argument;
using trace::call_number;
using trace::number_of;
using trace::object_id;

constexpr uint64_t calls_per_progress = 65536;
constexpr std::string_view append_prefix = "zeCommandListAppend";

bool creates_list(function which) {
  return which == function::zeCommandListCreate || which == function::zeCommandListCreateImmediate;
}

bool creates_counter_event(function which) {
  return which == function::zeEventCounterBasedCreate ||
         which == function::zexCounterBasedEventCreate2 ||
         which == function::zexCounterBasedEventCreate ||
         which == function::zeEventCounterBasedOpenIpcHandle ||
         which == function::zexCounterBasedEventOpenIpcHandle;
}

bool asks_for_event(function which) {
  return which == function::zeEventQueryStatus || which == function::zeEventHostSynchronize ||
         which == function::zeEventQueryKernelTimestamp;
}

bool is_wanted(function which) {
  switch (which) {
    case function::zeKernelCreate:
    case function::zeEventPoolCreate:
    case function::zeEventCreate:
    case function::zeEventHostSignal:
    case function::zeEventHostReset:
    case function::zeCommandListReset:
      return true;
    default:
      return is_append(which) || creates_list(which) || creates_counter_event(which) ||
             asks_for_event(which);
  }
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// Walks the calls once and takes notes.
class append_waits::reader {
 public:
  reader(const trace::trace_file& trace, append_waits& notes)
      : trace_(trace),
        notes_(notes),
        plan_(trace.model()),
        event_class_(trace::class_named(trace.model(), "ze_event_handle_t")),
        pool_class_(trace::class_named(trace.model(), "ze_event_pool_handle_t")),
        list_class_(trace::class_named(trace.model(), "ze_command_list_handle_t")),
        kernel_class_(trace::class_named(trace.model(), "ze_kernel_handle_t")) {}

  bool wants(const trace::call& each) const {
    // A call that failed did nothing; one that did not return may have.
    return is_wanted(plan_.function_of(each.function)) && !each.failed();
  }

  void read(const trace::call& each, trace::call_arguments arguments) {
    view_.clear();
    view_.which = plan_.function_of(each.function);
    plan_.read(each.function, arguments.inputs, arguments.outputs, view_);
    if (creates_list(view_.which)) return note_list(each);
    if (creates_counter_event(view_.which)) return note_counter_event(each);
    if (asks_for_event(view_.which)) return note_question(each);
    switch (view_.which) {
      case function::zeKernelCreate:
        return note_kernel(each);
      case function::zeEventPoolCreate:
        if (view_.has(pool_counter_flags))
          if (const auto pool = put_out(each, pool_class_, phEventPool))
            counter_pools_[index_of(*pool)] = true;
        return;
      case function::zeEventCreate:
        return note_event(each);
      case function::zeEventHostSignal:
        return note_act(each, hEvent, act::host_signal);
      case function::zeEventHostReset:
        return note_act(each, hEvent, act::reset);
      case function::zeCommandListReset:
        if (const auto list = passed(each, list_class_, view_[hCommandList]))
          lists_[index_of(*list)].last_append.reset();
        return;
      default:
        return note_append(each);
    }
  }

 private:
  std::optional<object_id> passed(const trace::call& each, uint16_t kind, uint64_t handle) const {
    return trace_.objects().find({trace_.process_of(each), kind, handle}, each.start_ns);
  }
  std::optional<object_id> put_out(const trace::call& each, uint16_t kind, argument where) const {
    return trace_.objects().find({trace_.process_of(each), kind, view_[where]}, each.end_ns());
  }

  void note_list(const trace::call& each) {
    const auto list = put_out(each, list_class_, phCommandList);
    if (!list) return;
    const uint64_t in_order = view_.which == function::zeCommandListCreate
                                  ? uint64_t{ZE_COMMAND_LIST_FLAG_IN_ORDER}
                                  : uint64_t{ZE_COMMAND_QUEUE_FLAG_IN_ORDER};
    lists_[index_of(*list)].in_order = (view_[flags] & in_order) != 0;
  }

  void note_counter_event(const trace::call& each) {
    if (const auto event = put_out(each, event_class_, phEvent))
      notes_.events_[index_of(*event)].counter_based = true;
  }

  void note_event(const trace::call& each) {
    const auto pool = passed(each, pool_class_, view_[hEventPool]);
    if (pool && counter_pools_.contains(index_of(*pool))) note_counter_event(each);
  }

  void note_kernel(const trace::call& each) {
    if (const auto kernel = put_out(each, kernel_class_, phKernel))
      notes_.kernels_[index_of(*kernel)] = text_of(view_.bytes(kernel_name));
  }

  void note_question(const trace::call& each) {
    if (const auto event = passed(each, event_class_, view_[hEvent]))
      notes_.questions_.emplace_back(number_of(each.number), *event);
  }

  void note_act(const trace::call& each, argument which, act what) {
    if (view_[which] == 0) return;
    if (const auto event = passed(each, event_class_, view_[which]))
      notes_.events_[index_of(*event)].acts.push_back({each.number, what});
  }

  void note_append(const trace::call& each) {
    auto& noted = notes_.appends_[number_of(each.number)];
    noted.command = describe(each);
    for (const auto list : {phWaitEvents, phEvents}) {
      for (const uint64_t handle : view_.list(list))
        if (const auto event = passed(each, event_class_, handle)) noted.waits.push_back(*event);
    }
    note_act(each, hSignalEvent, act::signal);
    if (view_.which == function::zeCommandListAppendSignalEvent)
      note_act(each, hEvent, act::signal);
    if (view_.which == function::zeCommandListAppendEventReset) note_act(each, hEvent, act::reset);

    const auto list = passed(each, list_class_, view_[hCommandList]);
    if (!list) return;
    auto& state = lists_[index_of(*list)];
    if (state.in_order) noted.previous = state.last_append;
    state.last_append = each.number;
  }

  std::string kernel_called(const trace::call& each, uint64_t handle) const {
    const auto kernel = passed(each, kernel_class_, handle);
    const auto found = kernel ? notes_.kernels_.find(index_of(*kernel)) : notes_.kernels_.end();
    return found != notes_.kernels_.end() ? found->second : fmt::format("{:#x}", handle);
  }

  std::string describe(const trace::call& each) const {
    if (is_launch(view_.which)) {
      std::string text = "launch";
      if (view_.has(hKernel)) text += " " + kernel_called(each, view_[hKernel]);
      for (const uint64_t handle : view_.list(phKernels)) text += " " + kernel_called(each, handle);
      return text;
    }
    switch (view_.which) {
      case function::zeCommandListAppendMemoryCopy:
      case function::zeCommandListAppendMemoryCopyWithParameters:
      case function::zeCommandListAppendMemoryCopyFromContext:
        return fmt::format("copy {} bytes", view_[size]);
      case function::zeCommandListAppendMemoryCopyRegion:
        return fmt::format("copy {} x {} x {} bytes", view_[dst_width], view_[dst_height],
                           std::max<uint64_t>(1, view_[dst_depth]));
      case function::zeCommandListAppendMemoryFill:
      case function::zeCommandListAppendMemoryFillWithParameters:
        return fmt::format("fill {} bytes", view_[size]);
      case function::zeCommandListAppendBarrier:
      case function::zeCommandListAppendMemoryRangesBarrier:
        return "barrier";
      case function::zeCommandListAppendWriteGlobalTimestamp:
        return "write timestamp";
      case function::zeCommandListAppendQueryKernelTimestamps:
        return "query timestamps";
      case function::zeCommandListAppendSignalEvent:
        return "signal event";
      case function::zeCommandListAppendEventReset:
        return "reset event";
      case function::zeCommandListAppendWaitOnEvents:
        return "wait on events";
      case function::zeCommandListAppendHostFunction:
        return "host function";
      default: {
        const auto name = trace_.function(each).name;
        return std::string(name.starts_with(append_prefix) ? name.substr(append_prefix.size())
                                                           : name);
      }
    }
  }

  const trace::trace_file& trace_;
  append_waits& notes_;
  argument_plan plan_;
  call_view view_;
  uint16_t event_class_, pool_class_, list_class_, kernel_class_;
  std::unordered_map<uint32_t, bool> counter_pools_;  // by object
  std::unordered_map<uint32_t, list_state> lists_;    // by object
};

append_waits::append_waits(const trace::trace_file& trace,
                           const std::function<void(uint64_t, uint64_t)>& progress) {
  reader notes(trace, *this);
  trace::call_reader calls(trace);
  while (const trace::call* each = calls.next()) {
    if (notes.wants(*each)) notes.read(*each, calls.arguments());
    if (progress && number_of(each->number) % calls_per_progress == 0)
      progress(number_of(each->number), trace.calls());
  }
}

std::vector<awaited> append_waits::of(call_number call) const {
  const auto question = std::lower_bound(questions_.begin(), questions_.end(),
                                         std::pair(number_of(call), object_id{0}));
  if (question != questions_.end() && question->first == number_of(call))
    return {resolve(question->second, call)};
  const auto append = appends_.find(number_of(call));
  if (append == appends_.end()) return {};
  std::vector<awaited> all;
  for (const object_id event : append->second.waits) all.push_back(resolve(event, call));
  if (append->second.previous)
    all.push_back({awaited::reason::in_order, *append->second.previous, std::nullopt});
  return all;
}

awaited append_waits::resolve(object_id event, call_number waiter) const {
  const awaited nothing{awaited::reason::nothing, {}, event};
  const auto found = events_.find(index_of(event));
  if (found == events_.end()) return nothing;
  const auto& [counter_based, acts] = found->second;
  const auto after = std::partition_point(
      acts.begin(), acts.end(), [&](const event_act& each) { return each.call < waiter; });
  if (after != acts.begin() && std::prev(after)->what != act::reset) {
    const auto& last = *std::prev(after);
    return {last.what == act::signal ? awaited::reason::signal : awaited::reason::host_signal,
            last.call, event};
  }
  // A wait for a counter-based event is bound to what was appended before it.
  if (counter_based) return nothing;
  const auto later = std::find_if(after, acts.end(), [&](const event_act& each) {
    return each.what != act::reset && each.call != waiter;
  });
  if (later == acts.end()) return nothing;
  return {later->what == act::signal ? awaited::reason::later_signal : awaited::reason::host_signal,
          later->call, event};
}

std::string append_waits::command_name(call_number call) const {
  const auto found = appends_.find(number_of(call));
  return found == appends_.end() ? std::string() : found->second.command;
}

}  // namespace zevent::model
