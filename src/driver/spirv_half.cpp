#include "driver/spirv_half.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

// Functions of the OpenCL set that are not about numbers as such follow.
constexpr uint32_t last_of_numbers = OpenCLLIB::Fast_normalize;

bool is_lowered_function(uint32_t function) {
  return function <= last_of_numbers && function != OpenCLLIB::Nextafter &&
         function != OpenCLLIB::Nan;
}

// Instructions that the translator makes calls of functions.
bool is_lowered_instruction(spv::Op opcode) {
  switch (opcode) {
    case spv::OpIsNan:
    case spv::OpIsInf:
    case spv::OpIsFinite:
    case spv::OpSignBitSet:
    case spv::OpLessOrGreater:
    case spv::OpOrdered:
    case spv::OpUnordered:
    case spv::OpDot:
    case spv::OpConvertFToS:
    case spv::OpConvertFToU:
    case spv::OpConvertSToF:
    case spv::OpConvertUToF:
      return true;
    default:
      return false;
  }
}

class half_lowering : instruction_lowering {
 public:
  explicit half_lowering(binary& module) : instruction_lowering(module) {}

  void run() {
    replace_all(
        [&](const instruction& each) {
          return converts_vector(each) || gives_through_pointer(each) || is_lowered(each);
        },
        [&](const instruction& each) {
          if (converts_vector(each)) {
            convert(each.operands[0], type_of(each.operands[0]), each.type, each.result);
          } else if (gives_through_pointer(each)) {
            lower_to_parts(each);
          } else {
            lower(each);
          }
        });
  }

 private:
  bool is_vector(id type) const { return index_.opcode_of(type) == spv::OpTypeVector; }

  bool points_to_half(id type) const {
    const instruction* found = index_.definition(type);
    return found != nullptr && found->opcode == spv::OpTypePointer && is_half(found->operands[1]);
  }

  bool converts_vector(const instruction& each) const {
    return each.opcode == spv::OpFConvert && is_vector(each.type) &&
           (is_half(each.type) || is_half(type_of(each.operands[0])));
  }

  bool is_lowered(const instruction& each) const {
    if (each.opcode == spv::OpExtInst) {
      if (!each.is_opencl_function() || !is_lowered_function(each.operands[1])) return false;
    } else if (!is_lowered_instruction(each.opcode)) {
      return false;
    }
    // Numbers are rounded once.
    if ((each.opcode == spv::OpConvertSToF || each.opcode == spv::OpConvertUToF) &&
        !is_vector(each.type)) {
      return false;
    }
    bool has_half = is_half(each.type), has_pointer = false;
    each.for_each_id([&](id used) {
      has_half = has_half || is_half(type_of(used));
      has_pointer = has_pointer || points_to_half(type_of(used));
    });
    return has_half && !has_pointer;
  }

  // Functions with a second result, which they store.
  bool gives_through_pointer(const instruction& each) const {
    if (!each.is_opencl_function()) return false;
    const uint32_t function = each.operands[1];
    const bool is_one = function == OpenCLLIB::Fract || function == OpenCLLIB::Modf ||
                        function == OpenCLLIB::Sincos;
    return is_one && is_half(each.type);
  }

  // The single-precision type of as many components.
  id wide_type(id type) {
    const instruction& found = *index_.definition(type);
    const id number = scope_.float_type(32);
    return found.opcode == spv::OpTypeVector ? scope_.vector_type(number, found.operands[1])
                                             : number;
  }

  id component_of(id vector) {
    const instruction* found = index_.definition(vector);
    return found != nullptr ? found->operands[0] : scope_.float_type(32);
  }

  // One number at a time: vectors are converted by functions that are not there either.
  void convert(id value, id from, id type, id result) {
    // One of the two types is the module's own; the other may be new.
    const instruction* vector = index_.definition(is_half(from) ? from : type);
    if (vector->opcode != spv::OpTypeVector) {
      add(make_instruction(spv::OpFConvert, type, result, {value}));
      return;
    }
    const id source = component_of(from), component = component_of(type);
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < vector->operands[1]; ++i) {
      parts.push_back(emit(spv::OpFConvert, component, {emit_component(source, value, i)}));
    }
    add(make_instruction(spv::OpCompositeConstruct, type, result, std::move(parts)));
  }

  // Of one number in single precision.
  struct two_results {
    id returned, stored;
  };

  two_results compute_both(const instruction& call, id number) {
    const id single = scope_.float_type(32);
    const auto apply = [&](uint32_t function, std::vector<uint32_t> arguments) {
      instruction made = call;
      made.type = single;
      made.operands = {call.operands[0], function};
      made.id_operands = {0};
      for (const uint32_t each : arguments) {
        made.id_operands.push_back(static_cast<uint16_t>(made.operands.size()));
        made.operands.push_back(each);
      }
      return emit(std::move(made));
    };
    const auto constant = [&](float value) {
      return scope_.constant(spv::OpConstant, single, {std::bit_cast<uint32_t>(value)}, false);
    };
    const uint32_t function = call.operands[1];
    if (function == OpenCLLIB::Sincos) {
      return {apply(OpenCLLIB::Sin, {number}), apply(OpenCLLIB::Cos, {number})};
    }
    const bool is_modf = function == OpenCLLIB::Modf;
    const id whole = apply(is_modf ? OpenCLLIB::Trunc : OpenCLLIB::Floor, {number});
    const id truth = scope_.type(spv::OpTypeBool, {});
    const id rest = emit(spv::OpFSub, single, {number, whole});
    const id is_infinite = emit(spv::OpIsInf, truth, {number});
    const id zero = constant(0);
    if (is_modf) {  // the rest has the number's sign
      const id finite = emit(spv::OpSelect, single, {is_infinite, zero, rest});
      return {apply(OpenCLLIB::Copysign, {finite, number}), whole};
    }
    // What is nearly one stays less than one when it is rounded.
    constexpr float largest_half_below_one = 0x1.ffcp-1F;
    const id limit = constant(largest_half_below_one);
    const id is_more = emit(spv::OpFOrdGreaterThan, truth, {rest, limit});
    const id less = emit(spv::OpSelect, single, {is_more, limit, rest});
    // Nothing and infinity leave nothing, with their sign.
    const id is_zero = emit(spv::OpFOrdEqual, truth, {number, zero});
    const id is_special = emit(spv::OpLogicalOr, truth, {is_zero, is_infinite});
    const id nothing = apply(OpenCLLIB::Copysign, {zero, number});
    return {emit(spv::OpSelect, single, {is_special, nothing, less}), whole};
  }

  void lower_to_parts(const instruction& call) {
    const id value = call.operands[2], pointer = call.operands[3];
    const instruction& type = *index_.definition(call.type);
    const bool is_single = type.opcode != spv::OpTypeVector;
    const id half = is_single ? call.type : type.operands[0];
    std::vector<uint32_t> returned, stored;
    const auto narrow = [&](id number) { return emit(spv::OpFConvert, half, {number}); };
    for (uint32_t i = 0; i < (is_single ? 1 : type.operands[1]); ++i) {
      const id part = is_single ? value : emit_component(half, value, i);
      const id wide = emit(spv::OpFConvert, scope_.float_type(32), {part});
      const two_results both = compute_both(call, wide);
      returned.push_back(narrow(both.returned));
      stored.push_back(narrow(both.stored));
    }
    id second = stored.front();
    if (is_single) {
      add(make_instruction(spv::OpCopyObject, call.type, call.result, {returned.front()}));
    } else {
      add(make_instruction(spv::OpCompositeConstruct, call.type, call.result, std::move(returned)));
      second = emit(spv::OpCompositeConstruct, call.type, std::move(stored));
    }
    add(make_instruction(spv::OpStore, 0, 0, {pointer, second}));
  }

  void lower(instruction each) {
    each.for_each_id([&](id& used) {
      const id type = type_of(used);
      if (!is_half(type)) return;
      const id wide = module_.new_id();
      convert(used, type, wide_type(type), wide);
      used = wide;
    });
    if (!is_half(each.type)) {
      add(std::move(each));
      return;
    }
    const id type = std::exchange(each.type, wide_type(each.type));
    const id result = std::exchange(each.result, module_.new_id());
    const id wide = each.result;
    const id from = each.type;
    add(std::move(each));
    convert(wide, from, type, result);
  }
};

}  // namespace

void lower_half_functions(binary& module) {
  half_lowering(module).run();
}

}  // namespace zevent::driver::spirv
