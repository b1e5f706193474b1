#include "zevent/strided_copy.hpp"

#include <algorithm>

#include "events/stride_overlap.hpp"

namespace zevent {
namespace {

constexpr const char* plan_call = "plan_strided_copy";

[[noreturn, gnu::cold]] void refuse(ze_result_t result, const char* reason) {
  throw error(result, plan_call, reason);
}

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// The bytes that one side touches. Every offset the planner computes later lies within, so that
// nothing after this can overflow.
byte_range touched_range(std::span<const uint64_t> extents, std::span<const int64_t> strides_bytes,
                         uint64_t element_bytes, const char* too_large) {
  uint64_t below = 0;
  uint64_t above = element_bytes;
  bool overflow = element_bytes > INT64_MAX;
  for (size_t i = 0; i < extents.size(); ++i) {
    uint64_t reach = 0;
    overflow |= __builtin_mul_overflow(extents[i] - 1, magnitude(strides_bytes[i]), &reach);
    uint64_t& limit = strides_bytes[i] < 0 ? below : above;
    overflow |= __builtin_add_overflow(limit, reach, &limit);
  }
  uint64_t span = 0;
  overflow |= __builtin_add_overflow(below, above, &span);
  if (overflow || span > INT64_MAX) {
    refuse(ZE_RESULT_ERROR_INVALID_SIZE, too_large);
  }
  return {-static_cast<int64_t>(below), static_cast<int64_t>(above)};
}

// A dimension of the copy and, where it walks backwards, where it starts instead. The list stays
// sorted by destination stride, largest first.
void add_dimension(dimension_list& dimensions, copy_operation& start, copy_dimension dimension) {
  if (dimension.extent == 1) return;
  if (dimension.destination_stride_bytes == 0) {
    refuse(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
           "a destination stride of 0 writes the same element again and again");
  }
  if (dimension.destination_stride_bytes < 0) {
    const auto last = static_cast<int64_t>(dimension.extent - 1);
    start.source_offset_bytes += last * dimension.source_stride_bytes;
    start.destination_offset_bytes += last * dimension.destination_stride_bytes;
    dimension.source_stride_bytes = -dimension.source_stride_bytes;
    dimension.destination_stride_bytes = -dimension.destination_stride_bytes;
  }
  dimensions.insert_sorted(dimension);
}

// Dimensions whose elements continue the row on both sides become part of it.
uint64_t merge_into_row(dimension_list& dimensions, uint64_t row_bytes) {
  for (size_t i = 0; i < dimensions.size();) {
    const auto& dimension = dimensions[i];
    const auto row = static_cast<int64_t>(row_bytes);
    if (dimension.source_stride_bytes == row && dimension.destination_stride_bytes == row) {
      row_bytes *= dimension.extent;
      dimensions.remove(i);
      i = 0;
    } else {
      ++i;
    }
  }
  return row_bytes;
}

bool continues(const copy_dimension& outer, const copy_dimension& inner) {
  int64_t source = 0;
  int64_t destination = 0;
  return !__builtin_mul_overflow(inner.source_stride_bytes, inner.extent, &source) &&
         !__builtin_mul_overflow(inner.destination_stride_bytes, inner.extent, &destination) &&
         outer.source_stride_bytes == source && outer.destination_stride_bytes == destination;
}

void merge_dimensions(dimension_list& dimensions) {
  for (size_t outer = 0; outer < dimensions.size(); ++outer) {
    for (size_t inner = 0; inner < dimensions.size(); ++inner) {
      if (inner == outer || !continues(dimensions[outer], dimensions[inner])) continue;
      dimensions[inner].extent *= dimensions[outer].extent;
      dimensions.remove(outer);
      // The merged one may now continue, or be continued by, any other.
      outer = static_cast<size_t>(-1);
      break;
    }
  }
}

// What a region of rows along `rows` and, optionally, slices along `slices` would cost.
struct region_choice {
  const copy_dimension* rows = nullptr;
  const copy_dimension* slices = nullptr;
  uint64_t chunk = 1;       // rows or slices in one operation
  uint64_t operations = 1;  // operations that the region is split into
  uint64_t covered = 1;     // iterations that the region takes off the loops

  // Operations of the whole copy are iterations / covered * operations. Fewer is better.
  bool better_than(const region_choice& other) const {
    return static_cast<unsigned __int128>(operations) * other.covered <
           static_cast<unsigned __int128>(other.operations) * covered;
  }
};

// How many of `extent` steps of `pitch` one region can take, each `inner` bytes long, on both
// sides; 0 when a region of that pitch is not legal.
uint64_t region_chunk(const copy_dimension& dimension, uint64_t source_inner_bytes,
                      uint64_t destination_inner_bytes, uint64_t limit_bytes) {
  if (dimension.source_stride_bytes <= 0) return 0;
  const auto source_pitch = static_cast<uint64_t>(dimension.source_stride_bytes);
  const auto destination_pitch = static_cast<uint64_t>(dimension.destination_stride_bytes);
  if (source_pitch < source_inner_bytes || source_pitch > limit_bytes ||
      destination_pitch < destination_inner_bytes || destination_pitch > limit_bytes) {
    return 0;
  }
  // Within the spans, which fit.
  const uint64_t steps = dimension.extent - 1;
  if (source_inner_bytes + steps * source_pitch <= limit_bytes &&
      destination_inner_bytes + steps * destination_pitch <= limit_bytes) {
    return dimension.extent;
  }
  return 1 + std::min((limit_bytes - source_inner_bytes) / source_pitch,
                      (limit_bytes - destination_inner_bytes) / destination_pitch);
}

uint64_t operations_for(uint64_t extent, uint64_t chunk) {
  return chunk == extent ? 1 : (extent - 1) / chunk + 1;
}

uint64_t span_bytes(uint64_t inner_bytes, uint64_t extent, int64_t pitch_bytes) {
  return inner_bytes + (extent - 1) * static_cast<uint64_t>(pitch_bytes);
}

region_choice rows_only(const copy_dimension& rows, uint64_t width_bytes, uint64_t limit_bytes) {
  const uint64_t chunk = region_chunk(rows, width_bytes, width_bytes, limit_bytes);
  if (chunk == 0) return {};
  return {&rows, nullptr, chunk, operations_for(rows.extent, chunk), rows.extent};
}

// `plane` is the choice of the rows alone, which must fit in one operation.
region_choice with_slices(const region_choice& plane, const copy_dimension& slices,
                          uint64_t width_bytes, uint64_t limit_bytes) {
  const copy_dimension& rows = *plane.rows;
  const uint64_t chunk = region_chunk(
      slices, span_bytes(width_bytes, rows.extent, rows.source_stride_bytes),
      span_bytes(width_bytes, rows.extent, rows.destination_stride_bytes), limit_bytes);
  if (chunk == 0) return {};
  return {&rows, &slices, chunk, operations_for(slices.extent, chunk), rows.extent * slices.extent};
}

// The best use of one region; a simpler operation wins where it costs no more.
region_choice best_region(const dimension_list& dimensions, uint64_t width_bytes,
                          uint64_t limit_bytes) {
  region_choice best;
  const auto consider = [&](const region_choice& choice) {
    if (choice.better_than(best)) best = choice;
  };
  // From the innermost, which wins among equals.
  for (size_t i = dimensions.size(); i-- > 0;) {
    consider(rows_only(dimensions[i], width_bytes, limit_bytes));
  }
  for (size_t i = dimensions.size(); i-- > 0;) {
    const region_choice plane = rows_only(dimensions[i], width_bytes, limit_bytes);
    if (plane.rows == nullptr || plane.operations != 1) continue;
    for (size_t j = dimensions.size(); j-- > 0;) {
      if (i != j) consider(with_slices(plane, dimensions[j], width_bytes, limit_bytes));
    }
  }
  return best;
}

}  // namespace

void dimension_list::push_back(const copy_dimension& dimension) {
  if (heap_.empty() && size_ < inline_capacity) {
    inline_[size_] = dimension;
  } else {
    heap_.reserve(size_ + 1);
    if (heap_.empty()) heap_.assign(inline_.begin(), inline_.end());
    heap_.resize(size_);
    heap_.push_back(dimension);
  }
  ++size_;
}

void dimension_list::insert_sorted(const copy_dimension& dimension) {
  push_back(dimension);
  for (copy_dimension* at = end() - 1; at != begin(); --at) {
    if (at[-1].destination_stride_bytes >= at->destination_stride_bytes) break;
    std::swap(at[-1], *at);
  }
}

void dimension_list::remove(size_t index) noexcept {
  std::copy(begin() + index + 1, end(), begin() + index);
  --size_;
}

copy_plan plan_strided_copy(const strided_shape& shape, uint64_t region_limit_bytes) {
  const size_t rank = shape.extents.size();
  if (shape.source_strides_bytes.size() != rank || shape.destination_strides_bytes.size() != rank) {
    refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
           "extents, source strides and destination strides differ in number");
  }
  if (shape.element_bytes == 0) {
    refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "an element has no bytes");
  }
  copy_plan plan;
  if (std::find(shape.extents.begin(), shape.extents.end(), 0u) != shape.extents.end()) return plan;

  plan.source_range_ =
      touched_range(shape.extents, shape.source_strides_bytes, shape.element_bytes,
                    "the source spans 2^63 bytes or more; check extents and strides");
  plan.destination_range_ =
      touched_range(shape.extents, shape.destination_strides_bytes, shape.element_bytes,
                    "the destination spans 2^63 bytes or more; check extents and strides");
  dimension_list dimensions;
  for (size_t i = 0; i < rank; ++i) {
    add_dimension(
        dimensions, plan.first_,
        {shape.extents[i], shape.source_strides_bytes[i], shape.destination_strides_bytes[i]});
  }
  plan.first_.width_bytes = merge_into_row(dimensions, shape.element_bytes);
  merge_dimensions(dimensions);
  switch (destination_overlap({dimensions.begin(), dimensions.end()}, plan.first_.width_bytes)) {
    case overlap::none:
      break;
    case overlap::some:
      refuse(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
             "elements of the destination overlap; check its strides");
    case overlap::unknown:
      refuse(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
             "the destination's strides are too entangled to tell whether elements overlap; copy "
             "in several steps");
  }
  plan.choose_regions(dimensions, std::min<uint64_t>(region_limit_bytes, UINT32_MAX));
  return plan;
}

void copy_plan::choose_regions(const dimension_list& dimensions, uint64_t region_limit_bytes) {
  const region_choice region = best_region(dimensions, first_.width_bytes, region_limit_bytes);
  // No element overlaps another, so this is less than the span, which fits.
  total_bytes_ = first_.width_bytes;
  for (const auto& dimension : dimensions) total_bytes_ *= dimension.extent;

  operation_count_ = region.operations;
  for (const auto& dimension : dimensions) {
    if (&dimension == region.rows || &dimension == region.slices) continue;
    loops_.push_back(dimension);
    operation_count_ *= dimension.extent;
  }
  if (region.rows == nullptr) return;
  // A region's pitches and extents are below its limit, hence below 2^32.
  first_.source_pitch_bytes = static_cast<uint32_t>(region.rows->source_stride_bytes);
  first_.destination_pitch_bytes = static_cast<uint32_t>(region.rows->destination_stride_bytes);
  if (region.slices != nullptr) {
    first_.source_slice_pitch_bytes = static_cast<uint32_t>(region.slices->source_stride_bytes);
    first_.destination_slice_pitch_bytes =
        static_cast<uint32_t>(region.slices->destination_stride_bytes);
    first_.height = static_cast<uint32_t>(region.rows->extent);
    first_.depth = static_cast<uint32_t>(region.chunk);
    split_ = *region.slices;
  } else {
    first_.height = static_cast<uint32_t>(region.chunk);
    split_ = *region.rows;
  }
  split_chunk_ = region.chunk;
  split_count_ = region.operations;
}

copy_operation copy_plan::operation(uint64_t index) const noexcept {
  copy_operation operation = first_;
  uint64_t rest = index;
  const auto advance = [&](const copy_dimension& dimension, uint64_t steps) {
    operation.source_offset_bytes += static_cast<int64_t>(steps) * dimension.source_stride_bytes;
    operation.destination_offset_bytes +=
        static_cast<int64_t>(steps) * dimension.destination_stride_bytes;
  };
  if (split_count_ > 1) {
    const uint64_t chunk_begin = rest % split_count_ * split_chunk_;
    rest /= split_count_;
    advance(split_, chunk_begin);
    const auto taken = static_cast<uint32_t>(std::min(split_chunk_, split_.extent - chunk_begin));
    (first_.source_slice_pitch_bytes != 0 ? operation.depth : operation.height) = taken;
  }
  for (size_t i = loops_.size(); i > 0; --i) {
    const copy_dimension& loop = loops_[i - 1];
    advance(loop, rest % loop.extent);
    rest /= loop.extent;
  }
  return operation;
}

bool copy_plan::overlaps_itself(int64_t distance_bytes) const {
  if (empty()) return false;
  const wide_offset distance = distance_bytes;
  if (source_range_.end <= distance + destination_range_.begin ||
      distance + destination_range_.end <= source_range_.begin) {
    return false;
  }
  std::vector<stride_term> terms;
  const auto add = [&](const copy_dimension& dimension) {
    terms.push_back({dimension.extent, dimension.destination_stride_bytes});
    terms.push_back({dimension.extent, -dimension.source_stride_bytes});
  };
  for (const auto& loop : loops_) add(loop);
  if (first_.source_pitch_bytes != 0) add(split_);
  if (first_.source_slice_pitch_bytes != 0) {
    add({first_.height, first_.source_pitch_bytes, first_.destination_pitch_bytes});
  }
  return difference_overlap(terms,
                            distance + first_.destination_offset_bytes - first_.source_offset_bytes,
                            first_.width_bytes) != overlap::none;
}

}  // namespace zevent
