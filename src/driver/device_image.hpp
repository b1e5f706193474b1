#pragma once

#include <level_zero/ze_api.h>

#include <memory>

#include "driver/context.hpp"
#include "driver/image_descriptor.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// The limits of images. All memory is linear, and so no limit but that of sizes is real.
struct image_limits {
  static constexpr uint32_t width_1d = 16384;
  static constexpr uint32_t extent_2d = 16384;
  static constexpr uint32_t extent_3d = 2048;
  static constexpr uint64_t buffer_bytes = uint64_t{1} << 27;
  static constexpr uint32_t layers = 2048;
  static constexpr uint32_t samplers = 16;          // of a kernel
  static constexpr uint32_t read_arguments = 128;   // of a kernel
  static constexpr uint32_t write_arguments = 128;  // of a kernel
};

// An image: pixels in memory, row after row without gaps.
class device_image : public object_of<device_image, object_kind::image> {
 public:
  static ze_result_t create(context& owner, device& on, const ze_image_desc_t& desc,
                            device_image** out);
  // Another description of the same pixels: of the same size in bytes each, and not more of them
  // along any axis.
  static ze_result_t create_view(const device_image& source, const ze_image_desc_t& desc,
                                 device_image** out);
  ~device_image();

  // Whether there are images of this format.
  static bool supports(const ze_image_desc_t& desc);

  const image_descriptor& descriptor() const { return descriptor_; }
  uint32_t pixel_bytes() const { return descriptor_.format.pixel_bytes; }
  uint64_t row_pitch_bytes() const { return descriptor_.pitches_bytes[1]; }
  uint64_t slice_pitch_bytes() const { return descriptor_.pitches_bytes[2]; }
  uint64_t bytes() const;
  uint64_t id() const { return id_; }

  // What an unset image argument refers to: an image without a pixel.
  static const image_descriptor& none();

 private:
  struct memory;

  device_image(context& owner, device& on, const image_descriptor& descriptor,
               std::shared_ptr<memory> pixels);

  const ref<context> context_;
  device& device_;
  const std::shared_ptr<memory> memory_;  // shared with views; kept from being given back
  const image_descriptor descriptor_;
  const uint64_t id_;
};

}  // namespace zevent::driver
