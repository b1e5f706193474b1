#include "driver/spirv_math.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint64_t bytes_of_every_register = 16;

bool is_split(uint32_t function) {
  switch (function) {
    case OpenCLLIB::Ceil:
    case OpenCLLIB::Copysign:
    case OpenCLLIB::Fabs:
    case OpenCLLIB::Fdim:
    case OpenCLLIB::Floor:
    case OpenCLLIB::Fma:
    case OpenCLLIB::Fmax:
    case OpenCLLIB::Fmin:
    case OpenCLLIB::Mad:
    case OpenCLLIB::Rsqrt:
    case OpenCLLIB::Sqrt:
    case OpenCLLIB::Trunc:
      return false;
    case OpenCLLIB::SAbs_diff:
    case OpenCLLIB::UAbs_diff:
      return true;
    default:
      return function <= OpenCLLIB::Native_tan;
  }
}

bool stores_halves(uint32_t function) {
  return function == OpenCLLIB::Vstore_halfn || function == OpenCLLIB::Vstore_halfn_r ||
         function == OpenCLLIB::Vstorea_halfn || function == OpenCLLIB::Vstorea_halfn_r;
}

bool is_inexact(uint32_t function) {
  return function >= OpenCLLIB::Half_cos && function <= OpenCLLIB::Half_tan;
}

uint32_t exact_function(uint32_t function) {
  switch (function) {
    case OpenCLLIB::Half_cos:
      return OpenCLLIB::Cos;
    case OpenCLLIB::Half_exp:
      return OpenCLLIB::Exp;
    case OpenCLLIB::Half_exp2:
      return OpenCLLIB::Exp2;
    case OpenCLLIB::Half_exp10:
      return OpenCLLIB::Exp10;
    case OpenCLLIB::Half_log:
      return OpenCLLIB::Log;
    case OpenCLLIB::Half_log2:
      return OpenCLLIB::Log2;
    case OpenCLLIB::Half_log10:
      return OpenCLLIB::Log10;
    case OpenCLLIB::Half_powr:
      return OpenCLLIB::Powr;
    case OpenCLLIB::Half_rsqrt:
      return OpenCLLIB::Rsqrt;
    case OpenCLLIB::Half_sin:
      return OpenCLLIB::Sin;
    case OpenCLLIB::Half_sqrt:
      return OpenCLLIB::Sqrt;
    case OpenCLLIB::Half_tan:
      return OpenCLLIB::Tan;
    case OpenCLLIB::Half_divide:
      return OpenCLLIB::Native_divide;
    case OpenCLLIB::Half_recip:
      return OpenCLLIB::Native_recip;
    default:
      return function;
  }
}

class math_lowering : instruction_lowering {
 public:
  explicit math_lowering(binary& module) : instruction_lowering(module) {}

  void run() {
    replace_all(
        [&](const instruction& each) {
          if (!each.is_opencl_function()) return false;
          const uint32_t function = each.operands[1];
          return is_inexact(function) || is_called_for_parts(each) || is_stored_apart(each);
        },
        [&](const instruction& each) {
          instruction call = each;
          call.operands[1] = exact_function(each.operands[1]);
          if (is_stored_apart(call)) {
            store_each(call);
          } else if (is_called_for_parts(call)) {
            call_for_parts(call);
          } else {
            add(std::move(call));
          }
        });
  }

 private:
  const instruction* vector_type(id type) const {
    const instruction* found = index_.definition(type);
    return found != nullptr && found->opcode == spv::OpTypeVector ? found : nullptr;
  }

  uint64_t bytes_of(id type) const {
    const auto layout = index_.layout_of(type);
    return layout ? layout->size_bytes : 0;
  }

  // The size of the largest vector that it takes or gives.
  uint64_t widest_bytes(const instruction& each) const {
    uint64_t widest = vector_type(each.type) != nullptr ? bytes_of(each.type) : 0;
    each.for_each_id([&](id used) {
      const id type = type_of(used);
      if (vector_type(type) != nullptr) widest = std::max(widest, bytes_of(type));
    });
    return widest;
  }

  bool is_wide(const instruction& each) const {
    return widest_bytes(each) > bytes_of_every_register;
  }

  bool is_called_for_parts(const instruction& each) const {
    return is_split(each.operands[1]) && vector_type(each.type) != nullptr && is_wide(each);
  }

  bool is_stored_apart(const instruction& each) const {
    return stores_halves(each.operands[1]) && is_wide(each) &&
           vector_type(type_of(each.operands[2])) != nullptr &&
           index_.opcode_of(type_of(each.operands[3])) == spv::OpTypeInt;
  }

  id part_type(id component, uint32_t count) {
    return count == 1 ? component : scope_.vector_type(component, count);
  }

  // `count` components from the one at `first`.
  id part_of(id value, const instruction& type, uint32_t first, uint32_t count) {
    const id component = type.operands[0];
    if (count == 1) return emit_component(component, value, first);
    instruction shuffle = make_literal_instruction(
        spv::OpVectorShuffle, scope_.vector_type(component, count), 0, {value, value});
    for (uint32_t i = 0; i < count; ++i) shuffle.operands.push_back(first + i);
    shuffle.id_operands = {0, 1};
    return emit(std::move(shuffle));
  }

  id pointer_to_part(id pointer, const instruction& type, uint32_t first, uint32_t count) {
    const auto storage = static_cast<spv::StorageClass>(type.operands[0]);
    const instruction* pointee = vector_type(type.operands[1]);
    if (pointee == nullptr) return pointer;
    const id component = pointee->operands[0];
    const id component_pointer = scope_.pointer_type(storage, component);
    const id start = emit(spv::OpBitcast, component_pointer, {pointer});
    const id place = emit(spv::OpInBoundsPtrAccessChain, component_pointer,
                          {start, scope_.integer_constant(64, first)});
    if (count == 1) return place;
    return emit(spv::OpBitcast, scope_.pointer_type(storage, part_type(component, count)), {place});
  }

  id argument_part(id argument, uint32_t first, uint32_t count) {
    const id type = type_of(argument);
    if (const instruction* vector = vector_type(type)) {
      return part_of(argument, *vector, first, count);
    }
    const instruction* found = index_.definition(type);
    const bool is_pointer = found != nullptr && found->opcode == spv::OpTypePointer;
    return is_pointer ? pointer_to_part(argument, *found, first, count) : argument;
  }

  void call_for_parts(const instruction& call) {
    const instruction& type = *vector_type(call.type);
    const uint32_t components = type.operands[1];
    // As vectors of three have room for four, this is the size of one component.
    const uint64_t component_bytes = widest_bytes(call) / std::bit_ceil(components);
    const auto most = static_cast<uint32_t>(bytes_of_every_register / component_bytes);
    std::vector<uint32_t> parts;
    for (uint32_t first = 0; first < components; first += most) {
      const uint32_t count = std::min(most, components - first);
      instruction part = call;
      part.type = part_type(type.operands[0], count);
      for (size_t i = 1; i < part.id_operands.size(); ++i) {
        id& argument = part.operands[part.id_operands[i]];
        argument = argument_part(argument, first, count);
      }
      parts.push_back(emit(std::move(part)));
    }
    add(make_instruction(spv::OpCompositeConstruct, call.type, call.result, std::move(parts)));
  }

  // Data, offset, pointer and perhaps a rounding mode.
  void store_each(const instruction& call) {
    const id data = call.operands[2], offset = call.operands[3];
    const instruction& type = *vector_type(type_of(data));
    const id number = type_of(offset);
    const uint32_t bits = index_.definition(number)->operands[0];
    const uint32_t function = call.operands[1];
    const bool is_aligned =
        function == OpenCLLIB::Vstorea_halfn || function == OpenCLLIB::Vstorea_halfn_r;
    const bool is_rounded =
        function == OpenCLLIB::Vstore_halfn_r || function == OpenCLLIB::Vstorea_halfn_r;
    const uint32_t components = type.operands[1];
    const uint32_t stride = is_aligned ? std::bit_ceil(components) : components;
    const id start = emit(spv::OpIMul, number, {offset, scope_.integer_constant(bits, stride)});
    for (uint32_t i = 0; i < components; ++i) {
      instruction store = call;
      store.operands[1] = is_rounded ? OpenCLLIB::Vstore_half_r : OpenCLLIB::Vstore_half;
      store.operands[2] = part_of(data, type, i, 1);
      store.operands[3] = emit(spv::OpIAdd, number, {start, scope_.integer_constant(bits, i)});
      if (i + 1 < components) {
        emit(std::move(store));
      } else {
        add(std::move(store));
      }
    }
  }
};

}  // namespace

void lower_math_functions(binary& module) {
  math_lowering(module).run();
}

}  // namespace zevent::driver::spirv
