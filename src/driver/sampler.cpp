#include "driver_entry.hpp"

namespace zevent::driver::entry {

// Devices have no images and so no samplers. Clients ask by trying, and take this result, of all
// that the function may return, to mean that.
ze_result_t zeSamplerCreate(ze_context_handle_t, ze_device_handle_t, const ze_sampler_desc_t*,
                            ze_sampler_handle_t*) {
  return ZE_RESULT_ERROR_UNINITIALIZED;
}

}  // namespace zevent::driver::entry
