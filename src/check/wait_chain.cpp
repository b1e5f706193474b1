#include "check/wait_chain.hpp"

#include <algorithm>

namespace zevent::check {
namespace {

using model::command_list;
using model::event;
using model::event_role;
using model::event_wait;
using model::no_call;
using model::ref;

// A command that would signal the event and has not started.
const run* pending_signal(const event_wait& wait, const run* waiter) {
  if (wait.which->counter_based) {
    if (waiter != nullptr) {
      for (size_t i = 0; i < waiter->what->waits.size() && i < waiter->bound.size(); ++i) {
        if (&waiter->what->waits[i] == &wait) return waiter->bound[i].get();
      }
    }
    return wait.bound ? wait.bound->last_run : nullptr;
  }
  for (const auto& use : wait.which->uses) {
    if (use.role == event_role::signals && !use.who->started) return use.who.get();
  }
  return nullptr;
}

// A command that signals the event and was never handed to the device.
const model::command* never_executed(const inspection& look, const event_wait& wait) {
  if (wait.bound) return wait.bound.get();
  const model::command* found = nullptr;
  look.state.lists.for_each_alive([&](const command_list& list) {
    for (const auto& each : list.commands) {
      if (each->signal == wait.which && each->executions == 0) found = each.get();
    }
  });
  return found;
}

}  // namespace

const event_wait* missing_wait(const run& which) {
  for (size_t i = 0; i < which.what->waits.size(); ++i) {
    const auto& wait = which.what->waits[i];
    if (wait.which->counter_based) {
      if (!wait.bound) continue;
      const bool pending = i < which.bound.size() && which.bound[i] && !which.bound[i]->started;
      if (pending || wait.bound->executions == 0) return &wait;
    } else if (wait.which->alive() && !wait.which->foreign && !wait.which->signalled()) {
      return &wait;
    }
  }
  return nullptr;
}

wait_chain follow_waits(const inspection& look, const event_wait& first, const run* waiter) {
  wait_chain out;
  std::vector<ref<const run>> order;
  const event_wait* wait = &first;
  const run* blocked = waiter;
  while (true) {
    if (blocked != nullptr && !out.held_up.insert(blocked).second) {
      out.rule = ev(13);
      out.steps.push_back(
          fmt::format("#{} is in this chain already: a deadlock.", number_of(blocked->what->call)));
      out.cycle.assign(
          std::find_if(order.begin(), order.end(),
                       [&](const ref<const run>& each) { return each.get() == blocked; }),
          order.end());
      return out;
    }
    const event& which = *wait->which;
    if (blocked != nullptr) {
      order.emplace_back(blocked);
      out.steps.push_back(fmt::format("#{} on {} waits for {}.", number_of(blocked->what->call),
                                      look.name(*blocked->where), look.name(which)));
      out.calls.push_back({blocked->what->call, fmt::format("waits for {}", look.name(which))});
    }
    const run* signal = pending_signal(*wait, blocked);
    if (signal == nullptr || signal->started) {
      explain_absence(look, *wait, moment::end_of_recording, out);
      return out;
    }
    if (signal == blocked) {
      out.rule = ev(21);
      out.steps.push_back("The same command is the one that signals it.");
      return out;
    }
    const run& front = *signal->where->runs[signal->where->started];
    out.calls.push_back({signal->what->call, fmt::format("is to signal {}", look.name(which))});
    if (&front == signal) {
      out.steps.push_back(
          fmt::format("#{} is to signal {}.", number_of(signal->what->call), look.name(which)));
    } else {
      out.steps.push_back(fmt::format("#{} is to signal {}, but {} does not get past #{}.",
                                      number_of(signal->what->call), look.name(which),
                                      look.name(*signal->where), number_of(front.what->call)));
    }
    blocked = &front;
    wait = missing_wait(front);
    if (wait == nullptr) return out;
  }
}

void explain_absence(const inspection& look, const event_wait& wait, moment when, wait_chain& to) {
  const event& which = *wait.which;
  const std::string name = look.name(which);
  const bool over = when == moment::end_of_recording;
  if (const auto* idle = never_executed(look, wait); idle != nullptr && idle->executions == 0) {
    to.steps.push_back(fmt::format("#{} would signal {}, but {} {} executed after it was appended.",
                                   number_of(idle->call), name, look.name(*idle->list),
                                   over ? "was never" : "had not been"));
    to.calls.push_back({idle->call, fmt::format("would signal {}", name)});
  } else if (which.last_reset != no_call) {
    to.steps.push_back(fmt::format("{} was reset by #{}, and nothing {} it after that.", name,
                                   number_of(which.last_reset),
                                   over ? "signals" : "had signalled"));
    to.calls.push_back({which.last_reset, fmt::format("resets {}", name)});
  } else if (over) {
    to.steps.push_back(fmt::format("No command and no call of the host ever signals {}.", name));
  } else {
    to.steps.push_back(
        fmt::format("No command that signals {} had been submitted, and the host had not signalled "
                    "it.",
                    name));
  }
}

}  // namespace zevent::check
