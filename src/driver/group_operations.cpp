#include "driver/group_operations.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "driver/half_float.hpp"

namespace zevent::driver {
namespace {

template <typename T>
T read(const work_item::value& value, size_t component = 0) {
  T number;
  std::memcpy(&number, value.data() + component * sizeof(T), sizeof(T));
  return number;
}

template <typename T>
void write(work_item::value& value, size_t component, T number) {
  std::memcpy(value.data() + component * sizeof(T), &number, sizeof(T));
}

// The standard's own fence is not compiled where threads are sanitized.
void fence_memory() {
  __sync_synchronize();
}

void answer(work_item& item, uint32_t number) {
  write(item.outcome, 0, number);
}

// Half-precision numbers are computed with as floats, and rounded after each step.
struct half {
  uint16_t bits;
};

template <typename T>
struct wide {
  using type = T;
  static T in(T number) { return number; }
  static T out(T number) { return number; }
};
template <>
struct wide<half> {
  using type = float;
  static float in(half number) { return half_to_float(number.bits); }
  static half out(float number) { return {float_to_half(number)}; }
};

template <typename T>
T identity(group_computation computation) {
  constexpr bool is_floating = std::is_floating_point_v<T>;
  using limits = std::numeric_limits<T>;
  switch (computation) {
    case group_computation::multiply:
      return T{1};
    case group_computation::least:
      return is_floating ? limits::infinity() : limits::max();
    case group_computation::greatest:
      return is_floating ? -limits::infinity() : limits::min();
    case group_computation::bit_and:
      if constexpr (!is_floating) return static_cast<T>(~T{0});
      return T{};
    default:
      return T{};
  }
}

template <typename T>
T combine(group_computation computation, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (computation) {
      case group_computation::add:
        return a + b;
      case group_computation::multiply:
        return a * b;
      case group_computation::least:
        return std::fmin(a, b);
      case group_computation::greatest:
        return std::fmax(a, b);
      default:
        return a;
    }
  } else {
    // Sums and products go round, whatever the sign.
    using natural = std::make_unsigned_t<T>;
    const auto natural_a = uint64_t{static_cast<natural>(a)};
    const auto natural_b = uint64_t{static_cast<natural>(b)};
    switch (computation) {
      case group_computation::add:
        return static_cast<T>(natural_a + natural_b);
      case group_computation::multiply:
        return static_cast<T>(natural_a * natural_b);
      case group_computation::least:
        return std::min(a, b);
      case group_computation::greatest:
        return std::max(a, b);
      case group_computation::bit_and:
        return static_cast<T>(a & b);
      case group_computation::bit_or:
        return static_cast<T>(a | b);
      case group_computation::bit_xor:
        return static_cast<T>(a ^ b);
    }
    return a;
  }
}

template <typename T>
void compute_component(const group_operation& operation, std::span<work_item* const> present,
                       size_t component) {
  using number = wide<T>;
  const auto step = [&](T total, T next) {
    return number::out(combine(operation.computation, number::in(total), number::in(next)));
  };
  T total = number::out(identity<typename number::type>(operation.computation));
  bool is_first = true;
  for (work_item* each : present) {
    const T own = read<T>(each->given, component);
    if (operation.extent == group_extent::exclusive_scan) write(each->outcome, component, total);
    total = is_first ? own : step(total, own);
    is_first = false;
    if (operation.extent == group_extent::inclusive_scan) write(each->outcome, component, total);
  }
  if (operation.extent != group_extent::reduce &&
      operation.extent != group_extent::clustered_reduce) {
    return;
  }
  for (work_item* each : present) write(each->outcome, component, total);
}

template <typename T>
void compute_all(const group_operation& operation, std::span<work_item* const> present) {
  for (size_t i = 0; i < operation.components; ++i) compute_component<T>(operation, present, i);
}

void compute_numbers(const group_operation& operation, std::span<work_item* const> present) {
  switch (operation.kind) {
    case number_kind::natural:
      switch (operation.element_bytes) {
        case 1:
          return compute_all<uint8_t>(operation, present);
        case 2:
          return compute_all<uint16_t>(operation, present);
        case 4:
          return compute_all<uint32_t>(operation, present);
        default:
          return compute_all<uint64_t>(operation, present);
      }
    case number_kind::integer:
      switch (operation.element_bytes) {
        case 1:
          return compute_all<int8_t>(operation, present);
        case 2:
          return compute_all<int16_t>(operation, present);
        case 4:
          return compute_all<int32_t>(operation, present);
        default:
          return compute_all<int64_t>(operation, present);
      }
    case number_kind::floating:
      switch (operation.element_bytes) {
        case 2:
          return compute_all<half>(operation, present);
        case 4:
          return compute_all<float>(operation, present);
        default:
          return compute_all<double>(operation, present);
      }
  }
}

void compute_in_clusters(const group_operation& operation, std::span<work_item* const> present) {
  if (operation.extent != group_extent::clustered_reduce) {
    return compute_numbers(operation, present);
  }
  const uint64_t size = std::max<uint64_t>(present.front()->operands[1], 1);
  auto first = present.begin();
  while (first != present.end()) {
    const uint64_t cluster = (*first)->lane / size;
    const auto last = std::find_if(first, present.end(),
                                   [&](work_item* each) { return each->lane / size != cluster; });
    compute_numbers(operation, {first, last});
    first = last;
  }
}

uint64_t position_of(const group_operation& operation, const work_item& item) {
  return operation.is_of_whole_group ? item.local_linear_id : item.lane;
}

// Who has that position among those present, who are in order of it; null when nobody has.
const work_item* find_present(const group_operation& operation, std::span<work_item* const> present,
                              uint64_t position) {
  // Usually all are there.
  if (position < present.size() && position_of(operation, *present[position]) == position) {
    return present[position];
  }
  const auto found = std::lower_bound(
      present.begin(), present.end(), position,
      [&](work_item* each, uint64_t wanted) { return position_of(operation, *each) < wanted; });
  if (found == present.end() || position_of(operation, **found) != position) return nullptr;
  return *found;
}

// Whose value a work-item asks for.
uint64_t asked_position(const group_operation& operation, const work_item& item) {
  const uint64_t lane = position_of(operation, item);
  const uint64_t number =
      operation.is_of_whole_group ? item.operands[0] : static_cast<uint32_t>(item.operands[0]);
  switch (operation.act) {
    case group_act::broadcast:
      if (!operation.is_of_whole_group) return number;
      return (item.operands[2] * item.group_size[1] + item.operands[1]) * item.group_size[0] +
             item.operands[0];
    case group_act::shuffle:
      return number;
    case group_act::shuffle_xor:
      return lane ^ number;
    case group_act::shuffle_up:
      return lane - number;
    case group_act::shuffle_down:
      return lane + number;
    case group_act::rotate: {
      const uint64_t cluster = item.operands[1];
      const uint64_t size = cluster != 0 ? cluster : item.largest_sub_group_size;
      return lane / size * size + (lane + number) % size;
    }
    case group_act::quad_broadcast:
      return lane / 4 * 4 + number % 4;
    case group_act::quad_swap:
      return lane ^ (number % 3 + 1);  // across, down, to the opposite corner
    default:
      return lane;
  }
}

void exchange(const group_operation& operation, std::span<work_item* const> present) {
  const size_t bytes = operation.value_bytes();
  for (work_item* each : present) {
    const work_item* source =
        operation.act == group_act::broadcast_first
            ? present.front()
            : find_present(operation, present, asked_position(operation, *each));
    if (source == nullptr) source = each;
    std::memcpy(each->outcome.data(), source->given.data(), bytes);
  }
}

// Two values a lane, one sub-group after the other, and a window that slides over them.
void exchange_pairs(const group_operation& operation, std::span<work_item* const> present) {
  const size_t bytes = operation.value_bytes();
  for (work_item* each : present) {
    const uint64_t size = each->largest_sub_group_size;
    const auto number = static_cast<uint32_t>(each->operands[0]);
    const uint64_t place = operation.act == group_act::shuffle_pair_down
                               ? each->lane + number
                               : each->lane + size - number;
    const work_item* source = find_present(operation, present, place % size);
    if (source == nullptr || place >= 2 * size) source = each;
    const auto& taken = place < size ? source->given : source->also_given;
    std::memcpy(each->outcome.data(), taken.data(), bytes);
  }
}

void vote(const group_operation& operation, std::span<work_item* const> present) {
  const auto says_yes = [](const work_item* each) { return read<uint32_t>(each->given) != 0; };
  const bool outcome = operation.act == group_act::all
                           ? std::all_of(present.begin(), present.end(), says_yes)
                           : std::any_of(present.begin(), present.end(), says_yes);
  for (work_item* each : present) answer(*each, outcome ? 1 : 0);
}

template <typename T>
bool are_equal(const group_operation& operation, const work_item& a, const work_item& b) {
  for (size_t i = 0; i < operation.components; ++i) {
    if (wide<T>::in(read<T>(a.given, i)) != wide<T>::in(read<T>(b.given, i))) return false;
  }
  return true;
}

bool are_equal(const group_operation& operation, const work_item& a, const work_item& b) {
  if (operation.kind != number_kind::floating) {
    return std::memcmp(a.given.data(), b.given.data(), operation.value_bytes()) == 0;
  }
  if (operation.element_bytes == 2) return are_equal<half>(operation, a, b);
  if (operation.element_bytes == 4) return are_equal<float>(operation, a, b);
  return are_equal<double>(operation, a, b);
}

void compare(const group_operation& operation, std::span<work_item* const> present) {
  const bool outcome = std::all_of(present.begin(), present.end(), [&](const work_item* each) {
    return are_equal(operation, *present.front(), *each);
  });
  for (work_item* each : present) answer(*each, outcome ? 1 : 0);
}

void cast_ballot(std::span<work_item* const> present) {
  work_item::lane_mask mask{};
  for (const work_item* each : present) {
    if (read<uint32_t>(each->given) == 0 || each->lane >= 128) continue;
    mask[each->lane / 32] |= uint32_t{1} << each->lane % 32;
  }
  for (work_item* each : present) std::memcpy(each->outcome.data(), mask.data(), sizeof(mask));
}

void copy_elements(const group_operation& operation, const work_item& item) {
  const auto [target, source, count, target_stride, source_stride] = item.operands;
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(reinterpret_cast<void*>(target + i * target_stride * operation.element_bytes),
                reinterpret_cast<const void*>(source + i * source_stride * operation.element_bytes),
                operation.element_bytes);
  }
}

}  // namespace

void perform_together(const group_operation& operation, std::span<work_item* const> present) {
  switch (operation.act) {
    case group_act::barrier:
      return fence_memory();
    case group_act::all:
    case group_act::any:
      return vote(operation, present);
    case group_act::all_equal:
      return compare(operation, present);
    case group_act::elect:
      for (work_item* each : present) answer(*each, each == present.front() ? 1 : 0);
      return;
    case group_act::ballot:
      return cast_ballot(present);
    case group_act::shuffle_pair_up:
    case group_act::shuffle_pair_down:
      return exchange_pairs(operation, present);
    case group_act::compute:
      return compute_in_clusters(operation, present);
    case group_act::copy:
      return copy_elements(operation, *present.front());
    default:
      return exchange(operation, present);
  }
}

void perform_alone(const group_operation& operation, work_item& item) {
  const auto mask = read<work_item::lane_mask>(item.given);
  const auto has = [&](uint64_t lane) { return (mask[lane / 32 % 4] >> lane % 32 & 1) != 0; };
  // Lanes that the sub-group does not have do not count.
  const uint64_t lanes = std::min<uint64_t>(item.largest_sub_group_size, 128);
  uint32_t outcome = 0;
  switch (operation.act) {
    case group_act::fence:
      return fence_memory();
    case group_act::ballot_inverse:
      outcome = has(item.lane) ? 1 : 0;
      break;
    case group_act::ballot_bit:
      outcome = has(item.operands[0]) ? 1 : 0;
      break;
    case group_act::ballot_count: {
      uint64_t end = lanes;
      if (operation.extent == group_extent::inclusive_scan) end = item.lane + 1;
      if (operation.extent == group_extent::exclusive_scan) end = item.lane;
      for (uint64_t i = 0; i < end; ++i) outcome += has(i) ? 1 : 0;
      break;
    }
    case group_act::ballot_lowest:
      while (outcome + 1 < lanes && !has(outcome)) ++outcome;
      break;
    case group_act::ballot_highest:
      outcome = static_cast<uint32_t>(lanes) - 1;
      while (outcome > 0 && !has(outcome)) --outcome;
      break;
    default:
      break;
  }
  answer(item, outcome);
}

}  // namespace zevent::driver
