#include "driver/spirv_validate.hpp"

#include <spirv-tools/libspirv.h>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "driver/spirv_tools_handles.hpp"

namespace zevent::driver::spirv {
namespace {

// A complaint of the validator that does not make a module unusable.
struct tolerated_complaint {
  std::string_view text;                 // is part of the message
  spv::Capability only_with_capability;  // CapabilityMax: in every module
};

constexpr std::array tolerated_complaints = {
    // The translator from LLVM uses decorations and capabilities without naming their extension.
    tolerated_complaint{"requires one of these extensions", spv::CapabilityMax},
    tolerated_complaint{"requires one of these capabilities", spv::CapabilityMax},
    // The same for what is of an older version than the module says, and for variables that a
    // kernel uses only by way of others.
    tolerated_complaint{"requires SPIR-V version 1.3 or earlier", spv::CapabilityMax},
    tolerated_complaint{"is not listed as an interface", spv::CapabilityMax},
    // It also writes types of functions twice that differ only in how they access images.
    tolerated_complaint{"Duplicate non-aggregate type declarations", spv::CapabilityMax},
    // A module with no kernels is empty, not wrong.
    tolerated_complaint{"No OpEntryPoint instruction was found", spv::CapabilityMax},
    // Structs that point to themselves are written as two types with the same members.
    tolerated_complaint{"does not match the type that results from indexing into the base",
                        spv::CapabilityMax},
    // SPV_INTEL_function_pointers has pointers to functions, of which the validator knows nothing.
    // A struct may have members of such types and the module name no capability.
    tolerated_complaint{"Invalid use of function type", spv::CapabilityMax},
    // Their constants come before the functions they point to.
    tolerated_complaint{"has not been defined", spv::CapabilityFunctionPointersINTEL},
};

bool has_capability(const binary& module, spv::Capability wanted) {
  return std::any_of(module.instructions.begin(), module.instructions.end(),
                     [&](const instruction& each) {
                       return each.opcode == spv::OpCapability && each.operands[0] == wanted;
                     });
}

bool is_tolerated(const binary& module, std::string_view message) {
  return std::any_of(tolerated_complaints.begin(), tolerated_complaints.end(),
                     [&](const tolerated_complaint& each) {
                       return message.find(each.text) != std::string_view::npos &&
                              (each.only_with_capability == spv::CapabilityMax ||
                               has_capability(module, each.only_with_capability));
                     });
}

}  // namespace

zevent::result<std::string> validate(const binary& module) {
  if (!has_capability(module, spv::CapabilityKernel)) {
    return fail("the module is not for kernels: it does not declare the capability Kernel");
  }
  const std::vector<uint32_t> words = module.write();
  const std::unique_ptr<spv_context_t, context_deleter> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6));
  spv_diagnostic raw_diagnostic = nullptr;
  const spv_result_t status =
      spvValidateBinary(context.get(), words.data(), words.size(), &raw_diagnostic);
  const std::unique_ptr<spv_diagnostic_t, diagnostic_deleter> diagnostic(raw_diagnostic);
  if (status == SPV_SUCCESS) return std::string();
  const std::string message = diagnostic != nullptr ? diagnostic->error : "no reason is known";
  if (is_tolerated(module, message)) return fmt::format("warning: {}\n", message);
  return fail("the module is not valid SPIR-V: {}", message);
}

}  // namespace zevent::driver::spirv
