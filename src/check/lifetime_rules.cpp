#include <level_zero/ze_api.h>

#include <algorithm>
#include <map>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using model::command;
using model::complete;
using model::object;
using model::object_kind;

// EV-76: what is left when the process ends by itself.
class lifetime_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return false; }

  bool wants_end(function which) const override {
    return which == function::zeEventHostSynchronize || which == function::zeEventQueryStatus;
  }

  // What signals an event of another process is not known: whatever was submitted may have been
  // complete then.
  void ends(const call_view& call) override {
    const auto* which = look_.state.events.find_alive(call[argument::hEvent]);
    if (which != nullptr && which->foreign && call.succeeded()) foreign_wait_ = call.number;
  }

  void finish() override {
    // A process that was ended from outside might still have waited and cleaned up.
    if (look_.cut_off || look_.crashed) return;
    for (const auto& each : look_.state.streams()) see_pending(*each);
    see_leaks();
  }

 private:
  static constexpr size_t max_named = 4;

  // Objects of one kind that one function made on one thread.
  struct leak {
    size_t count = 0;
    uint64_t bytes = 0;  // of memory
    call_number first = model::no_call;
    std::vector<std::pair<call_number, uint64_t>> named;  // the first ones: creation and handle
  };
  struct origin {
    object_kind kind;
    function maker;
    uint32_t thread;
    auto operator<=>(const origin&) const = default;
  };

  static bool uses_memory(const command& what) {
    return !what.accesses.empty() || !what.kernels.empty() || !what.images.empty() ||
           what.which == function::zeCommandListAppendHostFunction;
  }

  bool is_before_foreign_wait(const run& which) const {
    return foreign_wait_ != model::no_call && which.submitted < foreign_wait_;
  }

  void see_pending(const model::stream& where) {
    // EV-12 and other rules report what never starts, EV-44 a destroyed context.
    if (where.blocked() || (where.owner && !where.owner->alive())) return;
    const run* first = nullptr;
    const run* working = nullptr;
    size_t count = 0;
    for (const auto& each : where.runs) {
      if (complete(*each) || is_before_foreign_wait(*each)) continue;
      ++count;
      if (first == nullptr) first = each.get();
      if (working == nullptr && uses_memory(*each->what)) working = each.get();
    }
    if (first == nullptr) return;
    const run& shown = working != nullptr ? *working : *first;
    finding* made = look_.add_at(shown.submitted, ev(76), "pending",
                                 working != nullptr ? std::nullopt : std::optional(severity::note));
    if (made == nullptr) return;
    made->message = fmt::format(
        "The process ends, but nothing shows that #{} ({}) on {} is complete{}.",
        number_of(shown.what->call), describe(*shown.what), look_.name(where),
        count == 1 ? "" : fmt::format(", nor {} more command{}", count - 1, count == 2 ? "" : "s"));
    made->calls.push_back({shown.what->call, "appends the command"});
    if (shown.submitted != shown.what->call)
      made->calls.push_back({shown.submitted, "executes its list"});
  }

  void see_leaks() {
    std::map<origin, leak> leaks;
    const auto add = [&](const object& each, uint64_t bytes = 0) {
      // The driver's own, which no one may destroy.
      if (each.created_by == function::zeDriverGetDefaultContext) return;
      leak& of = leaks[{each.kind, each.created_by, each.created_by_thread}];
      ++of.count;
      of.bytes += bytes;
      of.first = std::min(of.first, each.created);
      const auto later =
          std::upper_bound(of.named.begin(), of.named.end(), std::pair(each.created, each.handle));
      of.named.insert(later, {each.created, each.handle});
      if (of.named.size() > max_named) of.named.pop_back();
    };
    auto& state = look_.state;
    state.contexts.for_each_alive(add);
    state.pools.for_each_alive(add);
    state.events.for_each_alive(add);
    state.lists.for_each_alive(add);
    state.queues.for_each_alive(add);
    state.fences.for_each_alive(add);
    state.modules.for_each_alive(add);
    state.kernels.for_each_alive(add);
    state.images.for_each_alive(add);
    state.samplers.for_each_alive(add);
    state.graphs.for_each_alive(add);
    state.executable_graphs.for_each_alive(add);
    state.for_each_unfreed_memory([&](const model::allocation& each) { add(each, each.bytes); });
    for (const auto& [where, what] : leaks) report(where, what);
  }

  static std::string counted(const origin& where, const leak& what) {
    const char* plural = what.count == 1 ? "" : "s";
    if (where.kind == object_kind::memory)
      return fmt::format("{} bytes in {} allocation{}", what.bytes, what.count, plural);
    return fmt::format("{} {}{}", what.count, name_of(where.kind), plural);
  }

  void report(const origin& where, const leak& what) {
    finding* made =
        look_.add_at(what.first, ev(76), name_of(where.kind).data(),
                     look_.options.leaks ? std::optional(severity::hazard) : severity::note);
    if (made == nullptr) return;
    const bool is_memory = where.kind == object_kind::memory;
    std::string names;
    for (const auto& [created, handle] : what.named)
      names += (names.empty() ? "" : ", ") + look_.last_name(where.kind, handle);
    if (what.count > what.named.size()) names += ", …";
    made->message = fmt::format("{}, made by {} on thread T{}, {} never {}: {}.",
                                counted(where, what), name_of(where.maker), where.thread + 1,
                                what.count == 1 && !is_memory ? "is" : "are",
                                is_memory ? "freed" : "destroyed", names);
    made->calls = {{what.first, what.count == 1 ? "makes it" : "makes the first of them"}};
  }

  call_number foreign_wait_ = model::no_call;  // the last one that ended well
};

}  // namespace

std::unique_ptr<rule_set> lifetime_rules(inspection& of) {
  return std::make_unique<lifetime_rule_set>(of);
}

}  // namespace zevent::check
