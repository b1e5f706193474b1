#pragma once

// Planning of n-dimensional strided copies: pure arithmetic on offsets, no Level Zero call.
//
// A copy is described by its extents and by the distance in bytes, on either side, from one element
// to the next along each dimension. The plan is the same copy as few operations: plain copies, 2-D
// regions and 3-D regions, which the submitter (append_strided_copy.hpp) appends to a list.
//
// A region is used only where every driver can be trusted with it:
//   pitch       >= width                              rows do not interleave
//   slice pitch >= (height - 1) * pitch + width       slices do not interleave
//   (depth - 1) * slice pitch + (height - 1) * pitch + width < 4 GiB
// on both sides. The last line is stricter than the 32-bit fields of ze_copy_region_t, since
// drivers also compute offsets inside a region in 32 bits. What does not fit is split, or looped
// over.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "zevent/error.hpp"

namespace zevent {

// What is to be copied. The three spans have one entry for each dimension, in any order (the order
// of the dimensions does not matter, only which entries belong together). No dimension at all is
// one element; an extent of 0 is nothing. Strides may be negative; a source stride of 0 reads the
// same elements again.
struct strided_shape {
  std::span<const uint64_t> extents;                   // elements
  std::span<const int64_t> source_strides_bytes;       // from one element to the next
  std::span<const int64_t> destination_strides_bytes;  // the same on the other side
  uint64_t element_bytes = 1;
};

// One operation of a plan: `depth` slices of `height` rows of `width_bytes` bytes. The offsets are
// relative to the element with all indices 0 and may be negative.
struct copy_operation {
  int64_t source_offset_bytes = 0;
  int64_t destination_offset_bytes = 0;
  uint64_t width_bytes = 0;
  uint32_t height = 1;
  uint32_t depth = 1;
  uint32_t source_pitch_bytes = 0;
  uint32_t source_slice_pitch_bytes = 0;
  uint32_t destination_pitch_bytes = 0;
  uint32_t destination_slice_pitch_bytes = 0;

  // One contiguous run of bytes, of any length. Otherwise a region: 3-D where depth > 1.
  bool plain() const noexcept { return height == 1 && depth == 1; }

  friend bool operator==(const copy_operation&, const copy_operation&) = default;
};

// One dimension as the planner keeps it.
struct copy_dimension {
  uint64_t extent;
  int64_t source_stride_bytes;
  int64_t destination_stride_bytes;
};

// Offsets from the element with all indices 0: the lowest byte touched and one past the highest.
struct byte_range {
  int64_t begin = 0;
  int64_t end = 0;
};

// A list of dimensions that allocates only beyond four.
class dimension_list {
 public:
  static constexpr size_t inline_capacity = 4;

  void push_back(const copy_dimension& dimension);
  void insert_sorted(const copy_dimension& dimension);  // by destination stride, largest first
  void remove(size_t index) noexcept;                   // keeps the order of the others
  size_t size() const noexcept { return size_; }
  copy_dimension* begin() noexcept { return data(); }
  copy_dimension* end() noexcept { return data() + size_; }
  const copy_dimension* begin() const noexcept { return data(); }
  const copy_dimension* end() const noexcept { return data() + size_; }
  copy_dimension& operator[](size_t index) noexcept { return data()[index]; }
  const copy_dimension& operator[](size_t index) const noexcept { return data()[index]; }

 private:
  copy_dimension* data() noexcept { return heap_.empty() ? inline_.data() : heap_.data(); }
  const copy_dimension* data() const noexcept {
    return heap_.empty() ? inline_.data() : heap_.data();
  }

  std::array<copy_dimension, inline_capacity> inline_{};
  std::vector<copy_dimension> heap_;  // holds all of them once there are more than fit inline
  size_t size_ = 0;
};

// The operations of a copy, computed one by one as they are asked for: a plan of a million
// operations is as small as a plan of one. Together they write every byte of the destination
// exactly once, and nothing else, in whatever order they are carried out.
class copy_plan {
 public:
  class iterator;

  uint64_t operation_count() const noexcept { return operation_count_; }
  bool empty() const noexcept { return operation_count_ == 0; }
  uint64_t total_bytes() const noexcept { return total_bytes_; }

  // `index` is less than operation_count().
  copy_operation operation(uint64_t index) const noexcept;

  iterator begin() const noexcept;
  iterator end() const noexcept;

  byte_range source_range() const noexcept { return source_range_; }
  byte_range destination_range() const noexcept { return destination_range_; }

  // Whether the copy would read a byte that it also writes when the two bases are `distance_bytes`
  // apart (destination minus source). The order of operations is open, so the result would be too.
  // Copies that merely interleave are told from copies that overlap; in the rare case of strides so
  // entangled that the answer would take too long, it is yes.
  bool overlaps_itself(int64_t distance_bytes) const;

 private:
  friend copy_plan plan_strided_copy(const strided_shape& shape, uint64_t region_limit_bytes);

  void choose_regions(const dimension_list& dimensions, uint64_t region_limit_bytes);

  dimension_list loops_;           // around the operation, outermost first
  copy_operation first_;           // the first operation
  copy_dimension split_{1, 0, 0};  // the outermost dimension of the region, whole
  uint64_t split_chunk_ = 1;  // how much of `split_` an operation takes; the last may take less
  uint64_t split_count_ = 1;  // operations that `split_` is divided into
  uint64_t operation_count_ = 0;
  uint64_t total_bytes_ = 0;
  byte_range source_range_;
  byte_range destination_range_;
};

class copy_plan::iterator {
 public:
  using value_type = copy_operation;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::forward_iterator_tag;

  iterator() = default;
  iterator(const copy_plan* plan, uint64_t index) noexcept : plan_(plan), index_(index) {}
  copy_operation operator*() const noexcept { return plan_->operation(index_); }
  iterator& operator++() noexcept {
    ++index_;
    return *this;
  }
  iterator operator++(int) noexcept { return {plan_, index_++}; }
  friend bool operator==(const iterator&, const iterator&) = default;

 private:
  const copy_plan* plan_ = nullptr;
  uint64_t index_ = 0;
};

inline copy_plan::iterator copy_plan::begin() const noexcept {
  return {this, 0};
}
inline copy_plan::iterator copy_plan::end() const noexcept {
  return {this, operation_count_};
}

// The plan with the fewest operations among those that use one kind of region and loop around it.
// Allocates nothing for up to four dimensions.
//
// Throws zevent::error:
//   INVALID_ARGUMENT     the spans differ in length, or an element has no bytes
//   INVALID_SIZE         the bytes touched on one side span 2^63 or more
//   OVERLAPPING_REGIONS  two elements of the destination share a byte (a stride of 0 among them),
//                        or the strides are so entangled that it would take too long to tell
//
// `region_limit_bytes` is the most that one region may span on either side, at most UINT32_MAX.
copy_plan plan_strided_copy(const strided_shape& shape, uint64_t region_limit_bytes = UINT32_MAX);

}  // namespace zevent
