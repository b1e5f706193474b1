#include <level_zero/ze_api.h>

#include <algorithm>

#include "api/recording_format.hpp"
#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::byte_region;
using model::complete;
using model::event;
using model::no_call;
using model::ordered;

// EV-22, on the host: it has waited for a command that wrote what the host can read, by an event
// that makes nothing visible to it. A wait that does may follow: it is reported when the memory is
// freed, or the program ends, without one.
class scope_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    return which == function::zeMemFree || which == function::zeMemFreeExt;
  }
  bool wants_end(function which) const override {
    using enum function;
    return which == zeEventHostSynchronize || which == zeEventQueryStatus ||
           which == zeCommandQueueSynchronize || which == zeCommandListHostSynchronize ||
           which == zeFenceHostSynchronize || which == zeFenceQueryStatus ||
           which == zeDeviceSynchronize;
  }

  void noted(const trace::memory_note& note) override {
    if ((note.flags & recording::memory_is_after_call) == 0) return;
    if ((note.flags & recording::memory_is_copied) != 0) return;
    if (changed_at_ != note.call) changed_.clear();
    changed_at_ = note.call;
    changed_.push_back({note.address, note.bytes});
  }

  void begins(const call_view& call) override {
    if (unseen_by_host_.empty()) return;
    if (const auto* freed = look_.state.find_memory_by_start(call[ptr]))
      report_unseen_by_host(freed);
  }

  void ends(const call_view& call) override {
    if (!call.succeeded()) return;
    const bool asks_event = call.which == function::zeEventHostSynchronize ||
                            call.which == function::zeEventQueryStatus;
    if (!asks_event) return unseen_by_host_.clear();  // they make everything visible
    if (const event* which = look_.state.events.find_alive(call[hEvent]))
      see_scope_for_host(*which);
  }

  void finish() override {
    // A program that was ended from outside might still have waited.
    if (!look_.cut_off && !look_.crashed) report_unseen_by_host(nullptr);
  }

 private:
  struct unseen_write {
    uint64_t event = 0;
    uint64_t memory = 0;  // start of the allocation; 0: memory of the host
    call_number writes = no_call;
    call_number signals = no_call;
    call_number waited = no_call;
  };
  static constexpr size_t max_unseen = 64;
  static constexpr size_t max_looked_back = 64;  // commands

  static bool reaches_host(const event& which) {
    return ((which.signal_scope | which.wait_scope) & ZE_EVENT_SCOPE_FLAG_HOST) != 0;
  }

  void see_scope_for_host(const event& which) {
    if (reaches_host(which)) return unseen_by_host_.clear();
    if (which.foreign) return;
    const run* last = which.counter_based
                          ? (which.last_signal ? which.last_signal->last_run : nullptr)
                          : (which.signals.size() == 1 ? which.signals.front().get() : nullptr);
    if (last == nullptr || complete(*last)) return;
    hold_if_unseen(which, *last, *last);
    // Everything before it that it is ordered after, back to the last signal that the host sees.
    const auto& runs = last->where->runs;
    if (runs.empty() || runs.front()->at > last->at) return;
    const size_t place = static_cast<size_t>(last->at - runs.front()->at);
    for (size_t i = place; i-- > 0 && place - i <= max_looked_back;) {
      const run& before = *runs[i];
      if (!before.started || complete(before) || !ordered(before, *last)) continue;
      if (before.what->signal && reaches_host(*before.what->signal)) return;
      hold_if_unseen(which, before, *last);
    }
  }

  void hold_if_unseen(const event& which, const run& writer, const run& signals) {
    for (const auto& each : writer.what->accesses) {
      if (!each.writes || !(each.certain || was_found_changed(each.region))) continue;
      const auto* memory = look_.state.find_memory(each.region.first);
      if (memory != nullptr && memory->where == model::memory_kind::device) continue;
      if (unseen_by_host_.size() < max_unseen)
        unseen_by_host_.push_back({which.handle, memory != nullptr ? memory->handle : 0,
                                   writer.what->call, signals.what->call, look_.current->number});
      return;
    }
  }

  // A kernel was given a pointer; it has used it where memory is not what it was at the launch.
  bool was_found_changed(const byte_region& region) const {
    return changed_at_ == look_.current->number &&
           std::any_of(changed_.begin(), changed_.end(),
                       [&](const byte_region& each) { return overlap(each, region).has_value(); });
  }

  // Those of one allocation, or all.
  void report_unseen_by_host(const model::allocation* only) {
    std::erase_if(unseen_by_host_, [&](const unseen_write& each) {
      if (only != nullptr && each.memory != only->handle) return false;
      report_unseen_by_host(each);
      return true;
    });
  }

  void report_unseen_by_host(const unseen_write& found) {
    finding* made = look_.add_at(found.waited, ev(22), "host");
    if (made == nullptr) return;
    const std::string name = look_.name(model::object_kind::event, found.event);
    made->message = fmt::format(
        "#{} writes to {}, which the host can read, but {}, by which the host waited for it, was "
        "created without scope HOST.",
        number_of(found.writes),
        found.memory != 0 ? look_.name(model::object_kind::memory, found.memory)
                          : std::string("memory of the host"),
        name);
    made->calls = {
        {found.writes, found.writes == found.signals ? "writes and signals the event" : "writes"}};
    if (found.writes != found.signals) made->calls.push_back({found.signals, "signals the event"});
    made->calls.push_back({found.waited, "waits for it on the host"});
  }

  std::vector<unseen_write> unseen_by_host_;
  std::vector<byte_region> changed_;  // as noted at the last call that changes were noted at
  call_number changed_at_ = no_call;
};

}  // namespace

std::unique_ptr<rule_set> scope_rules(inspection& of) {
  return std::make_unique<scope_rule_set>(of);
}

}  // namespace zevent::check
