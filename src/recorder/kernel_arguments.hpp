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

struct kernel_parameter {
  uint32_t bytes = 0;
  bool is_pointer = false;  // to memory that others have, too
  friend bool operator==(const kernel_parameter&, const kernel_parameter&) = default;
};

// The parameters of each kernel of a SPIR-V module, by the kernel's name. What is not SPIR-V has no
// kernels.
std::map<std::string, std::vector<kernel_parameter>, std::less<>> kernel_parameters(
    std::span<const std::byte> module);

// What the hooks tell, so that the arguments of a kernel can be recorded where a call gives nothing
// but pointers to them.
void module_was_created(ze_module_handle_t module, const ze_module_desc_t& desc);
void module_is_destroyed(ze_module_handle_t module);
void kernel_was_created(ze_kernel_handle_t kernel, ze_module_handle_t module, const char* name);
void kernel_is_destroyed(ze_kernel_handle_t kernel);
void argument_was_set(ze_kernel_handle_t kernel, uint32_t index, size_t bytes, const void* value);

// The addresses among the arguments of a kernel: as they were set, or as a call gives them. Of a
// kernel whose code is not known as SPIR-V, whatever may be one.
std::vector<uint64_t> address_arguments(ze_kernel_handle_t kernel);
std::vector<uint64_t> address_arguments(ze_kernel_handle_t kernel, void* const* arguments);

// Content behind pointers whose sizes the call does not know (extent_kind::external).
//
// The arguments of a kernel that was built from SPIR-V, with the sizes found there. Nothing for
// other kernels.
void write_kernel_arguments(call_writer& out, ze_kernel_handle_t kernel, void* const* arguments);
// Up to eight bytes: no constant is larger, and the module knows how many of them it wants.
void write_specialization_constant(call_writer& out, const void* value);

}  // namespace zevent::recorder
