#include "driver/spirv_pointers.hpp"

#include <utility>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

bool compares_pointers(spv::Op opcode) {
  return opcode == spv::OpPtrEqual || opcode == spv::OpPtrNotEqual || opcode == spv::OpPtrDiff;
}

class pointer_lowering {
 public:
  explicit pointer_lowering(binary& module) : module_(module), index_(module), scope_(module) {}

  void run() {
    replace_instructions(
        module_, scope_, [](const instruction& each) { return compares_pointers(each.opcode); },
        [&](const instruction& each, std::vector<instruction>& out) { lower(each, out); });
  }

 private:
  // Of what the pointer points to; 1 where that cannot be known.
  uint64_t bytes_of_pointee(id pointer) const {
    const instruction* value = index_.definition(pointer);
    const instruction* type = value != nullptr ? index_.definition(value->type) : nullptr;
    if (type == nullptr || type->opcode != spv::OpTypePointer) return 1;
    const auto layout = index_.layout_of(type->operands[1]);
    return layout && layout->size_bytes > 0 ? layout->size_bytes : 1;
  }

  void lower(const instruction& source, std::vector<instruction>& out) {
    const id number = scope_.integer_type(64);
    const auto emit = [&](spv::Op opcode, id type, std::vector<uint32_t> ids) {
      const id made = module_.new_id();
      out.push_back(make_instruction(opcode, type, made, std::move(ids)));
      return made;
    };
    const id left = emit(spv::OpConvertPtrToU, number, {source.operands[0]});
    const id right = emit(spv::OpConvertPtrToU, number, {source.operands[1]});
    if (source.opcode == spv::OpPtrDiff) {
      const id bytes = emit(spv::OpISub, number, {left, right});
      const id size = scope_.integer_constant(64, bytes_of_pointee(source.operands[0]));
      const id count = emit(spv::OpSDiv, number, {bytes, size});
      out.push_back(make_instruction(spv::OpSConvert, source.type, source.result, {count}));
      if (source.type == number) out.back().opcode = spv::OpCopyObject;
    } else {
      const spv::Op compare = source.opcode == spv::OpPtrEqual ? spv::OpIEqual : spv::OpINotEqual;
      out.push_back(make_instruction(compare, source.type, source.result, {left, right}));
    }
  }

  binary& module_;
  const module_index index_;
  module_scope scope_;
};

}  // namespace

void lower_pointer_comparisons(binary& module) {
  pointer_lowering(module).run();
}

}  // namespace zevent::driver::spirv
