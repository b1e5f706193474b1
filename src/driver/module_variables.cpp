#include "driver/module_variables.hpp"

#include <algorithm>
#include <cstring>

#include "driver/alignment.hpp"
#include "driver/allocation.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {}  // namespace

ze_result_t module_variables::create(context& owner, device& on,
                                     std::span<const spirv::module_variable> variables,
                                     std::vector<std::shared_ptr<const module_variables>> others,
                                     std::shared_ptr<const module_variables>& out) {
  std::shared_ptr<module_variables> made(new module_variables(std::move(others)));
  std::vector<place> places;
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (const spirv::module_variable& each : variables) {
    places.push_back(made->find_in_others(each.name));
    bytes = round_up(bytes, each.alignment_bytes);
    offsets.push_back(bytes);
    const bool is_own = places.back().address == nullptr && !each.is_imported;
    if (is_own) bytes += std::max<uint64_t>(each.size_bytes, 1);
  }
  if (bytes != 0) {
    ze_device_mem_alloc_desc_t description = {};
    description.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
    const ze_result_t allocated =
        entry::zeMemAllocDevice(to_handle<ze_context_handle_t>(&owner), &description, bytes,
                                page_bytes, to_handle<ze_device_handle_t>(&on), &made->memory_);
    if (allocated != ZE_RESULT_SUCCESS) return allocated;
    std::memset(made->memory_, 0, bytes);
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    const spirv::module_variable& each = variables[i];
    place& where = places[i];
    made->is_own_.push_back(where.address == nullptr && !each.is_imported);
    if (made->is_own_[i]) {
      where = {static_cast<char*>(made->memory_) + offsets[i], each.size_bytes};
      if (!each.initial_bytes.empty()) {
        std::memcpy(where.address, each.initial_bytes.data(), each.initial_bytes.size());
      }
    }
    made->names_.push_back(each.name);
    made->sizes_bytes_.push_back(where.size_bytes);
    made->table_.push_back(reinterpret_cast<uintptr_t>(where.address));
  }
  made->store_addresses(variables);
  out = std::move(made);
  return ZE_RESULT_SUCCESS;
}

// Initialisers that contain the addresses of variables.
void module_variables::store_addresses(std::span<const spirv::module_variable> variables) const {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!is_own_[i]) continue;
    for (const spirv::module_variable::address& each : variables[i].addresses) {
      auto* stored = reinterpret_cast<char*>(table_[i]) + each.offset_bytes;
      uint64_t address = 0;
      std::memcpy(&address, stored, sizeof(address));
      address += table_[each.variable];
      std::memcpy(stored, &address, sizeof(address));
    }
  }
}

module_variables::~module_variables() {
  if (memory_ == nullptr) return;
  const auto freed = allocation_registry::instance().remove(memory_, allocation::origin::heap);
  if (freed != nullptr) memory_heap().free(freed->base, freed->bytes);
}

module_variables::place module_variables::find_in_others(std::string_view name) const {
  for (const auto& each : others_) {
    const place found = each->find(name);
    if (found.address != nullptr) return found;
  }
  return {};
}

module_variables::place module_variables::find(std::string_view name) const {
  if (name.empty()) return {};
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return {reinterpret_cast<void*>(table_[i]), sizes_bytes_[i]};
  }
  return {};
}

}  // namespace zevent::driver
