#include "driver/spirv_groups.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "driver/spirv_divergence.hpp"
#include "driver/spirv_item_builtins.hpp"
#include "driver/spirv_item_function.hpp"
#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"
#include "driver/work_item.hpp"

namespace zevent::driver::spirv {
namespace {

struct function_facts {
  size_t first = 0, end = 0;  // its instructions
  bool uses_groups = false;   // it, or what it calls, does what only work-items that run apart can
  bool knows_item = false;    // it, or what it calls, has to be rewritten if they do
  bool calls_pointers = false;
  std::vector<id> callees;
};

bool is_capability_of_groups(uint32_t capability) {
  switch (capability) {
    case spv::CapabilityGroups:
    case spv::CapabilitySubgroupDispatch:
    case spv::CapabilityGroupNonUniform:
    case spv::CapabilityGroupNonUniformVote:
    case spv::CapabilityGroupNonUniformArithmetic:
    case spv::CapabilityGroupNonUniformBallot:
    case spv::CapabilityGroupNonUniformShuffle:
    case spv::CapabilityGroupNonUniformShuffleRelative:
    case spv::CapabilityGroupNonUniformClustered:
    case spv::CapabilityGroupNonUniformQuad:
    case spv::CapabilityGroupNonUniformRotateKHR:
    case spv::CapabilityGroupUniformArithmeticKHR:
    case spv::CapabilitySubgroupBallotKHR:
    case spv::CapabilitySubgroupVoteKHR:
    case spv::CapabilitySubgroupShuffleINTEL:
    case spv::CapabilitySubgroupBufferBlockIOINTEL:
      return true;
    default:
      return false;
  }
}

bool is_extension_of_groups(std::string_view name) {
  return name == "SPV_INTEL_subgroups" || name == "SPV_KHR_shader_ballot" ||
         name == "SPV_KHR_subgroup_vote" || name == "SPV_KHR_subgroup_rotate" ||
         name == "SPV_KHR_uniform_group_instructions";
}

bool is_mode_of_groups(uint32_t mode) {
  return mode == spv::ExecutionModeLocalSize || mode == spv::ExecutionModeLocalSizeId ||
         mode == spv::ExecutionModeSubgroupSize || mode == spv::ExecutionModeSubgroupsPerWorkgroup;
}

class group_lowering {
 public:
  explicit group_lowering(binary& module) : module_(module), index_(module), scope_(module) {}

  // `divergent`: functions with barriers that not all may come to.
  result<apart_functions> run(const std::unordered_set<id>& divergent) {
    find_builtins();
    find_functions();
    for (const id each : divergent) functions_[each].uses_groups = true;
    spread_facts();
    apart_functions apart;
    for (const id kernel : kernels_) {
      if (functions_[kernel].uses_groups) apart.kernels.insert(kernel);
    }
    const bool has_groups = std::any_of(functions_.begin(), functions_.end(),
                                        [](const auto& each) { return each.second.uses_groups; });
    if (!has_groups) return apart;
    if (auto status = check_pointers(apart); !status) return tl::unexpected(status.error());
    if (auto status = choose_functions(apart); !status) return tl::unexpected(status.error());
    if (auto status = rewrite(apart); !status) return tl::unexpected(status.error());
    drop_builtins();
    forget_groups(apart);
    return apart;
  }

 private:
  void find_builtins() {
    for (const instruction& each : module_.instructions) {
      if (each.opcode == spv::OpFunction) break;
      if (each.opcode == spv::OpEntryPoint && each.operands[0] == spv::ExecutionModelKernel) {
        kernels_.push_back(each.operands[1]);
      }
      if (each.opcode != spv::OpVariable) continue;
      const decoration* builtin = index_.find_decoration(each.result, spv::DecorationBuiltIn);
      if (builtin == nullptr || builtin->literals.empty()) continue;
      const instruction* type = index_.definition(each.type);
      if (type == nullptr || type->opcode != spv::OpTypePointer) continue;
      builtins_[each.result] = static_cast<spv::BuiltIn>(builtin->literals[0]);
    }
  }

  void find_functions() {
    function_facts* current = nullptr;
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const instruction& each = module_.instructions[i];
      if (each.opcode == spv::OpFunction) {
        current = &functions_[each.result];
        current->first = i;
        order_.push_back(each.result);
      }
      if (current == nullptr) {
        note_address(each);
        continue;
      }
      note_instruction(each, *current);
      if (each.opcode == spv::OpFunctionEnd) {
        current->end = i + 1;
        current = nullptr;
      }
    }
  }

  void note_instruction(const instruction& each, function_facts& facts) {
    if (each.opcode == spv::OpFunctionCall) facts.callees.push_back(each.operands[0]);
    if (each.opcode == spv::OpFunctionPointerCallINTEL) facts.calls_pointers = true;
    if (concerns_group(each)) facts.knows_item = true;
    if (is_group_operation(index_, each)) facts.uses_groups = true;
    each.for_each_id([&](id used) {
      const auto builtin = builtins_.find(used);
      if (builtin == builtins_.end()) return;
      facts.knows_item = true;
      const item_builtin* known = find_item_builtin(builtin->second);
      if (known != nullptr && known->is_of_sub_groups) facts.uses_groups = true;
    });
    if (each.opcode != spv::OpFunctionCall) note_address(each);
  }

  // Functions that are used otherwise than by calling them.
  void note_address(const instruction& each) {
    switch (each.opcode) {
      case spv::OpEntryPoint:
      case spv::OpExecutionMode:
      case spv::OpExecutionModeId:
      case spv::OpName:
      case spv::OpDecorate:
      case spv::OpDecorateId:
      case spv::OpGroupDecorate:
        return;
      default:
        break;
    }
    each.for_each_id([&](id used) {
      if (index_.opcode_of(used) == spv::OpFunction) addressed_.insert(used);
    });
  }

  // What a function does its callers do.
  void spread_facts() {
    std::unordered_map<id, std::vector<id>> callers;
    std::vector<id> pending = order_;
    for (const id each : order_) {
      for (const id callee : functions_[each].callees) callers[callee].push_back(each);
    }
    while (!pending.empty()) {
      const id each = pending.back();
      pending.pop_back();
      function_facts& facts = functions_[each];
      facts.knows_item = facts.knows_item || facts.uses_groups;
      for (const id caller : callers[each]) {
        function_facts& own = functions_[caller];
        if ((own.uses_groups || !facts.uses_groups) && (own.knows_item || !facts.knows_item) &&
            (own.calls_pointers || !facts.calls_pointers)) {
          continue;
        }
        own.uses_groups = own.uses_groups || facts.uses_groups;
        own.knows_item = own.knows_item || facts.knows_item;
        own.calls_pointers = own.calls_pointers || facts.calls_pointers;
        pending.push_back(caller);
      }
    }
  }

  // A call through a pointer cannot pass the work-item.
  result<void> check_pointers(const apart_functions& apart) {
    const bool calls_pointers =
        std::any_of(apart.kernels.begin(), apart.kernels.end(),
                    [&](id kernel) { return functions_[kernel].calls_pointers; });
    for (const id each : addressed_) {
      const function_facts& facts = functions_[each];
      if (facts.uses_groups || (facts.knows_item && calls_pointers)) {
        return fail(
            "a function that uses sub-groups, or is called by a kernel that does and asks for the "
            "place of its work-item, is called through a pointer, which is not supported");
      }
    }
    for (const instruction& each : module_.instructions) {
      if (each.opcode == spv::OpFunction) break;
      if (each.opcode != spv::OpSpecConstantOp && each.opcode != spv::OpConstantComposite) continue;
      bool is_refused = false;
      each.for_each_id([&](id used) { is_refused = is_refused || builtins_.contains(used); });
      if (is_refused) return fail("a constant is made of a built-in variable");
    }
    return {};
  }

  // All that kernels of this kind call and that has to be rewritten. What can be only theirs is
  // replaced, the rest is there twice.
  result<void> choose_functions(const apart_functions& apart) {
    std::vector<id> pending(apart.kernels.begin(), apart.kernels.end());
    std::unordered_set<id> seen(pending.begin(), pending.end());
    while (!pending.empty()) {
      const id each = pending.back();
      pending.pop_back();
      chosen_.push_back(each);
      for (const id callee : functions_[each].callees) {
        if (apart.kernels.contains(callee)) return fail("a kernel is called by a function");
        if (functions_[callee].knows_item && seen.insert(callee).second) pending.push_back(callee);
      }
    }
    std::sort(chosen_.begin(), chosen_.end());
    for (const id each : chosen_) {
      if (apart.kernels.contains(each)) continue;
      rewritten_[each] = functions_[each].uses_groups ? each : module_.new_id();
    }
    return {};
  }

  result<void> rewrite(apart_functions& apart) {
    scope_.begin_functions();
    const item_module known{index_, scope_, module_, builtins_, rewritten_};
    std::unordered_map<id, std::vector<instruction>> replacements;
    std::vector<instruction> copies;
    std::map<id, item_function> written;
    for (const id each : chosen_) {
      const function_facts& facts = functions_[each];
      const std::span<const instruction> source(&module_.instructions[facts.first],
                                                facts.end - facts.first);
      const bool is_kernel = apart.kernels.contains(each);
      auto made = write_item_function(known, source, is_kernel);
      if (!made) return tl::unexpected(made.error());
      std::vector<instruction> body = std::move(made->instructions);
      const id name = is_kernel ? each : rewritten_.at(each);
      apart.functions.insert(name);
      if (name == each) {
        replacements[each] = std::move(body);
      } else {
        rename(body, each, name);
        std::move(body.begin(), body.end(), std::back_inserter(copies));
      }
      written[each] = std::move(*made);
    }
    if (auto status = check_paths(written); !status) return status;

    std::vector<instruction> out;
    const auto add = [&](size_t first, size_t end) {
      std::move(module_.instructions.begin() + static_cast<ptrdiff_t>(first),
                module_.instructions.begin() + static_cast<ptrdiff_t>(end),
                std::back_inserter(out));
    };
    add(0, order_.empty() ? module_.instructions.size() : functions_[order_.front()].first);
    for (const id each : order_) {
      const function_facts& facts = functions_[each];
      const auto replacement = replacements.find(each);
      if (replacement != replacements.end()) {
        std::move(replacement->second.begin(), replacement->second.end(), std::back_inserter(out));
      } else if (!facts.uses_groups) {
        add(facts.first, facts.end);
      } else {
        dropped_.insert(each);  // no kernel calls it
      }
    }
    std::move(copies.begin(), copies.end(), std::back_inserter(out));
    module_.instructions = std::move(out);
    scope_.flush();
    module_.instructions.insert(first_type(), copied_decorations_.begin(),
                                copied_decorations_.end());
    return {};
  }

  std::vector<instruction>::iterator first_type() {
    return std::find_if(
        module_.instructions.begin(), module_.instructions.end(), [](const instruction& each) {
          return each.opcode >= spv::OpTypeVoid && each.opcode <= spv::OpTypeForwardPointer;
        });
  }

  // Gives new ids to all that a copy of a function defines.
  void rename(std::vector<instruction>& body, id function, id name) {
    std::unordered_map<id, id> names = {{function, name}};
    for (const instruction& each : body) {
      if (each.result != 0 && each.result != function) names[each.result] = module_.new_id();
    }
    for (instruction& each : body) {
      if (each.result != 0) each.result = names.at(each.result);
      each.for_each_id([&](id& used) {
        const auto found = names.find(used);
        if (found != names.end()) used = found->second;
      });
    }
    for (const auto& [before, now] : names) {
      for (const decoration& each : index_.decorations(before)) {
        if (each.kind == spv::DecorationLinkageAttributes) continue;
        std::vector<uint32_t> operands = {now, static_cast<uint32_t>(each.kind)};
        operands.insert(operands.end(), each.literals.begin(), each.literals.end());
        instruction copy = make_literal_instruction(spv::OpDecorate, 0, 0, std::move(operands));
        copy.id_operands = {0};
        copied_decorations_.push_back(std::move(copy));
        if (each.kind == spv::DecorationFuncParamAttr) parameters_.insert(now);
      }
    }
  }

  static result<void> check_paths(const std::map<id, item_function>& written) {
    // As many rounds as there are functions find the longest way through calls that do not come
    // back to where they were.
    std::map<id, size_t> longest;
    bool changed = true;
    while (changed) {
      changed = false;
      for (const auto& [function, facts] : written) {
        size_t length = facts.longest_path;
        for (const item_function::call& each : facts.calls) {
          length = std::max(length, each.path_length + longest[each.callee]);
        }
        if (length > work_item::longest_path) {
          return fail(
              "operations of sub-groups or groups are in more than {} loops and calls within one "
              "another",
              work_item::longest_path);
        }
        changed = changed || length != longest[function];
        longest[function] = length;
      }
    }
    return {};
  }

  // Built-in variables that no function uses any more. The kernel compiler might not know them.
  void drop_builtins() {
    std::unordered_set<id> used;
    bool in_function = false;
    for (const instruction& each : module_.instructions) {
      in_function = in_function || each.opcode == spv::OpFunction;
      if (in_function) each.for_each_id([&](id operand) { used.insert(operand); });
    }
    for (const auto& [variable, builtin] : builtins_) {
      if (!used.contains(variable)) dropped_.insert(variable);
    }
    for (instruction& each : module_.instructions) {
      if (each.opcode != spv::OpEntryPoint) continue;
      const size_t interface_start = 2 + instruction::string_words(each.string_at(2));
      const auto first = each.operands.begin() + static_cast<ptrdiff_t>(interface_start);
      each.operands.erase(std::remove_if(first, each.operands.end(),
                                         [&](id operand) { return dropped_.contains(operand); }),
                          each.operands.end());
      std::erase_if(each.id_operands,
                    [&](uint16_t position) { return position >= each.operands.size(); });
    }
  }

  // Nothing that the kernel compiler does not know is left. What other work-items do while one
  // waits is not to be ruled out by promises about pointers.
  void forget_groups(const apart_functions& apart) {
    bool in_apart = false;
    for (const instruction& each : module_.instructions) {
      if (each.opcode == spv::OpFunction) in_apart = apart.functions.contains(each.result);
      if (each.opcode == spv::OpFunctionParameter && in_apart) parameters_.insert(each.result);
    }
    std::erase_if(module_.instructions, [&](const instruction& each) {
      switch (each.opcode) {
        case spv::OpCapability:
          return is_capability_of_groups(each.operands[0]);
        case spv::OpExtension:
          return is_extension_of_groups(each.string_at(0));
        case spv::OpExecutionMode:
        case spv::OpExecutionModeId:
          return apart.kernels.contains(each.operands[0]) && is_mode_of_groups(each.operands[1]);
        case spv::OpVariable:
          return dropped_.contains(each.result);
        case spv::OpName:
          return dropped_.contains(each.operands[0]);
        case spv::OpDecorate:
          if (dropped_.contains(each.operands[0])) return true;
          if (each.operands[1] == spv::DecorationLinkageAttributes) {
            return apart.functions.contains(each.operands[0]);
          }
          return each.operands[1] == spv::DecorationFuncParamAttr &&
                 each.operands[2] == spv::FunctionParameterAttributeNoAlias &&
                 parameters_.contains(each.operands[0]);
        default:
          return false;
      }
    });
  }

  binary& module_;
  const module_index index_;
  module_scope scope_;
  std::vector<id> kernels_;
  std::vector<id> order_;  // of functions
  std::unordered_map<id, function_facts> functions_;
  std::unordered_map<id, spv::BuiltIn> builtins_;
  std::unordered_set<id> addressed_;
  std::vector<id> chosen_;
  std::unordered_map<id, id> rewritten_;
  std::unordered_set<id> parameters_;  // of functions that were rewritten
  std::unordered_set<id> dropped_;     // functions and variables
  std::vector<instruction> copied_decorations_;
};

}  // namespace

result<apart_functions> lower_groups(binary& module) {
  const auto divergent = find_divergent_barriers(module);
  if (!divergent.empty()) {
    binary changed = module;
    auto apart = group_lowering(changed).run(divergent);
    if (apart) {
      module = std::move(changed);
      return apart;
    }
    // Work-items cannot always run apart. A barrier that all of them come to is right all the same,
    // which nobody can know before.
  }
  return group_lowering(module).run({});
}

void declare_calls_of_pointers(binary& module) {
  auto& all = module.instructions;
  const auto is_capability = [](const instruction& each) {
    return each.opcode == spv::OpCapability;
  };
  const bool is_declared = std::any_of(all.begin(), all.end(), [&](const instruction& each) {
    return is_capability(each) && each.operands[0] == spv::CapabilityFunctionPointersINTEL;
  });
  if (is_declared) return;
  instruction extension = make_literal_instruction(spv::OpExtension, 0, 0, {});
  instruction::append_string(extension.operands, "SPV_INTEL_function_pointers");
  const auto place = all.insert(
      std::find_if_not(all.begin(), all.end(), is_capability),
      make_literal_instruction(spv::OpCapability, 0, 0, {spv::CapabilityFunctionPointersINTEL}));
  all.insert(place + 1, std::move(extension));
}

}  // namespace zevent::driver::spirv
