#include <level_zero/ze_api.h>

#include <algorithm>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::command_queue;
using model::complete;
using model::event;
using model::fence;
using model::no_call;

// The first command of the list's last execution that may still be under way; null when there is
// none.
const run* under_way(const command_list& list) {
  if (list.own) {
    for (const auto& each : list.own->runs) {
      if (!complete(*each)) return each.get();
    }
    return nullptr;
  }
  if (!list.executed_on) return nullptr;
  const auto& runs = list.executed_on->runs;
  auto each =
      std::lower_bound(runs.begin(), runs.end(), list.first_run,
                       [](const model::ref<run>& r, model::position at) { return r->at < at; });
  for (; each != runs.end() && (*each)->at <= list.last_run; ++each) {
    if (!complete(**each)) return each->get();
  }
  return nullptr;
}

class list_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeCommandListCreate:
      case zeCommandListReset:
      case zeCommandListDestroy:
      case zeCommandListHostSynchronize:
      case zeCommandQueueCreate:
      case zeCommandQueueDestroy:
      case zeCommandQueueExecuteCommandLists:
      case zeFenceDestroy:
      case zeCommandListUpdateMutableCommandsExp:
      case zeCommandListUpdateMutableCommandSignalEventExp:
      case zeCommandListUpdateMutableCommandWaitEventsExp:
      case zeCommandListUpdateMutableCommandKernelsExp:
        return true;
      default:
        return is_append(which);
    }
  }

  void begins(const call_view& call) override {
    using enum function;
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    switch (call.which) {
      case zeCommandListCreate:
        return create(call);
      case zeCommandQueueCreate:
        return create_queue(call);
      case zeCommandQueueExecuteCommandLists:
        return execute(call);
      case zeCommandQueueDestroy:
        return destroy_queue(call);
      case zeFenceDestroy:
        return destroy_fence(call);
      case zeCommandListReset:
        if (list != nullptr) see_under_way(*list, "resets it");
        return;
      case zeCommandListDestroy:
        if (list != nullptr) see_under_way(*list, "destroys it");
        return;
      case zeCommandListHostSynchronize:
        if (list != nullptr && !list->immediate) {
          look_.report(ev(37), "synchronise",
                       "{} is a regular list; only immediate lists can be "
                       "synchronised with.",
                       look_.name(*list));
        }
        return;
      case zeCommandListImmediateAppendCommandListsExp:
      case zeCommandListImmediateAppendCommandListsWithParameters:
        return append_lists(call, list);
      case zeCommandListUpdateMutableCommandsExp:
      case zeCommandListUpdateMutableCommandSignalEventExp:
      case zeCommandListUpdateMutableCommandWaitEventsExp:
      case zeCommandListUpdateMutableCommandKernelsExp:
        if (list != nullptr) update(call, *list);
        return;
      default:
        if (list != nullptr && list->closed && !list->immediate) {
          look_.report(ev(34), "closed", "{} is closed: nothing can be appended until it is reset.",
                       look_.name(*list));
        }
        return;
    }
  }

  void calls_end() override {
    for (auto& each : outlived_) {
      finding* made = look_.add_at(each.destroyed, ev(39), "fences");
      if (made == nullptr) continue;
      made->message = std::move(each.message);
      for (size_t i = 0; i < each.names.size(); ++i)
        describe(*each.fences[i], each.names[i], *made);
      if (each.fences.size() > each.names.size())
        made->steps.push_back(
            fmt::format("{} more fences likewise.", each.fences.size() - each.names.size()));
      const fence& first = *each.fences.front();
      made->calls = {{first.created, fmt::format("makes {}", each.names.front())}};
      if (first.used != no_call)
        made->calls.push_back({first.used, fmt::format("is to signal {}", each.names.front())});
      made->calls.push_back({each.destroyed, "destroys the queue"});
    }
    outlived_.clear();
  }

 private:
  static constexpr size_t max_listed_fences = 8;

  // Fences whose queue was destroyed.
  struct outlived_queue {
    call_number destroyed;
    std::string message;
    std::vector<std::string> names;  // of the first few
    std::vector<model::ref<fence>> fences;
  };
  std::vector<outlived_queue> outlived_;

  void create(const call_view& call) {
    constexpr uint64_t both = ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
    if ((call[flags] & both) == both)
      look_.report(ev(34), "flags", "desc.flags has IN_ORDER and RELAXED_ORDERING at once.");
  }

  void create_queue(const call_view& call) {
    if ((call[flags] & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0) {
      look_.report(ev(38), "in order",
                   "The queue is created with IN_ORDER, which is for immediate lists; regular "
                   "lists executed on it are not made in-order by it.");
    }
  }

  void execute(const call_view& call) {
    const command_queue* queue = look_.state.queues.find_alive(call[hCommandQueue]);
    if (call[numCommandLists] == 0)
      look_.report(ev(35), "none", "No list is given to be executed: numCommandLists is 0.");
    const fence* signalled = look_.state.fences.find_alive(call[hFence]);
    if (queue != nullptr && signalled != nullptr && signalled->queue &&
        signalled->queue.get() != queue) {
      look_.report(ev(35), "fence", "{} was created for {}, but the lists are executed on {}.",
                   look_.name(*signalled), look_.name(*signalled->queue), look_.name(*queue));
    }
    const auto handles = call.list(phCommandLists);
    for (size_t i = 0; i < handles.size(); ++i) {
      const command_list* list = look_.state.lists.find_alive(handles[i]);
      if (list == nullptr) continue;
      see_state(*list, queue);
      see_under_way(*list, "executes it again");
      if (std::find(handles.begin(), handles.begin() + static_cast<std::ptrdiff_t>(i),
                    handles[i]) != handles.begin() + static_cast<std::ptrdiff_t>(i)) {
        look_.report(ev(36), "twice", "{} is executed twice by one call.", look_.name(*list));
      }
    }
  }

  void see_state(const command_list& list, const command_queue* queue) {
    if (list.immediate) {
      look_.report(ev(35), "immediate",
                   "{} is an immediate list: its commands run when they are appended.",
                   look_.name(list));
      return;
    }
    if (!list.closed)
      look_.report(ev(34), "open", "{} is executed but was not closed.", look_.name(list));
    if (list.updated != no_call) {
      if (finding* made = look_.add(ev(43), "not closed")) {
        made->message = fmt::format("{} was updated and not closed since.", look_.name(list));
        made->calls = {{list.updated, "updates the list"}, {look_.current->number, "executes it"}};
      }
    }
    if (queue == nullptr) return;
    if (list.ordinal != queue->ordinal) {
      look_.report(ev(35), "ordinal", "{} was created for queue group {}, {} for group {}.",
                   look_.name(list), list.ordinal, look_.name(*queue), queue->ordinal);
    }
    if (list.owner && queue->owner && list.owner != queue->owner) {
      look_.report(ev(35), "context", "{} is of {}, but {} is of {}.", look_.name(list),
                   look_.name(*list.owner), look_.name(*queue), look_.name(*queue->owner));
    }
  }

  // EV-36.
  void see_under_way(const command_list& list, const char* does) {
    const run* still = under_way(list);
    if (still == nullptr) return;
    finding* made = look_.add(ev(36), does);
    if (made == nullptr) return;
    made->message = fmt::format(
        "Nothing shows that {} is complete when it is used here: #{} may still be running.",
        look_.name(list), number_of(still->what->call));
    made->cause = look_.missing_host_wait(*still);
    made->calls.push_back({still->what->call, "appends a command"});
    if (still->submitted != still->what->call)
      made->calls.push_back({still->submitted, "executes the list"});
    made->calls.push_back({look_.current->number, does});
  }

  void append_lists(const call_view& call, const command_list* outer) {
    if (outer != nullptr && !outer->immediate) {
      look_.report(ev(37), "outer", "{} is a regular list; lists are appended to immediate ones.",
                   look_.name(*outer));
    }
    for (const auto handle : call.list(phCommandLists)) {
      const command_list* inner = look_.state.lists.find_alive(handle);
      if (inner == nullptr) continue;
      if (inner->immediate) {
        look_.report(ev(37), "inner", "{} is an immediate list; only regular ones are appended.",
                     look_.name(*inner));
        continue;
      }
      if (!inner->closed)
        look_.report(ev(34), "open", "{} is appended but was not closed.", look_.name(*inner));
      see_under_way(*inner, "executes it again");
    }
  }

  void destroy_queue(const call_view& call) {
    const command_queue* queue = look_.state.queues.find_alive(call[hCommandQueue]);
    if (queue == nullptr) return;
    if (queue->live_fences > 0) see_fences(call, *queue);
    for (const auto& each : queue->own->runs) {
      if (complete(*each)) continue;
      finding* made = look_.add(ev(39), "busy");
      if (made == nullptr) return;
      made->message = fmt::format("{} is destroyed, but nothing shows that #{} is complete.",
                                  look_.name(*queue), number_of(each->what->call));
      made->cause = look_.missing_host_wait(*each);
      made->calls = {{each->submitted, "submits work"}, {call.number, "destroys the queue"}};
      return;
    }
  }

  // What becomes of the fences is known when no call comes any more.
  void see_fences(const call_view& call, const command_queue& queue) {
    std::vector<model::ref<fence>> left;
    look_.state.fences.for_each_alive([&](fence& each) {
      if (each.queue.get() == &queue) left.emplace_back(&each);
    });
    std::sort(left.begin(), left.end(),
              [](const auto& a, const auto& b) { return a->created < b->created; });
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(left.size(), max_listed_fences); ++i)
      names.push_back(look_.name(*left[i]));
    std::string message = fmt::format("{} is destroyed while {} of its fences still exist.",
                                      look_.name(queue), left.size());
    if (!call.succeeded()) return look_.report(ev(39), "fences", "{}", message);
    look_.has_findings = true;
    outlived_.push_back({call.number, std::move(message), std::move(names), std::move(left)});
  }

  static void describe(const fence& which, const std::string& name, finding& in) {
    std::string words = fmt::format("{} is made by #{}", name, number_of(which.created));
    if (which.used != no_call)
      words += fmt::format(", last used by the submission #{}", number_of(which.used));
    words += which.alive()
                 ? "; no recorded call destroys it: it is leaked."
                 : fmt::format("; #{} destroys it, after its queue.", number_of(which.destroyed));
    in.steps.push_back(std::move(words));
  }

  void destroy_fence(const call_view& call) {
    const fence* which = look_.state.fences.find_alive(call[hFence]);
    if (which == nullptr || which->pending == 0 || !which->queue || !which->queue->own) return;
    const auto& runs = which->queue->own->runs;
    const auto pending =
        std::find_if(runs.begin(), runs.end(), [](const auto& each) { return !complete(*each); });
    if (pending == runs.end() || (*pending)->at > which->pending) return;
    finding* made = look_.add(ev(39), "fence");
    if (made == nullptr) return;
    made->message =
        fmt::format("{} is destroyed before it is known to be signalled.", look_.name(*which));
    made->cause = look_.missing_host_wait(**pending);
    made->calls = {{which->used, "is to signal the fence"}, {call.number, "destroys it"}};
  }

  // EV-43.
  void update(const call_view& call, const command_list& list) {
    if (!list.modifiable) {
      look_.report(ev(43), "not mutable", "{} was not created as a mutable list.",
                   look_.name(list));
    }
    if (const run* still = under_way(list)) {
      if (finding* made = look_.add(ev(43), "under way")) {
        made->message = fmt::format(
            "{} is updated, but nothing shows that its execution is "
            "complete.",
            look_.name(list));
        made->calls = {{still->submitted, "executes the list"}, {call.number, "updates it"}};
      }
    }
    const auto found = list.identified.find(call[commandId]);
    if (found == list.identified.end()) return;
    const auto& appended = found->second;
    if (call.which == function::zeCommandListUpdateMutableCommandSignalEventExp) {
      see_likeness(appended.signal.get(), look_.state.events.find_alive(call[hSignalEvent]));
    } else if (call.which == function::zeCommandListUpdateMutableCommandWaitEventsExp) {
      const auto handles = call.list(phWaitEvents);
      if (!call.is_null(phWaitEvents) && call[numWaitEvents] != appended.waits.size()) {
        look_.report(ev(43), "count",
                     "The command was appended with {} wait events; it is given {}.",
                     appended.waits.size(), call[numWaitEvents]);
      }
      for (size_t i = 0; i < handles.size() && i < appended.waits.size(); ++i)
        see_likeness(appended.waits[i].get(), look_.state.events.find_alive(handles[i]));
    }
  }

  void see_likeness(const event* old, const event* given) {
    if (old == nullptr || given == nullptr) return;
    const bool alike =
        old->counter_based == given->counter_based && old->counter_flags == given->counter_flags &&
        old->signal_scope == given->signal_scope && old->wait_scope == given->wait_scope &&
        old->timestamps == given->timestamps &&
        (!old->pool || !given->pool || old->pool->flags == given->pool->flags);
    if (alike) return;
    look_.report(ev(43), "unlike", "{} is of another kind than {}, which it replaces.",
                 look_.name(*given), look_.name(*old));
  }
};

}  // namespace

std::unique_ptr<rule_set> list_rules(inspection& of) {
  return std::make_unique<list_rule_set>(of);
}

}  // namespace zevent::check
