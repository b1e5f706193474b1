#include "driver/spirv_aliasing.hpp"

#include <algorithm>
#include <cstddef>

namespace zevent::driver::spirv {
namespace {

// What may alias what (SPV_INTEL_memory_access_aliasing) is advice to an optimiser, which the
// linker does not know: it goes.
class aliasing_advice {
 public:
  static void remove(binary& module) {
    const bool has_any = std::any_of(module.instructions.begin(), module.instructions.end(),
                                     [](const instruction& each) { return is_declaration(each); });
    if (!has_any) return;
    std::erase_if(module.instructions, [](const instruction& each) {
      return is_declaration(each) || is_decoration(each) || is_announcement(each);
    });
    for (instruction& each : module.instructions) {
      switch (each.opcode) {
        case spv::OpLoad:
          remove_operands(each, 1);
          break;
        case spv::OpStore:
        case spv::OpCopyMemory:
          remove_operands(each, 2);
          break;
        case spv::OpCopyMemorySized:
          remove_operands(each, 3);
          break;
        default:
          break;
      }
    }
  }

 private:
  static bool is_declaration(const instruction& each) {
    return each.opcode == spv::OpAliasDomainDeclINTEL ||
           each.opcode == spv::OpAliasScopeDeclINTEL ||
           each.opcode == spv::OpAliasScopeListDeclINTEL;
  }

  static bool is_decoration(const instruction& each) {
    if (each.opcode != spv::OpDecorate && each.opcode != spv::OpDecorateId) return false;
    return each.operands[1] == spv::DecorationAliasScopeINTEL ||
           each.operands[1] == spv::DecorationNoAliasINTEL;
  }

  static bool is_announcement(const instruction& each) {
    if (each.opcode == spv::OpCapability) {
      return each.operands[0] == spv::CapabilityMemoryAccessAliasingINTEL;
    }
    return each.opcode == spv::OpExtension &&
           each.string_at(0) == "SPV_INTEL_memory_access_aliasing";
  }

  // A mask is followed by one operand for each of these bits that is set, in this order. A copy
  // may have a second mask.
  static void remove_operands(instruction& access, size_t mask) {
    while (mask < access.operands.size()) {
      const uint32_t bits = access.operands[mask];
      size_t next = mask + 1;
      for (const uint32_t bit : {uint32_t{spv::MemoryAccessAlignedMask},
                                 uint32_t{spv::MemoryAccessMakePointerAvailableMask},
                                 uint32_t{spv::MemoryAccessMakePointerVisibleMask}}) {
        if ((bits & bit) != 0) ++next;
      }
      for (const uint32_t bit : {uint32_t{spv::MemoryAccessAliasScopeINTELMaskMask},
                                 uint32_t{spv::MemoryAccessNoAliasINTELMaskMask}}) {
        if ((bits & bit) == 0 || next >= access.operands.size()) continue;
        access.operands[mask] &= ~bit;
        remove_operand(access, next);
      }
      mask = next;
    }
  }

  static void remove_operand(instruction& from, size_t position) {
    from.operands.erase(from.operands.begin() + static_cast<ptrdiff_t>(position));
    std::erase(from.id_operands, position);
    for (uint16_t& each : from.id_operands) {
      if (each > position) --each;
    }
  }
};

}  // namespace

void remove_aliasing_advice(binary& module) {
  aliasing_advice::remove(module);
}

}  // namespace zevent::driver::spirv
