#include <algorithm>

#include "model/process_model.hpp"

// Lists whose commands change after they were closed, and clones of lists.
namespace zevent::model {

using enum argument;

void process_model::identify(const command& made, command_list& list) {
  for (const auto id : list.next_ids) {
    identified_command& its = list.identified[id];
    its = {list.commands.size(), made.signal, {}};
    for (const auto& wait : made.waits) its.waits.push_back(wait.which);
  }
  list.next_ids.clear();
}

void process_model::update_mutable(const call_view& call) {
  command_list* list = lists.find_alive(call[hCommandList]);
  if (list == nullptr) return;
  list->updated = call.number;
  const auto find = [&](uint64_t id) {
    const auto found = list->identified.find(id);
    const bool is_there =
        found != list->identified.end() && found->second.place < list->commands.size();
    return is_there ? list->commands[found->second.place] : ref<command>{};
  };
  using enum function;
  switch (call.which) {
    case zeCommandListUpdateMutableCommandSignalEventExp:
      if (const auto which = find(call[commandId]))
        change_signal(which, events.find_alive(call[hSignalEvent]));
      return;
    case zeCommandListUpdateMutableCommandWaitEventsExp:
      if (const auto which = find(call[commandId])) change_waits(*which, call.list(phWaitEvents));
      return;
    case zeCommandListUpdateMutableCommandKernelsExp: {
      const auto ids = call.list(commandId), handles = call.list(phKernels);
      for (size_t i = 0; i < ids.size() && i < handles.size(); ++i) {
        const auto which = find(ids[i]);
        kernel* given = kernels.find_alive(handles[i]);
        if (!which || given == nullptr) continue;
        which->kernels = {ref<kernel>(given)};
        which->accesses.clear();  // its arguments come with a later call
      }
      return;
    }
    default:
      // Which arguments of which commands is not looked at: what those launches touch is then not
      // known.
      if (!call.has(mutable_argument)) return;
      for (const auto& [id, its] : list->identified) {
        const auto which = find(id);
        if (which && is_launch(which->which)) which->accesses.clear();
      }
  }
}

void process_model::change_signal(const ref<command>& of, event* signalled) {
  const ref<event> former = of->signal;
  if (former.get() == signalled) return;
  // A counter-based event that never came to be signalled is complete. One that did is taken for
  // one that this command goes on signalling, as it is on Intel's driver.
  if (former && former->last_signal == of && of->executions == 0) former->last_signal = {};
  of->signal = ref<event>(signalled);
  bind_signal(of);
}

void process_model::change_waits(command& of, std::span<const uint64_t> handles) {
  of.emptied |= !of.waits.empty();
  of.waits.clear();
  for (const auto handle : handles) {
    event* waited = events.find_alive(handle);
    if (waited == nullptr) continue;
    of.waits.push_back({ref<event>(waited), {}});
    if (waited->counter_based) of.waits.back().bound = waited->last_signal;
  }
}

void process_model::clone_list(const command_list& source, command_list& into) {
  into.owner = source.owner;
  into.device = source.device;
  into.ordinal = source.ordinal;
  into.flags = source.flags;
  into.in_order = source.in_order;
  into.relaxed = source.relaxed;
  into.modifiable = source.modifiable;
  into.closed = source.closed;
  into.identified = source.identified;
  for (const auto& each : source.commands) {
    auto copy = make<command>(*each);
    copy->list = ref<command_list>(&into);
    copy->executions = 0;
    copy->last_run = nullptr;
    copy->parked.clear();
    // What it waits for in its own list, it waits for in the clone.
    for (auto& wait : copy->waits) {
      const auto inside = std::find(source.commands.begin(), source.commands.end(), wait.bound);
      const auto place = static_cast<size_t>(inside - source.commands.begin());
      if (place < into.commands.size()) wait.bound = into.commands[place];
    }
    into.commands.push_back(std::move(copy));
  }
}

// The list and its clones signal the same counter-based events, whichever of them runs.
void process_model::take_event_over(const ref<command>& by) {
  event* signalled = by->signal.get();
  if (signalled == nullptr || !signalled->counter_based || !signalled->last_signal) return;
  const auto& last = signalled->last_signal;
  if (last != by && last->call == by->call && last->list != by->list) signalled->last_signal = by;
}

}  // namespace zevent::model
