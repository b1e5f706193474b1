#include <level_zero/ze_api.h>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::event;
using model::event_pool;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ipc_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeEventPoolGetIpcHandle:
      case zeEventPoolPutIpcHandle:
      case zeEventPoolOpenIpcHandle:
      case zeEventPoolCloseIpcHandle:
      case zeEventPoolDestroy:
      case zeEventCounterBasedGetIpcHandle:
      case zexCounterBasedEventGetIpcHandle:
      case zeEventCounterBasedCloseIpcHandle:
      case zexCounterBasedEventCloseIpcHandle:
      case zeEventDestroy:
        return true;
      default:
        return is_append(which);
    }
  }

  bool wants_end(function which) const override {
    return which == function::zeEventPoolGetIpcHandle ||
           which == function::zeEventPoolOpenIpcHandle;
  }

  void begins(const call_view& call) override {
    using enum function;
    const event_pool* pool = look_.state.pools.find_alive(call[hEventPool]);
    const event* which = look_.state.events.find_alive(call[hEvent]);
    switch (call.which) {
      case zeEventPoolGetIpcHandle:
        if (pool != nullptr && (pool->flags & ZE_EVENT_POOL_FLAG_IPC) == 0)
          look_.report(ev(61), "flag", "{} was created without the IPC flag.", look_.name(*pool));
        return;
      case zeEventPoolPutIpcHandle:
        return put(call);
      case zeEventPoolCloseIpcHandle:
        if (pool != nullptr) close(*pool);
        return;
      case zeEventPoolDestroy:
        if (pool != nullptr && pool->imported) {
          look_.report(ev(61), "destroyed",
                       "{} was opened from an IPC handle: it is closed by "
                       "zeEventPoolCloseIpcHandle, not destroyed.",
                       look_.name(*pool));
        }
        return;
      case zeEventCounterBasedGetIpcHandle:
      case zexCounterBasedEventGetIpcHandle:
        if (which != nullptr) get_event(*which);
        return;
      case zeEventCounterBasedCloseIpcHandle:
      case zexCounterBasedEventCloseIpcHandle:
        if (which != nullptr && !which->imported) {
          look_.report(ev(65), "closed",
                       "{} was created in this process: it is destroyed, not "
                       "closed.",
                       look_.name(*which));
        }
        return;
      case zeEventDestroy:
        if (which != nullptr && which->imported && which->counter_based) {
          look_.report(ev(65), "destroyed",
                       "{} was opened from an IPC handle: it is closed by "
                       "zeEventCounterBasedCloseIpcHandle, not destroyed.",
                       look_.name(*which));
        }
        return;
      default:
        return append(call);
    }
  }

  void ends(const call_view& call) override {
    if (!call.succeeded()) return;
    if (call.which == function::zeEventPoolGetIpcHandle) {
      const event_pool* pool = look_.state.pools.find_alive(call[hEventPool]);
      if (pool == nullptr) return;
      shared_pool entry{look_.process, false, call.number};
      for (const auto device : pool->devices) {
        const auto* known = look_.state.devices.find(device);
        if (known != nullptr && known->root != 0) entry.of_sub_device = true;
      }
      look_.shared[text_of(call.bytes(phIpc))] = entry;
    } else {
      const auto known = look_.shared.find(text_of(call.bytes(hIpc)));
      if (known != look_.shared.end() && known->second.of_sub_device)
        of_sub_device_[call[phEventPool]] = true;
    }
  }

 private:
  // EV-62.
  void put(const call_view& call) {
    const auto bytes = text_of(call.bytes(hIpc));
    const auto known = look_.shared.find(bytes);
    if (bytes.empty()) return;
    if (known == look_.shared.end() || known->second.process != look_.process) {
      look_.report(ev(62), "unknown",
                   "The handle did not come from zeEventPoolGetIpcHandle in this process, or was "
                   "returned before.");
      return;
    }
    if (call.succeeded()) look_.shared.erase(known);
  }

  // EV-61 and EV-64.
  void close(const event_pool& pool) {
    if (!pool.imported) {
      look_.report(ev(61), "closed", "{} was created in this process: it is destroyed, not closed.",
                   look_.name(pool));
      return;
    }
    if (pool.slots.empty()) return;
    finding* made = look_.add(ev(64), "events");
    if (made == nullptr) return;
    made->message =
        fmt::format("{} is closed while {} of its events {} not destroyed.", look_.name(pool),
                    pool.slots.size(), pool.slots.size() == 1 ? "is" : "are");
    made->calls = {{pool.slots.begin()->second->created, "created an event that still exists"},
                   {look_.current->number, "closes the pool"}};
  }

  // EV-65.
  void get_event(const event& which) {
    if (!which.counter_based) {
      look_.report(ev(65), "regular", "{} is not counter-based; its pool is shared, not the event.",
                   look_.name(which));
    } else if ((which.counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) == 0) {
      look_.report(ev(65), "flag", "{} was created without the IPC flag.", look_.name(which));
    } else if (which.imported) {
      look_.report(ev(65), "imported", "{} was itself opened from an IPC handle.",
                   look_.name(which));
    }
  }

  void append(const call_view& call) {
    const uint64_t signals =
        call.which == function::zeCommandListAppendSignalEvent ? call[hEvent] : call[hSignalEvent];
    if (const event* which = look_.state.events.find_alive(signals)) {
      if (which->imported && which->counter_based && !look_.options.importer_may_signal) {
        look_.report(ev(65), "signalled",
                     "{} was opened from an IPC handle and can only be waited for.",
                     look_.name(*which));
      }
    }
    if (of_sub_device_.empty()) return;
    see_place(call, signals);
    for (const auto handle : call.list(phWaitEvents)) see_place(call, handle);
  }

  // EV-63.
  void see_place(const call_view& call, uint64_t handle) {
    const event* which = look_.state.events.find_alive(handle);
    const auto* list = look_.state.lists.find_alive(call[hCommandList]);
    if (which == nullptr || list == nullptr || !which->pool ||
        !of_sub_device_.contains(which->pool->handle))
      return;
    const auto* device = look_.state.devices.find(list->device);
    if (device == nullptr || device->root != 0) return;
    look_.report(ev(63), "root",
                 "{} comes from a pool that was shared for a sub-device; {} is of a whole device.",
                 look_.name(*which), look_.name(*list));
  }

  std::map<uint64_t, bool> of_sub_device_;  // imported pools, by handle
};

}  // namespace

std::unique_ptr<rule_set> ipc_rules(inspection& of) {
  return std::make_unique<ipc_rule_set>(of);
}

}  // namespace zevent::check
