#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace zevent::recorder {

class call_writer;

// Sizes in bytes of the parameters of each kernel of a SPIR-V module, by the kernel's name. What
// is not SPIR-V has no kernels.
std::map<std::string, std::vector<uint32_t>, std::less<>> kernel_parameter_sizes(
    std::span<const std::byte> module);

// What the hooks tell, so that the arguments of a kernel can be recorded where a call gives nothing
// but pointers to them.
void module_was_created(ze_module_handle_t module, const ze_module_desc_t& desc);
void module_is_destroyed(ze_module_handle_t module);
void kernel_was_created(ze_kernel_handle_t kernel, ze_module_handle_t module, const char* name);
void kernel_is_destroyed(ze_kernel_handle_t kernel);

// Content behind pointers whose sizes the call does not know (extent_kind::external).
//
// The arguments of a kernel that was built from SPIR-V, with the sizes found there. Nothing for
// other kernels.
void write_kernel_arguments(call_writer& out, ze_kernel_handle_t kernel, void* const* arguments);
// Up to eight bytes: no constant is larger, and the module knows how many of them it wants.
void write_specialization_constant(call_writer& out, const void* value);

}  // namespace zevent::recorder
