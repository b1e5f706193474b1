#include "driver/sampler.hpp"

#include "driver/image_descriptor.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

uint64_t address_mode(ze_sampler_address_mode_t mode) {
  switch (mode) {
    case ZE_SAMPLER_ADDRESS_MODE_REPEAT:
      return image_access::repeat;
    case ZE_SAMPLER_ADDRESS_MODE_CLAMP:
      return image_access::clamp_to_edge;
    case ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
      return image_access::clamp_to_border;
    case ZE_SAMPLER_ADDRESS_MODE_MIRROR:
      return image_access::mirrored_repeat;
    default:
      return 0;
  }
}

uint64_t value_of(const ze_sampler_desc_t& desc) {
  uint64_t value = address_mode(desc.addressMode);
  if (desc.isNormalized != 0) value |= image_access::is_normalized;
  if (desc.filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR) value |= image_access::is_linear;
  return value;
}

}  // namespace

sampler::sampler(context& owner, const ze_sampler_desc_t& desc)
    : context_(&owner), value_(value_of(desc)) {}

namespace entry {

ze_result_t zeSamplerCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                            const ze_sampler_desc_t* desc, ze_sampler_handle_t* phSampler) {
  return with<context>(hContext, [&](context& owner) {
    return with<device>(hDevice, [&](device&) {
      *phSampler = to_handle<ze_sampler_handle_t>(new sampler(owner, *desc));
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeSamplerDestroy(ze_sampler_handle_t hSampler) {
  return with<sampler>(hSampler, [](sampler& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace entry
}  // namespace zevent::driver
