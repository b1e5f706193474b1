#include "recorder/profile_driver.hpp"

#include "api/model.hpp"
#include "base/invariant.hpp"
#include "recorder/next_driver.hpp"

namespace zevent::recorder {
namespace {

void* address_of(const char* name) {
  const auto& model = api::builtin_model();
  const auto* function = model.find_function(name);
  ZEVENT_INVARIANT(function != nullptr);
  return next_addresses[model.index_of(*function)].load(std::memory_order_relaxed);
}

}  // namespace

const profile_driver& next_driver_calls() {
  static const profile_driver* calls = [] {
    load_next_driver("direct");
    auto* found = new profile_driver;
#define ZEVENT_FIND_CALL(name) found->name = reinterpret_cast<decltype(&::name)>(address_of(#name));
    ZEVENT_PROFILE_CALLS(ZEVENT_FIND_CALL)
#undef ZEVENT_FIND_CALL
    return found;
  }();
  return *calls;
}

}  // namespace zevent::recorder
