#pragma once

#include <vector>

#include "driver/spirv_group_calls.hpp"
#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {

// Writes what a work-item does by way of its work_item: read and write parts of it, and meet
// others.
class item_code {
 public:
  // What is written goes to the end of `out`.
  item_code(const module_index& index, module_scope& scope, binary& module,
            std::vector<instruction>& out)
      : index_(index), scope_(scope), module_(module), out_(out) {}

  // The pointer to the work_item, which has to be known before anything else is written.
  void set_item(id item) { item_ = item; }
  id item() const { return item_; }

  id wide() { return scope_.integer_type(64); }
  id item_type() { return scope_.pointer_type(spv::StorageClassCrossWorkgroup, wide()); }
  id emit(spv::Op opcode, id type, std::vector<uint32_t> ids);
  // A pointer to a part of the work_item.
  id field(size_t offset_bytes, id type);

  // Gives what an operation wants; what it does is known only then.
  result<group_operation> give_operands(const instruction& each, const group_call& call);
  result<group_operation> give_copy(const instruction& each);
  void meet(const group_operation& operation, id path_length);
  // Takes the outcome under the name of the instruction's own.
  void take_outcome(const instruction& each);

  // Every work-item has its own part of a block, a number in each row as long as a sub-group.
  result<void> read_block(const instruction& each);
  result<void> write_block(const instruction& each);

 private:
  // What a value is made of. Truth values travel as numbers.
  struct value_shape {
    number_kind kind = number_kind::natural;
    uint8_t element_bytes = 4;
    uint8_t components = 1;
    bool is_truth = false;
  };
  struct block_place {
    id element = 0;       // its type
    id pointer_type = 0;  // to one
    id start = 0;
    id stride = 0;
    size_t count = 0;
    bool is_vector = false;
  };

  result<value_shape> shape_of(id type) const;
  id type_of(id value) const;
  result<value_shape> give(id value, size_t offset_bytes);
  id widen(id value);
  id extract(id type, id value, size_t component);
  void store_operand(size_t operand, id value);
  void give_numbers(id value, size_t count);
  result<block_place> find_block_place(id pointer, id value_type);
  id block_element(const block_place& place, size_t number);

  const module_index& index_;
  module_scope& scope_;
  binary& module_;
  std::vector<instruction>& out_;
  id item_ = 0;
};

}  // namespace zevent::driver::spirv
