#include "driver/spirv_constants.hpp"

#include <algorithm>
#include <cstring>

namespace zevent::driver::spirv {
namespace {

constexpr unsigned deepest_expression = 64;
constexpr uint64_t largest_initializer_bytes = uint64_t{1} << 31;

// A scalar known before run time: a number, or a variable's address plus a number.
struct scalar {
  uint64_t number = 0;
  id variable = 0;  // 0: a plain number
};

class evaluator {
 public:
  explicit evaluator(const module_index& index) : index_(index) {}

  result<initial_value> run(id constant) {
    const instruction* definition = index_.definition(constant);
    if (definition == nullptr) return fail("initialiser %{} is not defined", constant);
    const auto whole = index_.layout_of(definition->type);
    if (!whole) return tl::unexpected(whole.error());
    if (whole->size_bytes > largest_initializer_bytes) {
      return fail("an initialiser has {} bytes; at most {} are supported", whole->size_bytes,
                  largest_initializer_bytes);
    }
    value_.bytes.resize(whole->size_bytes, 0);
    if (auto status = fill(constant, 0, 0); !status) return tl::unexpected(status.error());
    return std::move(value_);
  }

 private:
  result<void> fill(id constant, uint64_t offset, unsigned depth) {
    const instruction* definition = index_.definition(constant);
    if (definition == nullptr) return fail("constant %{} is not defined", constant);
    const auto own = index_.layout_of(definition->type);
    if (!own) return tl::unexpected(own.error());
    if (own->size_bytes == 0) return {};
    if (depth > deepest_expression || offset + own->size_bytes > value_.bytes.size()) {
      return fail("constant %{} is not a valid part of an initialiser", constant);
    }
    switch (definition->opcode) {
      case spv::OpUndef:
      case spv::OpConstantNull:
        return {};
      case spv::OpConstantComposite:
      case spv::OpSpecConstantComposite:
        for (size_t i = 0; i < definition->operands.size(); ++i) {
          const auto part = index_.offset_of(definition->type, i);
          if (!part) return tl::unexpected(part.error());
          auto status = fill(definition->operands[i], offset + *part, depth + 1);
          if (!status) return status;
        }
        return {};
      default:
        break;
    }
    const auto value = evaluate(constant, depth);
    if (!value) return tl::unexpected(value.error());
    std::memcpy(&value_.bytes[offset], &value->number, std::min<uint64_t>(own->size_bytes, 8));
    if (value->variable != 0) {
      if (own->size_bytes != 8) return fail("an address is stored in less than 8 bytes");
      value_.relocations.push_back({offset, value->variable});
    }
    return {};
  }

  result<scalar> evaluate(id constant, unsigned depth) {
    const instruction* definition = index_.definition(constant);
    if (definition == nullptr || depth > deepest_expression) {
      return fail("constant %{} cannot be worked out", constant);
    }
    switch (definition->opcode) {
      case spv::OpUndef:
      case spv::OpConstantNull:
      case spv::OpConstantFalse:
      case spv::OpSpecConstantFalse:
        return scalar{};
      case spv::OpConstantTrue:
      case spv::OpSpecConstantTrue:
        return scalar{1};
      case spv::OpConstant:
      case spv::OpSpecConstant: {
        uint64_t number = definition->operands[0];
        if (definition->operands.size() > 1) number |= uint64_t{definition->operands[1]} << 32;
        return scalar{number};
      }
      case spv::OpVariable:
        return scalar{0, constant};
      case spv::OpSpecConstantOp:
        return evaluate_operation(*definition, depth);
      default:
        return fail("constant %{} (opcode {}) is not supported in the initialiser of a variable",
                    constant, static_cast<unsigned>(definition->opcode));
    }
  }

  result<scalar> evaluate_operation(const instruction& expression, unsigned depth) {
    const auto operand = [&](size_t i) -> result<scalar> {
      if (1 + i >= expression.operands.size()) return fail("an operand is missing");
      return evaluate(expression.operands[1 + i], depth + 1);
    };
    const auto operation = static_cast<spv::Op>(expression.operands[0]);
    switch (operation) {
      case spv::OpBitcast:
      case spv::OpConvertPtrToU:
      case spv::OpConvertUToPtr:
      case spv::OpPtrCastToGeneric:
      case spv::OpGenericCastToPtr:
      case spv::OpUConvert:
        return operand(0);
      case spv::OpIAdd:
      case spv::OpISub: {
        auto left = operand(0);
        if (!left) return left;
        auto right = operand(1);
        if (!right) return right;
        if (right->variable != 0) break;
        return scalar{
            operation == spv::OpIAdd ? left->number + right->number : left->number - right->number,
            left->variable};
      }
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
        return step_into(expression, 2, false, depth);
      case spv::OpPtrAccessChain:
      case spv::OpInBoundsPtrAccessChain:
        return step_into(expression, 2, true, depth);
      default:
        break;
    }
    return fail("operation {} is not supported in the initialiser of a variable",
                static_cast<unsigned>(operation));
  }

  // A chain of indices from a base pointer; `by_element`: the first index steps over whole
  // elements.
  result<scalar> step_into(const instruction& chain, size_t first_index, bool by_element,
                           unsigned depth) {
    if (chain.operands.size() < 2) return fail("an access chain has no base");
    auto address = evaluate(chain.operands[1], depth + 1);
    if (!address) return address;
    const instruction* base = index_.definition(chain.operands[1]);
    const instruction* base_type = index_.definition(base->type);
    if (base_type == nullptr || base_type->opcode != spv::OpTypePointer) {
      return fail("the base of an access chain is not a pointer");
    }
    id type = base_type->operands[1];
    for (size_t i = first_index; i < chain.operands.size(); ++i) {
      const auto position = index_.integer_constant(chain.operands[i]);
      if (!position) return fail("an index of an access chain is not a constant");
      if (by_element && i == first_index) {
        const auto element = index_.layout_of(type);
        if (!element) return tl::unexpected(element.error());
        address->number += element->size_bytes * *position;
        continue;
      }
      const auto part = index_.offset_of(type, *position);
      if (!part) return tl::unexpected(part.error());
      address->number += *part;
      type = index_.element_type(type, *position);
    }
    return address;
  }

  const module_index& index_;
  initial_value value_;
};

}  // namespace

void apply_spec_constants(binary& module, std::span<const spec_value> values) {
  const module_index index(module);
  for (instruction& each : module.instructions) {
    const bool is_number = each.opcode == spv::OpSpecConstant;
    const bool is_flag =
        each.opcode == spv::OpSpecConstantTrue || each.opcode == spv::OpSpecConstantFalse;
    if (!is_number && !is_flag) continue;
    const decoration* spec_id = index.find_decoration(each.result, spv::DecorationSpecId);
    if (spec_id == nullptr || spec_id->literals.empty()) continue;
    const auto given = std::find_if(values.begin(), values.end(), [&](const spec_value& value) {
      return value.spec_id == spec_id->literals[0];
    });
    if (given == values.end() || given->value == nullptr) continue;
    if (is_flag) {
      each.opcode = *static_cast<const uint8_t*>(given->value) != 0 ? spv::OpSpecConstantTrue
                                                                    : spv::OpSpecConstantFalse;
      continue;
    }
    const auto type = index.layout_of(each.type);
    if (!type) continue;
    std::fill(each.operands.begin(), each.operands.end(), 0);
    std::memcpy(each.operands.data(), given->value,
                std::min<size_t>(type->size_bytes, each.operands.size() * 4));
  }
}

result<initial_value> evaluate_initializer(const module_index& index, id constant) {
  return evaluator(index).run(constant);
}

}  // namespace zevent::driver::spirv
