#include "driver/object.hpp"

#include "driver_entry.hpp"

namespace zevent::driver {

static_assert(sizeof(table_pointers) == sizeof(ze_handle_t));

const table_pointers& shared_handle_tables() {
  return reinterpret_cast<const table_pointers&>(handle_tables());
}

}  // namespace zevent::driver
