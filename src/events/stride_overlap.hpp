#pragma once

#include <cstdint>
#include <span>

#include "zevent/strided_copy.hpp"

namespace zevent {

// Whether sets of strided bytes meet is a question of bounded integer equations: easy where every
// stride is larger than all that lies inside it, as in an ordinary array, but in general a search.
// The search gives up after a fixed amount of work.
enum class overlap { none, some, unknown };

// Do two elements of the destination share a byte? The dimensions have positive destination
// strides and are sorted, largest first; each element is a row of `row_bytes` bytes.
overlap destination_overlap(std::span<const copy_dimension> dimensions, uint64_t row_bytes);

// A sum of the spans of two sides and of the distance between them: each fits in 64 bits, their sum
// may not.
using wide_offset = __int128;

// x * stride, 0 <= x < extent.
struct stride_term {
  uint64_t extent;
  int64_t stride_bytes;
};

// Is there a choice of one x for each term, such that |distance + the sum of the terms| is less
// than `row_bytes`: do two sets of rows, whose difference the terms span, share a byte? Sorts the
// terms and makes their strides positive.
overlap difference_overlap(std::span<stride_term> terms, wide_offset distance_bytes,
                           uint64_t row_bytes);

}  // namespace zevent
