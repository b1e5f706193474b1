#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// The blocks of a function in an order in which whatever comes later in a run comes later, loops
// being kept together: a loop is a place in that order, with an order of its own inside.
class control_flow {
 public:
  static constexpr size_t none = static_cast<size_t>(-1);

  struct block {
    id label = 0;
    std::vector<size_t> predecessors, successors;
    size_t loop = none;  // the innermost that it is in
  };
  struct loop {
    size_t head = 0;
    size_t parent = none;
    bool has_one_entry = true;  // it is entered through its head only
  };

  // The instructions of one function.
  explicit control_flow(std::span<const instruction> function);

  const std::vector<block>& blocks() const { return blocks_; }  // in the order of the function
  const std::vector<loop>& loops() const { return loops_; }     // outer ones before inner ones
  const std::vector<size_t>& order() const { return order_; }   // blocks; unreachable ones last
  bool is_in(size_t member, size_t whole) const;

 private:
  void find_blocks(std::span<const instruction> function);
  void arrange(const std::vector<size_t>& members, size_t entry, size_t parent, unsigned depth);
  std::vector<std::vector<size_t>> components(const std::vector<size_t>& members, size_t entry,
                                              size_t cut_head);

  std::vector<block> blocks_;
  std::vector<loop> loops_;
  std::vector<size_t> order_;
  std::unordered_map<id, size_t> block_of_label_;
};

}  // namespace zevent::driver::spirv
