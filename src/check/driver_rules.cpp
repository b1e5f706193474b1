#include <level_zero/ze_api.h>

#include <algorithm>
#include <array>
#include <map>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::command_list;
using model::device;
using model::event;

// What a program may do on one driver or device and not on another.
class driver_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    return which == zeEventHostReset || which == zeCommandListAppendMemoryFill ||
           which == zeCommandListAppendMemoryFillWithParameters;
  }

  bool wants_end(function which) const override {
    using enum function;
    return which == zeMemOpenIpcHandle || which == zeVirtualMemReserve ||
           which == zexDriverImportExternalPointer || which == zeModuleGetGlobalPointer;
  }

  void begins(const call_view& call) override {
    if (call.which == function::zeEventHostReset) return see_reset(call);
    see_fill(call);
  }

  void ends(const call_view& call) override {
    if (!call.succeeded()) return;
    const bool imported = call.which == function::zexDriverImportExternalPointer;
    const uint64_t first = imported ? call[ptr] : call[pptr];
    // How large the memory of another process is, only that one knows.
    const uint64_t bytes = call.has(size) ? call[size] : UINT64_MAX;
    mapped_[first] = first + std::min(bytes, UINT64_MAX - first);
  }

 private:
  // Intel's builds from release 24.26 to 26.27.
  static constexpr uint32_t first_build = 30049, last_build = 39122;

  // EV-77.
  void see_reset(const call_view& call) {
    const event* which = look_.state.events.find_alive(call[hEvent]);
    if (which == nullptr || which->counter_based || which->imported) return;
    if (which->pool && (which->pool->flags & ZE_EVENT_POOL_FLAG_IPC) != 0) return;
    const auto signal = std::find_if(
        which->signals.begin(), which->signals.end(),
        [](const auto& each) { return each->what->list->immediate && each->what->in_order; });
    if (signal == which->signals.end()) return;
    const run& by = **signal;
    finding* made =
        look_.add(ev(77), "reset", resets_in_vain(by) ? severity::hazard : severity::note);
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} was signalled by #{} on {}, which is in-order and immediate; on some of Intel's "
        "drivers it stays signalled.",
        look_.name(*which), number_of(by.what->call), look_.name(*by.what->list));
    made->calls = {{by.what->call, "signals the event"}, {call.number, "resets it from the host"}};
  }

  // What is not known of the driver and the device is taken to be as bad as it can be.
  bool resets_in_vain(const run& signal) const {
    if (!look_.has_intel_driver) return false;
    const uint32_t build = look_.state.driver_version & 0xffff;
    if (look_.state.driver_version != 0 && (build < first_build || build > last_build))
      return false;
    const device* where = look_.state.devices.find(signal.where->device);
    return where == nullptr || where->device_id == 0 || is_affected(where->device_id);
  }

  // Data Center GPU Max (PVC) and Arc B (BMG).
  static bool is_affected(uint32_t device_id) {
    return (device_id >= 0x0bd0 && device_id <= 0x0bdb) || device_id == 0x0b69 ||
           device_id == 0x0b6e || (device_id >= 0xe200 && device_id <= 0xe22f);
  }

  // EV-78.
  void see_fill(const call_view& call) {
    const uint64_t address = call[ptr];
    if (address == 0 || call[size] == 0 || is_mapped(address)) return;
    if (look_.state.find_memory(address) != nullptr ||
        look_.state.find_freed_memory(address) != nullptr)
      return;
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    if (list == nullptr) return;
    const auto access = shared_system_access(list->device);
    if (access && *access != 0) return;
    finding* made = look_.add(ev(78), access ? "fill" : "fill, not asked",
                              access ? std::nullopt : std::optional(severity::note));
    if (made == nullptr) return;
    made->message =
        fmt::format("The fill is of plain host memory at {:#x}; {}", address,
                    access ? "the device reports no access to such memory."
                           : "whether the device has access to such memory was not asked for.");
  }

  std::optional<uint32_t> shared_system_access(uint64_t handle) const {
    const device* which = look_.state.devices.find(handle);
    if (which == nullptr) return std::nullopt;
    if (which->shared_system_access || which->root == 0) return which->shared_system_access;
    const device* root = look_.state.devices.find(which->root);
    return root != nullptr ? root->shared_system_access : std::nullopt;
  }

  // Addresses that were reserved or imported, opened from another process, or are a module's.
  bool is_mapped(uint64_t address) const {
    const auto after = mapped_.upper_bound(address);
    return after != mapped_.begin() && address < std::prev(after)->second;
  }

  std::map<uint64_t, uint64_t> mapped_;  // first address to the end
};

}  // namespace

std::unique_ptr<rule_set> driver_rules(inspection& of) {
  return std::make_unique<driver_rule_set>(of);
}

}  // namespace zevent::check
