#include "driver/spirv_powers.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

// pown may be wrong by 16 units in the last place. A power by squaring is wrong by half a unit for
// each factor, and where a part of it is too small to be exact the whole is smaller still.
constexpr uint64_t largest_power = 16;

class power_lowering {
 public:
  explicit power_lowering(binary& module) : module_(module), index_(module) {
    for (const instruction& each : module.instructions) {
      if (each.opcode == spv::OpExtInstImport && each.string_at(0) == "OpenCL.std") {
        sets_.insert(each.result);
      }
    }
  }

  void run() {
    std::vector<instruction> out;
    out.reserve(module_.instructions.size());
    bool changed = false;
    for (const instruction& each : module_.instructions) {
      if (const auto power = constant_power(each)) {
        changed = true;
        multiply(each, *power, out);
      } else {
        out.push_back(each);
      }
    }
    if (changed) module_.instructions = std::move(out);
  }

 private:
  std::optional<uint64_t> constant_power(const instruction& each) const {
    if (each.opcode != spv::OpExtInst || !sets_.contains(each.operands[0]) ||
        each.operands[1] != OpenCLLIB::Pown || index_.opcode_of(each.type) != spv::OpTypeFloat) {
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
  std::unordered_set<id> sets_;  // of extended instructions
};

}  // namespace

void lower_powers(binary& module) {
  power_lowering(module).run();
}

}  // namespace zevent::driver::spirv
