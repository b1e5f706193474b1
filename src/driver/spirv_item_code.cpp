#include "driver/spirv_item_code.hpp"

#include <algorithm>
#include <cstddef>

#include "driver/work_item.hpp"

namespace zevent::driver::spirv {

id item_code::emit(spv::Op opcode, id type, std::vector<uint32_t> ids) {
  const id made = type != 0 ? module_.new_id() : 0;
  out_.push_back(make_instruction(opcode, type, made, std::move(ids)));
  return made;
}

id item_code::extract(id type, id value, size_t component) {
  instruction part = make_literal_instruction(spv::OpCompositeExtract, type, module_.new_id(),
                                              {value, static_cast<uint32_t>(component)});
  part.id_operands = {0};
  out_.push_back(std::move(part));
  return out_.back().result;
}

id item_code::field(size_t offset_bytes, id type) {
  const id place = scope_.integer_constant(64, offset_bytes / sizeof(uint64_t));
  const id found = emit(spv::OpInBoundsPtrAccessChain, item_type(), {item_, place});
  const id pointer_type = scope_.pointer_type(spv::StorageClassCrossWorkgroup, type);
  return pointer_type == item_type() ? found : emit(spv::OpBitcast, pointer_type, {found});
}

id item_code::type_of(id value) const {
  const instruction* found = index_.definition(value);
  return found != nullptr ? found->type : 0;
}

result<item_code::value_shape> item_code::shape_of(id type) const {
  value_shape shape;
  const instruction* found = index_.definition(type);
  if (found != nullptr && found->opcode == spv::OpTypeVector) {
    shape.components = static_cast<uint8_t>(found->operands[1]);
    found = index_.definition(found->operands[0]);
  }
  if (found != nullptr && found->opcode == spv::OpTypeBool && shape.components == 1) {
    shape.is_truth = true;
    return shape;
  }
  if (found != nullptr && (found->opcode == spv::OpTypeInt || found->opcode == spv::OpTypeFloat)) {
    shape.element_bytes = static_cast<uint8_t>(found->operands[0] / 8);
    if (found->opcode == spv::OpTypeFloat) shape.kind = number_kind::floating;
    if (shape.element_bytes != 0 && shape.element_bytes <= 8 &&
        size_t{shape.element_bytes} * shape.components <= work_item::largest_value_bytes) {
      return shape;
    }
  }
  return fail("an operation of a group is on values of a type that is not supported");
}

result<item_code::value_shape> item_code::give(id value, size_t offset_bytes) {
  id type = type_of(value);
  auto shape = shape_of(type);
  if (!shape) return shape;
  if (shape->is_truth) {
    type = scope_.integer_type(32);
    value = emit(spv::OpSelect, type,
                 {value, scope_.integer_constant(32, 1), scope_.integer_constant(32, 0)});
  }
  emit(spv::OpStore, 0, {field(offset_bytes, type), value});
  return shape;
}

id item_code::widen(id value) {
  const instruction* type = index_.definition(type_of(value));
  if (type != nullptr && type->opcode == spv::OpTypeInt && type->operands[0] == 64) return value;
  return emit(spv::OpUConvert, wide(), {value});
}

void item_code::store_operand(size_t operand, id value) {
  const size_t offset_bytes = offsetof(work_item, operands) + operand * sizeof(uint64_t);
  emit(spv::OpStore, 0, {field(offset_bytes, wide()), value});
}

// A number, or the components of a local id; those up to `count` that are not there are 0.
void item_code::give_numbers(id value, size_t count) {
  const instruction* type = index_.definition(type_of(value));
  size_t given = 0;
  if (type != nullptr && type->opcode == spv::OpTypeVector) {
    const instruction* component = index_.definition(type->operands[0]);
    for (; given < std::min<size_t>(type->operands[1], 3); ++given) {
      id number = extract(type->operands[0], value, given);
      if (component->operands[0] != 64) number = emit(spv::OpUConvert, wide(), {number});
      store_operand(given, number);
    }
  } else {
    store_operand(given++, widen(value));
  }
  for (; given < count; ++given) store_operand(given, scope_.integer_constant(64, 0));
}

result<group_operation> item_code::give_operands(const instruction& each, const group_call& call) {
  group_operation operation = call.operation;
  operation.is_of_whole_group =
      call.scope != group_call::none && scope_at(index_, each, call.scope) == spv::ScopeWorkgroup;
  if (call.value != group_call::none) {
    const auto shape = give(each.operands[call.value], offsetof(work_item, given));
    if (!shape) return tl::unexpected(shape.error());
    operation.element_bytes = shape->element_bytes;
    operation.components = shape->components;
    if (operation.act == group_act::all_equal) operation.kind = shape->kind;
  }
  if (call.second_value != group_call::none) {
    const auto shape = give(each.operands[call.second_value], offsetof(work_item, also_given));
    if (!shape) return tl::unexpected(shape.error());
  }
  if (call.number != group_call::none) {
    const bool is_local_id = operation.act == group_act::broadcast && operation.is_of_whole_group;
    give_numbers(each.operands[call.number], is_local_id ? 3 : 1);
  }
  if (call.cluster != group_call::none) {
    store_operand(1, widen(each.operands[call.cluster]));
  } else if (operation.act == group_act::rotate) {
    store_operand(1, scope_.integer_constant(64, 0));
  }
  return operation;
}

result<group_operation> item_code::give_copy(const instruction& each) {
  const instruction* target = index_.definition(type_of(each.operands[1]));
  if (target == nullptr || target->opcode != spv::OpTypePointer) {
    return fail("a copy of a group is to something else than a pointer");
  }
  const auto element = index_.layout_of(target->operands[1]);
  if (!element || element->size_bytes > work_item::largest_value_bytes) {
    return fail("a copy of a group is of elements that are not supported");
  }
  group_operation copy;
  copy.act = group_act::copy;
  copy.needs_all = true;
  copy.is_of_whole_group = true;
  copy.element_bytes = static_cast<uint8_t>(element->size_bytes);
  store_operand(0, emit(spv::OpConvertPtrToU, wide(), {each.operands[1]}));
  store_operand(1, emit(spv::OpConvertPtrToU, wide(), {each.operands[2]}));
  store_operand(2, widen(each.operands[3]));
  // The distance of elements is that in global memory.
  const bool is_to_local = target->operands[0] == spv::StorageClassWorkgroup;
  const id one = scope_.integer_constant(64, 1);
  const id stride = widen(each.operands[4]);
  store_operand(3, is_to_local ? one : stride);
  store_operand(4, is_to_local ? stride : one);
  return copy;
}

void item_code::meet(const group_operation& operation, id path_length) {
  const id nothing = scope_.type(spv::OpTypeVoid, {});
  const id function = scope_.type(spv::OpTypeFunction, {nothing, item_type(), wide(), wide()});
  const id pointer_type = scope_.pointer_type(spv::StorageClassFunction, function);
  const id address = emit(spv::OpLoad, wide(), {field(offsetof(work_item, meet), wide())});
  const id pointer = emit(spv::OpConvertUToPtr, pointer_type, {address});
  emit(spv::OpFunctionPointerCallINTEL, nothing,
       {pointer, item_, scope_.integer_constant(64, operation.encode()), path_length});
}

void item_code::take_outcome(const instruction& each) {
  if (each.result == 0) return;
  const size_t offset_bytes = offsetof(work_item, outcome);
  if (index_.opcode_of(each.type) != spv::OpTypeBool) {
    const id place = field(offset_bytes, each.type);
    out_.push_back(make_instruction(spv::OpLoad, each.type, each.result, {place}));
    return;
  }
  const id narrow = scope_.integer_type(32);
  const id number = emit(spv::OpLoad, narrow, {field(offset_bytes, narrow)});
  out_.push_back(make_instruction(spv::OpINotEqual, each.type, each.result,
                                  {number, scope_.integer_constant(32, 0)}));
}

result<item_code::block_place> item_code::find_block_place(id pointer, id value_type) {
  const instruction* type = index_.definition(type_of(pointer));
  if (type == nullptr || type->opcode != spv::OpTypePointer) {
    return fail("a block of a sub-group is in something else than a buffer");
  }
  const auto shape = shape_of(value_type);
  if (!shape || shape->is_truth) return fail("a block of a sub-group is of unknown values");
  block_place place;
  place.is_vector = shape->components > 1;
  place.count = shape->components;
  place.element = place.is_vector ? index_.definition(value_type)->operands[0] : value_type;
  place.pointer_type =
      scope_.pointer_type(static_cast<spv::StorageClass>(type->operands[0]), place.element);
  const id start = place.pointer_type == type->result
                       ? pointer
                       : emit(spv::OpBitcast, place.pointer_type, {pointer});
  const id lane = emit(spv::OpLoad, wide(), {field(offsetof(work_item, lane), wide())});
  place.start = emit(spv::OpInBoundsPtrAccessChain, place.pointer_type, {start, lane});
  place.stride =
      emit(spv::OpLoad, wide(), {field(offsetof(work_item, largest_sub_group_size), wide())});
  return place;
}

id item_code::block_element(const block_place& place, size_t number) {
  const id distance =
      emit(spv::OpIMul, wide(), {place.stride, scope_.integer_constant(64, number)});
  return emit(spv::OpInBoundsPtrAccessChain, place.pointer_type, {place.start, distance});
}

result<void> item_code::read_block(const instruction& each) {
  const auto place = find_block_place(each.operands[0], each.type);
  if (!place) return tl::unexpected(place.error());
  std::vector<uint32_t> parts;
  for (size_t i = 0; i < place->count; ++i) {
    parts.push_back(emit(spv::OpLoad, place->element, {block_element(*place, i)}));
  }
  const spv::Op opcode = place->is_vector ? spv::OpCompositeConstruct : spv::OpCopyObject;
  out_.push_back(make_instruction(opcode, each.type, each.result, std::move(parts)));
  return {};
}

result<void> item_code::write_block(const instruction& each) {
  const id value = each.operands[1];
  const auto place = find_block_place(each.operands[0], type_of(value));
  if (!place) return tl::unexpected(place.error());
  for (size_t i = 0; i < place->count; ++i) {
    const id part = place->is_vector ? extract(place->element, value, i) : value;
    emit(spv::OpStore, 0, {block_element(*place, i), part});
  }
  return {};
}

}  // namespace zevent::driver::spirv
