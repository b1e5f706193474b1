#include <cstring>

#include "kernels/images_spv.h"
#include "small_program.hpp"

namespace small_programs {
namespace {

ze_image_desc_t image_desc(ze_image_format_layout_t layout, ze_image_format_type_t type,
                           uint64_t width, uint32_t height) {
  ze_image_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  desc.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
  desc.type = ZE_IMAGE_TYPE_2D;
  desc.format = {layout,
                 type,
                 ZE_IMAGE_FORMAT_SWIZZLE_R,
                 ZE_IMAGE_FORMAT_SWIZZLE_G,
                 ZE_IMAGE_FORMAT_SWIZZLE_B,
                 ZE_IMAGE_FORMAT_SWIZZLE_A};
  desc.width = width;
  desc.height = height;
  desc.depth = 1;
  return desc;
}

ze_image_handle_t image(const machine& m, const ze_image_desc_t& desc) {
  ze_image_handle_t made = nullptr;
  MUST(zeImageCreate(m.context, m.device, &desc, &made));
  return made;
}

ze_image_handle_t bytes_image(const machine& m) {
  return image(m, image_desc(ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, 16, 8));
}

// From plain memory into an image, within images, and out to memory of the host.
void image_copies() {
  const machine m;
  const auto first = bytes_image(m), second = bytes_image(m);
  static uint32_t pixels[16 * 8];
  for (uint32_t i = 0; i < 16 * 8; ++i) pixels[i] = i * 0x01030507;
  char* back = m.host_memory();
  const auto list = m.immediate();
  const auto events = m.pool();
  auto filled = event(events, 0), copied = event(events, 1), patched = event(events, 2);
  const auto done = event(events, 3);
  MUST(zeCommandListAppendImageCopyFromMemory(list, first, pixels, nullptr, filled, 0, nullptr));
  MUST(zeCommandListAppendImageCopy(list, second, first, copied, 1, &filled));
  const ze_image_region_t left = {0, 0, 0, 8, 8, 1}, right = {8, 0, 0, 8, 8, 1};
  MUST(zeCommandListAppendImageCopyRegion(list, second, first, &left, &right, patched, 1, &copied));
  MUST(
      zeCommandListAppendImageCopyToMemoryExt(list, back, second, &left, 64, 0, done, 1, &patched));
  wait(done);
  finish(list);
  uint32_t seen = 0;
  std::memcpy(&seen, back + 64, sizeof seen);
  if (seen != pixels[16 + 8]) exit_once(3);
  MUST(zeImageDestroy(first));
  MUST(zeImageDestroy(second));
}

// Images and a sampler as arguments, in a list that is executed twice with other pixels each time.
void image_kernel() {
  const machine m;
  const auto from = bytes_image(m);
  ze_sampler_desc_t sampler_desc{};
  sampler_desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  sampler_desc.addressMode = ZE_SAMPLER_ADDRESS_MODE_MIRROR;
  sampler_desc.filterMode = ZE_SAMPLER_FILTER_MODE_LINEAR;
  sampler_desc.isNormalized = 1;
  ze_sampler_handle_t sampler = nullptr;
  MUST(zeSamplerCreate(m.context, m.device, &sampler_desc, &sampler));
  const auto made = module(m, images_spv);
  const auto sample = kernel(made, "sample_2d", 8);
  auto* places = reinterpret_cast<float*>(m.shared_memory());
  auto* read = reinterpret_cast<float*>(m.shared_memory());
  for (int i = 0; i < 64; ++i) places[i] = static_cast<float>(i % 23) / 16 - 0.25f;
  argument(sample, 0, from);
  argument(sample, 1, sampler);
  argument(sample, 2, places);
  argument(sample, 3, read);
  const auto numbers =
      image(m, image_desc(ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UINT, 4, 4));
  const auto increment = kernel(made, "increment_in_place", 4);
  argument(increment, 0, numbers);
  char* pixels = m.host_memory();
  char* back = m.host_memory();
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const ze_group_count_t two = {2, 1, 1}, four = {1, 4, 1};
  MUST(zeCommandListAppendImageCopyFromMemory(list, from, pixels, nullptr, nullptr, 0, nullptr));
  MUST(zeCommandListAppendImageCopyFromMemory(list, numbers, pixels, nullptr, nullptr, 0, nullptr));
  MUST(zeCommandListAppendLaunchKernel(list, sample, &two, nullptr, 0, nullptr));
  MUST(zeCommandListAppendLaunchKernel(list, increment, &four, nullptr, 0, nullptr));
  MUST(zeCommandListAppendImageCopyToMemory(list, back, numbers, nullptr, nullptr, 0, nullptr));
  MUST(zeCommandListClose(list));
  const auto queue = m.queue();
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < 512; ++i) pixels[i] = static_cast<char>(i * round);
    execute(queue, list);
    finish(queue);
  }
  if (back[1] != pixels[1] || back[0] != pixels[0] + 1) exit_once(3);
  MUST(zeKernelDestroy(sample));
  MUST(zeKernelDestroy(increment));
  MUST(zeSamplerDestroy(sampler));
  MUST(zeImageDestroy(from));
  MUST(zeImageDestroy(numbers));
}

// What is written through a view, from plain memory and whole, is the image's.
void image_view() {
  const machine m;
  const auto whole = bytes_image(m);
  const auto desc = image_desc(ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, 4, 2);
  ze_image_handle_t view = nullptr;
  MUST(zeImageViewCreateExt(m.context, m.device, &desc, whole, &view));
  static float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  char* back = m.host_memory();
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  MUST(zeCommandListAppendImageCopyFromMemory(list, view, numbers, nullptr, nullptr, 0, nullptr));
  const ze_image_region_t row = {0, 1, 0, 4, 1, 1};
  MUST(zeCommandListAppendImageCopyToMemory(list, back, whole, &row, nullptr, 0, nullptr));
  finish(list);
  if (std::memcmp(back, numbers + 4, 16) != 0) exit_once(3);
  MUST(zeImageDestroy(view));
  MUST(zeImageDestroy(whole));
}

void image_questions() {
  const machine m;
  ze_device_image_properties_t limits{};
  limits.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  MUST(zeDeviceGetImageProperties(m.device, &limits));
  ze_image_format_support_ext_properties_t support{};
  support.stype = ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES;
  ze_image_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
  properties.pNext = &support;
  const auto planes = image_desc(ZE_IMAGE_FORMAT_LAYOUT_NV12, ZE_IMAGE_FORMAT_TYPE_UNORM, 16, 8);
  MUST(zeImageGetProperties(m.device, &planes, &properties));
  ze_image_handle_t none = nullptr;
  REFUSED(zeImageCreate(m.context, m.device, &planes, &none));
  const auto made = bytes_image(m);
  ze_image_memory_properties_exp_t memory{};
  memory.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
  MUST(zeImageGetMemoryPropertiesExp(made, &memory));
  MUST(zeImageDestroy(made));
}

constexpr program programs[] = {
    {"image_copies", image_copies},
    {"image_kernel", image_kernel},
    {"image_view", image_view},
    {"image_questions", image_questions},
};

}  // namespace

std::span<const program> image_programs() {
  return programs;
}

}  // namespace small_programs
