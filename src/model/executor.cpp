#include "model/executor.hpp"

#include <level_zero/ze_api.h>

#include <algorithm>

namespace zevent::model {
namespace {

// A program that never synchronises does not make the model grow without end: older commands than
// so many of a stream count as complete.
constexpr size_t most_pending = size_t{1} << 16;
// Of one event that is used again and again without a synchronisation, so many uses are remembered.
constexpr size_t most_uses = 64;

void add_use(event& which, const ref<run>& who, event_role role) {
  if (which.counter_based || !which.alive()) return;
  std::erase_if(which.uses, [](const event_use& use) { return complete(*use.who); });
  if (which.uses.size() >= most_uses) which.uses.erase(which.uses.begin());
  which.uses.push_back({who, role});
}

void add_use(std::vector<ref<run>>& uses, const ref<run>& who) {
  std::erase_if(uses, [&](const ref<run>& use) {
    return complete(*use) || (use->chain && use->chain == who->chain);
  });
  if (uses.size() >= most_uses) uses.erase(uses.begin());
  uses.push_back(who);
}

void park(std::vector<ref<stream>>& parked, const ref<stream>& where) {
  if (std::find(parked.begin(), parked.end(), where) == parked.end()) parked.push_back(where);
}

// What follows it on its stream does not start before it is complete.
bool holds_back(const command& what) {
  return what.is_barrier() || what.which == function::zeCommandListAppendWaitOnEvents;
}

// What is only about events is done when it starts, before the next one does, whatever the list.
bool is_done_at_start(const command& what) {
  return what.which == function::zeCommandListAppendSignalEvent ||
         what.which == function::zeCommandListAppendEventReset;
}

bool flushes_beyond_list(const event& which) {
  return (which.signal_scope & (ZE_EVENT_SCOPE_FLAG_SUBDEVICE | ZE_EVENT_SCOPE_FLAG_DEVICE |
                                ZE_EVENT_SCOPE_FLAG_HOST)) != 0;
}

}  // namespace

ref<timeline> executor::new_timeline() {
  auto made = make<timeline>();
  made->id = ++next_timeline_;
  return made;
}

ref<stream> executor::open_stream(bool in_order) {
  auto made = make<stream>();
  made->line = new_timeline();
  if (in_order) made->chain = new_timeline();
  streams_.push_back(made);
  return made;
}

void executor::close_stream(stream& ended) {
  force(ended, ended.line->last);
  learn(ended, ended.line->last);
  ended.last_partial_barrier = {};
  std::erase_if(streams_, [&](const ref<stream>& each) { return each.get() == &ended; });
}

void executor::clear() {
  for (const auto& each : streams_) {
    each->runs.clear();
    each->started = 0;
    each->last_partial_barrier = {};
  }
  streams_.clear();
  woken_.clear();
  memory_.clear();
}

ref<run> executor::submit(const ref<command>& what, const ref<stream>& where,
                          const ref<timeline>& chain, call_number submitted, uint32_t execution) {
  retire(*where);
  auto made = make<run>();
  made->what = what;
  made->where = where;
  made->at = ++where->line->last;
  made->next_chain = chain;
  made->submitted = submitted;
  made->execution = execution;
  for (size_t i = 0; i < what->waits.size(); ++i) {
    const auto& wait = what->waits[i];
    if (wait.bound) {
      made->bound.resize(what->waits.size());
      if (wait.bound->last_run != nullptr) made->bound[i] = ref<run>(wait.bound->last_run);
    } else {
      add_use(*wait.which, made, event_role::waits);
    }
  }
  if (what->reset) add_use(*what->reset, made, event_role::resets);
  if (what->signal) add_use(*what->signal, made, event_role::signals);
  what->last_run = made.get();
  ++what->executions;
  where->runs.push_back(made);
  if (!what->parked.empty()) wake(what->parked);
  return made;
}

void executor::start(stream& where) {
  woken_.emplace_back(&where);
  drain();
}

void executor::fence_off(stream& where) {
  const auto last = where.line->last;
  where.floor = join(where.floor, clock_entry{where.line, last, last});
}

void executor::drain() {
  if (draining_) return;
  draining_ = true;
  while (!woken_.empty()) {
    const auto next = woken_.back();
    woken_.pop_back();
    while (next->blocked() && ready(*next->runs[next->started])) start_now(*next);
  }
  draining_ = false;
}

void executor::wake(std::vector<ref<stream>>& parked) {
  woken_.insert(woken_.end(), parked.begin(), parked.end());
  parked.clear();
}

bool executor::ready(const run& r) {
  if (r.what->opaque) return true;
  for (size_t i = 0; i < r.what->waits.size(); ++i) {
    if (!ready(r, i)) return false;
  }
  return true;
}

// A stream that is not ready is parked where it will be woken.
bool executor::ready(const run& r, size_t wait_index) {
  const auto& wait = r.what->waits[wait_index];
  if (wait.which->counter_based) {
    if (!wait.bound) return true;
    if (wait.bound->executions == 0) {
      park(wait.bound->parked, r.where);
      return false;
    }
    const auto& bound = r.bound[wait_index];
    if (!bound || bound->started) return true;
    park(wait.which->parked, r.where);
    return false;
  }
  if (wait.which->foreign || !wait.which->alive() || wait.which->signalled()) return true;
  park(wait.which->parked, r.where);
  return false;
}

void executor::start_now(stream& where) {
  const ref<run> next = where.runs[where.started];
  ++where.started;
  start(next);
  retire(where);
}

void executor::start(const ref<run>& r) {
  auto& where = *r->where;
  const auto& what = *r->what;
  clock_ref waited;
  for (size_t i = 0; i < what.waits.size(); ++i) waited = join(waited, awaited(*r, i));
  if (what.opaque) waited = join(waited, everything());

  // Commands start in the order of the stream, so what one of them has waited for has come before
  // all that follow. Only a relaxed list may move commands past one that waits.
  const bool moves_floor = !what.relaxed || holds_back(what);
  r->before = join(where.floor, waited);
  const bool full_barrier = what.is_barrier() && what.waits.empty() && !what.emptied;
  if (full_barrier) r->before = join(r->before, clock_entry{where.line, r->at - 1, r->at - 1});
  if (what.is_barrier() && !full_barrier) where.last_partial_barrier = r;
  if (moves_floor) where.floor = r->before;
  enter_chain(*r);
  // What follows a barrier or a wait starts only when that is complete itself.
  if (full_barrier) {
    where.floor = join(where.floor, clock_entry{where.line, r->at, r->at});
  } else if (holds_back(what) && r->chain) {
    // What it waited for without seeing it stays unseen.
    const auto before = look(r->before, *r->chain);
    const auto seen = before.visible == before.ordered ? r->chain_at : before.visible;
    where.floor = join(where.floor, clock_entry{r->chain, r->chain_at, seen});
    where.tail = r->chain;
    where.tail_at = r->chain_at;
  } else if (r->chain && r->chain == where.acts) {
    where.floor = join(where.floor, clock_entry{r->chain, r->chain_at, r->chain_at});
  }
  r->started = true;

  told_.starting(*r);
  if (!what.accesses.empty()) memory_.add(r, told_);
  for (const auto& each : what.kernels) {
    if (each->alive()) add_use(each->uses, r);
  }
  for (const auto& each : what.images) {
    if (each->alive()) add_use(each->uses, r);
  }
  act_on_events(r);
}

void executor::enter_chain(run& r) {
  const auto& what = *r.what;
  if (r.next_chain) {
    r.chain = std::move(r.next_chain);
  } else if (is_done_at_start(what)) {
    if (!r.where->acts) r.where->acts = new_timeline();
    r.chain = r.where->acts;
  } else if (what.signal || (holds_back(what) && !what.waits.empty())) {
    // Waits for the end of a chain: carries it on. So a row of commands that wait for one another
    // is one chain, however long.
    for (size_t i = 0; i < what.waits.size() && !r.chain; ++i) {
      const auto& wait = what.waits[i];
      if (wait.bound || wait.which->signals.size() != 1) continue;
      const auto& before = wait.which->signals.front();
      if (!before->what->in_order && before->chain && before->chain->last == before->chain_at &&
          before->chain != before->where->acts)
        r.chain = before->chain;
    }
    auto& where = *r.where;
    if (!r.chain && where.tail && where.tail->last == where.tail_at && !what.relaxed)
      r.chain = where.tail;
    if (!r.chain) r.chain = new_timeline();
  }
  if (r.chain) r.chain_at = ++r.chain->last;
}

void executor::act_on_events(const ref<run>& r) {
  const auto& what = *r->what;
  if (what.reset && what.reset->alive() && !what.reset->counter_based) {
    what.reset->signals.clear();
    what.reset->host_signal = no_call;
    what.reset->last_reset = what.call;
  }
  if (what.signal && what.signal->alive()) {
    if (!what.signal->counter_based) {
      auto& signals = what.signal->signals;
      if (signals.size() >= most_uses) signals.erase(signals.begin());
      signals.push_back(r);
    }
    wake(what.signal->parked);
  }
}

// What is certain to be complete when the event is signalled by that run.
clock_ref executor::signalled_by(const run& signaller, const run& waiter, const event& which) {
  if (signaller.where == waiter.where || flushes_beyond_list(which)) return completion(signaller);
  return join(signaller.before, clock_entry{signaller.chain, signaller.chain_at, 0});
}

clock_ref executor::awaited(const run& waiter, size_t wait_index) {
  const auto& wait = waiter.what->waits[wait_index];
  const event& which = *wait.which;
  if (which.counter_based) {
    if (which.foreign) return everything();
    if (!wait.bound) return {};
    if (which.storage == counter_storage::aggregate) {
      clock_ref all;
      for (const auto& each : which.aggregated) {
        if (each->last_run != nullptr && each->last_run->started)
          all = join(all, signalled_by(*each->last_run, waiter, which));
      }
      return all;
    }
    const run* bound = waiter.bound[wait_index].get();
    if (bound == nullptr) bound = wait.bound->last_run;  // executed since
    return bound != nullptr && bound->started ? signalled_by(*bound, waiter, which) : clock_ref{};
  }
  if (which.signals.empty()) return which.foreign ? everything() : clock_ref{};
  if (which.host_signal != no_call) return {};
  // Any of them may have been the first.
  clock_ref common = signalled_by(*which.signals.front(), waiter, which);
  for (size_t i = 1; i < which.signals.size(); ++i)
    common = meet(common, signalled_by(*which.signals[i], waiter, which));
  return common;
}

clock_ref executor::everything() {
  clock_ref all;
  for (const auto& each : streams_) {
    const auto last = each->line->last;
    if (each->line->known < last) {
      all = join(all, clock_entry{each->line, last, last});
      all = join(all, each->floor);
    }
  }
  return all;
}

void executor::host_signals(event& which, call_number call) {
  which.host_signal = call;
  wake(which.parked);
  drain();
}

void executor::host_resets(event& which, call_number call) {
  which.signals.clear();
  which.host_signal = no_call;
  which.last_reset = call;
}

void executor::abandon(event& which) {
  which.signals.clear();
  which.uses.clear();
  which.aggregated.clear();
  which.last_signal = {};
  wake(which.parked);
  drain();
}

void executor::learn(event& which) {
  if (which.counter_based) {
    if (which.foreign || !which.last_signal) return;
    const auto learn_command = [&](const command& what) {
      if (what.last_run != nullptr) learn(*what.last_run);
    };
    learn_command(*which.last_signal);
    for (const auto& each : which.aggregated) learn_command(*each);
    return;
  }
  if (!which.signalled()) {
    // It has been signalled all the same: by the first that could have done it.
    const auto signaller = std::find_if(
        which.uses.begin(), which.uses.end(),
        [](const event_use& use) { return use.role == event_role::signals && !use.who->started; });
    if (signaller == which.uses.end()) return;
    const ref<run> who = signaller->who;
    force(*who->where, who->at);
  }
  if (which.host_signal != no_call || which.signals.empty()) return;
  if (which.signals.size() == 1) return learn(*ref<run>(which.signals.front()));
  clock_ref common = completion(*which.signals.front());
  for (size_t i = 1; i < which.signals.size(); ++i)
    common = meet(common, completion(*which.signals[i]));
  model::learn(common);
}

void executor::learn(run& which) {
  if (complete(which)) return;
  if (!which.started) force(*which.where, which.at);
  model::learn(which.before);
  if (which.chain)
    which.chain->learn(which.chain_at);
  else
    which.done = true;
  retire(*which.where);
}

void executor::learn(stream& which, position up_to) {
  force(which, up_to);
  for (const auto& each : which.runs) {
    if (each->at > up_to) break;
    model::learn(each->before);
  }
  which.line->learn(up_to);
  retire(which);
}

// Starts all up to the position, whatever it waits for.
void executor::force(stream& where, position up_to) {
  const bool outermost = !draining_;
  draining_ = true;
  while (where.blocked() && where.runs[where.started]->at <= up_to) start_now(where);
  draining_ = !outermost;
  drain();
}

void executor::retire(stream& where) {
  const auto drop = [&] {
    const auto& front = where.runs.front();
    if (front->chain) front->chain->learn(front->chain_at);
    where.runs.pop_front();
    --where.started;
  };
  while (where.started > 0 && complete(*where.runs.front())) drop();
  while (where.started > 0 && where.runs.size() > most_pending) {
    where.runs.front()->done = true;
    drop();
  }
}

}  // namespace zevent::model
