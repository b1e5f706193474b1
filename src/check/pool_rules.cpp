#include <level_zero/ze_api.h>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::complete;
using model::event;
using model::event_pool;
using model::object;

constexpr uint64_t all_pool_flags = 0xf;
constexpr uint64_t all_scopes = 0x7;

class pool_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return true; }

  void begins(const call_view& call) override {
    using enum function;
    find_dead_handles(call);
    switch (call.which) {
      case zeEventPoolCreate:
        return create_pool(call);
      case zeEventCreate:
        return create_event(call);
      case zeEventCounterBasedCreate:
        return check_scopes(call);
      case zeEventPoolDestroy:
        return destroy_pool(call);
      case zeEventDestroy:
        return destroy_event(call);
      default:
        return;
    }
  }

 private:
  void create_pool(const call_view& call) {
    if (!call.has(desc)) return;
    if (call[count] == 0)
      look_.report(ev(1), "no events", "The pool is to hold no events: desc.count is 0.");
    if (call[numDevices] > 0 && call.is_null(phDevices)) {
      look_.report(ev(1), "no devices", "phDevices is null, but numDevices is {}.",
                   call[numDevices]);
    }
    if ((call[flags] & ~all_pool_flags) != 0) {
      look_.report(ev(1), "flags", "desc.flags is {:#x}; bits {:#x} are not defined.", call[flags],
                   call[flags] & ~all_pool_flags);
    }
    constexpr uint64_t both =
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;
    if ((call[flags] & both) == both) {
      look_.report(ev(2), "both",
                   "desc.flags has KERNEL_TIMESTAMP and KERNEL_MAPPED_TIMESTAMP at once.");
    }
  }

  void create_event(const call_view& call) {
    check_scopes(call);
    const event_pool* pool = look_.state.pools.find_alive(call[hEventPool]);
    if (pool == nullptr || !call.has(desc)) return;
    if (call[index] >= pool->count) {
      look_.report(ev(4), "index", "Index {} does not exist: {} has {} event{}, from 0.",
                   call[index], look_.name(*pool), pool->count, pool->count == 1 ? "" : "s");
    }
    const auto slot = pool->slots.find(static_cast<uint32_t>(call[index]));
    if (slot != pool->slots.end()) {
      if (finding* made = look_.add(ev(4), "taken")) {
        made->message = fmt::format("Index {} of {} is taken: {} lives there.", call[index],
                                    look_.name(*pool), look_.name(*slot->second));
        made->calls = {{slot->second->created, "created the event that is there"},
                       {call.number, "creates another one in its place"}};
      }
    }
    if ((call[sync_mode_flags] & ZE_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT) != 0 &&
        !pool->counter_based) {
      look_.report(ev(9), "interrupt",
                   "The sync mode EXTERNAL_INTERRUPT_WAIT is asked for, but {} is not a "
                   "counter-based pool.",
                   look_.name(*pool));
    }
  }

  void check_scopes(const call_view& call) {
    const uint64_t undefined = (call[signal_scope] | call[wait_scope]) & ~all_scopes;
    if (undefined != 0)
      look_.report(ev(5), "scopes", "A scope has undefined bits: {:#x}.", undefined);
  }

  void destroy_pool(const call_view& call) {
    const event_pool* pool = look_.state.pools.find_alive(call[hEventPool]);
    if (pool == nullptr || pool->imported || pool->slots.empty()) return;
    finding* made = look_.add(ev(6), "live events");
    if (made == nullptr) return;
    made->message =
        fmt::format("{} is destroyed while {} of its events {} not: {}.", look_.name(*pool),
                    pool->slots.size(), pool->slots.size() == 1 ? "is" : "are", some_of(*pool));
    made->calls = {{pool->slots.begin()->second->created, "created an event that still exists"},
                   {call.number, "destroys the pool"}};
  }

  std::string some_of(const event_pool& pool) const {
    std::string names;
    size_t shown = 0;
    for (const auto& [at, each] : pool.slots) {
      if (++shown > 4) return names + ", …";
      if (!names.empty()) names += ", ";
      names += look_.name(*each);
    }
    return names;
  }

  void destroy_event(const call_view& call) {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || which->counter_based) return;
    for (const auto& use : which->uses) {
      if (complete(*use.who)) continue;
      finding* made = look_.add(ev(7), "in use");
      if (made == nullptr) return;
      const char* does = use.role == model::event_role::signals  ? "signals"
                         : use.role == model::event_role::resets ? "resets"
                                                                 : "waits for";
      made->message =
          fmt::format("{} is destroyed, but nothing shows that #{}, which {} it, is complete.",
                      look_.name(*which), number_of(use.who->what->call), does);
      made->cause = look_.missing_host_wait(*use.who);
      made->calls.push_back({use.who->what->call, fmt::format("{} the event", does)});
      if (use.who->submitted != use.who->what->call)
        made->calls.push_back({use.who->submitted, "submits it"});
      made->calls.push_back({call.number, "destroys the event"});
      return;
    }
  }

  // EV-8, for every handle that the call was given.
  void find_dead_handles(const call_view& call) {
    auto& state = look_.state;
    const auto look = [&](const auto& table, argument which) {
      if (call[which] != 0) find_dead(table.find(call[which]));
    };
    const auto look_at_all = [&](const auto& table, argument which) {
      for (const auto handle : call.list(which)) {
        if (handle != 0) find_dead(table.find(handle));
      }
    };
    look(state.events, hEvent);
    look(state.events, hSignalEvent);
    look_at_all(state.events, phWaitEvents);
    look_at_all(state.events, phEvents);
    look(state.pools, hEventPool);
    look(state.lists, hCommandList);
    look_at_all(state.lists, phCommandLists);
    look(state.queues, hCommandQueue);
    look(state.fences, hFence);
    look(state.kernels, hKernel);
    look(state.modules, hModule);
    look(state.images, hImage);
    look(state.contexts, hContext);
  }

  void find_dead(const object* which) {
    if (which == nullptr || which->alive()) return;
    finding* made = look_.add(ev(8), name_of(which->kind).data());
    if (made == nullptr) return;
    made->message = fmt::format("{} was destroyed by #{} and is used here.", look_.name(*which),
                                number_of(which->destroyed));
    made->calls = {{which->created, "makes it"},
                   {which->destroyed, "destroys it"},
                   {look_.current->number, "uses it"}};
  }
};

}  // namespace

std::unique_ptr<rule_set> pool_rules(inspection& of) {
  return std::make_unique<pool_rule_set>(of);
}

}  // namespace zevent::check
