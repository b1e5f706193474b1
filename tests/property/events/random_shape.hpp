#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <vector>

#include "zevent/strided_copy.hpp"

namespace zevent {

// A shape that owns its numbers, small enough for a byte-wise oracle.
struct random_shape {
  std::vector<uint64_t> extents;
  std::vector<int64_t> source_strides_bytes;
  std::vector<int64_t> destination_strides_bytes;
  uint64_t element_bytes = 1;
  uint64_t region_limit_bytes = UINT32_MAX;

  strided_shape view() const {
    return {extents, source_strides_bytes, destination_strides_bytes, element_bytes};
  }
};

inline std::ostream& operator<<(std::ostream& out, const random_shape& shape) {
  for (size_t i = 0; i < shape.extents.size(); ++i) {
    out << '[' << shape.extents[i] << " source " << shape.source_strides_bytes[i] << " destination "
        << shape.destination_strides_bytes[i] << "] ";
  }
  return out << "of " << shape.element_bytes << " bytes, regions up to "
             << shape.region_limit_bytes;
}

// Numbers drawn one after another from a random sequence. All zeros give the simplest shape, which
// is where rapidcheck shrinks to.
class number_source {
 public:
  explicit number_source(std::vector<uint16_t> numbers) : numbers_(std::move(numbers)) {}
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool one_in(uint64_t n) { return next() % n == n - 1; }

 private:
  uint64_t next() { return at_ < numbers_.size() ? numbers_[at_++] : 0; }

  std::vector<uint16_t> numbers_;
  size_t at_ = 0;
};

inline number_source arbitrary_numbers() {
  return number_source(
      *rc::gen::container<std::vector<uint16_t>>(40, rc::gen::inRange<uint16_t>(0, UINT16_MAX)));
}

// Strides of an array with the dimensions in the order given, innermost last, each padded a little.
inline std::vector<int64_t> array_strides(number_source& numbers, const random_shape& shape,
                                          const std::vector<size_t>& order) {
  std::vector<int64_t> strides(order.size());
  auto stride = static_cast<int64_t>(shape.element_bytes);
  for (size_t i = order.size(); i-- > 0;) {
    if (numbers.one_in(3)) stride += static_cast<int64_t>(numbers.below(5));
    strides[order[i]] = stride;
    stride *= static_cast<int64_t>(std::max<uint64_t>(1, shape.extents[order[i]]));
  }
  return strides;
}

inline random_shape arbitrary_extents(number_source& numbers) {
  random_shape shape;
  shape.element_bytes = 1 + numbers.below(5);
  const uint64_t rank = numbers.below(7);
  uint64_t elements = 1;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t extent = numbers.one_in(40) ? 0 : 1 + numbers.below(5);
    if (elements * extent > 400) break;
    elements *= std::max<uint64_t>(1, extent);
    shape.extents.push_back(extent);
  }
  return shape;
}

inline std::vector<size_t> arbitrary_order(number_source& numbers, size_t size) {
  std::vector<size_t> order(size);
  for (size_t i = 0; i < size; ++i) order[i] = i;
  for (size_t i = size; i > 1; --i) std::swap(order[i - 1], order[numbers.below(i)]);
  return order;
}

// A copy between two arrays, as programs do it: padded, perhaps permuted, reversed or broadcast.
inline random_shape arbitrary_array_copy(number_source& numbers) {
  random_shape shape = arbitrary_extents(numbers);
  const size_t rank = shape.extents.size();
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = i;
  shape.destination_strides_bytes = array_strides(numbers, shape, order);
  if (numbers.one_in(3)) order = arbitrary_order(numbers, rank);
  shape.source_strides_bytes = array_strides(numbers, shape, order);
  for (size_t i = 0; i < rank; ++i) {
    if (numbers.one_in(8)) shape.source_strides_bytes[i] = 0;
    if (numbers.one_in(8)) shape.source_strides_bytes[i] *= -1;
    if (numbers.one_in(8)) shape.destination_strides_bytes[i] *= -1;
  }
  return shape;
}

// Any small strides at all: most of them overlap, some interleave without overlapping.
inline random_shape arbitrary_wild_copy(number_source& numbers) {
  random_shape shape = arbitrary_extents(numbers);
  for (size_t i = 0; i < shape.extents.size(); ++i) {
    shape.source_strides_bytes.push_back(static_cast<int64_t>(numbers.below(41)) - 20);
    shape.destination_strides_bytes.push_back(static_cast<int64_t>(numbers.below(121)) - 60);
  }
  return shape;
}

inline random_shape arbitrary_copy(number_source& numbers) {
  random_shape shape =
      numbers.one_in(4) ? arbitrary_wild_copy(numbers) : arbitrary_array_copy(numbers);
  if (numbers.one_in(3)) shape.region_limit_bytes = 1 + numbers.below(100);
  return shape;
}

}  // namespace zevent
