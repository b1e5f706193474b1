#include <level_zero/ze_api.h>

#include <algorithm>
#include <unordered_map>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::event;
using model::no_call;

constexpr uint64_t all_counter_flags = 0x7f;
constexpr uint64_t all_pool_counter_flags = 0x3;

class counter_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeEventPoolCreate:
      case zeEventCounterBasedCreate:
      case zexCounterBasedEventCreate2:
      case zexCounterBasedEventCreate:
      case zeEventHostReset:
      case zeEventHostSignal:
      case zeEventCounterBasedGetDeviceAddress:
      case zexEventGetDeviceAddress:
      case zeKernelSetArgumentValue:
        return true;
      default:
        return is_append(which);
    }
  }

  bool wants_end(function which) const override {
    return which == function::zeEventCounterBasedGetDeviceAddress ||
           which == function::zexEventGetDeviceAddress;
  }

  void begins(const call_view& call) override {
    using enum function;
    switch (call.which) {
      case zeEventPoolCreate:
        return create_pool(call);
      case zeEventCounterBasedCreate:
      case zexCounterBasedEventCreate2:
        return create(call);
      case zexCounterBasedEventCreate:
        return see_storage(call);
      case zeEventHostReset:
      case zeCommandListAppendEventReset:
        return see_forbidden(call, "reset");
      case zeEventHostSignal:
        return see_forbidden(call, "signalled by the host");
      case zeKernelSetArgumentValue:
        return see_stale_address(call[pArgValue]);
      default:
        if (is_append(call.which)) append(call);
        return;
    }
  }

  void ends(const call_view& call) override {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || !call.succeeded() || call[external_device_address] == 0) return;
    const auto* last = which->last_signal.get();
    addresses_[call[external_device_address]] = {which->handle, call.number,
                                                 last != nullptr ? last->call : no_call,
                                                 last != nullptr ? last->executions : 0};
  }

 private:
  // What an address of a counter stood for.
  struct counter_address {
    uint64_t event = 0;
    call_number asked = no_call;
    call_number signal = no_call;
    uint32_t executions = 0;
  };

  void create_pool(const call_view& call) {
    if (!call.has(pool_counter_flags)) return;
    if ((call[pool_counter_flags] & ~all_pool_counter_flags) != 0) {
      look_.report(ev(54), "pool", "The counter-based flags are {:#x}; bits {:#x} are not defined.",
                   call[pool_counter_flags], call[pool_counter_flags] & ~all_pool_counter_flags);
    }
  }

  void create(const call_view& call) {
    if (call.has(desc)) {
      const uint64_t given = call[flags];
      constexpr uint64_t device_time = ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP;
      constexpr uint64_t host_time = ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
      constexpr uint64_t shared = ZE_EVENT_COUNTER_BASED_FLAG_IPC;
      if ((given & ~all_counter_flags) != 0) {
        look_.report(ev(54), "event", "desc.flags is {:#x}; bits {:#x} are not defined.", given,
                     given & ~all_counter_flags);
      }
      if ((given & device_time) != 0 && (given & host_time) != 0)
        look_.report(ev(53), "both", "desc.flags has DEVICE_TIMESTAMP and HOST_TIMESTAMP at once.");
      if ((given & shared) != 0 && (given & (device_time | host_time)) != 0)
        look_.report(ev(53), "shared", "desc.flags has IPC together with timestamps.");
    }
    see_storage(call);
  }

  // EV-58 and EV-59.
  void see_storage(const call_view& call) {
    const bool external = call.has(external_value) || call.has(external_device_address) ||
                          call.is_null(external_device_address);
    const bool aggregate = call.has(aggregate_increment);
    if (external && aggregate) {
      look_.report(ev(59), "both",
                   "The event is given external synchronisation storage and aggregate storage.");
    }
    if (aggregate) {
      if (call[aggregate_increment] == 0)
        look_.report(ev(59), "increment", "Each signal is to add 0 to the counter.");
      see_value(call, call[aggregate_value], ev(59));
      see_address(call[aggregate_address], "deviceAddress", ev(59));
    } else if (external && call.which != function::zexCounterBasedEventCreate) {
      if (call[external_device_address] == 0)
        look_.report(ev(58), "null", "The device address of the counter is null.");
      else
        see_address(call[external_device_address], "deviceAddress", ev(58));
      if (call[external_host_address] != 0)
        see_address(call[external_host_address], "hostAddress", ev(58));
      see_value(call, call[external_value], ev(58));
      see_stale_address(call[external_device_address]);
    }
  }

  void see_value(const call_view& call, uint64_t completion_value, rule_id rule) {
    const auto* device = look_.state.devices.find(call[hDevice]);
    const uint64_t most = device != nullptr ? device->max_counter_value : 0;
    if (most == 0) {
      if (finding* made = look_.add(rule, "not asked", severity::note))
        made->message = "The largest value that a counter can hold was not asked for.";
    } else if (completion_value > most) {
      look_.report(rule, "value",
                   "The completion value, {}, is larger than the device's maximum "
                   "of {}.",
                   completion_value, most);
    }
  }

  void see_address(uint64_t address, const char* what, rule_id rule) {
    if (address == 0 || look_.state.find_memory(address) != nullptr) return;
    if (addresses_.contains(address)) return;  // the counter of another event
    if (finding* made = look_.add(rule, "memory", severity::hazard)) {
      made->message = fmt::format(
          "{} is {:#x}, which is in no memory that was allocated for the device.", what, address);
    }
  }

  // EV-49.
  void see_forbidden(const call_view& call, const char* what) {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || !which->counter_based) return;
    look_.report(ev(49), what, "{} is counter-based and cannot be {}.", look_.name(*which), what);
  }

  void append(const call_view& call) {
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    if (list == nullptr) return;
    uint64_t signals = call[hSignalEvent];
    if (call.which == function::zeCommandListAppendSignalEvent) signals = call[hEvent];
    if (signals != 0) see_signal(*list, signals);
    const auto see = [&](uint64_t handle) {
      see_wait(*list, handle);
      if (is_called_invalid(call.result)) see_refused_wait(handle);
    };
    for (const auto handle : call.list(phWaitEvents)) see(handle);
    if (call.which == function::zeCommandListAppendWaitOnEvents) {
      for (const auto handle : call.list(phEvents)) see(handle);
    }
    if (call[srcptr] != 0) see_stale_address(call[srcptr]);
  }

  // EV-48 and EV-52.
  void see_signal(const command_list& list, uint64_t handle) {
    const event* which = look_.state.events.find_alive(handle);
    if (which == nullptr || !which->counter_based) return;
    if (!list.in_order) {
      look_.report(ev(48), "order", "{} is counter-based, but {} is not in-order.",
                   look_.name(*which), look_.name(list));
      return;
    }
    if (which->imported) return;
    const uint32_t needed = list.immediate ? ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE
                                           : ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
    if ((which->counter_flags & needed) == 0) {
      look_.report(ev(52), "kind", "{} is {} list, but {} was created for {} lists only.",
                   look_.name(list), list.immediate ? "an immediate" : "a regular",
                   look_.name(*which), list.immediate ? "regular" : "immediate");
    }
  }

  // EV-55.
  void see_wait(const command_list& list, uint64_t handle) {
    const event* which = look_.state.events.find_alive(handle);
    if (which == nullptr || !which->counter_based || which->device == 0 ||
        which->device == list.device)
      return;
    const auto* device = look_.state.devices.find(list.device);
    if (device == nullptr) return;
    const auto& refused = device->not_peers;
    if (std::find(refused.begin(), refused.end(), which->device) == refused.end()) return;
    look_.report(ev(55), "peer",
                 "{} was signalled last on another device, which the device of {} cannot access.",
                 look_.name(*which), look_.name(list));
  }

  // EV-50, where the driver does not take the event for one that is complete.
  void see_refused_wait(uint64_t handle) {
    const event* which = look_.state.events.find_alive(handle);
    if (which == nullptr || !which->counter_based || which->foreign || which->last_signal ||
        !which->aggregated.empty())
      return;
    look_.report(ev(50), "refused", "The command is to wait for {}, which nothing has signalled.",
                 look_.name(*which));
  }

  // EV-57.
  void see_stale_address(uint64_t address) {
    if (addresses_.empty() || address == 0) return;
    const auto known = addresses_.find(address);
    if (known == addresses_.end()) return;
    const event* which = look_.state.events.find_alive(known->second.event);
    if (which == nullptr || !which->last_signal) return;
    if (which->last_signal->call == known->second.signal &&
        which->last_signal->executions == known->second.executions)
      return;
    finding* made = look_.add(ev(57), "stale");
    if (made == nullptr) return;
    made->message = fmt::format(
        "The address {:#x} was that of the counter of {}. The event was signalled again since by "
        "#{}, and has another counter or value now.",
        address, look_.name(*which), number_of(which->last_signal->call));
    made->calls = {{known->second.asked, "gave the address"},
                   {which->last_signal->call, "signals the event again"},
                   {look_.current->number, "uses the address"}};
  }

  std::unordered_map<uint64_t, counter_address> addresses_;
};

}  // namespace

std::unique_ptr<rule_set> counter_rules(inspection& of) {
  return std::make_unique<counter_rule_set>(of);
}

}  // namespace zevent::check
