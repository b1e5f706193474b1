#include <level_zero/ze_api.h>

#include <algorithm>
#include <unordered_map>

#include "check/rule_sets.hpp"
#include "model/open_order.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::byte_range;
using model::byte_region;
using model::complete;
using model::event;
using model::memory_access;
using model::no_call;
using model::ordered;
using model::ref;
using conflict = model::access_map::conflict;

bool is_host_wait(function which) {
  using enum function;
  return which == zeEventHostSynchronize || which == zeEventQueryStatus ||
         which == zeCommandQueueSynchronize || which == zeCommandListHostSynchronize ||
         which == zeFenceHostSynchronize || which == zeFenceQueryStatus ||
         which == zeDeviceSynchronize;
}

// Calls that use no memory: they do not show whether the program relies on what is in it.
bool is_about_events(function which) {
  using enum function;
  switch (which) {
    case zeEventPoolCreate:
    case zeEventPoolDestroy:
    case zeEventCreate:
    case zeEventDestroy:
    case zeEventHostReset:
    case zeEventQueryKernelTimestamp:
    case zeEventQueryKernelTimestampsExt:
    case zeEventQueryTimestampsExp:
    case zeFenceReset:
    case zeCommandListGetGraphExt:
    case other_query:
      return true;
    default:
      return false;
  }
}

class order_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  // All calls: what comes after a wait shows whether the program relied on it.
  bool wants(function) const override { return true; }
  bool wants_end(function which) const override { return is_host_wait(which); }

  void begins(const call_view& call) override {
    if (suspects_.empty()) return;
    const auto known = suspects_.find(call.thread);
    if (known == suspects_.end() || is_host_wait(call.which) || is_about_events(call.which)) return;
    const suspicion held = std::move(known->second);
    suspects_.erase(known);
    report_if_open(held);
  }

  void ends(const call_view& call) override {
    if (!call.succeeded()) return;
    const bool asks_event = call.which == function::zeEventHostSynchronize ||
                            call.which == function::zeEventQueryStatus;
    if (!asks_event) return;
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || which->counter_based) return;
    if (which->signals.size() > 1) return see_several_signals(*which);
    if (which->signals.size() == 1) see_chunks(*which, *which->signals.front());
  }

  // EV-23.
  void starting(const run& about_to) override {
    for (const auto& wait : about_to.what->waits) {
      const event& which = *wait.which;
      if (which.signals.size() != 1 || complete(*which.signals.front())) continue;
      const run& signals = *which.signals.front();
      constexpr uint32_t wide = ZE_EVENT_SCOPE_FLAG_DEVICE | ZE_EVENT_SCOPE_FLAG_HOST;
      if ((which.wait_scope & wide) != 0 ||
          look_.state.same_device(signals.where->device, about_to.where->device))
        continue;
      finding* made = look_.add_at(about_to.what->call, ev(23), "devices");
      if (made == nullptr) return;
      made->message = fmt::format(
          "{} is signalled on one device and waited for on another one, with wait scope {}.",
          look_.name(which), which.wait_scope == 0 ? "0" : "SUBDEVICE");
      made->calls = {{signals.what->call, "signals the event"},
                     {about_to.what->call, "waits for it on another device"}};
    }
  }

  void finish() override {
    for (const auto& [thread, held] : suspects_) report_if_open(held);
    suspects_.clear();
  }

  void conflicts(const conflict& found) override {
    if (found.ordered) return report_unseen(found);
    if (explained_by_counter(found)) return;
    report_race(found);
  }

 private:
  // The host waited for the last of several commands that nothing orders.
  struct suspicion {
    uint64_t event = 0;
    call_number waited = no_call;
    call_number signals = no_call;
    uint64_t list = 0;
    std::vector<ref<run>> open;
  };

  std::string access_text(const memory_access& access, const byte_range& where) const {
    const char* does = access.writes ? "writes" : "reads";
    const auto* memory = look_.state.find_memory(where.first);
    if (memory == nullptr) return fmt::format("{} {:#x} to {:#x}", does, where.first, where.end());
    if (!access.certain)
      return fmt::format("was given a pointer into {}{}", look_.name(*memory),
                         access.writes ? "" : ", which it only reads");
    return fmt::format("{} {} from byte {} to {}", does, look_.name(*memory),
                       where.first - memory->handle, where.end() - memory->handle);
  }

  // How certain a race is. A kernel that was given a pointer uses the first byte behind it as good
  // as always, and what lies farther on perhaps.
  std::optional<severity> certainty(const conflict& found) const {
    const auto& a = found.earlier_access;
    const auto& b = found.later_access;
    if (a.certain && b.certain) return std::nullopt;
    const auto starts_in = [](const memory_access& pointer, const memory_access& other) {
      return overlap({pointer.region.first, 1}, other.region).has_value();
    };
    const bool same = !a.certain && !b.certain ? a.region.first == b.region.first
                      : a.certain              ? starts_in(b, a)
                                               : starts_in(a, b);
    return same ? severity::hazard : severity::note;
  }

  void describe(finding& made, const conflict& found) const {
    made.calls = {{found.earlier.what->call, access_text(found.earlier_access, found.where)},
                  {found.later.what->call, access_text(found.later_access, found.where)}};
    const auto submission = [&](const run& which) {
      if (which.submitted == which.what->call) return;
      const bool listed = std::any_of(made.calls.begin(), made.calls.end(), [&](const auto& each) {
        return each.call == which.submitted;
      });
      if (!listed) made.calls.push_back({which.submitted, "executes the list"});
    };
    submission(found.earlier);
    submission(found.later);
  }

  // EV-22: in order, but what was written may not be seen.
  void report_unseen(const conflict& found) {
    finding* made =
        look_.add_at(found.later.what->call, ev(22), "between lists",
                     certainty(found) == severity::note ? certainty(found) : std::nullopt);
    if (made == nullptr) return;
    const event* by = connecting_event(found.earlier, found.later);
    made->message = fmt::format(
        "#{} comes after #{}, but {} has no signal scope: what #{} writes is made visible within "
        "{} only.",
        number_of(found.later.what->call), number_of(found.earlier.what->call),
        by != nullptr ? look_.name(*by) : std::string("the event between them"),
        number_of(found.earlier.what->call), look_.name(*found.earlier.where));
    describe(*made, found);
  }

  // The event that the later one waits for and that the earlier one's stream signals.
  const event* connecting_event(const run& earlier, const run& later) const {
    for (const auto& wait : later.what->waits) {
      for (const auto& signal : wait.which->signals) {
        if (signal->where == earlier.where) return wait.which.get();
      }
      if (wait.bound && wait.bound->last_run != nullptr &&
          wait.bound->last_run->where == earlier.where)
        return wait.which.get();
    }
    return nullptr;
  }

  void report_race(const conflict& found) {
    const run& a = found.earlier;
    const run& b = found.later;
    const auto& stream = *a.where;
    auto level = certainty(found);

    auto early = early_signal(a, b);
    const run* const barrier = partial_barrier_between(a, b);
    if (!early && barrier != nullptr) {
      early = early_signal(a, *barrier);
      const bool told = early && (early->others || signals_only(*early->signal));
      if (!told) early.reset();  // EV-26 tells it
    }
    if (early) {
      if (early->stale) return;  // EV-10 tells it
      // Drivers that let such a command wait for those before it are common, and no one may rely
      // on it.
      if (signals_only(*early->signal) && !level) level = severity::hazard;
      finding* made = look_.add_at(b.what->call, ev(0), "waits for a later command", level);
      if (made == nullptr) return;
      const std::string name = look_.name(*early->which);
      const run& waiter = waits_for(b, *early->which) || barrier == nullptr ? b : *barrier;
      if (early->others) {
        made->message = fmt::format(
            "#{} waits for {}, which #{} and #{} signal. The first of them to be complete signals "
            "it; #{} may still be running then.",
            number_of(waiter.what->call), name, number_of(early->signal->what->call),
            number_of(a.what->call), number_of(a.what->call));
      } else {
        made->message = fmt::format(
            "#{} waits for {}, which #{} signals. #{} was appended before that to the same list, "
            "but {} is not in-order: it may still be running when the event is signalled.",
            number_of(waiter.what->call), name, number_of(early->signal->what->call),
            number_of(a.what->call), look_.name(*a.what->list));
      }
      describe(*made, found);
      made->calls.insert(made->calls.begin() + 1, {early->signal->what->call, "signals the event"});
      return;
    }
    if (barrier != nullptr) {
      const bool ranges = barrier->what->which == function::zeCommandListAppendMemoryRangesBarrier;
      finding* made = look_.add_at(b.what->call, ranges ? ev(27) : ev(26), "barrier", level);
      if (made == nullptr) return;
      made->message = fmt::format(
          "The barrier #{} between #{} and #{} has wait events, so it waits for those and not for "
          "#{}.",
          number_of(barrier->what->call), number_of(a.what->call), number_of(b.what->call),
          number_of(a.what->call));
      describe(*made, found);
      made->calls.insert(made->calls.begin() + 1,
                         {barrier->what->call, "waits only for its events"});
      return;
    }
    // Drivers that run the lists of a queue one after the other are common, and no one may rely on
    // it.
    const bool one_queue = a.where == b.where && stream.is_queue && a.submitted != b.submitted;
    if (one_queue && !level) level = severity::hazard;
    finding* made = look_.add_at(b.what->call, ev(25), one_queue ? "queue" : "race", level);
    if (made == nullptr) return;
    made->message = fmt::format("#{} and #{} use the same memory, and nothing orders them: {}.",
                                number_of(a.what->call), number_of(b.what->call), reason(a, b));
    made->cause = look_.missing_order(a, b);
    describe(*made, found);
  }

  static const run* partial_barrier_between(const run& a, const run& b) {
    const run* barrier = a.where->last_partial_barrier.get();
    const bool between =
        barrier != nullptr && a.where == b.where && a.at < barrier->at && barrier->at < b.at;
    return between ? barrier : nullptr;
  }

  std::string reason(const run& a, const run& b) const {
    return model::why_unordered(a, b, [this](model::object_kind kind, uint64_t handle) {
      return look_.name(kind, handle);
    });
  }

  static bool signals_only(const run& which) {
    return which.what->which == function::zeCommandListAppendSignalEvent;
  }

  static bool waits_for(const run& which, const event& what) {
    return std::any_of(which.what->waits.begin(), which.what->waits.end(),
                       [&](const auto& wait) { return wait.which.get() == &what; });
  }

  // Why `b`, which waits for an event, does not come after `a`.
  struct early_event {
    const event* which;
    const run* signal;  // who signals it
    bool others;        // `a` signals it too
    bool stale;         // it was signalled before
  };

  std::optional<early_event> early_signal(const run& a, const run& b) const {
    for (const auto& wait : b.what->waits) {
      const auto& signals = wait.which->signals;
      const bool stale = std::any_of(signals.begin(), signals.end(),
                                     [](const auto& each) { return complete(*each); });
      const bool own = std::any_of(signals.begin(), signals.end(),
                                   [&](const auto& each) { return each.get() == &a; });
      for (const auto& signal : signals) {
        const bool later = signal->where == a.where && signal->at > a.at;
        if (signal.get() != &a && (own || later))
          return early_event{wait.which.get(), signal.get(), own, stale && own};
      }
    }
    return std::nullopt;
  }

  // EV-50, EV-51, EV-56: one of the two waits for a counter-based event of the other, but means an
  // older signal.
  bool explained_by_counter(const conflict& found) {
    return explain(found, found.earlier, found.later) || explain(found, found.later, found.earlier);
  }

  bool explain(const conflict& found, const run& waiter, const run& signaller) {
    if (!signaller.what->signal || !signaller.what->signal->counter_based) return false;
    for (size_t i = 0; i < waiter.what->waits.size(); ++i) {
      const auto& wait = waiter.what->waits[i];
      if (wait.which != signaller.what->signal) continue;
      const bool same_command = wait.bound == signaller.what;
      const rule_id rule = !wait.bound ? ev(50) : same_command ? ev(56) : ev(51);
      finding* made = look_.add_at(waiter.what->call, rule, "race");
      if (made == nullptr) return true;
      if (!wait.bound) {
        made->message = fmt::format(
            "#{} waits for {}, which nothing had signalled when the wait was appended: it waits "
            "for nothing, not for #{}.",
            number_of(waiter.what->call), look_.name(*wait.which), number_of(signaller.what->call));
      } else if (same_command) {
        made->message = fmt::format(
            "#{} waits for {}. When its list was executed by #{}, the list that signals the event "
            "had not been executed again: the wait means the run before, not the one of #{}.",
            number_of(waiter.what->call), look_.name(*wait.which), number_of(waiter.submitted),
            number_of(signaller.submitted));
      } else {
        made->message = fmt::format(
            "#{} waits for {}. When the wait was appended, the event stood for #{}; the later "
            "signal of #{} does not change that.",
            number_of(waiter.what->call), look_.name(*wait.which), number_of(wait.bound->call),
            number_of(signaller.what->call));
      }
      describe(*made, found);
      return true;
    }
    return false;
  }

  // EV-0: the host waits for an event that more than one command signals.
  void see_several_signals(const event& which) {
    std::vector<const run*> open;
    for (const auto& each : which.signals) {
      if (!complete(*each)) open.push_back(each.get());
    }
    // With an older one complete it is EV-10.
    if (open.size() != which.signals.size()) return;
    finding* made = look_.add(ev(0), "several signals");
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} commands signal {}, and the first one to be complete ends the wait. {} may still be "
        "running.",
        open.size(), look_.name(which), numbers(open, 1));
    for (size_t i = 0; i < open.size() && i < 4; ++i)
      made->calls.push_back({open[i]->what->call, "signals the event"});
    made->calls.push_back({look_.current->number, "waits for any of them"});
  }

  // "#8 to #22", "#3, #5 and #9".
  static std::string numbers(const std::vector<const run*>& runs, size_t from) {
    constexpr size_t most = 6;
    const auto number = [&](size_t i) { return number_of(runs[i]->what->call); };
    std::vector<std::string> parts;
    for (size_t i = from; i < runs.size(); ++i) {
      if (parts.size() == most) {
        parts.emplace_back("…");
        break;
      }
      const size_t first = i;
      while (i + 1 < runs.size() && number(i + 1) == number(i) + 1) ++i;
      if (i - first >= 2) {
        parts.push_back(fmt::format("#{} to #{}", number(first), number(i)));
      } else {
        parts.push_back(fmt::format("#{}", number(first)));
        i = first;
      }
    }
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i)
      text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return text;
  }

  // EV-0: the host waits for the last of several copies that look like parts of one.
  void see_chunks(const event& which, const run& signals) {
    if (complete(signals) || signals.what->in_order || signals.what->is_barrier()) return;
    const auto& runs = signals.where->runs;
    if (runs.empty() || runs.front()->at > signals.at) return;
    suspicion held{
        which.handle, look_.current->number, signals.what->call, signals.what->list->handle, {}};
    const run* next = &signals;
    for (size_t i = static_cast<size_t>(signals.at - runs.front()->at); i-- > 0;) {
      const ref<run>& before = runs[i];
      if (!before->started || !is_part_of(*before, *next, signals)) break;
      if (!complete(*before)) held.open.push_back(before);
      if (held.open.size() >= 64) break;
      next = before.get();
    }
    if (held.open.empty()) return;
    std::reverse(held.open.begin(), held.open.end());
    suspects_[look_.current->thread] = std::move(held);
  }

  // A copy or fill without an event of its own, into the memory that the one after it writes to.
  bool is_part_of(const run& before, const run& next, const run& last) const {
    if (before.what->signal || before.what->which != last.what->which) return false;
    if (before.what->list != last.what->list || ordered(before, last)) return false;
    const auto* a = destination(before);
    const auto* b = destination(next);
    if (a == nullptr || b == nullptr) return false;
    const auto* memory = look_.state.find_memory(a->first);
    if (memory != look_.state.find_memory(b->first)) return false;
    return memory != nullptr || are_near(*a, *b);
  }

  static const byte_region* destination(const run& which) {
    for (const auto& each : which.what->accesses) {
      if (each.writes && each.certain) return &each.region;
    }
    return nullptr;
  }

  // Where an array of the host begins and ends is not known: pieces of one are rarely farther apart
  // than this.
  static bool are_near(const byte_region& a, const byte_region& b) {
    constexpr uint64_t least_bytes = 4096;
    const auto& first = a.first < b.first ? a : b;
    const auto& second = a.first < b.first ? b : a;
    if (second.first <= first.end()) return true;
    const uint64_t length = std::min(first.end() - first.first, UINT64_MAX / 16);
    return second.first - first.end() <= std::max(least_bytes, 16 * length);
  }

  void report_if_open(const suspicion& held) {
    std::vector<const run*> open;
    for (const auto& each : held.open) {
      if (!complete(*each)) open.push_back(each.get());
    }
    if (open.empty()) return;
    finding* made = look_.add_at(held.waited, ev(0), "last of several");
    if (made == nullptr) return;
    made->message = fmt::format(
        "The wait for {} is for #{} alone. {} {} appended before it to {}, which is not in-order: "
        "{} may still be running when the event is signalled.",
        look_.name(model::object_kind::event, held.event), number_of(held.signals),
        numbers(open, 0), open.size() == 1 ? "was" : "were",
        look_.name(model::object_kind::command_list, held.list), open.size() == 1 ? "it" : "they");
    for (size_t i = 0; i < open.size() && i < 3; ++i)
      made->calls.push_back({open[i]->what->call, "may still be running"});
    made->calls.push_back({held.signals, "signals the event"});
    made->calls.push_back({held.waited, "waits for it"});
  }

  std::unordered_map<uint32_t, suspicion> suspects_;  // by thread
};

}  // namespace

std::unique_ptr<rule_set> order_rules(inspection& of) {
  return std::make_unique<order_rule_set>(of);
}

}  // namespace zevent::check
