#pragma once

#include <cstddef>
#include <optional>

#include "driver/spirv_types.hpp"
#include "driver/work_item.hpp"

namespace zevent::driver::spirv {

// An instruction that work-items of a group do together, and which of its operands are what.
struct group_call {
  static constexpr size_t none = static_cast<size_t>(-1);

  group_operation operation;  // without what the type of the value says
  size_t scope = none;        // none: sub-group
  size_t value = none;
  size_t second_value = none;
  size_t number = none;  // lane, distance or mask
  size_t cluster = none;
};

// Nothing where the instruction is no such thing. Barriers and copies are not among them, for they
// alone do not keep the work-items of a group from running one after the other.
std::optional<group_call> find_group_call(const instruction& each);

// The scope that an operand names; sub-group if it names none.
spv::Scope scope_at(const module_index& index, const instruction& each, size_t operand);

}  // namespace zevent::driver::spirv
