// The appends of copies of images.

#include <algorithm>
#include <utility>

#include "driver/command_list.hpp"
#include "driver/device_image.hpp"
#include "driver/event_commands.hpp"
#include "driver/memory_commands.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// A copy of bytes, which keeps the images that they belong to.
class image_copy_command final : public command {
 public:
  image_copy_command(std::unique_ptr<command> copy, ref<device_image> destination,
                     ref<device_image> source)
      : copy_(std::move(copy)), destination_(std::move(destination)), source_(std::move(source)) {}

  ze_result_t run() override { return copy_->run(); }

 private:
  const std::unique_ptr<command> copy_;
  const ref<device_image> destination_, source_;  // null: memory
};

// What a copy is about, in pixels. Axes that the image does not have are not looked at.
struct region {
  std::array<uint64_t, 3> origin{};
  std::array<uint64_t, 3> size{1, 1, 1};
};

ze_result_t region_of(const device_image& image, const ze_image_region_t* given, region& out) {
  const image_descriptor& whole = image.descriptor();
  if (given == nullptr) {
    out.size = whole.sizes;
    return ZE_RESULT_SUCCESS;
  }
  const std::array<uint64_t, 3> origin = {given->originX, given->originY, given->originZ};
  const std::array<uint64_t, 3> size = {given->width, given->height, given->depth};
  for (size_t axis = 0; axis < std::min<size_t>(whole.axes, size.size()); ++axis) {
    out.origin[axis] = origin[axis];
    out.size[axis] = size[axis];
    if (origin[axis] + size[axis] > whole.sizes[axis]) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  return ZE_RESULT_SUCCESS;
}

bool is_empty(const region& part) {
  return std::find(part.size.begin(), part.size.end(), 0U) != part.size.end();
}

// Along the first axis the unit is the byte.
ze_copy_region_t in_bytes(const region& part, uint64_t pixel_bytes) {
  return {static_cast<uint32_t>(part.origin[0] * pixel_bytes),
          static_cast<uint32_t>(part.origin[1]),
          static_cast<uint32_t>(part.origin[2]),
          static_cast<uint32_t>(part.size[0] * pixel_bytes),
          static_cast<uint32_t>(part.size[1]),
          static_cast<uint32_t>(part.size[2])};
}

region_side side_of(const device_image& image, const region& part) {
  return {image.descriptor().base, in_bytes(part, image.pixel_bytes()), image.row_pitch_bytes(),
          image.slice_pitch_bytes()};
}

ze_result_t append_copy(ze_command_list_handle_t list, const region_side& destination,
                        const region_side& source, bool is_nothing, device_image* to,
                        device_image* from, const dependencies& events) {
  return with<command_list>(list, [&](command_list& target) {
    std::unique_ptr<command> bytes;
    if (is_nothing) {
      bytes = make_no_operation();
    } else {
      const ze_result_t status = make_region_copy(destination, source, &bytes);
      if (status != ZE_RESULT_SUCCESS) return status;
    }
    return target.append(std::make_unique<image_copy_command>(
                             std::move(bytes), ref<device_image>(to), ref<device_image>(from)),
                         events);
  });
}

ze_result_t copy_image(ze_command_list_handle_t list, ze_image_handle_t destination,
                       ze_image_handle_t source, const ze_image_region_t* destination_region,
                       const ze_image_region_t* source_region, const dependencies& events) {
  return with<device_image>(destination, [&](device_image& to) {
    return with<device_image>(source, [&](device_image& from) {
      if (to.pixel_bytes() != from.pixel_bytes()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      region written, read;
      ze_result_t status = region_of(to, destination_region, written);
      if (status == ZE_RESULT_SUCCESS) status = region_of(from, source_region, read);
      if (status != ZE_RESULT_SUCCESS) return status;
      if (written.size != read.size) return ZE_RESULT_ERROR_INVALID_SIZE;
      return append_copy(list, side_of(to, written), side_of(from, read), is_empty(read), &to,
                         &from, events);
    });
  });
}

// The memory's side of a copy: rows and slices as far apart as is said, or without gaps where that
// is 0. That they are far enough apart is the program's affair.
region_side memory_side(const void* base, const device_image& image, const region& part,
                        uint64_t row_pitch, uint64_t slice_pitch) {
  const image_descriptor& pixels = image.descriptor();
  // The layers of an array of rows are what slices are to others.
  if (pixels.is_array && pixels.axes == 2 && slice_pitch != 0) {
    row_pitch = std::exchange(slice_pitch, 0);
  }
  if (row_pitch == 0) row_pitch = part.size[0] * image.pixel_bytes();
  if (slice_pitch == 0) slice_pitch = row_pitch * part.size[1];
  return {base, in_bytes({{}, part.size}, image.pixel_bytes()), row_pitch, slice_pitch};
}

ze_result_t copy_to_memory(ze_command_list_handle_t list, void* destination,
                           ze_image_handle_t source, const ze_image_region_t* source_region,
                           uint32_t row_pitch, uint32_t slice_pitch, const dependencies& events) {
  return with<device_image>(source, [&](device_image& from) {
    region read;
    const ze_result_t status = region_of(from, source_region, read);
    if (status != ZE_RESULT_SUCCESS) return status;
    return append_copy(list, memory_side(destination, from, read, row_pitch, slice_pitch),
                       side_of(from, read), is_empty(read), nullptr, &from, events);
  });
}

ze_result_t copy_from_memory(ze_command_list_handle_t list, ze_image_handle_t destination,
                             const void* source, const ze_image_region_t* destination_region,
                             uint32_t row_pitch, uint32_t slice_pitch, const dependencies& events) {
  return with<device_image>(destination, [&](device_image& to) {
    region written;
    const ze_result_t status = region_of(to, destination_region, written);
    if (status != ZE_RESULT_SUCCESS) return status;
    return append_copy(list, side_of(to, written),
                       memory_side(source, to, written, row_pitch, slice_pitch), is_empty(written),
                       &to, nullptr, events);
  });
}

}  // namespace

namespace entry {

ze_result_t zeCommandListAppendImageCopy(ze_command_list_handle_t hCommandList,
                                         ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
                                         ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                         ze_event_handle_t* phWaitEvents) {
  return copy_image(hCommandList, hDstImage, hSrcImage, nullptr, nullptr,
                    {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListAppendImageCopyRegion(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
    const ze_image_region_t* pDstRegion, const ze_image_region_t* pSrcRegion,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return copy_image(hCommandList, hDstImage, hSrcImage, pDstRegion, pSrcRegion,
                    {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t hCommandList,
                                                 void* dstptr, ze_image_handle_t hSrcImage,
                                                 const ze_image_region_t* pSrcRegion,
                                                 ze_event_handle_t hSignalEvent,
                                                 uint32_t numWaitEvents,
                                                 ze_event_handle_t* phWaitEvents) {
  return copy_to_memory(hCommandList, dstptr, hSrcImage, pSrcRegion, 0, 0,
                        {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t hCommandList,
                                                   ze_image_handle_t hDstImage, const void* srcptr,
                                                   const ze_image_region_t* pDstRegion,
                                                   ze_event_handle_t hSignalEvent,
                                                   uint32_t numWaitEvents,
                                                   ze_event_handle_t* phWaitEvents) {
  return copy_from_memory(hCommandList, hDstImage, srcptr, pDstRegion, 0, 0,
                          {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListAppendImageCopyToMemoryExt(
    ze_command_list_handle_t hCommandList, void* dstptr, ze_image_handle_t hSrcImage,
    const ze_image_region_t* pSrcRegion, uint32_t destRowPitch, uint32_t destSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return copy_to_memory(hCommandList, dstptr, hSrcImage, pSrcRegion, destRowPitch, destSlicePitch,
                        {hSignalEvent, numWaitEvents, phWaitEvents});
}

ze_result_t zeCommandListAppendImageCopyFromMemoryExt(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, const void* srcptr,
    const ze_image_region_t* pDstRegion, uint32_t srcRowPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  return copy_from_memory(hCommandList, hDstImage, srcptr, pDstRegion, srcRowPitch, srcSlicePitch,
                          {hSignalEvent, numWaitEvents, phWaitEvents});
}

}  // namespace entry
}  // namespace zevent::driver
