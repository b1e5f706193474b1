#include <cstring>

#include "kernels/images_spv.h"
#include "kernels/sub_groups_spv.h"
#include "kernels/vector_add_spv.h"
#include "small_program.hpp"

// What came to Level Zero late, or is an extension.
namespace small_programs {
namespace {

struct addition {
  machine m;
  ze_module_handle_t from = module(m, vector_add_spv);
  ze_kernel_handle_t add = kernel(from, "vector_add", 32);
  float* a = reinterpret_cast<float*>(m.shared_memory());
  float* b = reinterpret_cast<float*>(m.shared_memory());
  float* sum = reinterpret_cast<float*>(m.shared_memory());
  ze_group_count_t groups = {2, 1, 1};

  addition() {
    for (int i = 0; i < 64; ++i) {
      a[i] = static_cast<float>(i) / 3;
      b[i] = static_cast<float>(i * i);
    }
    give_arguments(add);
  }
  void give_arguments(ze_kernel_handle_t to) const {
    argument(to, 0, a);
    argument(to, 1, b);
    argument(to, 2, sum);
    argument(to, 3, 64u);
  }
  void must_be_right() const {
    for (int i = 0; i < 64; ++i)
      if (sum[i] != a[i] + b[i]) exit_once(4);
  }
};

void commands_with_parameters() {
  const addition it;
  const auto inner = it.m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const auto list = it.m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const auto events = it.m.pool();
  auto filled = event(events, 0), copied = event(events, 1), launched = event(events, 2);
  const auto done = event(events, 3);
  char* back = it.m.host_memory();
  const uint16_t pattern = 0x4243;
  MUST(zeCommandListAppendMemoryFillWithParameters(list, it.sum, &pattern, sizeof pattern, page,
                                                   nullptr, filled, 0, nullptr));
  MUST(zeCommandListAppendMemoryCopyWithParameters(list, back, it.sum, page, nullptr, copied, 1,
                                                   &filled));
  const ze_command_list_append_launch_kernel_param_cooperative_desc_t alone = {
      ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, nullptr, 0};
  MUST(zeCommandListAppendLaunchKernelWithParameters(list, it.add, &it.groups, &alone, launched, 1,
                                                     &copied));
  copy(inner, back + 128, it.sum, 128);
  MUST(zeCommandListClose(inner));
  auto one = inner;
  MUST(zeCommandListImmediateAppendCommandListsWithParameters(list, 1, &one, nullptr, done, 1,
                                                              &launched));
  wait(done);
  finish(list);
  it.must_be_right();
  if (back[0] != 0x43 || back[127] != 0x42 || std::memcmp(back + 128, it.sum, 128) != 0)
    exit_once(4);
}

// How many kernels, and of how many groups each, is in memory that the host writes late.
void launches_counted_in_memory() {
  const addition it;
  const auto other = kernel(it.from, "vector_add", 32);
  it.give_arguments(other);
  argument(other, 2, it.sum + 64);
  auto* counts = reinterpret_cast<uint32_t*>(it.m.host_memory());
  auto* launches = reinterpret_cast<ze_group_count_t*>(it.m.host_memory());
  const auto list = it.m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  ze_kernel_handle_t kernels[] = {it.add, other};
  MUST(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, kernels, counts, launches, nullptr,
                                                        0, nullptr));
  MUST(zeCommandListClose(list));
  counts[0] = 2;
  launches[0] = {2, 1, 1};
  launches[1] = {1, 1, 1};
  const auto queue = it.m.queue();
  execute(queue, list);
  finish(queue);
  it.must_be_right();
  if (it.sum[64 + 31] != it.sum[31] || it.sum[64 + 32] != 0) exit_once(4);
}

void graph_that_is_refused() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  ze_graph_handle_t graph = nullptr;
  REFUSED(zeGraphCreateExt(m.context, nullptr, &graph));
  REFUSED(zeCommandListBeginGraphCaptureExt(list, nullptr));
  fill(list, m.shared_memory(), 5);
  finish(list);
}

// A module from what another was compiled to.
void native_binary() {
  const addition it;
  size_t bytes = 0;
  MUST(zeModuleGetNativeBinary(it.from, &bytes, nullptr));
  std::vector<uint8_t> binary(bytes);
  MUST(zeModuleGetNativeBinary(it.from, &bytes, binary.data()));
  ze_module_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  desc.format = ZE_MODULE_FORMAT_NATIVE;
  desc.inputSize = binary.size();
  desc.pInputModule = binary.data();
  ze_module_handle_t again = nullptr;
  MUST(zeModuleCreate(it.m.context, it.m.device, &desc, &again, nullptr));
  MUST(zeModuleDynamicLink(1, &again, nullptr));
  const auto add = kernel(again, "vector_add", 32);
  it.give_arguments(add);
  const auto list = it.m.immediate();
  MUST(zeCommandListAppendLaunchKernel(list, add, &it.groups, nullptr, 0, nullptr));
  finish(list);
  it.must_be_right();
}

// Objects that come out of questions are those that went in.
void handles_from_questions() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  uint32_t ordinal = 9, index = 9;
  ze_bool_t is_immediate = 0;
  MUST(zeCommandListGetDeviceHandle(list, &device));
  MUST(zeCommandListGetContextHandle(list, &context));
  MUST(zeCommandListGetOrdinal(list, &ordinal));
  MUST(zeCommandListImmediateGetIndex(list, &index));
  MUST(zeCommandListIsImmediate(list, &is_immediate));
  if (device != m.device || context != m.context || is_immediate == 0) exit_once(4);
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.ordinal = ordinal;
  desc.index = index;
  ze_command_list_handle_t other = nullptr;
  MUST(zeCommandListCreateImmediate(context, device, &desc, &other));
  const auto common = zeDriverGetDefaultContext(m.driver);
  if (common == nullptr) exit_once(4);
  ze_host_mem_alloc_desc_t host{};
  host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  void* memory = nullptr;
  MUST(zeMemAllocHost(common, &host, page, 64, &memory));
  fill(other, memory, 6);
  finish(other);
  MUST(zeMemFree(common, memory));
}

void memory_hints() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* shared = m.shared_memory();
  MUST(zeCommandListAppendMemoryPrefetch(list, shared, page));
  MUST(
      zeCommandListAppendMemAdvise(list, m.device, shared, page, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  ze_context_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  machine other = m;
  MUST(zeContextCreateEx(m.driver, &desc, 1, &other.device, &other.context));
  char* there = other.host_memory();
  std::memset(there, 7, page);
  MUST(zeCommandListAppendMemoryCopyFromContext(list, shared, other.context, there, page, nullptr,
                                                0, nullptr));
  MUST(zeContextSystemBarrier(m.context, m.device));
  finish(list);
  if (shared[page - 1] != 7) exit_once(4);
}

ze_image_handle_t row_of_bytes(const machine& m, uint32_t width) {
  ze_image_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  desc.type = ZE_IMAGE_TYPE_2D;
  desc.format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM,
                 ZE_IMAGE_FORMAT_SWIZZLE_R,      ZE_IMAGE_FORMAT_SWIZZLE_G,
                 ZE_IMAGE_FORMAT_SWIZZLE_B,      ZE_IMAGE_FORMAT_SWIZZLE_A};
  desc.width = width;
  desc.height = 4;
  desc.depth = 1;
  ze_image_handle_t made = nullptr;
  MUST(zeImageCreate(m.context, m.device, &desc, &made));
  MUST(zeContextMakeImageResident(m.context, m.device, made));
  return made;
}

ze_sampler_handle_t sampler_of(const machine& m, ze_sampler_address_mode_t mode) {
  const ze_sampler_desc_t desc = {ZE_STRUCTURE_TYPE_SAMPLER_DESC, nullptr, mode,
                                  ZE_SAMPLER_FILTER_MODE_NEAREST, 0};
  ze_sampler_handle_t made = nullptr;
  MUST(zeSamplerCreate(m.context, m.device, &desc, &made));
  return made;
}

// A launch gets another image and another sampler; what it was cloned to keeps those it had.
void mutable_images() {
  const machine m;
  const auto small = row_of_bytes(m, 4), large = row_of_bytes(m, 16);
  const auto clamps = sampler_of(m, ZE_SAMPLER_ADDRESS_MODE_CLAMP);
  const auto repeats = sampler_of(m, ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
  const auto sample = kernel(module(m, images_spv), "sample_2d", 8);
  auto* places = reinterpret_cast<float*>(m.shared_memory());
  auto* read = reinterpret_cast<float*>(m.shared_memory());
  for (int i = 0; i < 32; ++i) places[i] = i % 4 == 0 ? static_cast<float>(i) : 0.5f;
  argument(sample, 0, small);
  argument(sample, 1, clamps);
  argument(sample, 2, places);
  argument(sample, 3, read);

  static uint8_t pixels[16 * 4 * 4];
  for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = static_cast<uint8_t>(i);
  const auto setting = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  MUST(zeCommandListAppendImageCopyFromMemoryExt(setting, small, pixels, nullptr, 16 * 4, 0,
                                                 nullptr, 0, nullptr));
  MUST(
      zeCommandListAppendImageCopyFromMemory(setting, large, pixels, nullptr, nullptr, 0, nullptr));
  finish(setting);

  const ze_mutable_command_list_exp_desc_t is_mutable = {
      ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, nullptr, 0};
  const auto list =
      m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE, &is_mutable);
  const ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                 nullptr, 0};
  uint64_t id = 0;
  MUST(zeCommandListGetNextCommandIdExp(list, &desc, &id));
  const ze_group_count_t one = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, sample, &one, nullptr, 0, nullptr));
  MUST(zeCommandListClose(list));
  ze_command_list_handle_t clone = nullptr;
  MUST(zeCommandListCreateCloneExp(list, &clone));

  const ze_mutable_kernel_argument_exp_desc_t other_sampler = {
      ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC, nullptr, id, 1, sizeof repeats, &repeats};
  const ze_mutable_kernel_argument_exp_desc_t other_image = {
      ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
      &other_sampler,
      id,
      0,
      sizeof large,
      &large};
  const ze_mutable_commands_exp_desc_t changes = {ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC,
                                                  &other_image, 0};
  MUST(zeCommandListUpdateMutableCommandsExp(list, &changes));
  MUST(zeCommandListClose(list));

  const auto queue = m.queue();
  for (const auto each : {clone, list}) {
    execute(queue, each);
    finish(queue);
    // Pixel 8 of a row: beyond the small image, whose last one is taken for it.
    const uint8_t expected = pixels[each == clone ? 3 * 4 : 8 * 4];
    if (static_cast<int>(read[8] * 255 + 0.5f) != expected) exit_once(4);
  }
}

void sub_groups() {
  const machine m;
  const auto places = kernel(module(m, sub_groups_spv), "places", 64);
  MUST(zeKernelSetIndirectAccess(places, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST));
  auto* out = reinterpret_cast<uint32_t*>(m.shared_memory(11 * 128 * sizeof(uint32_t)));
  argument(places, 0, out);
  ze_kernel_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
  MUST(zeKernelGetProperties(places, &properties));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const ze_group_count_t two = {2, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, places, &two, nullptr, 0, nullptr));
  finish(list);
  if (out[0] == 0 || out[0] > properties.maxSubgroupSize) exit_once(4);
}

// The function is called when what comes before it is done, each time the list is executed.
void host_function_between_copies() {
  const machine m;
  const auto list = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  char* from = m.host_memory();
  char* to = m.host_memory();
  const auto events = m.pool();
  auto go = event(events, 0);
  const auto done = event(events, 1);
  static int seen = 0;
  static const char* watched = nullptr;
  watched = to;
  copy(list, to, from);
  MUST(zeCommandListAppendHostFunction(
      list, [](void* count) { *static_cast<int*>(count) += watched[0]; }, &seen, nullptr, nullptr,
      1, &go));
  copy(list, to + 8, to, 8, done);
  MUST(zeCommandListClose(list));
  const auto queue = m.queue();
  for (char round = 1; round <= 2; ++round) {
    std::memset(from, round, page);
    execute(queue, list);
    MUST(zeEventHostSignal(go));
    wait(done);
    finish(queue);
    MUST(zeEventHostReset(go));
    MUST(zeEventHostReset(done));
  }
  if (seen != 3) exit_once(4);
}

constexpr program programs[] = {
    {"commands_with_parameters", commands_with_parameters},
    {"launches_counted_in_memory", launches_counted_in_memory},
    {"graph_that_is_refused", graph_that_is_refused},
    {"native_binary", native_binary},
    {"handles_from_questions", handles_from_questions},
    {"memory_hints", memory_hints},
    {"mutable_images", mutable_images},
    {"sub_groups", sub_groups},
    {"host_function_between_copies", host_function_between_copies},
};

}  // namespace

std::span<const program> newer_programs() {
  return programs;
}

}  // namespace small_programs
