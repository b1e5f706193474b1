#include "driver/spirv_generic.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <utility>
#include <vector>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

class generic_lowering {
 public:
  explicit generic_lowering(binary& module) : module_(module), index_(module), scope_(module) {}

  void run() {
    replace_instructions(
        module_, scope_,
        [&](const instruction& each) {
          return each.opcode == spv::OpGenericPtrMemSemantics || !generic_operands(each).empty();
        },
        [&](const instruction& each, std::vector<instruction>& out) {
          if (each.opcode == spv::OpGenericPtrMemSemantics) {
            name_memory(each, out);
          } else {
            cast_operands(each, out);
          }
        });
  }

 private:
  // The type, if the value is a generic pointer.
  const instruction* generic_pointer(id value) const {
    const instruction* found = index_.definition(value);
    const instruction* type = found != nullptr ? index_.definition(found->type) : nullptr;
    const bool is_one = type != nullptr && type->opcode == spv::OpTypePointer &&
                        type->operands[0] == spv::StorageClassGeneric;
    return is_one ? type : nullptr;
  }

  // Which operands are pointers that the instruction does not take as they are.
  std::vector<uint16_t> generic_operands(const instruction& each) const {
    std::vector<uint16_t> found;
    const auto look_at = [&](uint16_t operand) {
      if (generic_pointer(each.operands[operand]) != nullptr) found.push_back(operand);
    };
    if (each.is_atomic()) {
      look_at(0);
    } else if (each.opcode == spv::OpGroupWaitEvents) {
      look_at(2);
    } else if (each.is_opencl_function() && each.operands[1] != OpenCLLIB::Printf) {
      for (const uint16_t operand : each.id_operands) look_at(operand);
    }
    return found;
  }

  void cast_operands(instruction each, std::vector<instruction>& out) {
    const auto storage = each.opcode == spv::OpGroupWaitEvents ? spv::StorageClassFunction
                                                               : spv::StorageClassCrossWorkgroup;
    for (const uint16_t operand : generic_operands(each)) {
      const id pointee = generic_pointer(each.operands[operand])->operands[1];
      const id cast = module_.new_id();
      out.push_back(make_instruction(spv::OpGenericCastToPtr, scope_.pointer_type(storage, pointee),
                                     cast, {each.operands[operand]}));
      each.operands[operand] = cast;
    }
    out.push_back(std::move(each));
  }

  // What a fence is for: no pointer tells which kind of memory it points to, so it is for all.
  void name_memory(const instruction& each, std::vector<instruction>& out) {
    const id all = scope_.constant(spv::OpConstant, each.type,
                                   {uint32_t{spv::MemorySemanticsWorkgroupMemoryMask} |
                                    uint32_t{spv::MemorySemanticsCrossWorkgroupMemoryMask}},
                                   false);
    out.push_back(make_instruction(spv::OpCopyObject, each.type, each.result, {all}));
  }

  binary& module_;
  const module_index index_;
  module_scope scope_;
};

}  // namespace

void lower_generic_pointers(binary& module) {
  generic_lowering(module).run();
}

}  // namespace zevent::driver::spirv
