#include "driver/spirv_fences.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/spirv_rewrite.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

// atomic_work_item_fence(cl_mem_fence_flags, memory_order, memory_scope)
constexpr const char* fence_name = "_Z22atomic_work_item_fencej12memory_order12memory_scope";

// The arguments as OpenCL C numbers them; flags and scope make no difference on a CPU.
constexpr uint32_t all_memory = 3;
constexpr uint32_t relaxed = 0, acquire = 2, release = 3, acquire_release = 4, sequential = 5;
constexpr uint32_t all_devices = 3;

class fence_lowering {
 public:
  explicit fence_lowering(binary& module) : module_(module), index_(module), scope_(module) {}

  void run() {
    const bool has_any = replace_instructions(
        module_, scope_,
        [](const instruction& each) { return each.opcode == spv::OpMemoryBarrier; },
        [&](const instruction& each, std::vector<instruction>& out) {
          const id number = scope_.integer_type(32);
          const auto constant = [&](uint32_t value) { return scope_.integer_constant(32, value); };
          if (function_ == 0) declare(number);
          out.push_back(make_instruction(
              spv::OpFunctionCall, scope_.type(spv::OpTypeVoid, {}), module_.new_id(),
              {function_, constant(all_memory), constant(order_of(each)), constant(all_devices)}));
        });
    if (!has_any) return;
    const auto first_function =
        std::find_if(module_.instructions.begin(), module_.instructions.end(),
                     [](const instruction& each) { return each.opcode == spv::OpFunction; });
    module_.instructions.insert(first_function, declaration_.begin(), declaration_.end());
  }

 private:
  uint32_t order_of(const instruction& fence) const {
    const auto semantics = index_.integer_constant(fence.operands[1]);
    if (!semantics || (*semantics & spv::MemorySemanticsSequentiallyConsistentMask) != 0) {
      return sequential;
    }
    if ((*semantics & spv::MemorySemanticsAcquireReleaseMask) != 0) return acquire_release;
    const bool acquires = (*semantics & spv::MemorySemanticsAcquireMask) != 0;
    const bool releases = (*semantics & spv::MemorySemanticsReleaseMask) != 0;
    if (acquires) return releases ? acquire_release : acquire;
    return releases ? release : relaxed;
  }

  void declare(id number) {
    const id nothing = scope_.type(spv::OpTypeVoid, {});
    const id type = scope_.type(spv::OpTypeFunction, {nothing, number, number, number});
    function_ = module_.new_id();
    instruction head = make_literal_instruction(spv::OpFunction, nothing, function_,
                                                {spv::FunctionControlMaskNone, type});
    head.id_operands = {1};
    declaration_.push_back(std::move(head));
    for (int i = 0; i < 3; ++i) {
      declaration_.push_back(
          make_instruction(spv::OpFunctionParameter, number, module_.new_id(), {}));
    }
    declaration_.push_back(make_instruction(spv::OpFunctionEnd, 0, 0, {}));
    std::vector<uint32_t> linkage;
    instruction::append_string(linkage, fence_name);
    linkage.push_back(uint32_t{spv::LinkageTypeImport});
    scope_.decorate(function_, spv::DecorationLinkageAttributes, std::move(linkage));
  }

  binary& module_;
  const module_index index_;
  module_scope scope_;
  id function_ = 0;  // 0: not declared yet
  std::vector<instruction> declaration_;
};

}  // namespace

void lower_fences(binary& module) {
  fence_lowering(module).run();
}

}  // namespace zevent::driver::spirv
