#include "driver/spirv_reflect.hpp"

#include <fmt/format.h>

#include <spirv/unified1/OpenCL.std.h>
#include <unordered_map>

namespace zevent::driver::spirv {
namespace {

bool is_passed_by_value(const module_index& index, id parameter) {
  for (const decoration& each : index.decorations(parameter)) {
    if (each.kind == spv::DecorationFuncParamAttr && !each.literals.empty() &&
        each.literals[0] == spv::FunctionParameterAttributeByVal) {
      return true;
    }
  }
  return false;
}

result<kernel_argument> value_argument(const module_index& index, id type) {
  const auto found = index.layout_of(type);
  if (!found) return tl::unexpected(found.error());
  return kernel_argument{argument_kind::value, found->size_bytes, found->alignment_bytes};
}

result<kernel_argument> reflect_argument(const module_index& index, const instruction& parameter) {
  const instruction* type = index.definition(parameter.type);
  if (type == nullptr) return fail("a parameter has an undefined type");
  kernel_argument argument{argument_kind::opaque, 8, 8};
  switch (type->opcode) {
    case spv::OpTypePointer:
      switch (type->operands[0]) {
        case spv::StorageClassFunction:
          if (is_passed_by_value(index, parameter.result)) {
            return value_argument(index, type->operands[1]);
          }
          break;
        case spv::StorageClassWorkgroup:
          argument.kind = argument_kind::local_pointer;
          break;
        case spv::StorageClassCrossWorkgroup:
        case spv::StorageClassUniformConstant:
        case spv::StorageClassGeneric:
          argument.kind = argument_kind::pointer;
          break;
        default:
          break;
      }
      return argument;
    case spv::OpTypeImage:
      argument.kind = argument_kind::image;
      return argument;
    case spv::OpTypeSampler:
      argument.kind = argument_kind::sampler;
      return argument;
    case spv::OpTypeBool:
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
    case spv::OpTypeVector:
    case spv::OpTypeArray:
    case spv::OpTypeStruct:
      return value_argument(index, parameter.type);
    default:
      return argument;
  }
}

void add_attribute(kernel_signature& kernel, const std::string& attribute) {
  if (!kernel.attributes.empty()) kernel.attributes += ' ';
  kernel.attributes += attribute;
}

void apply_execution_mode(const module_index& index, kernel_signature& kernel,
                          const instruction& mode) {
  // Modes with three sizes carry them as literals or, in the ...Id form, as constants.
  const auto size = [&](size_t axis) -> uint32_t {
    if (mode.operands.size() < 5) return 0;
    if (mode.opcode == spv::OpExecutionModeId) {
      return static_cast<uint32_t>(index.integer_constant(mode.operands[2 + axis]).value_or(0));
    }
    return mode.operands[2 + axis];
  };
  switch (mode.operands[1]) {
    case spv::ExecutionModeLocalSize:
    case spv::ExecutionModeLocalSizeId:
      kernel.required_group_size = {size(0), size(1), size(2)};
      add_attribute(kernel,
                    fmt::format("reqd_work_group_size({},{},{})", size(0), size(1), size(2)));
      break;
    case spv::ExecutionModeLocalSizeHint:
    case spv::ExecutionModeLocalSizeHintId:
      add_attribute(kernel,
                    fmt::format("work_group_size_hint({},{},{})", size(0), size(1), size(2)));
      break;
    case spv::ExecutionModeSubgroupSize:
      if (mode.operands.size() < 3) break;
      kernel.required_subgroup_size = mode.operands[2];
      add_attribute(kernel, fmt::format("intel_reqd_sub_group_size({})", mode.operands[2]));
      break;
    case spv::ExecutionModeSubgroupsPerWorkgroup:
      if (mode.operands.size() < 3) break;
      kernel.required_subgroup_count = mode.operands[2];
      break;
    case spv::ExecutionModeVecTypeHint: {
      if (mode.operands.size() < 3) break;
      // High half: number of components; low half: data type, in the order of the specification.
      static constexpr const char* types[] = {"char", "short", "int",   "long",
                                              "half", "float", "double"};
      const uint32_t components = mode.operands[2] >> 16;
      const uint32_t type = mode.operands[2] & 0xffff;
      if (type >= std::size(types)) break;
      add_attribute(kernel, fmt::format("vec_type_hint({}{})", types[type],
                                        components > 1 ? std::to_string(components) : ""));
      break;
    }
    default:
      break;
  }
}

result<std::vector<spec_constant>> reflect_spec_constants(const binary& module,
                                                          const module_index& index) {
  std::vector<spec_constant> constants;
  for (const instruction& each : module.instructions) {
    if (each.opcode != spv::OpSpecConstant && each.opcode != spv::OpSpecConstantTrue &&
        each.opcode != spv::OpSpecConstantFalse) {
      continue;
    }
    const decoration* spec_id = index.find_decoration(each.result, spv::DecorationSpecId);
    if (spec_id == nullptr || spec_id->literals.empty()) continue;
    const auto type = index.layout_of(each.type);
    if (!type) return tl::unexpected(type.error());
    constants.push_back({spec_id->literals[0], type->size_bytes});
  }
  return constants;
}

}  // namespace

result<module_signature> reflect(const binary& module) {
  const module_index index(module);
  module_signature signature;
  std::unordered_map<id, size_t> kernel_of_function;

  for (const instruction& each : module.instructions) {
    if (each.opcode == spv::OpEntryPoint && each.operands[0] == spv::ExecutionModelKernel) {
      kernel_signature kernel;
      kernel.function = each.operands[1];
      kernel.name = each.string_at(2);
      kernel_of_function[kernel.function] = signature.kernels.size();
      signature.kernels.push_back(std::move(kernel));
    } else if (each.opcode == spv::OpExecutionMode || each.opcode == spv::OpExecutionModeId) {
      const auto kernel = kernel_of_function.find(each.operands[0]);
      if (kernel != kernel_of_function.end()) {
        apply_execution_mode(index, signature.kernels[kernel->second], each);
      }
    }
  }

  kernel_signature* current = nullptr;
  for (const instruction& each : module.instructions) {
    if (each.opcode == spv::OpFunction) {
      const auto kernel = kernel_of_function.find(each.result);
      current = kernel != kernel_of_function.end() ? &signature.kernels[kernel->second] : nullptr;
    } else if (each.opcode == spv::OpFunctionParameter && current != nullptr) {
      auto argument = reflect_argument(index, each);
      if (!argument) {
        return fail("argument {} of kernel {}: {}", current->arguments.size(), current->name,
                    argument.error().message);
      }
      current->arguments.push_back(*argument);
    }
    const bool is_function = each.opcode == spv::OpFunction;
    if (!is_function && each.opcode != spv::OpVariable) continue;
    const module_index::linkage* linkage = index.find_linkage(each.result);
    if (linkage == nullptr) continue;
    if (linkage->type != spv::LinkageTypeImport) {
      signature.exports.push_back({linkage->name, is_function});
    } else if (index.find_decoration(each.result, spv::DecorationBuiltIn) == nullptr) {
      signature.imports.push_back({linkage->name, is_function});
    }
  }

  auto constants = reflect_spec_constants(module, index);
  if (!constants) return tl::unexpected(constants.error());
  signature.spec_constants = std::move(*constants);
  signature.uses_printf = module.calls_opencl_function(OpenCLLIB::Printf);
  return signature;
}

}  // namespace zevent::driver::spirv
