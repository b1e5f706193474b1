#include "driver/spirv_divergence.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "driver/spirv_flow.hpp"

namespace zevent::driver::spirv {
namespace {

bool is_of_work_item(uint32_t builtin) {
  switch (builtin) {
    case spv::BuiltInLocalInvocationId:
    case spv::BuiltInLocalInvocationIndex:
    case spv::BuiltInGlobalInvocationId:
    case spv::BuiltInGlobalLinearId:
    case spv::BuiltInSubgroupId:
    case spv::BuiltInSubgroupLocalInvocationId:
      return true;
    default:
      return false;
  }
}

bool ends_function(spv::Op opcode) {
  return opcode == spv::OpReturn || opcode == spv::OpReturnValue || opcode == spv::OpUnreachable ||
         opcode == spv::OpKill;
}

// Which blocks decide, directly or by way of others, whether a block is run.
class decisions {
 public:
  decisions(const control_flow& flow, const std::vector<bool>& ends)
      : blocks_(flow.blocks()), exit_(blocks_.size()), next_(exit_ + 1, control_flow::none) {
    find_next_common(ends);
    decided_by_.resize(exit_);
    for (size_t i = 0; i < exit_; ++i) {
      if (blocks_[i].successors.size() < 2) continue;
      for (const size_t successor : blocks_[i].successors) {
        size_t steps = 0;
        for (size_t at = successor;
             at != next_[i] && at != exit_ && at != control_flow::none && steps <= exit_;
             at = next_[at], ++steps) {
          decided_by_[i].push_back(at);
        }
      }
    }
  }

  const std::vector<control_flow::block>& blocks() const { return blocks_; }

  // The blocks whose run any of the given ones decides, directly or by way of others.
  std::vector<bool> of(const std::vector<bool>& deciding) const {
    std::vector<bool> decided(exit_);
    std::vector<size_t> pending;
    for (size_t i = 0; i < exit_; ++i) {
      if (deciding[i]) pending.push_back(i);
    }
    while (!pending.empty()) {
      const size_t block = pending.back();
      pending.pop_back();
      for (const size_t each : decided_by_[block]) {
        if (decided[each]) continue;
        decided[each] = true;
        pending.push_back(each);
      }
    }
    return decided;
  }

 private:
  // The first block that every way from a block to the end of the function goes through: its
  // immediate postdominator, found as Cooper, Harvey and Kennedy find dominators.
  void find_next_common(const std::vector<bool>& ends) {
    std::vector<std::vector<size_t>> before(exit_ + 1);
    for (size_t i = 0; i < exit_; ++i) {
      if (ends[i]) before[exit_].push_back(i);
      before[i] = blocks_[i].predecessors;
    }
    std::vector<size_t> order;  // from the exit, what leads to a block after it
    std::vector<size_t> number(exit_ + 1, control_flow::none);
    std::vector<std::pair<size_t, size_t>> visits = {{exit_, 0}};
    std::vector<bool> seen(exit_ + 1);
    seen[exit_] = true;
    while (!visits.empty()) {
      auto& [block, at] = visits.back();
      if (at < before[block].size()) {
        const size_t found = before[block][at++];
        if (!seen[found]) {
          seen[found] = true;
          visits.emplace_back(found, 0);
        }
        continue;
      }
      number[block] = order.size();
      order.push_back(block);
      visits.pop_back();
    }
    next_[exit_] = exit_;
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto each = order.rbegin() + 1; each < order.rend(); ++each) {
        size_t common = control_flow::none;
        const auto meet = [&](size_t after) {
          if (next_[after] == control_flow::none) return;
          if (common == control_flow::none) {
            common = after;
            return;
          }
          while (common != after) {
            while (number[common] < number[after]) common = next_[common];
            while (number[after] < number[common]) after = next_[after];
          }
        };
        if (ends[*each]) meet(exit_);
        for (const size_t successor : blocks_[*each].successors) meet(successor);
        if (common == next_[*each]) continue;
        next_[*each] = common;
        changed = true;
      }
    }
  }

  const std::vector<control_flow::block> blocks_;
  const size_t exit_;
  std::vector<size_t> next_;
  std::vector<std::vector<size_t>> decided_by_;
};

class divergence {
 public:
  explicit divergence(const binary& module)
      : module_(module), index_(module), function_of_(module.instructions.size()) {}

  std::unordered_set<id> run() {
    find_functions();
    if (with_barriers_.empty()) return {};
    spread_barriers();
    find_uses();
    mark_work_items();
    // What is stored, or returned, only by some of the work-items varies, too, which may make more
    // branches vary.
    size_t known = 0;
    do {
      spread_all();
      known = varying_.size();
      for (function_body& each : bodies_) mark_decided(each);
    } while (varying_.size() != known);
    std::unordered_set<id> divergent;
    for (const function_body& each : bodies_) {
      if (has_divergent_barrier(each)) divergent.insert(each.function);
    }
    return divergent;
  }

 private:
  struct function_body {
    id function;
    std::span<const instruction> instructions;
    std::vector<size_t> block_of;  // by instruction; none: before the first
    decisions control;
    std::vector<bool> varies;   // blocks that end in a branch that does
    std::vector<bool> decided;  // blocks that such branches decide about
  };

  bool is_barrier(const instruction& each) const {
    if (each.opcode == spv::OpFunctionCall) return with_barriers_.contains(each.operands[0]);
    return each.opcode == spv::OpControlBarrier &&
           index_.integer_constant(each.operands[0]) != uint64_t{spv::ScopeSubgroup};
  }

  void find_functions() {
    id current = 0;
    size_t first = 0;
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const instruction& each = module_.instructions[i];
      if (each.opcode == spv::OpFunction) {
        current = each.result;
        first = i;
      }
      if (each.opcode == spv::OpFunctionParameter) parameters_[current].push_back(each.result);
      if (each.opcode == spv::OpFunctionCall) calls_[each.operands[0]].push_back(i);
      if (each.opcode == spv::OpControlBarrier && is_barrier(each)) with_barriers_.insert(current);
      function_of_[i] = current;
      if (each.opcode == spv::OpFunctionEnd) {
        if (current != 0) add_body(current, first, i + 1);
        current = 0;
      }
    }
    for (const auto& [function, own] : parameters_) {
      for (size_t i = 0; i < own.size(); ++i) place_of_[own[i]] = {function, i};
    }
  }

  void add_body(id function, size_t first, size_t end) {
    with_bodies_.insert(function);
    const std::span<const instruction> body(&module_.instructions[first], end - first);
    const control_flow flow(body);
    if (flow.blocks().empty()) return;
    std::vector<size_t> block_of(body.size(), control_flow::none);
    std::vector<bool> ends(flow.blocks().size());
    size_t block = control_flow::none;
    for (size_t i = 0; i < body.size(); ++i) {
      if (body[i].opcode == spv::OpLabel) ++block;
      block_of[i] = block;
      if (block != control_flow::none && ends_function(body[i].opcode)) ends[block] = true;
    }
    const size_t count = flow.blocks().size();
    bodies_.push_back({function, body, std::move(block_of), decisions(flow, ends),
                       std::vector<bool>(count), std::vector<bool>(count)});
  }

  void spread_barriers() {
    std::vector<id> pending(with_barriers_.begin(), with_barriers_.end());
    while (!pending.empty()) {
      const id callee = pending.back();
      pending.pop_back();
      for (const size_t call : calls_[callee]) {
        if (with_barriers_.insert(function_of_[call]).second) pending.push_back(function_of_[call]);
      }
    }
  }

  void find_uses() {
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      if (function_of_[i] == 0) continue;
      module_.instructions[i].for_each_id([&](id used) { uses_[used].push_back(i); });
    }
  }

  void mark(id value) {
    if (value != 0 && varying_.insert(value).second) pending_.push_back(value);
  }

  void mark_work_items() {
    for (const instruction& each : module_.instructions) {
      if (each.opcode == spv::OpVariable) {
        const decoration* builtin = index_.find_decoration(each.result, spv::DecorationBuiltIn);
        const bool varies = builtin != nullptr && !builtin->literals.empty() &&
                            is_of_work_item(builtin->literals[0]);
        if (varies) mark(each.result);
      }
      if (each.is_atomic()) mark(each.result);
    }
  }

  void spread_all() {
    while (!pending_.empty()) {
      const id value = pending_.back();
      pending_.pop_back();
      const auto uses = uses_.find(value);
      if (uses != uses_.end()) {
        for (const size_t use : uses->second) spread(value, module_.instructions[use], use);
      }
      // What a function stores through a parameter its caller finds.
      const auto place = place_of_.find(value);
      if (place == place_of_.end()) continue;
      for (const size_t call : calls_[place->second.first]) {
        const instruction& caller = module_.instructions[call];
        const size_t argument = 1 + place->second.second;
        if (argument < caller.operands.size()) mark_private(caller.operands[argument]);
      }
    }
  }

  void spread(id value, const instruction& use, size_t position) {
    switch (use.opcode) {
      case spv::OpStore:
      case spv::OpCopyMemory:
      case spv::OpCopyMemorySized:
        if (use.operands[1] == value) mark_private(use.operands[0]);
        return;
      case spv::OpReturnValue:
        mark_results(function_of_[position]);
        return;
      case spv::OpFunctionCall: {
        const auto own = parameters_.find(use.operands[0]);
        const bool is_known = own != parameters_.end() && with_bodies_.contains(use.operands[0]);
        for (size_t i = 1; i < use.operands.size(); ++i) {
          if (use.operands[i] != value) continue;
          if (is_known && i <= own->second.size()) mark(own->second[i - 1]);
        }
        if (!is_known) mark(use.result);
        return;
      }
      case spv::OpLabel:
      case spv::OpFunction:
        return;
      default:
        mark(use.result);
    }
  }

  // The private variable, or the parameter that may point to one, that a pointer leads to.
  void mark_private(id pointer) {
    for (size_t steps = 0; steps < module_.instructions.size(); ++steps) {
      const instruction* found = index_.definition(pointer);
      if (found == nullptr) return;
      switch (found->opcode) {
        case spv::OpAccessChain:
        case spv::OpInBoundsAccessChain:
        case spv::OpPtrAccessChain:
        case spv::OpInBoundsPtrAccessChain:
        case spv::OpBitcast:
        case spv::OpCopyObject:
        case spv::OpPtrCastToGeneric:
        case spv::OpGenericCastToPtr:
          pointer = found->operands[0];
          continue;
        case spv::OpVariable:
          if (found->operands[0] == spv::StorageClassFunction) mark(pointer);
          return;
        case spv::OpFunctionParameter: {
          const instruction* type = index_.definition(found->type);
          const bool may_be_private = type != nullptr && type->opcode == spv::OpTypePointer &&
                                      (type->operands[0] == spv::StorageClassFunction ||
                                       type->operands[0] == spv::StorageClassGeneric);
          if (may_be_private) mark(pointer);
          return;
        }
        default:
          return;
      }
    }
  }

  void mark_results(id function) {
    for (const size_t call : calls_[function]) mark(module_.instructions[call].result);
  }

  void mark_decided(function_body& body) {
    bool any_varies = false;
    for (size_t i = 0; i < body.instructions.size(); ++i) {
      const instruction& each = body.instructions[i];
      const bool branches = each.opcode == spv::OpBranchConditional || each.opcode == spv::OpSwitch;
      if (!branches || !varying_.contains(each.operands[0])) continue;
      body.varies[body.block_of[i]] = any_varies = true;
    }
    if (!any_varies) return;
    body.decided = body.control.of(body.varies);
    for (size_t i = 0; i < body.instructions.size(); ++i) {
      const instruction& each = body.instructions[i];
      const size_t block = body.block_of[i];
      if (block == control_flow::none) continue;
      if (each.opcode == spv::OpPhi) {
        for (const size_t from : body.control.blocks()[block].predecessors) {
          if (body.decided[from] || body.varies[from]) mark(each.result);
        }
      }
      if (!body.decided[block]) continue;
      if (each.opcode == spv::OpStore) mark_private(each.operands[0]);
      if (each.opcode == spv::OpReturnValue) mark_results(body.function);
    }
  }

  bool has_divergent_barrier(const function_body& body) const {
    for (size_t i = 0; i < body.instructions.size(); ++i) {
      const size_t block = body.block_of[i];
      if (block != control_flow::none && body.decided[block] && is_barrier(body.instructions[i])) {
        return true;
      }
    }
    return false;
  }

  const binary& module_;
  const module_index index_;
  std::vector<function_body> bodies_;
  std::unordered_set<id> with_bodies_;
  std::vector<id> function_of_;  // by instruction; 0: none
  std::unordered_map<id, std::vector<id>> parameters_;
  std::unordered_map<id, std::pair<id, size_t>> place_of_;  // function and number of a parameter
  std::unordered_map<id, std::vector<size_t>> calls_;       // of a function
  std::unordered_map<id, std::vector<size_t>> uses_;
  std::unordered_set<id> with_barriers_;
  std::unordered_set<id> varying_;
  std::vector<id> pending_;
};

}  // namespace

std::unordered_set<id> find_divergent_barriers(const binary& module) {
  const bool has_any =
      std::any_of(module.instructions.begin(), module.instructions.end(),
                  [](const auto& each) { return each.opcode == spv::OpControlBarrier; });
  if (!has_any) return {};
  return divergence(module).run();
}

}  // namespace zevent::driver::spirv
