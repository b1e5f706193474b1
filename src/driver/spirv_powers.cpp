#include "driver/spirv_powers.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <optional>
#include <string>
#include <utility>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

// pown may be wrong by 16 units in the last place. A power by squaring is wrong by half a unit for
// each factor, and where a part of it is too small to be exact the whole is smaller still.
constexpr uint64_t largest_power = 16;

class power_lowering {
 public:
  explicit power_lowering(binary& module) : module_(module), index_(module) {}

  void run() {
    replace_instructions(
        module_, [&](const instruction& each) { return constant_power(each).has_value(); },
        [&](const instruction& each, std::vector<instruction>& out) {
          multiply(each, *constant_power(each), out);
        });
  }

 private:
  std::optional<uint64_t> constant_power(const instruction& each) const {
    if (!each.is_opencl_function() || each.operands[1] != OpenCLLIB::Pown ||
        index_.opcode_of(each.type) != spv::OpTypeFloat) {
      return std::nullopt;
    }
    const auto power = index_.integer_constant(each.operands[3]);
    if (!power || *power == 0 || *power > largest_power) return std::nullopt;
    return power;
  }

  // The last product has the result's id; a power of one is a product with nothing, a copy.
  void multiply(const instruction& call, uint64_t power, std::vector<instruction>& out) {
    id square = call.operands[2];
    id result = 0;
    const auto multiplied = [&](id a, id b) {
      const id made = module_.new_id();
      out.push_back(make_instruction(spv::OpFMul, call.type, made, {a, b}));
      return made;
    };
    for (uint64_t rest = power;;) {
      if ((rest & 1) != 0) result = result == 0 ? square : multiplied(result, square);
      rest >>= 1;
      if (rest == 0) break;
      square = multiplied(square, square);
    }
    if (result == call.operands[2]) {
      out.push_back(make_instruction(spv::OpCopyObject, call.type, call.result, {result}));
    } else {
      out.back().result = call.result;
    }
  }

  binary& module_;
  const module_index index_;
};

}  // namespace

void lower_powers(binary& module) {
  power_lowering(module).run();
}

}  // namespace zevent::driver::spirv
