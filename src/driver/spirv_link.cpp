#include "driver/spirv_link.hpp"

#include <algorithm>
#include <map>
#include <spirv-tools/linker.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

// The linker knows imports and exports only: the first definition of a symbol that may be defined
// several times becomes its export, later ones become imports, without their bodies.
class once_symbols {
 public:
  void keep_first(binary& module) {
    const module_index index(module);
    std::unordered_set<id> repeated;
    for (instruction& each : module.instructions) {
      if (each.opcode != spv::OpDecorate || each.operands[1] != spv::DecorationLinkageAttributes ||
          each.operands.back() != spv::LinkageTypeLinkOnceODR) {
        continue;
      }
      const bool is_first = seen_.insert(each.string_at(2)).second;
      each.operands.back() = is_first ? spv::LinkageTypeExport : spv::LinkageTypeImport;
      if (!is_first) repeated.insert(each.operands[0]);
    }
    if (!repeated.empty()) remove_bodies(module, repeated);
  }

 private:
  static void remove_bodies(binary& module, const std::unordered_set<id>& functions) {
    bool inside = false;
    std::erase_if(module.instructions, [&](instruction& each) {
      if (each.opcode == spv::OpFunction) inside = functions.contains(each.result);
      if (each.opcode == spv::OpVariable && functions.contains(each.result)) {
        each.operands.resize(1);  // an imported variable has no initialiser
        each.id_operands.clear();
      }
      return inside && each.opcode != spv::OpFunction && each.opcode != spv::OpFunctionParameter &&
             each.opcode != spv::OpFunctionEnd;
    });
    move_declarations_up(module);
  }

  // Functions without a body come before those with one.
  static void move_declarations_up(binary& module) {
    std::vector<instruction> head, declarations, definitions;
    std::vector<instruction> current;
    bool has_body = false;
    bool in_functions = false;
    for (instruction& each : module.instructions) {
      in_functions = in_functions || each.opcode == spv::OpFunction;
      if (!in_functions) {
        head.push_back(std::move(each));
        continue;
      }
      const spv::Op opcode = each.opcode;
      has_body = has_body || opcode == spv::OpLabel;
      current.push_back(std::move(each));
      if (opcode != spv::OpFunctionEnd) continue;
      auto& target = has_body ? definitions : declarations;
      std::move(current.begin(), current.end(), std::back_inserter(target));
      current.clear();
      has_body = false;
    }
    std::move(declarations.begin(), declarations.end(), std::back_inserter(head));
    std::move(definitions.begin(), definitions.end(), std::back_inserter(head));
    module.instructions = std::move(head);
  }

  std::unordered_set<std::string> seen_;
};

// Each module has its own variable for where a work-item is. The kernel compiler knows such a
// variable by its name, of which there can be one: the first stands for all.
void merge_builtins(binary& module) {
  const module_index index(module);
  std::map<std::pair<uint32_t, id>, id> first;  // by what it tells and its type
  std::unordered_map<id, id> replaced;
  for (const instruction& each : module.instructions) {
    if (each.opcode == spv::OpFunction) break;
    if (each.opcode != spv::OpVariable) continue;
    const decoration* builtin = index.find_decoration(each.result, spv::DecorationBuiltIn);
    if (builtin == nullptr || builtin->literals.empty()) continue;
    const auto [known, is_new] = first.try_emplace({builtin->literals[0], each.type}, each.result);
    if (!is_new) replaced.emplace(each.result, known->second);
  }
  if (replaced.empty()) return;
  std::erase_if(module.instructions, [&](const instruction& each) {
    switch (each.opcode) {
      case spv::OpVariable:
        return replaced.contains(each.result);
      case spv::OpName:
      case spv::OpDecorate:
        return replaced.contains(each.operands[0]);
      default:
        return false;
    }
  });
  for (instruction& each : module.instructions) {
    each.for_each_id([&](id& used) {
      const auto found = replaced.find(used);
      if (found != replaced.end()) used = found->second;
    });
  }
}

}  // namespace

zevent::result<binary> link(std::span<const binary> modules) {
  uint32_t newest = 0;
  for (const binary& each : modules) newest = std::max(newest, each.version());
  once_symbols once;
  std::vector<std::vector<uint32_t>> inputs;
  for (binary each : modules) {
    each.set_version(newest);
    once.keep_first(each);
    inputs.push_back(each.write());
  }
  std::string messages;
  spvtools::Context context(SPV_ENV_UNIVERSAL_1_6);
  context.SetMessageConsumer(
      [&](spv_message_level_t level, const char*, const spv_position_t&, const char* message) {
        if (level <= SPV_MSG_ERROR) messages += fmt::format("{}\n", message);
      });
  spvtools::LinkerOptions options;
  options.SetCreateLibrary(true);  // exports stay known by name
  options.SetAllowPartialLinkage(true);
  std::vector<uint32_t> linked;
  if (spvtools::Link(context, inputs, &linked, options) != SPV_SUCCESS) {
    return fail("the modules cannot be linked: {}", messages);
  }
  auto whole = binary::parse(std::span<const uint32_t>(linked));
  if (whole) merge_builtins(*whole);
  return whole;
}

void remove_kernels(binary& module) {
  std::erase_if(module.instructions, [](const instruction& each) {
    return each.opcode == spv::OpEntryPoint || each.opcode == spv::OpExecutionMode ||
           each.opcode == spv::OpExecutionModeId;
  });
}

}  // namespace zevent::driver::spirv
