#include "driver/spirv_item_builtins.hpp"

#include <algorithm>
#include <iterator>

#include "driver/work_item.hpp"

namespace zevent::driver::spirv {
namespace {

using enum builtin_shape;

constexpr item_builtin known_builtins[] = {
    {spv::BuiltInGlobalInvocationId, offsetof(work_item, global_id), three_numbers, false},
    {spv::BuiltInLocalInvocationId, offsetof(work_item, local_id), three_numbers, false},
    {spv::BuiltInWorkgroupId, offsetof(work_item, group_id), three_numbers, false},
    {spv::BuiltInGlobalSize, offsetof(work_item, global_size), three_numbers, false},
    {spv::BuiltInWorkgroupSize, offsetof(work_item, group_size), three_numbers, false},
    {spv::BuiltInEnqueuedWorkgroupSize, offsetof(work_item, group_size), three_numbers, false},
    {spv::BuiltInNumWorkgroups, offsetof(work_item, group_count), three_numbers, false},
    {spv::BuiltInGlobalOffset, offsetof(work_item, global_offset), three_numbers, false},
    {spv::BuiltInGlobalLinearId, offsetof(work_item, global_linear_id), number, false},
    {spv::BuiltInLocalInvocationIndex, offsetof(work_item, local_linear_id), number, false},
    {spv::BuiltInWorkDim, offsetof(work_item, dimensions), number, false},
    {spv::BuiltInSubgroupSize, offsetof(work_item, sub_group_size), number, true},
    {spv::BuiltInSubgroupMaxSize, offsetof(work_item, largest_sub_group_size), number, true},
    {spv::BuiltInNumSubgroups, offsetof(work_item, sub_group_count), number, true},
    {spv::BuiltInNumEnqueuedSubgroups, offsetof(work_item, sub_group_count), number, true},
    {spv::BuiltInSubgroupId, offsetof(work_item, sub_group_id), number, true},
    {spv::BuiltInSubgroupLocalInvocationId, offsetof(work_item, lane), number, true},
    {spv::BuiltInSubgroupEqMask, offsetof(work_item, equal_mask), mask, true},
    {spv::BuiltInSubgroupGeMask, offsetof(work_item, greater_equal_mask), mask, true},
    {spv::BuiltInSubgroupGtMask, offsetof(work_item, greater_mask), mask, true},
    {spv::BuiltInSubgroupLeMask, offsetof(work_item, less_equal_mask), mask, true},
    {spv::BuiltInSubgroupLtMask, offsetof(work_item, less_mask), mask, true},
};

}  // namespace

const item_builtin* find_item_builtin(spv::BuiltIn wanted) {
  const auto found = std::find_if(std::begin(known_builtins), std::end(known_builtins),
                                  [&](const item_builtin& each) { return each.builtin == wanted; });
  return found != std::end(known_builtins) ? found : nullptr;
}

bool has_shape(const module_index& index, id type, builtin_shape wanted) {
  const instruction* found = index.definition(type);
  if (found == nullptr) return false;
  if (wanted == number) {
    return found->opcode == spv::OpTypeInt &&
           (found->operands[0] == 32 || found->operands[0] == 64);
  }
  if (found->opcode != spv::OpTypeVector) return false;
  const instruction* component = index.definition(found->operands[0]);
  if (component == nullptr || component->opcode != spv::OpTypeInt) return false;
  if (wanted == mask) return found->operands[1] == 4 && component->operands[0] == 32;
  return found->operands[1] == 3 && component->operands[0] == 64;
}

}  // namespace zevent::driver::spirv
