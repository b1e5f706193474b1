#include <level_zero/ze_api.h>

#include <algorithm>

#include "model/call_accesses.hpp"
#include "model/process_model.hpp"

// How calls become commands, and commands executions.
namespace zevent::model {
namespace {

using enum argument;

}  // namespace

ref<command> process_model::make_command(const call_view& call, command_list& list) {
  auto made = make<command>();
  made->call = call.number;
  made->which = call.which;
  made->list = ref<command_list>(&list);
  made->in_order = list.in_order;
  made->relaxed = list.relaxed;
  const auto wait_for = [&](std::span<const uint64_t> handles) {
    made->waits.reserve(handles.size());
    for (const auto handle : handles) {
      event* which = events.find_alive(handle);
      if (which == nullptr) continue;
      made->waits.push_back({ref<event>(which), {}});
      if (which->counter_based) made->waits.back().bound = which->last_signal;
    }
  };
  using enum function;
  switch (call.which) {
    case zeCommandListAppendSignalEvent:
      made->signal = ref<event>(events.find_alive(call[hEvent]));
      break;
    case zeCommandListAppendEventReset:
      made->reset = ref<event>(events.find_alive(call[hEvent]));
      break;
    case zeCommandListAppendWaitOnEvents:
      wait_for(call.list(phEvents));
      break;
    case zeCommandListAppendQueryKernelTimestamps:
      for (const auto handle : call.list(phEvents)) {
        if (event* which = events.find_alive(handle)) made->timestamps_of.emplace_back(which);
      }
      break;
    case zeCommandListAppendWaitExternalSemaphoreExt:
    case zexCommandListAppendWaitOnMemory:
      made->opaque = true;
      break;
    default:
      break;
  }
  if (call.has(hSignalEvent)) made->signal = ref<event>(events.find_alive(call[hSignalEvent]));
  if (call.has(phWaitEvents)) wait_for(call.list(phWaitEvents));
  add_accesses(call, *made);
  return made;
}

void process_model::add_accesses(const call_view& call, command& to) {
  add_certain_accesses(call, to.accesses);
  using enum function;
  switch (call.which) {
    case zeCommandListAppendImageCopy:
    case zeCommandListAppendImageCopyRegion:
    case zeCommandListAppendImageCopyToMemory:
    case zeCommandListAppendImageCopyToMemoryExt:
    case zeCommandListAppendImageCopyFromMemory:
    case zeCommandListAppendImageCopyFromMemoryExt:
      for (const auto which : {hDstImage, hSrcImage}) {
        if (image* used = images.find_alive(call[which])) to.images.emplace_back(used);
      }
      return;
    default:
      if (is_launch(call.which)) add_kernels(call, to);
      return;
  }
}

void process_model::add_kernels(const call_view& call, command& to) {
  const auto launch = [&](uint64_t handle) {
    kernel* which = kernels.find_alive(handle);
    if (which == nullptr) return;
    to.kernels.emplace_back(which);
    if (call.which == function::zeCommandListAppendLaunchKernelWithArguments) which->all_set = true;
    for (size_t i = 0; i < which->arguments.size(); ++i) {
      const auto& each = which->arguments[i];
      if (each.image && each.image->alive()) to.images.push_back(each.image);
      if (!each.target || !each.target->alive()) continue;
      to.accesses.push_back(
          {{each.value, each.target->end() - each.value}, which->may_write(i), false});
    }
  };
  if (call.has(hKernel)) launch(call[hKernel]);
  for (const auto handle : call.list(phKernels)) launch(handle);
}

void process_model::bind_signal(const ref<command>& to) {
  event* which = to->signal.get();
  if (which == nullptr || !which->counter_based) return;
  which->last_signal = to;
  which->device = to->list->device;
  if (which->storage == counter_storage::aggregate) {
    if (which->aggregated.size() >= 64) which->aggregated.erase(which->aggregated.begin());
    which->aggregated.push_back(to);
  } else if (!which->imported) {
    which->foreign = false;
  }
}

void process_model::append(const call_view& call) {
  command_list* list = lists.find_alive(call[hCommandList]);
  if (list == nullptr) return;
  const auto made = make_command(call, *list);
  if (captured(*made, *list)) return;
  bind_signal(made);
  if (list->immediate) {
    executor_.submit(made, list->own, list->own->chain, call.number, 1);
    executor_.start(*list->own);
    return;
  }
  identify(*made, *list);
  list->commands.push_back(made);
}

// Whether the command goes into a graph instead of to the device. A list that waits for something
// captured joins the capture.
bool process_model::captured(const command& made, command_list& list) {
  for (const auto& wait : made.waits) {
    const auto& capture = wait.which->captured;
    if (!list.capture && list.immediate && capture && capture->capturing && !capture->paused)
      list.capture = capture;
  }
  const bool is_captured = list.is_capturing();
  if (made.signal) made.signal->captured = is_captured ? list.capture : ref<graph>{};
  return is_captured;
}

void process_model::append_lists(const call_view& call) {
  command_list* outer = lists.find_alive(call[hCommandList]);
  if (outer == nullptr || !outer->own) return;
  const auto& where = outer->own;
  // Waits, then the lists, then the signal, which comes when all of them are complete. On an
  // in-order list, the whole is one command.
  auto waits = make_command(call, *outer);
  auto signals = make<command>();
  signals->call = call.number;
  signals->which = function::zeCommandListAppendBarrier;
  signals->list = waits->list;
  signals->in_order = waits->in_order;
  signals->signal = std::exchange(waits->signal, {});
  if (!waits->waits.empty()) {
    executor_.submit(waits, where, where->chain, call.number, 1);
    executor_.start(*where);
  }
  if (outer->in_order) executor_.fence_off(*where);
  for (const auto handle : call.list(phCommandLists)) {
    if (command_list* inner = lists.find_alive(handle); inner != nullptr && !inner->immediate)
      run_list(*inner, where, call.number);
  }
  if (signals->signal) {
    bind_signal(signals);
    executor_.submit(signals, where, where->chain, call.number, 1);
    executor_.start(*where);
  } else if (outer->in_order) {
    executor_.fence_off(*where);
  }
}

void process_model::execute(const call_view& call) {
  command_queue* queue = queues.find_alive(call[hCommandQueue]);
  if (queue == nullptr) return;
  for (const auto handle : call.list(phCommandLists)) {
    if (command_list* list = lists.find_alive(handle); list != nullptr && !list->immediate)
      run_list(*list, queue->own, call.number);
  }
  if (fence* which = fences.find_alive(call[hFence])) {
    which->pending = queue->own->line->last;
    which->used = call.number;
  }
}

void process_model::run_list(command_list& list, const ref<stream>& where, call_number call) {
  const auto chain = list.in_order ? executor_.new_timeline() : ref<timeline>{};
  ++list.executions;
  list.executed_on = where;
  list.executed = call;
  list.first_run = where->line->last + 1;
  for (const auto& each : list.commands) {
    take_event_over(each);
    executor_.submit(each, where, chain, call, list.executions);
  }
  list.last_run = where->line->last;
  executor_.start(*where);
}

void process_model::reset_list(const call_view& call) {
  command_list* list = lists.find_alive(call[hCommandList]);
  if (list == nullptr) return;
  list->commands.clear();
  list->identified.clear();
  list->next_ids.clear();
  list->closed = false;
  list->executed_on = {};
  list->executed = no_call;
  list->updated = no_call;
}

void process_model::begin_capture(const call_view& call) {
  command_list* list = lists.find_alive(call[hCommandList]);
  if (list == nullptr) return;
  graph* into = graphs.find_alive(call[hGraph]);
  list->capture = into != nullptr ? ref<graph>(into) : make<graph>();
  list->capture->primary_list = list->handle;
  list->capture->capturing = true;
  list->capture->paused = false;
  list->capture->begun = call.number;
}

void process_model::end_capture(const call_view& call) {
  command_list* primary = lists.find_alive(call[hCommandList]);
  if (primary == nullptr || !primary->capture) return;
  const ref<graph> ended = primary->capture;
  ended->capturing = false;
  lists.for_each_alive([&](command_list& each) {
    if (each.capture == ended) each.capture = {};
  });
  if (graphs.find_alive(call[phGraph]) == nullptr) graphs.add(call[phGraph], call);
}

// Which graph a handle stands for is known from the call that began the capture into it, or from a
// list that told. Otherwise it may be any.
void process_model::pause_capture(const call_view& call, bool paused) {
  if (graph* which = graphs.find_alive(call[hGraph]); which != nullptr && which->capturing) {
    which->paused = paused;
    return;
  }
  const auto* told = captured_graphs_.find(call[hGraph]);
  if (told != nullptr && (*told)->capturing) {
    (*told)->paused = paused;
    return;
  }
  lists.for_each_alive([&](command_list& each) {
    if (each.capture) each.capture->paused = paused;
  });
}

}  // namespace zevent::model
