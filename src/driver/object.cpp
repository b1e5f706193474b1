#include "driver/object.hpp"

#include <level_zero/ze_ddi_common.h>

namespace zevent::driver {

static_assert(sizeof(handle_tables) == sizeof(ze_handle_t));

const handle_tables& shared_handle_tables() {
  static const auto* tables = new handle_tables{};
  return *tables;
}

}  // namespace zevent::driver
