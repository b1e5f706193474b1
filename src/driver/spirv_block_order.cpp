#include <algorithm>
#include <unordered_map>
#include <utility>

#include "driver/spirv_lower.hpp"

namespace zevent::driver::spirv {
namespace {

struct block {
  size_t first = 0;  // its label
  size_t last = 0;   // past its terminator
  std::vector<size_t> successors;
};

std::vector<id> branch_targets(const instruction& terminator) {
  std::vector<id> targets;
  switch (terminator.opcode) {
    case spv::OpBranch:
      targets.push_back(terminator.operands[0]);
      break;
    case spv::OpBranchConditional:
      targets = {terminator.operands[1], terminator.operands[2]};
      break;
    case spv::OpSwitch:
      // The first id is the selector.
      for (size_t i = 1; i < terminator.id_operands.size(); ++i) {
        targets.push_back(terminator.operands[terminator.id_operands[i]]);
      }
      break;
    default:
      break;
  }
  return targets;
}

std::vector<block> split_into_blocks(const std::vector<instruction>& all, size_t first,
                                     size_t last) {
  std::vector<block> blocks;
  std::unordered_map<id, size_t> block_of_label;
  for (size_t i = first; i < last; ++i) {
    if (all[i].opcode == spv::OpLabel) {
      if (!blocks.empty()) blocks.back().last = i;
      block_of_label[all[i].result] = blocks.size();
      blocks.push_back({i, last, {}});
    }
  }
  for (block& each : blocks) {
    for (const id target : branch_targets(all[each.last - 1])) {
      const auto found = block_of_label.find(target);
      if (found != block_of_label.end()) each.successors.push_back(found->second);
    }
  }
  return blocks;
}

// Every block that comes after one of its predecessors comes after all that dominate it.
bool is_ordered(const std::vector<block>& blocks) {
  std::vector<bool> is_reached(blocks.size(), false);
  std::vector<bool> is_late(blocks.size(), false);
  is_reached[0] = true;
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const size_t successor : blocks[i].successors) {
      if (successor > i) {
        is_reached[successor] = true;
      } else if (!is_reached[successor]) {
        is_late[successor] = true;
      }
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (is_late[i] && !is_reached[i]) return false;
  }
  return true;
}

// Reverse post-order; what cannot be reached comes last.
std::vector<size_t> dominance_order(const std::vector<block>& blocks) {
  std::vector<size_t> post_order;
  std::vector<bool> is_seen(blocks.size(), false);
  std::vector<std::pair<size_t, size_t>> path = {{0, 0}};  // block, its next successor
  is_seen[0] = true;
  while (!path.empty()) {
    auto& [current, next] = path.back();
    if (next == blocks[current].successors.size()) {
      post_order.push_back(current);
      path.pop_back();
      continue;
    }
    const size_t successor = blocks[current].successors[next++];
    if (!is_seen[successor]) {
      is_seen[successor] = true;
      path.emplace_back(successor, 0);
    }
  }
  std::vector<size_t> order(post_order.rbegin(), post_order.rend());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!is_seen[i]) order.push_back(i);
  }
  return order;
}

void order_function(std::vector<instruction>& all, size_t first, size_t last) {
  const std::vector<block> blocks = split_into_blocks(all, first, last);
  if (blocks.empty() || is_ordered(blocks)) return;
  std::vector<instruction> ordered;
  ordered.reserve(last - blocks[0].first);
  for (const size_t which : dominance_order(blocks)) {
    for (size_t i = blocks[which].first; i < blocks[which].last; ++i) {
      ordered.push_back(std::move(all[i]));
    }
  }
  std::move(ordered.begin(), ordered.end(), all.begin() + static_cast<ptrdiff_t>(blocks[0].first));
}

bool is_branch(spv::Op opcode) {
  return opcode == spv::OpBranch || opcode == spv::OpBranchConditional;
}

// The translator from LLVM writes the merges of some loops twice, or not at the end of their block.
// To kernels they are only hints on how to unroll: those in the wrong place go.
void remove_misplaced_merges(std::vector<instruction>& all) {
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_in_place = i + 1 < all.size() && is_branch(all[i + 1].opcode);
    if (all[i].opcode == spv::OpLoopMerge && !is_in_place) continue;
    if (kept != i) all[kept] = std::move(all[i]);
    ++kept;
  }
  all.resize(kept);
}

}  // namespace

void order_blocks(binary& module) {
  remove_misplaced_merges(module.instructions);
  size_t first = 0;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.instructions[i].opcode == spv::OpFunction) first = i;
    if (module.instructions[i].opcode == spv::OpFunctionEnd) {
      order_function(module.instructions, first, i);
    }
  }
}

}  // namespace zevent::driver::spirv
