#include "events/stride_overlap.hpp"

#include <algorithm>

namespace zevent {
namespace {

using wide = wide_offset;

constexpr uint64_t search_steps = 1u << 20;

wide floor_divide(wide numerator, wide divisor) {
  const wide quotient = numerator / divisor;
  return numerator % divisor != 0 && numerator < 0 ? quotient - 1 : quotient;
}

// Numbers from `first` to `last`, both included.
struct interval {
  wide first;
  wide last;
  bool empty() const { return first > last; }
};

// The x within `range` for which lowest <= sum + x * stride <= highest.
interval solutions(interval range, wide sum, wide stride, wide lowest, wide highest) {
  return {std::max(range.first, -floor_divide(sum - lowest, stride)),
          std::min(range.last, floor_divide(highest - sum, stride))};
}

// The case of ordinary arrays, where the search would find nothing: every stride is larger than all
// that lies inside it. The sums are parts of the destination's span, which fits.
bool is_nested(std::span<const copy_dimension> dimensions, uint64_t row_bytes) {
  uint64_t inner_bytes = row_bytes;
  for (size_t i = dimensions.size(); i-- > 0;) {
    const auto stride = static_cast<uint64_t>(dimensions[i].destination_stride_bytes);
    if (stride < inner_bytes) return false;
    inner_bytes += (dimensions[i].extent - 1) * stride;
  }
  return true;
}

// Looks for differences d of indices, not all 0, such that |sum of d * stride| < row_bytes.
class destination_search {
 public:
  destination_search(std::span<const copy_dimension> dimensions, uint64_t row_bytes)
      : dimensions_(dimensions), row_reach_(wide{row_bytes} - 1) {}

  overlap run() {
    wide reach = row_reach_;
    for (const auto& dimension : dimensions_) reach += reach_of(dimension);
    return visit(0, 0, reach, true);
  }

 private:
  static wide reach_of(const copy_dimension& dimension) {
    return wide{dimension.extent - 1} * dimension.destination_stride_bytes;
  }

  // `reach` is the farthest that the dimensions from `level` on can get, row included. While all
  // differences so far are 0 (`zero`), only positive ones need to be tried: d and -d are the same.
  overlap visit(size_t level, wide sum, wide reach, bool zero) {
    if (level == dimensions_.size()) return zero ? overlap::none : overlap::some;
    if (++steps_ > search_steps) return overlap::unknown;
    const auto& dimension = dimensions_[level];
    const wide most = wide{dimension.extent - 1};
    const wide inner_reach = reach - reach_of(dimension);
    const interval found = solutions({zero ? 0 : -most, most}, sum,
                                     dimension.destination_stride_bytes, -inner_reach, inner_reach);
    const bool innermost = level + 1 == dimensions_.size();
    if (innermost && !found.empty()) {
      return zero && found.last == 0 ? overlap::none : overlap::some;
    }
    for (wide d = found.first; d <= found.last; ++d) {
      const overlap inner = visit(level + 1, sum + d * dimension.destination_stride_bytes,
                                  inner_reach, zero && d == 0);
      if (inner != overlap::none) return inner;
    }
    return overlap::none;
  }

  std::span<const copy_dimension> dimensions_;
  wide row_reach_;
  uint64_t steps_ = 0;
};

class difference_search {
 public:
  difference_search(std::span<const stride_term> terms, uint64_t row_bytes)
      : terms_(terms), row_reach_(wide{row_bytes} - 1) {}

  overlap run(wide distance) {
    wide reach = 0;
    for (const auto& term : terms_) reach += reach_of(term);
    return visit(0, distance, reach);
  }

 private:
  static wide reach_of(const stride_term& term) {
    return wide{term.extent - 1} * term.stride_bytes;
  }

  // The terms from `level` on add between 0 and `reach`.
  overlap visit(size_t level, wide sum, wide reach) {
    if (level == terms_.size()) {
      return sum >= -row_reach_ && sum <= row_reach_ ? overlap::some : overlap::none;
    }
    if (++steps_ > search_steps) return overlap::unknown;
    const auto& term = terms_[level];
    const wide inner_reach = reach - reach_of(term);
    const interval found = solutions({0, wide{term.extent - 1}}, sum, term.stride_bytes,
                                     -row_reach_ - inner_reach, row_reach_);
    const bool innermost = level + 1 == terms_.size();
    if (innermost) return found.empty() ? overlap::none : overlap::some;
    for (wide x = found.first; x <= found.last; ++x) {
      const overlap inner = visit(level + 1, sum + x * term.stride_bytes, inner_reach);
      if (inner != overlap::none) return inner;
    }
    return overlap::none;
  }

  std::span<const stride_term> terms_;
  wide row_reach_;
  uint64_t steps_ = 0;
};

}  // namespace

overlap destination_overlap(std::span<const copy_dimension> dimensions, uint64_t row_bytes) {
  if (is_nested(dimensions, row_bytes)) return overlap::none;
  return destination_search(dimensions, row_bytes).run();
}

overlap difference_overlap(std::span<stride_term> terms, wide_offset distance_bytes,
                           uint64_t row_bytes) {
  wide distance = distance_bytes;
  for (auto& term : terms) {
    if (term.stride_bytes >= 0) continue;
    distance += wide{term.extent - 1} * term.stride_bytes;
    term.stride_bytes = -term.stride_bytes;
  }
  const auto zeros = std::partition(terms.begin(), terms.end(),
                                    [](const auto& term) { return term.stride_bytes != 0; });
  const auto live = terms.first(static_cast<size_t>(zeros - terms.begin()));
  std::sort(live.begin(), live.end(),
            [](const auto& a, const auto& b) { return a.stride_bytes > b.stride_bytes; });
  return difference_search(live, row_bytes).run(distance);
}

}  // namespace zevent
