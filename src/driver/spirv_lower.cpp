#include "driver/spirv_lower.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "driver/alignment.hpp"
#include "driver/spirv_barriers.hpp"
#include "driver/spirv_composites.hpp"
#include "driver/spirv_division.hpp"
#include "driver/spirv_fences.hpp"
#include "driver/spirv_float_atomics.hpp"
#include "driver/spirv_float_functions.hpp"
#include "driver/spirv_generic.hpp"
#include "driver/spirv_groups.hpp"
#include "driver/spirv_half.hpp"
#include "driver/spirv_half_bits.hpp"
#include "driver/spirv_images.hpp"
#include "driver/spirv_math.hpp"
#include "driver/spirv_pointers.hpp"
#include "driver/spirv_powers.hpp"
#include "driver/spirv_printf.hpp"
#include "driver/spirv_scope.hpp"

namespace zevent::driver::spirv {
namespace {

// The translator of the kernel compiler knows none that is newer. What came since does not matter
// to kernels.
constexpr uint32_t newest_version = 0x0001'0400;

constexpr size_t most_parameters = 250;  // SPIR-V's own limit is 255
constexpr unsigned deepest_constant = 1000;
constexpr uint64_t largest_variable_bytes = uint64_t{1} << 40;
constexpr uint64_t largest_local_block_bytes = uint64_t{1} << 31;

// PoCL knows work-items only in functions that became part of a kernel.
constexpr uint32_t not_to_be_inlined =
    uint32_t{spv::FunctionControlDontInlineMask} | uint32_t{spv::FunctionControlOptNoneINTELMask};

// What a function needs to be given besides its own parameters.
struct hidden_parameters {
  bool table = false;
  bool block = false;
  id table_id = 0;
  id block_id = 0;
};

// What an id of module scope stands on.
struct dependency {
  bool table = false;
  bool block = false;
  unsigned depth = 0;  // 0: a variable; else how deep the constant is nested
};

class variable_lowering {
 public:
  variable_lowering(const binary& module, const apart_functions& apart)
      : source_(module),
        apart_(apart),
        with_barriers_(find_functions_with_barriers(module)),
        index_(module),
        output_(module),
        scope_(output_) {}

  result<lowered_module> run() {
    if (auto status = collect_variables(); !status) return tl::unexpected(status.error());
    if (auto status = find_dependent_constants(); !status) return tl::unexpected(status.error());
    find_needs();
    if (auto status = check_indirect_calls(); !status) return tl::unexpected(status.error());
    if (auto status = rewrite(); !status) return tl::unexpected(status.error());
    scope_.flush();
    lower_pointer_comparisons(output_);
    guard_divisions(output_);
    lower_powers(output_);
    lower_printf(output_);
    lower_half_bits(output_);
    lower_half_functions(output_);
    lower_math_functions(output_);
    lower_float_functions(output_);
    lower_composites(output_);
    lower_float_atomics(output_);
    lower_generic_pointers(output_);
    lower_fences(output_);
    lowered_.functions = add_address_kernels(output_);
    inline_calls_of_pointers(output_);
    if (!apart_.kernels.empty()) declare_calls_of_pointers(output_);
    output_.set_version(std::min(output_.version(), newest_version));
    describe_kernels();
    lowered_.words = output_.write();
    return std::move(lowered_);
  }

 private:
  bool is_lowered(const instruction& variable) const {
    if (index_.find_decoration(variable.result, spv::DecorationBuiltIn) != nullptr) return false;
    switch (variable.operands[0]) {
      case spv::StorageClassCrossWorkgroup:
      case spv::StorageClassWorkgroup:
        return true;
      case spv::StorageClassUniformConstant: {
        // Constants that only the module itself sees stay constants, which optimises better.
        const instruction* pointer = index_.definition(variable.type);
        if (pointer == nullptr || pointer->opcode != spv::OpTypePointer) return false;
        const spv::Op pointee = index_.opcode_of(pointer->operands[1]);
        return index_.find_linkage(variable.result) != nullptr && pointee != spv::OpTypeSampler &&
               pointee != spv::OpTypeImage;
      }
      default:
        return false;
    }
  }

  result<void> collect_variables() {
    std::vector<std::pair<size_t, initial_value>> initializers;
    for (const instruction& each : source_.instructions) {
      if (each.opcode == spv::OpFunction) break;
      if (each.opcode != spv::OpVariable || !is_lowered(each)) continue;
      const instruction* pointer = index_.definition(each.type);
      if (pointer == nullptr || pointer->opcode != spv::OpTypePointer) {
        return fail("variable %{} is not of a pointer type", each.result);
      }
      const auto size = index_.layout_of(pointer->operands[1]);
      if (!size) return tl::unexpected(size.error());
      uint64_t alignment = size->alignment_bytes;
      const decoration* wanted = index_.find_decoration(each.result, spv::DecorationAlignment);
      if (wanted != nullptr && !wanted->literals.empty()) {
        alignment = std::clamp<uint64_t>(wanted->literals[0], alignment, 1 << 20);
      }
      if (each.operands[0] == spv::StorageClassWorkgroup) {
        block_bytes_ = round_up(block_bytes_, alignment);
        block_offsets_[each.result] = block_bytes_;
        block_bytes_ += size->size_bytes;
        if (block_bytes_ > largest_local_block_bytes) {
          return fail("the module's local variables need more than {} bytes",
                      largest_local_block_bytes);
        }
        continue;
      }
      if (size->size_bytes > largest_variable_bytes) return fail("a variable is too large");
      module_variable variable;
      if (const auto* linkage = index_.find_linkage(each.result)) {
        variable.name = linkage->name;
        variable.is_imported = linkage->type == spv::LinkageTypeImport;
      }
      variable.size_bytes = size->size_bytes;
      variable.alignment_bytes = alignment;
      if (each.operands.size() > 1) {
        auto initial = evaluate_initializer(index_, each.operands[1]);
        if (!initial) {
          return fail("variable \"{}\": {}", variable.name, initial.error().message);
        }
        initializers.emplace_back(lowered_.variables.size(), std::move(*initial));
      }
      table_slots_[each.result] = lowered_.variables.size();
      lowered_.variables.push_back(std::move(variable));
    }
    return resolve_addresses(std::move(initializers));
  }

  result<void> resolve_addresses(std::vector<std::pair<size_t, initial_value>>&& initializers) {
    for (auto& [slot, initial] : initializers) {
      module_variable& variable = lowered_.variables[slot];
      variable.initial_bytes = std::move(initial.bytes);
      for (const relocation& each : initial.relocations) {
        const auto target = table_slots_.find(each.variable);
        if (target == table_slots_.end()) {
          return fail(
              "variable \"{}\" is initialised with the address of something else than a "
              "global variable",
              variable.name);
        }
        variable.addresses.push_back({each.offset_bytes, target->second});
      }
    }
    return {};
  }

  bool is_dependent(id used) const { return dependencies_.contains(used); }

  // Constants made from the address of a lowered variable are no constants any more.
  result<void> find_dependent_constants() {
    for (const auto& [variable, slot] : table_slots_) dependencies_[variable].table = true;
    for (const auto& [variable, offset] : block_offsets_) dependencies_[variable].block = true;
    for (const instruction& each : source_.instructions) {
      if (each.opcode == spv::OpFunction) break;
      if (each.opcode != spv::OpConstantComposite && each.opcode != spv::OpSpecConstantComposite &&
          each.opcode != spv::OpSpecConstantOp) {
        continue;
      }
      dependency own;
      each.for_each_id([&](id used) {
        const auto part = dependencies_.find(used);
        if (part == dependencies_.end()) return;
        own.table = own.table || part->second.table;
        own.block = own.block || part->second.block;
        own.depth = std::max(own.depth, part->second.depth + 1);
      });
      if (own.depth > deepest_constant) {
        return fail("a constant is nested more than {} deep", deepest_constant);
      }
      if (own.depth > 0) dependencies_[each.result] = own;
    }
    return {};
  }

  // Which functions need which hidden parameters, by what they use and whom they call.
  void find_needs() {
    std::unordered_map<id, std::vector<id>> callers;
    std::vector<id> pending;
    id current = 0;
    for (const instruction& each : source_.instructions) {
      if (each.opcode == spv::OpFunction) {
        current = each.result;
        needs_[current];
      }
      if (current == 0) continue;
      if (each.opcode == spv::OpFunctionCall) callers[each.operands[0]].push_back(current);
      each.for_each_id([&](id used) {
        const auto found = dependencies_.find(used);
        if (found == dependencies_.end()) return;
        needs_[current].table = needs_[current].table || found->second.table;
        needs_[current].block = needs_[current].block || found->second.block;
      });
      if (each.opcode == spv::OpFunctionEnd) {
        if (needs_[current].table || needs_[current].block) pending.push_back(current);
        current = 0;
      }
    }
    while (!pending.empty()) {
      const id callee = pending.back();
      pending.pop_back();
      const hidden_parameters given = needs_[callee];
      for (const id caller : callers[callee]) {
        hidden_parameters& own = needs_[caller];
        if ((given.table && !own.table) || (given.block && !own.block)) {
          own.table = own.table || given.table;
          own.block = own.block || given.block;
          pending.push_back(caller);
        }
      }
    }
  }

  // A call through a pointer cannot pass what is hidden.
  result<void> check_indirect_calls() const {
    for (const instruction& each : source_.instructions) {
      switch (each.opcode) {
        case spv::OpFunctionCall:
        case spv::OpEntryPoint:
        case spv::OpExecutionMode:
        case spv::OpExecutionModeId:
        case spv::OpName:
        case spv::OpDecorate:
        case spv::OpGroupDecorate:
          continue;
        default:
          break;
      }
      bool refused = false;
      each.for_each_id([&](id used) {
        const auto function = needs_.find(used);
        refused = refused ||
                  (function != needs_.end() && (function->second.table || function->second.block));
      });
      if (refused) {
        return fail(
            "a function that uses variables of module scope is called through a pointer, "
            "which is not supported");
      }
    }
    return {};
  }

  result<void> rewrite() {
    std::vector<instruction>& out = output_.instructions;
    out.clear();
    find_debug_sets();
    bool in_function = false;
    for (const instruction& each : source_.instructions) {
      if (is_dropped(each)) continue;
      if (each.opcode == spv::OpFunction) {
        if (!in_function) scope_.begin_functions();
        in_function = true;
        if (auto status = begin_function(each); !status) return status;
        continue;
      }
      if (!in_function) {
        out.push_back(lower_global(each));
        continue;
      }
      if (auto status = lower_in_function(each); !status) return status;
    }
    if (!in_function) scope_.begin_functions();
    return {};
  }

  void find_debug_sets() {
    for (const instruction& each : source_.instructions) {
      if (each.opcode != spv::OpExtInstImport) continue;
      const std::string name = each.string_at(0);
      if (name.starts_with("OpenCL.DebugInfo") || name.starts_with("DebugInfo") ||
          name.starts_with("NonSemantic.")) {
        debug_sets_.insert(each.result);
      }
    }
  }

  bool is_dropped(const instruction& each) const {
    switch (each.opcode) {
      case spv::OpLine:
      case spv::OpNoLine:
      case spv::OpModuleProcessed:
        return true;
      case spv::OpExtInstImport:
        return debug_sets_.contains(each.result);
      case spv::OpExtInst:
        return debug_sets_.contains(each.operands[0]);
      case spv::OpName:
      case spv::OpDecorate:
      case spv::OpDecorateId:
        // A kernel goes by the name of its entry point, whatever else it is called.
        if (kernel_functions_.contains(each.operands[0])) {
          return each.opcode == spv::OpName || each.operands[1] == spv::DecorationLinkageAttributes;
        }
        return is_dependent(each.operands[0]);
      case spv::OpVariable:
      case spv::OpConstantComposite:
      case spv::OpSpecConstantComposite:
      case spv::OpSpecConstantOp:
        return is_dependent(each.result);
      default:
        return false;
    }
  }

  instruction lower_global(instruction each) {
    if (each.opcode == spv::OpEntryPoint && each.operands[0] == spv::ExecutionModelKernel) {
      const size_t interface_start = 2 + instruction::string_words(each.string_at(2));
      instruction renamed =
          make_literal_instruction(spv::OpEntryPoint, 0, 0, {each.operands[0], each.operands[1]});
      renamed.id_operands = {1};
      std::string name = fmt::format("zk{}", lowered_.kernels.size());
      instruction::append_string(renamed.operands, name);
      for (size_t i = interface_start; i < each.operands.size(); ++i) {
        if (is_dependent(each.operands[i])) continue;
        renamed.id_operands.push_back(static_cast<uint16_t>(renamed.operands.size()));
        renamed.operands.push_back(each.operands[i]);
      }
      entry_points_.emplace_back(lowered_.kernels.size(), each.operands[1]);
      kernel_functions_.insert(each.operands[1]);
      lowered_.kernels.push_back({std::move(name)});
      return renamed;
    }
    if (each.opcode == spv::OpConstantNull) spell_out_null(each);
    if (each.opcode == spv::OpGroupDecorate) {
      std::erase_if(each.operands, [&](uint32_t target) { return is_dependent(target); });
      each.id_operands.resize(each.operands.size());
    }
    return each;
  }

  // The translator knows null for aggregates and pointers only.
  void spell_out_null(instruction& constant) const {
    const instruction* type = index_.definition(constant.type);
    if (type == nullptr) return;
    if (type->opcode == spv::OpTypeBool) constant.opcode = spv::OpConstantFalse;
    if (type->opcode == spv::OpTypeInt || type->opcode == spv::OpTypeFloat) {
      constant.opcode = spv::OpConstant;
      constant.operands.assign(type->operands[0] > 32 ? 2 : 1, 0);
    }
  }

  result<void> begin_function(const instruction& function) {
    function_ = function.result;
    at_entry_ = true;
    replacements_.clear();
    deferred_stores_.clear();
    hidden_parameters& needs = needs_[function_];
    instruction lowered = function;
    lowered.operands[0] &= ~not_to_be_inlined;
    if (needs.table || needs.block) {
      const instruction* type = index_.definition(function.operands[1]);
      if (type == nullptr || type->opcode != spv::OpTypeFunction) {
        return fail("function %{} has no function type", function.result);
      }
      if (type->operands.size() > most_parameters) {
        return fail("function %{} has more than {} parameters", function.result, most_parameters);
      }
      std::vector<uint32_t> parts = type->operands;
      if (needs.table) parts.push_back(table_pointer_type());
      if (needs.block) parts.push_back(block_pointer_type());
      lowered.operands[1] = scope_.type(spv::OpTypeFunction, parts);
      pending_parameters_ = true;
    }
    output_.instructions.push_back(std::move(lowered));
    return {};
  }

  id table_pointer_type() {
    const id address = scope_.integer_type(64);
    return scope_.pointer_type(spv::StorageClassCrossWorkgroup, address);
  }

  id block_pointer_type() {
    const id byte = scope_.integer_type(8);
    return scope_.pointer_type(spv::StorageClassWorkgroup, byte);
  }

  void add_hidden_parameters() {
    pending_parameters_ = false;
    hidden_parameters& needs = needs_[function_];
    const auto add = [&](id type) {
      const id parameter = output_.new_id();
      output_.instructions.push_back(
          make_instruction(spv::OpFunctionParameter, type, parameter, {}));
      // Others write to local memory while one waits in a barrier, or, where work-items run apart,
      // in a call.
      if (!apart_.functions.contains(function_) && !with_barriers_.contains(function_)) {
        scope_.decorate(parameter, spv::DecorationFuncParamAttr,
                        {spv::FunctionParameterAttributeNoAlias});
      }
      return parameter;
    };
    if (needs.table) needs.table_id = add(table_pointer_type());
    if (needs.block) needs.block_id = add(block_pointer_type());
  }

  result<void> lower_in_function(instruction each) {
    std::vector<instruction>& out = output_.instructions;
    // The hidden parameters come after the declared ones, before the first block or the end of a
    // mere declaration.
    if (pending_parameters_ && each.opcode != spv::OpFunctionParameter) add_hidden_parameters();
    if (each.opcode == spv::OpFunctionParameter || each.opcode == spv::OpLabel ||
        each.opcode == spv::OpFunctionEnd) {
      out.push_back(std::move(each));
      return {};
    }
    if (at_entry_ && each.opcode == spv::OpVariable) {
      if (each.operands.size() > 1 && is_dependent(each.operands[1])) {
        deferred_stores_.emplace_back(each.result, each.operands[1]);
        each.operands.resize(1);
        each.id_operands.clear();
      }
      out.push_back(std::move(each));
      return {};
    }
    if (at_entry_) {
      at_entry_ = false;
      materialize_uses();
    }
    each.for_each_id([&](id& used) {
      const auto replacement = replacements_.find(used);
      if (replacement != replacements_.end()) used = replacement->second;
    });
    if (each.opcode == spv::OpFunctionCall) pass_hidden_arguments(each);
    out.push_back(std::move(each));
    return {};
  }

  // At the start of the function, where it dominates every use: the values that stand for the
  // lowered variables, and for the constants made of them, that the function uses.
  void materialize_uses() {
    const auto body = function_body(function_);
    for (size_t i = body.first; i < body.second; ++i) {
      source_.instructions[i].for_each_id([&](id used) {
        if (is_dependent(used)) materialize(used);
      });
    }
    for (const auto& [variable, value] : deferred_stores_) {
      output_.instructions.push_back(
          make_instruction(spv::OpStore, 0, 0, {variable, replacements_.at(value)}));
    }
  }

  std::pair<size_t, size_t> function_body(id function) {
    if (function_starts_.empty()) {
      for (size_t i = 0; i < source_.instructions.size(); ++i) {
        if (source_.instructions[i].opcode == spv::OpFunction) {
          function_starts_[source_.instructions[i].result] = i;
        }
      }
    }
    const size_t first = function_starts_.at(function);
    size_t last = first;
    while (last < source_.instructions.size() &&
           source_.instructions[last].opcode != spv::OpFunctionEnd) {
      ++last;
    }
    return {first, last};
  }

  id materialize(id used) {
    const auto known = replacements_.find(used);
    if (known != replacements_.end()) return known->second;
    id value = 0;
    if (const auto slot = table_slots_.find(used); slot != table_slots_.end()) {
      value = load_from_table(slot->second, index_.definition(used)->type);
    } else if (const auto offset = block_offsets_.find(used); offset != block_offsets_.end()) {
      value = point_into_block(offset->second, index_.definition(used)->type);
    } else {
      instruction computed = *index_.definition(used);
      if (computed.opcode == spv::OpSpecConstantOp) {
        computed.opcode = static_cast<spv::Op>(computed.operands[0]);
        computed.operands.erase(computed.operands.begin());
        for (uint16_t& position : computed.id_operands) --position;
      } else {
        computed.opcode = spv::OpCompositeConstruct;
      }
      computed.for_each_id([&](id& part) {
        if (is_dependent(part)) part = materialize(part);
      });
      computed.result = output_.new_id();
      value = computed.result;
      output_.instructions.push_back(std::move(computed));
    }
    replacements_[used] = value;
    return value;
  }

  id emit(spv::Op opcode, id type, std::vector<uint32_t> ids) {
    const id made = output_.new_id();
    output_.instructions.push_back(make_instruction(opcode, type, made, std::move(ids)));
    return made;
  }

  id load_from_table(size_t slot, id pointer_type) {
    const id address_type = scope_.integer_type(64);
    const id place = emit(spv::OpInBoundsPtrAccessChain, table_pointer_type(),
                          {needs_[function_].table_id, scope_.integer_constant(64, slot)});
    const id address = emit(spv::OpLoad, address_type, {place});
    return emit(spv::OpConvertUToPtr, pointer_type, {address});
  }

  id point_into_block(uint64_t offset, id pointer_type) {
    const id place = emit(spv::OpInBoundsPtrAccessChain, block_pointer_type(),
                          {needs_[function_].block_id, scope_.integer_constant(64, offset)});
    return emit(spv::OpBitcast, pointer_type, {place});
  }

  void pass_hidden_arguments(instruction& call) {
    const auto callee = needs_.find(call.operands[0]);
    if (callee == needs_.end()) return;
    const hidden_parameters& own = needs_[function_];
    const auto pass = [&](id argument) {
      call.id_operands.push_back(static_cast<uint16_t>(call.operands.size()));
      call.operands.push_back(argument);
    };
    if (callee->second.table) pass(own.table_id);
    if (callee->second.block) pass(own.block_id);
  }

  void describe_kernels() {
    for (const auto& [kernel, function] : entry_points_) {
      const hidden_parameters& needs = needs_[function];
      lowered_.kernels[kernel].takes_work_item = apart_.kernels.contains(function);
      lowered_.kernels[kernel].takes_variable_table = needs.table;
      lowered_.kernels[kernel].local_block_bytes =
          needs.block ? std::max<uint64_t>(block_bytes_, 1) : 0;
    }
  }

  const binary& source_;
  const apart_functions& apart_;
  const std::unordered_set<id> with_barriers_;
  const module_index index_;
  binary output_;
  module_scope scope_;
  lowered_module lowered_;

  std::map<id, size_t> table_slots_;
  std::map<id, uint64_t> block_offsets_;
  uint64_t block_bytes_ = 0;
  std::unordered_map<id, dependency> dependencies_;  // the lowered variables, and what uses them
  std::unordered_map<id, hidden_parameters> needs_;
  std::unordered_set<id> debug_sets_;
  std::vector<std::pair<size_t, id>> entry_points_;  // kernel, its function
  std::unordered_set<id> kernel_functions_;
  std::unordered_map<id, size_t> function_starts_;

  // Of the function that is being written.
  id function_ = 0;
  bool pending_parameters_ = false;
  bool at_entry_ = false;
  std::unordered_map<id, id> replacements_;
  std::vector<std::pair<id, id>> deferred_stores_;  // variable, the initialiser it had
};

}  // namespace

result<lowered_module> lower(const binary& module) {
  binary prepared = module;
  if (auto status = lower_images(prepared); !status) return tl::unexpected(status.error());
  drop_restrict_across_barriers(prepared);
  const auto apart = lower_groups(prepared);
  if (!apart) return tl::unexpected(apart.error());
  return variable_lowering(prepared, *apart).run();
}

}  // namespace zevent::driver::spirv
