#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <mutex>
#include <string>

#include "driver/kernel_launch.hpp"
#include "driver/kernel_limits.hpp"
#include "driver/module.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// A kernel: machine code, and the arguments and shape that its next launch will have. An append
// takes a copy of them.
class kernel : public object_of<kernel, object_kind::kernel> {
 public:
  static ze_result_t create(module& owner, const ze_kernel_desc_t& desc, kernel** out);

  ze_result_t set_group_size(uint32_t x, uint32_t y, uint32_t z);
  ze_result_t suggest_group_size(const uint32_t (&global)[3], uint32_t (&suggested)[3]) const;
  ze_result_t set_argument(uint32_t index, size_t size_bytes, const void* value);
  // One pointer an argument: to its value or, for local memory, to its size (a size_t).
  ze_result_t set_arguments(void** values);
  void set_global_offset(uint32_t x, uint32_t y, uint32_t z);
  void set_indirect_access(ze_kernel_indirect_access_flags_t flags);
  ze_kernel_indirect_access_flags_t indirect_access() const;

  const spirv::kernel_signature& signature() const { return signature_; }
  void describe(ze_kernel_properties_t& properties) const;

  // The most work-items that a group of this kernel may have.
  static uint32_t most_work_items() { return largest_group_size; }

  // What a launch as the kernel stands now consists of.
  struct launch {
    std::shared_ptr<kernel_code> code;
    std::shared_ptr<const module_variables> variables;  // kept; their table is an argument
    argument_values arguments;
    launch_shape shape;  // the group count is the append's
    launch_options options;

    // Fails where it needs more local memory than there is, or has more groups than can run at the
    // same time and must.
    ze_result_t check() const;
  };
  ze_result_t snapshot(launch& out) const;

  // For launches that are changed after the append: one with no argument set, and what the setters
  // check.
  launch unset_launch() const;
  ze_result_t put_argument(argument_values& into, uint32_t index, size_t size_bytes,
                           const void* value) const;
  ze_result_t check_group_size(uint32_t x, uint32_t y, uint32_t z) const;

 private:
  kernel(module& owner, module::executable executable, size_t index,
         std::shared_ptr<kernel_code> code);

  argument_values unset_arguments() const;
  launch_shape unset_shape() const;
  launch assemble(argument_values arguments, launch_shape shape) const;
  uint32_t sub_group_size() const;
  ze_result_t put_object(argument_values& into, uint32_t index, size_t size_bytes,
                         const void* value) const;

  const ref<module> module_;
  const module::executable executable_;
  const size_t index_;
  const spirv::kernel_signature& signature_;  // of the executable's program
  const std::shared_ptr<kernel_code> code_;

  mutable std::mutex mutex_;  // guards all below
  argument_values arguments_;
  launch_shape shape_;
  ze_kernel_indirect_access_flags_t indirect_access_ = 0;
};

}  // namespace zevent::driver
