#include "driver/device_image.hpp"

#include <algorithm>
#include <atomic>

#include "driver/allocation.hpp"
#include "driver/fault_injection.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {

// Pixels: a block of the memory heap, or memory of the program.
struct device_image::memory {
  std::byte* base = nullptr;
  size_t bytes = 0;
  bool is_own = false;

  ~memory() {
    if (is_own) memory_heap().free(base, bytes);
  }
};

namespace {

constexpr size_t pixels_alignment_bytes = 4096;

// Their numbers are apart from those of allocations.
uint64_t next_image_id() {
  static std::atomic<uint64_t> last{uint64_t{1} << 32};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

struct extent {
  std::array<uint64_t, 3> sizes{1, 1, 1};
  std::array<uint64_t, 3> limits{1, 1, 1};
  uint32_t axes = 1;
  bool is_array = false;
};

extent extent_of(const ze_image_desc_t& desc, uint64_t pixel_bytes) {
  constexpr uint64_t width_1d = image_limits::width_1d, layers = image_limits::layers;
  constexpr uint64_t of_2d = image_limits::extent_2d, of_3d = image_limits::extent_3d;
  switch (desc.type) {
    case ZE_IMAGE_TYPE_1DARRAY:
      return {{desc.width, desc.arraylevels, 1}, {width_1d, layers, 1}, 2, true};
    case ZE_IMAGE_TYPE_2D:
      return {{desc.width, desc.height, 1}, {of_2d, of_2d, 1}, 2, false};
    case ZE_IMAGE_TYPE_2DARRAY:
      return {{desc.width, desc.height, desc.arraylevels}, {of_2d, of_2d, layers}, 3, true};
    case ZE_IMAGE_TYPE_3D:
      return {{desc.width, desc.height, desc.depth}, {of_3d, of_3d, of_3d}, 3, false};
    case ZE_IMAGE_TYPE_BUFFER:  // the width is in bytes
      return {{desc.width / pixel_bytes, 1, 1},
              {image_limits::buffer_bytes / pixel_bytes, 1, 1},
              1,
              false};
    default:
      return {{desc.width, 1, 1}, {width_1d, 1, 1}, 1, false};
  }
}

// Everything but where the pixels are.
ze_result_t describe(const ze_image_desc_t& desc, image_descriptor& out) {
  const auto format = find_pixel_format(desc.format);
  if (!format) return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
  if (desc.miplevels != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const extent extent = extent_of(desc, format->pixel_bytes);
  for (size_t axis = 0; axis < extent.axes; ++axis) {
    if (extent.sizes[axis] == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (extent.sizes[axis] > extent.limits[axis]) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  }
  out.read = read_image;
  out.write = write_image;
  out.sizes = extent.sizes;
  out.channel_data_type = format->channel_data_type;
  out.channel_order = format->channel_order;
  out.axes = extent.axes;
  out.is_array = extent.is_array;
  out.format = *format;
  out.pitches_bytes[0] = format->pixel_bytes;
  out.pitches_bytes[1] = format->pixel_bytes * extent.sizes[0];
  out.pitches_bytes[2] = out.pitches_bytes[1] * extent.sizes[1];
  return ZE_RESULT_SUCCESS;
}

// What the driver cannot do must not be passed over.
bool asks_for_more(const void* chain) {
  const auto* bindless =
      find_in_chain<ze_image_bindless_exp_desc_t>(chain, ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC);
  if (bindless != nullptr && bindless->flags != 0) return true;
  const auto* srgb = find_in_chain<ze_srgb_ext_desc_t>(chain, ZE_STRUCTURE_TYPE_SRGB_EXT_DESC);
  if (srgb != nullptr && srgb->sRGB != 0) return true;
  for (const ze_structure_type_t type :
       {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32, ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC}) {
    if (find_in_chain<chained>(chain, type) != nullptr) return true;
  }
  return false;
}

uint64_t bytes_of(const image_descriptor& image) {
  return image.pitches_bytes[2] * image.sizes[2];
}

}  // namespace

device_image::device_image(context& owner, device& on, const image_descriptor& descriptor,
                           std::shared_ptr<memory> pixels)
    : context_(&owner),
      device_(on),
      memory_(std::move(pixels)),
      descriptor_(descriptor),
      id_(next_image_id()) {}

device_image::~device_image() = default;

ze_result_t device_image::create(context& owner, device& on, const ze_image_desc_t& desc,
                                 device_image** out) {
  if (asks_for_more(desc.pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  image_descriptor descriptor;
  const ze_result_t status = describe(desc, descriptor);
  if (status != ZE_RESULT_SUCCESS) return status;
  auto pixels = std::make_shared<memory>();
  const auto* pitched = find_in_chain<ze_image_pitched_exp_desc_t>(
      desc.pNext, ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC);
  if (pitched != nullptr) {
    const auto found = allocation_registry::instance().find(pitched->ptr);
    if (found == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pixels->base = static_cast<std::byte*>(pitched->ptr);
    pixels->bytes =
        found->bytes - static_cast<size_t>(static_cast<char*>(pitched->ptr) - found->base);
    if (bytes_of(descriptor) > pixels->bytes) return ZE_RESULT_ERROR_INVALID_SIZE;
  } else {
    pixels->bytes = bytes_of(descriptor);
    if (owner.is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (fault_strikes_at(fault::out_of_device_memory) || pixels->bytes > device::memory_bytes()) {
      return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    pixels->base =
        static_cast<std::byte*>(memory_heap().allocate(pixels->bytes, pixels_alignment_bytes));
    if (pixels->base == nullptr) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    pixels->is_own = true;
  }
  descriptor.base = pixels->base;
  *out = new device_image(owner, on, descriptor, std::move(pixels));
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_image::create_view(const device_image& source, const ze_image_desc_t& desc,
                                      device_image** out) {
  if (asks_for_more(desc.pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  const auto* planar = find_in_chain<ze_image_view_planar_ext_desc_t>(
      desc.pNext, ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC);
  // All formats have one plane.
  if (planar != nullptr && planar->planeIndex != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  image_descriptor view;
  const ze_result_t status = describe(desc, view);
  if (status != ZE_RESULT_SUCCESS) return status;
  const image_descriptor& whole = source.descriptor_;
  if (view.format.pixel_bytes != whole.format.pixel_bytes) {
    return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    if (view.sizes[axis] > whole.sizes[axis]) return ZE_RESULT_ERROR_INVALID_SIZE;
  }
  view.pitches_bytes = whole.pitches_bytes;
  view.base = whole.base;
  *out = new device_image(*source.context_, source.device_, view, source.memory_);
  return ZE_RESULT_SUCCESS;
}

bool device_image::supports(const ze_image_desc_t& desc) {
  image_descriptor ignored;
  return !asks_for_more(desc.pNext) && describe(desc, ignored) == ZE_RESULT_SUCCESS;
}

uint64_t device_image::bytes() const {
  return bytes_of(descriptor_);
}

const image_descriptor& device_image::none() {
  static const image_descriptor* empty = [] {
    auto* made = new image_descriptor;
    made->read = read_image;
    made->write = write_image;
    made->format.has_alpha = true;
    return made;
  }();
  return *empty;
}

const made_with_driver no_image([] { device_image::none(); });

}  // namespace zevent::driver
