#include "replay/driver_library.hpp"

#include <dlfcn.h>
#include <level_zero/ze_api.h>

namespace zevent::replay {

result<driver_library> driver_library::open(const std::string& path) {
  driver_library out;
  out.path_ = path;
  out.library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (out.library_ == nullptr) {
    std::string_view reason = dlerror();
    if (reason.starts_with(path + ": ")) reason.remove_prefix(path.size() + 2);
    return fail("cannot load the driver: {}", reason);
  }
  const auto& model = api::builtin_model();
  out.tables_.resize(model.tables.size());
  if (out.find(*model.find_function("zeInit")) == nullptr)
    return fail("not a Level Zero driver or loader: it has no zeInit");
  return out;
}

void* driver_library::find(const api::function& function) {
  const std::string name(function.name);
  if (void* symbol = dlsym(library_, name.c_str())) return symbol;
  if (function.table == api::no_index) return nullptr;
  const auto& slots = table(function.table);
  return function.slot < slots.size() ? slots[function.slot] : nullptr;
}

// A driver refuses a version that is newer than itself: older ones are tried.
const std::vector<void*>& driver_library::table(uint16_t index) {
  auto& slots = tables_[index];
  if (!slots.empty()) return slots;
  const auto& described = api::builtin_model().tables[index];
  slots.assign(described.functions.size(), nullptr);
  using getter = ze_result_t (*)(ze_api_version_t, void*);
  const auto get = reinterpret_cast<getter>(dlsym(library_, std::string(described.getter).c_str()));
  if (get == nullptr) return slots;
  if (get(ZE_API_VERSION_CURRENT, slots.data()) == ZE_RESULT_SUCCESS) return slots;
  for (auto size = described.sizes.rbegin(); size != described.sizes.rend(); ++size)
    if (get(static_cast<ze_api_version_t>(size->version), slots.data()) == ZE_RESULT_SUCCESS)
      return slots;
  return slots;
}

}  // namespace zevent::replay
