#include "driver/spirv_item_function.hpp"

#include <algorithm>
#include <cstddef>

#include "driver/spirv_flow.hpp"
#include "driver/spirv_group_calls.hpp"
#include "driver/spirv_item_builtins.hpp"
#include "driver/spirv_item_code.hpp"

namespace zevent::driver::spirv {
namespace {

bool is_barrier(spv::Op opcode) {
  return opcode == spv::OpControlBarrier || opcode == spv::OpGroupWaitEvents;
}

class item_function_writer {
 public:
  item_function_writer(const item_module& module, std::span<const instruction> source,
                       bool is_kernel)
      : module_(module),
        index_(module.index),
        scope_(module.scope),
        source_(source),
        flow_(source),
        is_kernel_(is_kernel),
        code_(module.index, module.scope, module.module, out_) {}

  result<item_function> run() {
    number_sites();
    size_t block = control_flow::none;
    bool at_entry = false;
    for (size_t i = 0; i < source_.size(); ++i) {
      const instruction& each = source_[i];
      if (each.opcode == spv::OpFunction) {
        if (auto status = begin_function(each); !status) return tl::unexpected(status.error());
        continue;
      }
      if (each.opcode == spv::OpLabel) {
        if (block == control_flow::none) {
          add_parameters();
          at_entry = true;
        }
        ++block;
        out_.push_back(each);
        begin_block(block);
        continue;
      }
      if (pending_step_ != 0 && each.opcode != spv::OpPhi) end_phis();
      if (at_entry && each.opcode != spv::OpVariable && each.opcode != spv::OpLine &&
          each.opcode != spv::OpNoLine) {
        at_entry = false;
        if (auto status = point_to_builtins(); !status) return tl::unexpected(status.error());
      }
      if (auto status = write(i, block); !status) return tl::unexpected(status.error());
    }
    written_.instructions = std::move(out_);
    return std::move(written_);
  }

 private:
  bool is_site(const instruction& each) const {
    if (each.opcode == spv::OpFunctionCall) return module_.rewritten.contains(each.operands[0]);
    if (is_barrier(each.opcode) || each.opcode == spv::OpGroupAsyncCopy) return true;
    const auto call = find_group_call(each);
    return call && !is_done_alone(call->operation.act);
  }

  // Gives a number to every place where work-items may meet and to the loops around them, so that
  // what comes later has the greater one.
  void number_sites() {
    std::vector<std::vector<size_t>> sites(flow_.blocks().size());
    size_t block = control_flow::none;
    for (size_t i = 0; i < source_.size(); ++i) {
      if (source_[i].opcode == spv::OpLabel) ++block;
      if (block != control_flow::none && is_site(source_[i])) sites[block].push_back(i);
    }
    loops_.resize(flow_.loops().size());
    for (size_t i = 0; i < sites.size(); ++i) {
      if (sites[i].empty()) continue;
      for (size_t at = flow_.blocks()[i].loop; at != control_flow::none;
           at = flow_.loops()[at].parent) {
        loops_[at].has_sites = true;
      }
    }
    uint64_t next = 0;
    for (const size_t each : flow_.order()) {
      const size_t loop = flow_.blocks()[each].loop;
      if (loop != control_flow::none && flow_.loops()[loop].head == each) {
        loops_[loop].number = next++;
      }
      for (const size_t site : sites[each]) site_numbers_[site] = next++;
    }
  }

  result<void> begin_function(const instruction& function) {
    const instruction* type = index_.definition(function.operands[1]);
    if (type == nullptr || type->opcode != spv::OpTypeFunction) {
      return fail("function %{} has no function type", function.result);
    }
    std::vector<uint32_t> parts = type->operands;
    parts.push_back(code_.item_type());
    if (!is_kernel_) parts.push_back(code_.wide());
    instruction rewritten = function;
    rewritten.operands = {spv::FunctionControlMaskNone, scope_.type(spv::OpTypeFunction, parts)};
    out_.push_back(std::move(rewritten));
    return {};
  }

  void add_parameters() {
    code_.set_item(code_.emit(spv::OpFunctionParameter, code_.item_type(), {}));
    if (!is_kernel_) depth_ = code_.emit(spv::OpFunctionParameter, code_.wide(), {});
  }

  // Counts the rounds of a loop in which work-items may meet.
  void begin_block(size_t block) {
    const size_t at = flow_.blocks()[block].loop;
    if (at == control_flow::none || flow_.loops()[at].head != block || !loops_[at].has_sites ||
        !flow_.loops()[at].has_one_entry) {
      return;
    }
    const id narrow = scope_.integer_type(32);
    const id next = module_.module.new_id();
    std::vector<uint32_t> incoming;
    for (const size_t from : flow_.blocks()[block].predecessors) {
      incoming.push_back(flow_.is_in(from, at) ? next : scope_.integer_constant(32, 0));
      incoming.push_back(flow_.blocks()[from].label);
    }
    loops_[at].round = code_.emit(spv::OpPhi, narrow, std::move(incoming));
    pending_step_ = next;
    pending_round_ = loops_[at].round;
  }

  void end_phis() {
    out_.push_back(make_instruction(spv::OpIAdd, scope_.integer_type(32), pending_step_,
                                    {pending_round_, scope_.integer_constant(32, 1)}));
    pending_step_ = 0;
  }

  result<void> point_to_builtins() {
    for (const instruction& each : source_) {
      result<void> status;
      each.for_each_id([&](id used) {
        if (status && module_.builtins.contains(used) && !replaced_.contains(used)) {
          status = point_to_builtin(used);
        }
      });
      if (!status) return status;
    }
    return {};
  }

  result<void> point_to_builtin(id variable) {
    const item_builtin* known = find_item_builtin(module_.builtins.at(variable));
    if (known == nullptr) return {};
    const id pointee = index_.definition(index_.definition(variable)->type)->operands[1];
    if (!has_shape(index_, pointee, known->shape)) {
      return fail("the built-in variable %{} is of a type that is not supported", variable);
    }
    replaced_[variable] = code_.field(known->offset_bytes, pointee);
    return {};
  }

  result<void> write(size_t position, size_t block) {
    instruction each = source_[position];
    each.for_each_id([&](id& used) {
      const auto replacement = replaced_.find(used);
      if (replacement != replaced_.end()) used = replacement->second;
    });
    retype(each);
    switch (each.opcode) {
      case spv::OpFunctionCall:
        if (module_.rewritten.contains(each.operands[0]))
          write_call(std::move(each), position, block);
        else
          out_.push_back(std::move(each));
        return {};
      case spv::OpControlBarrier:
      case spv::OpGroupWaitEvents: {
        group_operation barrier;
        barrier.needs_all = true;
        barrier.is_of_whole_group = scope_at(index_, each, 0) != spv::ScopeSubgroup;
        meet(barrier, position, block);
        return {};
      }
      case spv::OpMemoryBarrier: {
        group_operation fence;
        fence.act = group_act::fence;
        meet(fence, position, block);
        return {};
      }
      case spv::OpGroupAsyncCopy:
        return write_copy(each, position, block);
      case spv::OpSubgroupBlockReadINTEL:
        return code_.read_block(each);
      case spv::OpSubgroupBlockWriteINTEL:
        return code_.write_block(each);
      default:
        break;
    }
    if (const auto call = find_group_call(each)) {
      const auto operation = code_.give_operands(each, *call);
      if (!operation) return tl::unexpected(operation.error());
      meet(*operation, position, block);
      code_.take_outcome(each);
      return {};
    }
    out_.push_back(std::move(each));
    return {};
  }

  // What points to a built-in variable points into the work-item now.
  void retype(instruction& each) {
    const instruction* type = each.type != 0 ? index_.definition(each.type) : nullptr;
    if (type == nullptr || type->opcode != spv::OpTypePointer ||
        type->operands[0] != spv::StorageClassInput) {
      return;
    }
    each.type = scope_.pointer_type(spv::StorageClassCrossWorkgroup, type->operands[1]);
  }

  void write_call(instruction call, size_t position, size_t block) {
    const id callee = call.operands[0];
    const size_t length = write_path(position, block);
    written_.calls.push_back({callee, length});
    call.operands[0] = module_.rewritten.at(callee);
    for (const id argument : {code_.item(), path_length(length)}) {
      call.id_operands.push_back(static_cast<uint16_t>(call.operands.size()));
      call.operands.push_back(argument);
    }
    out_.push_back(std::move(call));
  }

  result<void> write_copy(const instruction& each, size_t position, size_t block) {
    const auto copy = code_.give_copy(each);
    if (!copy) return tl::unexpected(copy.error());
    meet(*copy, position, block);
    // It has been waited for already.
    out_.push_back(make_instruction(spv::OpCopyObject, each.type, each.result, {each.operands[5]}));
    return {};
  }

  void meet(const group_operation& operation, size_t position, size_t block) {
    const size_t length = is_done_alone(operation.act) ? 0 : write_path(position, block);
    code_.meet(operation, path_length(length));
  }

  // Writes down where the work-item is, and returns how much longer its path is for that.
  size_t write_path(size_t position, size_t block) {
    std::vector<size_t> around;
    for (size_t at = flow_.blocks()[block].loop; at != control_flow::none;
         at = flow_.loops()[at].parent) {
      around.push_back(at);
    }
    size_t length = 0;
    for (auto at = around.rbegin(); at != around.rend(); ++at) {
      id element = scope_.integer_constant(64, loops_[*at].number << 32);
      if (loops_[*at].round != 0) {
        const id round = code_.emit(spv::OpUConvert, code_.wide(), {loops_[*at].round});
        element = code_.emit(spv::OpBitwiseOr, code_.wide(), {element, round});
      }
      store_path(length++, element);
    }
    store_path(length++, scope_.integer_constant(64, site_numbers_.at(position) << 32));
    written_.longest_path = std::max(written_.longest_path, length);
    return length;
  }

  void store_path(size_t at, id element) {
    const uint64_t first = offsetof(work_item, path) / sizeof(uint64_t);
    id place = scope_.integer_constant(64, first + at);
    if (depth_ != 0) place = code_.emit(spv::OpIAdd, code_.wide(), {depth_, place});
    code_.emit(spv::OpStore, 0,
               {code_.emit(spv::OpInBoundsPtrAccessChain, code_.item_type(), {code_.item(), place}),
                element});
  }

  id path_length(size_t own) {
    const id length = scope_.integer_constant(64, own);
    return depth_ != 0 ? code_.emit(spv::OpIAdd, code_.wide(), {depth_, length}) : length;
  }

  struct loop_facts {
    bool has_sites = false;
    uint64_t number = 0;
    id round = 0;  // 0: not counted
  };

  const item_module& module_;
  const module_index& index_;
  module_scope& scope_;
  const std::span<const instruction> source_;
  const control_flow flow_;
  const bool is_kernel_;
  std::vector<instruction> out_;
  item_code code_;
  std::vector<loop_facts> loops_;
  std::unordered_map<size_t, uint64_t> site_numbers_;  // by position in the source
  std::unordered_map<id, id> replaced_;                // built-in variables
  id depth_ = 0;                                       // 0: none
  id pending_step_ = 0, pending_round_ = 0;
  item_function written_;
};

}  // namespace

bool is_group_operation(const module_index& index, const instruction& each) {
  switch (each.opcode) {
    case spv::OpControlBarrier:
    case spv::OpMemoryBarrier:
      return scope_at(index, each, 0) == spv::ScopeSubgroup;
    case spv::OpSubgroupBlockReadINTEL:
    case spv::OpSubgroupBlockWriteINTEL:
      return true;
    default:
      return find_group_call(each).has_value();
  }
}

bool concerns_group(const instruction& each) {
  return is_barrier(each.opcode) || each.opcode == spv::OpGroupAsyncCopy;
}

result<item_function> write_item_function(const item_module& module,
                                          std::span<const instruction> source, bool is_kernel) {
  return item_function_writer(module, source, is_kernel).run();
}

}  // namespace zevent::driver::spirv
