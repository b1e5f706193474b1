#include "driver/context.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "driver/driver.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

struct context_registry {
  fork_safe_mutex mutex{fork_safe_mutex::rank::inner};  // guards contexts
  std::set<context*> contexts;

  static context_registry& instance() {
    static auto* only = new context_registry;
    return *only;
  }
};

const made_with_driver all_contexts([] { context_registry::instance(); });

}  // namespace

constinit std::atomic<uint64_t> context::any_lost_{0};

context::context(driver& owner, std::vector<device*> devices)
    : driver_(owner), devices_(std::move(devices)) {
  context_registry& registry = context_registry::instance();
  const std::lock_guard lock(registry.mutex);
  registry.contexts.insert(this);
}

context::~context() {
  context_registry& registry = context_registry::instance();
  const std::lock_guard lock(registry.mutex);
  registry.contexts.erase(this);
}

void context::mark_lost(const device& lost) {
  context_registry& registry = context_registry::instance();
  const std::lock_guard lock(registry.mutex);
  for (context* each : registry.contexts) {
    const auto has_part = [&](const device* one) {
      return lost.is_part_of(*one) || one->is_part_of(lost);
    };
    if (std::any_of(each->devices_.begin(), each->devices_.end(), has_part)) each->mark_lost();
  }
}

bool context::contains(const device& candidate) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const device* each) { return candidate.is_part_of(*each); });
}

namespace entry {

ze_result_t zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t* desc,
                            ze_context_handle_t* phContext) {
  return entry::zeContextCreateEx(hDriver, desc, 0, nullptr, phContext);
}

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t*,
                              uint32_t numDevices, ze_device_handle_t* phDevices,
                              ze_context_handle_t* phContext) {
  return with<driver>(hDriver, [&](driver& owner) {
    std::vector<device*> devices;
    for (uint32_t i = 0; i < numDevices; ++i) {
      devices.push_back(try_from_handle<device>(phDevices[i]));
      if (devices.back() == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    if (devices.empty()) devices.assign(owner.devices().begin(), owner.devices().end());
    *phContext = to_handle<ze_context_handle_t>(new context(owner, std::move(devices)));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext) {
  return with<context>(hContext, [](context& target) {
    // The default context is the driver's own.
    if (&target == &target.owner_driver().default_context())
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeContextGetStatus(ze_context_handle_t hContext) {
  return with<context>(hContext, [](context& target) {
    return target.is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
