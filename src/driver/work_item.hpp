#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace zevent::driver {

struct item_launch;

// What kernels that use functions of sub-groups or groups share with the driver. The work-items of
// such a kernel run apart: the compiled function runs one of them, on a stack of its own, and finds
// here what it wants to know about itself. Where it has to do something together with others it
// writes down what it brings, calls `meet`, and finds the outcome when that returns.
//
// src/driver/spirv_groups.hpp makes kernels do so; src/driver/item_group.hpp runs them.

enum class group_act : uint8_t {
  // These are done by all who meet.
  barrier,
  all,
  any,
  all_equal,
  elect,
  ballot,
  broadcast,
  broadcast_first,
  shuffle,
  shuffle_xor,
  shuffle_up,
  shuffle_down,
  shuffle_pair_up,  // up or down in two values that follow one another
  shuffle_pair_down,
  rotate,
  quad_broadcast,
  quad_swap,
  compute,
  copy,
  // These each does by itself.
  fence,
  ballot_inverse,
  ballot_bit,
  ballot_count,
  ballot_lowest,
  ballot_highest,
};

constexpr bool is_done_alone(group_act act) {
  return act >= group_act::fence;
}

enum class group_computation : uint8_t { add, multiply, least, greatest, bit_and, bit_or, bit_xor };

// By their numbers in SPIR-V.
enum class group_extent : uint8_t { reduce, inclusive_scan, exclusive_scan, clustered_reduce };

enum class number_kind : uint8_t { natural, integer, floating };

struct group_operation {
  group_act act = group_act::barrier;
  bool is_of_whole_group = false;
  bool needs_all = false;  // it is an error if not all work-items of the sub-group come
  group_computation computation = group_computation::add;
  group_extent extent = group_extent::reduce;
  number_kind kind = number_kind::natural;
  uint8_t element_bytes = 4;  // truth values are 0 and 1 in four bytes
  uint8_t components = 1;

  bool operator==(const group_operation&) const = default;
  size_t value_bytes() const { return size_t{element_bytes} * components; }
  uint64_t encode() const { return std::bit_cast<uint64_t>(*this); }
  static group_operation decode(uint64_t code) { return std::bit_cast<group_operation>(code); }
};
static_assert(sizeof(group_operation) == sizeof(uint64_t));

// Three numbers, in memory as four.
using item_vector = std::array<uint64_t, 4>;

struct alignas(128) work_item {
  // A vector of sixteen 64-bit numbers is the largest value.
  static constexpr size_t largest_value_bytes = 128;
  static constexpr size_t longest_path = 32;
  using meet_function = void (*)(work_item* item, uint64_t operation, uint64_t path_length);
  using value = std::array<std::byte, largest_value_bytes>;

  // What a work-item brings and takes.
  alignas(128) value given{};
  alignas(128) value also_given{};
  alignas(128) value outcome{};
  // Lane, distance, mask, or the local id of whom to hear; the size of a cluster comes second. A
  // copy: target, source, count, and the distances of elements in both.
  std::array<uint64_t, 5> operands{};

  // Where in its kernel a work-item is, from the outside in: for every loop, call and operation its
  // place among its neighbours (upper half) and which time round it is (lower half). So of two
  // work-items the one with the lesser path is behind, and those with equal paths are together.
  std::array<uint64_t, longest_path> path{};

  meet_function meet = nullptr;

  // The built-in variables of SPIR-V.
  alignas(32) item_vector global_id{};
  item_vector local_id{};
  item_vector group_id{};
  item_vector global_size{};
  item_vector group_size{};
  item_vector group_count{};
  item_vector global_offset{};
  using lane_mask = std::array<uint32_t, 4>;
  lane_mask equal_mask{}, greater_equal_mask{}, greater_mask{}, less_equal_mask{}, less_mask{};
  uint64_t global_linear_id = 0;
  uint64_t local_linear_id = 0;
  uint64_t dimensions = 3;
  uint64_t sub_group_size = 0;  // of this sub-group; the last may be smaller than the others
  uint64_t largest_sub_group_size = 0;
  uint64_t sub_group_count = 0;
  uint64_t sub_group_id = 0;
  uint64_t lane = 0;

  // The driver's own.
  item_launch* launch = nullptr;
  enum class state : uint8_t { fresh, ready, waiting, finished };
  state now = state::finished;
  uint32_t stack = 0;
  group_operation operation{};  // that it waits for
  uint64_t path_length = 0;
  void* stack_pointer = nullptr;  // while it waits for its turn
};

}  // namespace zevent::driver
