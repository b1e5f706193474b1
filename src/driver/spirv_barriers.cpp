#include "driver/spirv_barriers.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace zevent::driver::spirv {

std::unordered_set<id> find_functions_with_barriers(const binary& module) {
  std::unordered_set<id> found;
  std::unordered_map<id, std::vector<id>> callers;
  std::vector<id> pending;
  id function = 0;
  for (const instruction& each : module.instructions) {
    switch (each.opcode) {
      case spv::OpFunction:
        function = each.result;
        break;
      case spv::OpFunctionCall:
        callers[each.operands[0]].push_back(function);
        break;
      case spv::OpControlBarrier:
      case spv::OpFunctionPointerCallINTEL:
        if (found.insert(function).second) pending.push_back(function);
        break;
      default:
        break;
    }
  }
  while (!pending.empty()) {
    const id called = pending.back();
    pending.pop_back();
    for (const id each : callers[called])
      if (found.insert(each).second) pending.push_back(each);
  }
  return found;
}

void drop_restrict_across_barriers(binary& module) {
  const auto with_barriers = find_functions_with_barriers(module);
  if (with_barriers.empty()) return;
  std::unordered_set<id> parameters;
  id function = 0;
  for (const instruction& each : module.instructions) {
    if (each.opcode == spv::OpFunction) function = each.result;
    if (each.opcode == spv::OpFunctionParameter && with_barriers.contains(function))
      parameters.insert(each.result);
  }
  std::erase_if(module.instructions, [&](const instruction& each) {
    return each.opcode == spv::OpDecorate && each.operands.size() > 2 &&
           each.operands[1] == spv::DecorationFuncParamAttr &&
           each.operands[2] == spv::FunctionParameterAttributeNoAlias &&
           parameters.contains(each.operands[0]);
  });
}

}  // namespace zevent::driver::spirv
