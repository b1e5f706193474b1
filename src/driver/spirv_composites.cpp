#include "driver/spirv_composites.hpp"

#include <utility>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

class composite_lowering {
 public:
  explicit composite_lowering(binary& module) : module_(module), index_(module) {}

  void run() {
    replace_instructions(
        module_,
        [](const instruction& each) {
          return each.opcode == spv::OpCompositeConstruct && !each.operands.empty();
        },
        [&](const instruction& each, std::vector<instruction>& out) { construct(each, out); });
  }

 private:
  // How many parts of the whole a constituent is: a vector may be made of shorter ones.
  uint32_t width_of(const instruction& whole, id constituent) const {
    if (index_.opcode_of(whole.type) != spv::OpTypeVector) return 0;
    const instruction* value = index_.definition(constituent);
    const instruction* type = value != nullptr ? index_.definition(value->type) : nullptr;
    return type != nullptr && type->opcode == spv::OpTypeVector ? type->operands[1] : 0;
  }

  void construct(const instruction& whole, std::vector<instruction>& out) {
    id made = module_.new_id();
    out.push_back(make_instruction(spv::OpUndef, whole.type, made, {}));
    uint32_t place = 0;
    const auto insert = [&](id part) {
      const id next = module_.new_id();
      instruction added =
          make_literal_instruction(spv::OpCompositeInsert, whole.type, next, {part, made, place++});
      added.id_operands = {0, 1};
      out.push_back(std::move(added));
      made = next;
    };
    for (const id each : whole.operands) {
      const uint32_t width = width_of(whole, each);
      if (width == 0) insert(each);
      for (uint32_t i = 0; i < width; ++i) {
        const id part = module_.new_id();
        instruction extract = make_literal_instruction(
            spv::OpCompositeExtract, index_.element_type(whole.type, 0), part, {each, i});
        extract.id_operands = {0};
        out.push_back(std::move(extract));
        insert(part);
      }
    }
    out.back().result = whole.result;
  }

  binary& module_;
  const module_index index_;
};

}  // namespace

void lower_composites(binary& module) {
  composite_lowering(module).run();
}

}  // namespace zevent::driver::spirv
