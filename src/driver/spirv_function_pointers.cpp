#include "driver/spirv_function_pointers.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

bool uses_function_pointers(const binary& module) {
  return std::any_of(module.instructions.begin(), module.instructions.end(),
                     [](const instruction& each) {
                       return each.opcode == spv::OpCapability &&
                              each.operands[0] == spv::CapabilityFunctionPointersINTEL;
                     });
}

instruction make_entry_point(id function, const std::string& name) {
  instruction made = make_literal_instruction(
      spv::OpEntryPoint, 0, 0, {static_cast<uint32_t>(spv::ExecutionModelKernel), function});
  made.id_operands = {1};
  instruction::append_string(made.operands, name);
  return made;
}

}  // namespace

std::vector<address_kernel> add_address_kernels(binary& module) {
  std::vector<address_kernel> added;
  if (!uses_function_pointers(module)) return added;
  const module_index index(module);
  module_scope scope(module);
  scope.begin_functions();
  const id nothing = scope.type(spv::OpTypeVoid, {});
  const id address_type = scope.integer_type(64);
  const id out_type = scope.pointer_type(spv::StorageClassCrossWorkgroup, address_type);
  const id truth = scope.type(spv::OpTypeBool, {});
  const id kernel_type = scope.type(spv::OpTypeFunction, {nothing, out_type});

  std::vector<instruction> entry_points, kernels;
  for (const instruction& each : module.instructions) {
    if (each.opcode != spv::OpFunction) continue;
    const module_index::linkage* linkage = index.find_linkage(each.result);
    if (linkage == nullptr || linkage->type == spv::LinkageTypeImport) continue;
    if (index.opcode_of(each.operands[1]) != spv::OpTypeFunction) continue;
    const id pointer_type = scope.pointer_type(spv::StorageClassFunction, each.operands[1]);
    const id pointer =
        scope.constant(spv::OpConstantFunctionPointerINTEL, pointer_type, {each.result}, true);
    const id kernel = module.new_id();
    std::string name = fmt::format("zf{}", added.size());
    entry_points.push_back(make_entry_point(kernel, name));
    const auto add = [&](spv::Op opcode, id type, std::vector<uint32_t> ids) {
      const id result = type != 0 || opcode == spv::OpLabel ? module.new_id() : 0;
      kernels.push_back(make_instruction(opcode, type, result, std::move(ids)));
      return result;
    };
    instruction function = make_literal_instruction(spv::OpFunction, nothing, kernel,
                                                    {spv::FunctionControlMaskNone, kernel_type});
    function.id_operands = {1};
    kernels.push_back(std::move(function));
    const id out = add(spv::OpFunctionParameter, out_type, {});
    add(spv::OpLabel, 0, {});
    add(spv::OpStore, 0, {out, add(spv::OpConvertPtrToU, address_type, {pointer})});
    // The kernel compiler leaves out functions that nobody calls: so this one is called, never.
    const id where = add(spv::OpConvertPtrToU, address_type, {out});
    const id is_null = add(spv::OpIEqual, truth, {where, scope.integer_constant(64, 0)});
    const id call_block = module.new_id();
    const id end_block = module.new_id();
    add(spv::OpBranchConditional, 0, {is_null, call_block, end_block});
    kernels.push_back(make_instruction(spv::OpLabel, 0, call_block, {}));
    const instruction& type = *index.definition(each.operands[1]);
    std::vector<uint32_t> call = {each.result};
    for (size_t i = 1; i < type.operands.size(); ++i) {
      call.push_back(scope.constant(spv::OpUndef, type.operands[i], {}, true));
    }
    add(spv::OpFunctionCall, each.type, std::move(call));
    add(spv::OpBranch, 0, {end_block});
    kernels.push_back(make_instruction(spv::OpLabel, 0, end_block, {}));
    add(spv::OpReturn, 0, {});
    add(spv::OpFunctionEnd, 0, {});
    added.push_back({linkage->name, std::move(name)});
  }
  module.instructions.insert(module.instructions.end(), kernels.begin(), kernels.end());
  scope.flush();
  const auto memory_model =
      std::find_if(module.instructions.begin(), module.instructions.end(),
                   [](const instruction& each) { return each.opcode == spv::OpMemoryModel; });
  if (memory_model != module.instructions.end()) {
    module.instructions.insert(memory_model + 1, entry_points.begin(), entry_points.end());
  }
  return added;
}

void inline_calls_of_pointers(binary& module) {
  if (!module.calls_opencl_function(OpenCLLIB::Printf)) return;
  std::unordered_map<id, std::vector<id>> callers;
  std::unordered_set<id> inlined;
  std::vector<id> pending;
  id current = 0;
  for (const instruction& each : module.instructions) {
    if (each.opcode == spv::OpFunction) current = each.result;
    if (each.opcode == spv::OpFunctionCall) callers[each.operands[0]].push_back(current);
    if (each.opcode == spv::OpFunctionPointerCallINTEL && inlined.insert(current).second) {
      pending.push_back(current);
    }
  }
  while (!pending.empty()) {
    const id callee = pending.back();
    pending.pop_back();
    for (const id caller : callers[callee]) {
      if (inlined.insert(caller).second) pending.push_back(caller);
    }
  }
  for (instruction& each : module.instructions) {
    if (each.opcode == spv::OpEntryPoint) inlined.erase(each.operands[1]);
    if (each.opcode == spv::OpFunction && inlined.contains(each.result)) {
      each.operands[0] |= uint32_t{spv::FunctionControlInlineMask};
    }
  }
}

}  // namespace zevent::driver::spirv
