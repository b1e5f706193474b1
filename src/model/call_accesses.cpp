#include "model/call_accesses.hpp"

#include <level_zero/ze_api.h>

#include <algorithm>

namespace zevent::model {
namespace {

using enum argument;

byte_region flat(uint64_t first, uint64_t bytes) {
  return {first, std::min(bytes, UINT64_MAX - first)};
}

// One side of a region copy, in bytes.
struct copy_side {
  argument base, x, y, z, width, height, depth, pitch, slice_pitch;
};

constexpr copy_side destination = {dstptr,     dst_x,     dst_y,    dst_z,        dst_width,
                                   dst_height, dst_depth, dstPitch, dstSlicePitch};
constexpr copy_side source = {srcptr,     src_x,     src_y,    src_z,        src_width,
                              src_height, src_depth, srcPitch, srcSlicePitch};

byte_region region_of(const call_view& call, const copy_side& side) {
  // Fields of 32 bits: their products fit, and so do the sums unless the pointer is nonsense.
  const uint64_t offset =
      call[side.x] + call[side.y] * call[side.pitch] + call[side.z] * call[side.slice_pitch];
  uint64_t first = 0;
  if (__builtin_add_overflow(call[side.base], offset, &first)) return {};
  byte_region region;
  region.first = first;
  region.row_bytes = call[side.width];
  region.rows = std::max<uint64_t>(call[side.height], 1);
  region.row_pitch = call[side.pitch];
  region.slices = std::max<uint64_t>(call[side.depth], 1);
  region.slice_pitch = call[side.slice_pitch];
  return simplified(region);
}

}  // namespace

void add_certain_accesses(const call_view& call, std::vector<memory_access>& to) {
  const auto touch = [&](const byte_region& region, bool writes) {
    if (to.empty()) to.reserve(2);
    if (!region.empty()) to.push_back({region, writes, true});
  };
  using enum function;
  switch (call.which) {
    case zeCommandListAppendMemoryCopy:
    case zeCommandListAppendMemoryCopyWithParameters:
    case zeCommandListAppendMemoryCopyFromContext:
      touch(flat(call[srcptr], call[size]), false);
      touch(flat(call[dstptr], call[size]), true);
      return;
    case zexCommandListAppendWriteToMemory:
      touch(flat(call[ptr], sizeof(uint64_t)), true);
      return;
    case zeCommandListAppendMemoryCopyRegion:
      touch(region_of(call, source), false);
      touch(region_of(call, destination), true);
      return;
    case zeCommandListAppendMemoryFill:
    case zeCommandListAppendMemoryFillWithParameters:
      touch(flat(call[ptr], call[size]), true);
      return;
    case zeCommandListAppendWriteGlobalTimestamp:
      touch(flat(call[dstptr], sizeof(uint64_t)), true);
      return;
    case zeCommandListAppendQueryKernelTimestamps: {
      const auto offsets = call.list(pOffsets);
      if (offsets.empty()) {
        touch(flat(call[dstptr], call[numEvents] * sizeof(ze_kernel_timestamp_result_t)), true);
      }
      for (const auto offset : offsets)
        touch(flat(call[dstptr] + offset, sizeof(ze_kernel_timestamp_result_t)), true);
      return;
    }
    default:
      return;
  }
}

}  // namespace zevent::model
