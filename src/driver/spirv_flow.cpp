#include "driver/spirv_flow.hpp"

#include <algorithm>

namespace zevent::driver::spirv {
namespace {

constexpr unsigned deepest_loop = 64;

bool ends_block(spv::Op opcode) {
  switch (opcode) {
    case spv::OpBranch:
    case spv::OpBranchConditional:
    case spv::OpSwitch:
      return true;
    default:
      return false;
  }
}

void add_once(std::vector<size_t>& all, size_t added) {
  if (std::find(all.begin(), all.end(), added) == all.end()) all.push_back(added);
}

}  // namespace

control_flow::control_flow(std::span<const instruction> function) {
  find_blocks(function);
  if (blocks_.empty()) return;
  std::vector<size_t> all(blocks_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  arrange(all, 0, none, 0);
  std::vector<bool> is_placed(blocks_.size());
  for (const size_t each : order_) is_placed[each] = true;
  for (const size_t each : all) {
    if (!is_placed[each]) order_.push_back(each);
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (const size_t from : blocks_[i].predecessors) {
      for (size_t at = blocks_[i].loop; at != none; at = loops_[at].parent) {
        if (loops_[at].head != i && !is_in(from, at)) loops_[at].has_one_entry = false;
      }
    }
  }
}

bool control_flow::is_in(size_t member, size_t whole) const {
  for (size_t at = blocks_[member].loop; at != none; at = loops_[at].parent) {
    if (at == whole) return true;
  }
  return false;
}

void control_flow::find_blocks(std::span<const instruction> function) {
  for (const instruction& each : function) {
    if (each.opcode != spv::OpLabel) continue;
    block_of_label_[each.result] = blocks_.size();
    blocks_.push_back({each.result, {}, {}});
  }
  size_t current = none;
  for (const instruction& each : function) {
    if (each.opcode == spv::OpLabel) ++current;
    if (current == none || !ends_block(each.opcode)) continue;
    each.for_each_id([&](id used) {
      const auto target = block_of_label_.find(used);
      if (target == block_of_label_.end()) return;
      add_once(blocks_[current].successors, target->second);
      add_once(blocks_[target->second].predecessors, current);
    });
  }
}

// Puts the members into the order, their loops one by one and then what is in these.
void control_flow::arrange(const std::vector<size_t>& members, size_t entry, size_t parent,
                           unsigned depth) {
  for (const std::vector<size_t>& part :
       components(members, entry, parent != none ? loops_[parent].head : none)) {
    const auto& next = blocks_[part.front()].successors;
    const bool is_loop =
        part.size() > 1 || (std::find(next.begin(), next.end(), part.front()) != next.end() &&
                            (parent == none || part.front() != loops_[parent].head));
    if (!is_loop || depth == deepest_loop) {
      order_.insert(order_.end(), part.begin(), part.end());
      continue;
    }
    const size_t own = loops_.size();
    loops_.push_back({part.front(), parent});
    for (const size_t each : part) blocks_[each].loop = own;
    arrange(part, part.front(), own, depth + 1);
  }
}

// The strongly connected components of what can be reached from the entry, first ones first, each
// with the block through which it was found at its front. Edges to `cut_head` do not count.
std::vector<std::vector<size_t>> control_flow::components(const std::vector<size_t>& members,
                                                          size_t entry, size_t cut_head) {
  struct node {
    size_t number = 0, lowest = 0;  // 0: not seen
    bool is_open = false;
  };
  struct visit {
    size_t block;
    size_t next_successor;
  };
  std::unordered_map<size_t, node> nodes;
  for (const size_t each : members) nodes[each];
  std::vector<std::vector<size_t>> found;
  std::vector<size_t> open;
  std::vector<visit> visits;
  size_t count = 0;
  const auto enter = [&](size_t found_block) {
    nodes[found_block] = {count + 1, count + 1, true};
    ++count;
    open.push_back(found_block);
    visits.push_back({found_block, 0});
  };
  enter(entry);
  while (!visits.empty()) {
    const size_t current = visits.back().block;
    if (visits.back().next_successor < blocks_[current].successors.size()) {
      const size_t next = blocks_[current].successors[visits.back().next_successor++];
      const auto target = nodes.find(next);
      if (target == nodes.end() || next == cut_head) continue;
      if (target->second.number == 0) {
        enter(next);
      } else if (target->second.is_open) {
        nodes[current].lowest = std::min(nodes[current].lowest, target->second.number);
      }
      continue;
    }
    visits.pop_back();
    const node done = nodes[current];
    if (!visits.empty()) {
      node& from = nodes[visits.back().block];
      from.lowest = std::min(from.lowest, done.lowest);
    }
    if (done.lowest != done.number) continue;
    const auto first = std::find(open.rbegin(), open.rend(), current).base() - 1;
    found.emplace_back(first, open.end());
    for (const size_t each : found.back()) nodes[each].is_open = false;
    open.erase(first, open.end());
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace zevent::driver::spirv
