#include "driver/object.hpp"

#include <new>

#include "driver/fault_injection.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {

static_assert(sizeof(table_pointers) == sizeof(ze_handle_t));

const table_pointers& shared_handle_tables() {
  return reinterpret_cast<const table_pointers&>(handle_tables());
}

void object::count_creation(object_kind kind) {
  if (kind == object_kind::driver || kind == object_kind::device) return;
  if (fault_strikes_at(fault::out_of_host_memory)) throw std::bad_alloc();
}

}  // namespace zevent::driver
