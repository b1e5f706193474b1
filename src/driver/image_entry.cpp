#include "driver/device_image.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

ze_result_t create_view(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                        const ze_image_desc_t& desc, ze_image_handle_t source,
                        ze_image_handle_t* out) {
  return with<context>(context_handle, [&](context&) {
    return with<device>(device_handle, [&](device&) {
      return with<device_image>(source, [&](device_image& whole) {
        device_image* made = nullptr;
        const ze_result_t status = device_image::create_view(whole, desc, &made);
        if (status == ZE_RESULT_SUCCESS) *out = to_handle<ze_image_handle_t>(made);
        return status;
      });
    });
  });
}

}  // namespace

namespace entry {

ze_result_t zeDeviceGetImageProperties(ze_device_handle_t hDevice,
                                       ze_device_image_properties_t* pImageProperties) {
  return with<device>(hDevice, [&](device&) {
    pImageProperties->maxImageDims1D = image_limits::width_1d;
    pImageProperties->maxImageDims2D = image_limits::extent_2d;
    pImageProperties->maxImageDims3D = image_limits::extent_3d;
    pImageProperties->maxImageBufferSize = image_limits::buffer_bytes;
    pImageProperties->maxImageArraySlices = image_limits::layers;
    pImageProperties->maxSamplers = image_limits::samplers;
    pImageProperties->maxReadImageArgs = image_limits::read_arguments;
    pImageProperties->maxWriteImageArgs = image_limits::write_arguments;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeImageGetProperties(ze_device_handle_t hDevice, const ze_image_desc_t* desc,
                                 ze_image_properties_t* pImageProperties) {
  return with<device>(hDevice, [&](device&) {
    const bool is_supported = device_image::supports(*desc);
    pImageProperties->samplerFilterFlags = 0;
    if (is_supported) {
      pImageProperties->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
      // Integers are not interpolated.
      const auto type = desc->format.type;
      if (type != ZE_IMAGE_FORMAT_TYPE_UINT && type != ZE_IMAGE_FORMAT_TYPE_SINT) {
        pImageProperties->samplerFilterFlags |= ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
      }
    }
    auto* support = find_in_chain<ze_image_format_support_ext_properties_t>(
        pImageProperties->pNext, ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES);
    if (support != nullptr) support->supported = is_supported;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeImageCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                          const ze_image_desc_t* desc, ze_image_handle_t* phImage) {
  return with<context>(hContext, [&](context& owner) {
    return with<device>(hDevice, [&](device& on) {
      device_image* made = nullptr;
      const ze_result_t status = device_image::create(owner, on, *desc, &made);
      if (status == ZE_RESULT_SUCCESS) *phImage = to_handle<ze_image_handle_t>(made);
      return status;
    });
  });
}

ze_result_t zeImageDestroy(ze_image_handle_t hImage) {
  return with<device_image>(hImage, [](device_image& target) {
    target.destroy_handle();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeImageViewCreateExt(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_image_desc_t* desc, ze_image_handle_t hImage,
                                 ze_image_handle_t* phImageView) {
  return create_view(hContext, hDevice, *desc, hImage, phImageView);
}

ze_result_t zeImageViewCreateExp(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_image_desc_t* desc, ze_image_handle_t hImage,
                                 ze_image_handle_t* phImageView) {
  return create_view(hContext, hDevice, *desc, hImage, phImageView);
}

ze_result_t zeImageGetAllocPropertiesExt(
    ze_context_handle_t hContext, ze_image_handle_t hImage,
    ze_image_allocation_ext_properties_t* pImageAllocProperties) {
  return with<context>(hContext, [&](context&) {
    return with<device_image>(hImage, [&](device_image& asked) {
      pImageAllocProperties->id = asked.id();
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zeImageGetMemoryPropertiesExp(ze_image_handle_t hImage,
                                          ze_image_memory_properties_exp_t* pMemoryProperties) {
  return with<device_image>(hImage, [&](device_image& asked) {
    pMemoryProperties->size = asked.bytes();
    pMemoryProperties->rowPitch = asked.row_pitch_bytes();
    pMemoryProperties->slicePitch = asked.slice_pitch_bytes();
    return ZE_RESULT_SUCCESS;
  });
}

// All memory is always resident.
ze_result_t zeContextMakeImageResident(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                       ze_image_handle_t hImage) {
  return with<context>(hContext, [&](context&) {
    return with<device>(hDevice, [&](device&) {
      return with<device_image>(hImage, [](device_image&) { return ZE_RESULT_SUCCESS; });
    });
  });
}

ze_result_t zeContextEvictImage(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                ze_image_handle_t hImage) {
  return entry::zeContextMakeImageResident(hContext, hDevice, hImage);
}

}  // namespace entry
}  // namespace zevent::driver
