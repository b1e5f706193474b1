#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <vector>

#include "driver/command.hpp"
#include "driver/kernel.hpp"

namespace zevent::driver {

// A launch in a mutable list: what the command is made of, kept so that it can be made again.
class launch_draft {
 public:
  launch_draft(kernel& launched, kernel::launch launch)
      : kernel_(&launched), launch_(std::move(launch)) {}

  // The setters answer what the kernel's own do.
  ze_result_t set_argument(uint32_t index, size_t size_bytes, const void* value);
  ze_result_t set_group_size(uint32_t x, uint32_t y, uint32_t z);
  void set_group_count(const ze_group_count_t& groups);
  void set_global_offset(uint32_t x, uint32_t y, uint32_t z);

  // Another kernel has none of the arguments of the one before, nor, of what `flags` let the
  // program give it, the shape.
  void set_kernel(kernel& next, ze_mutable_command_exp_flags_t flags);
  const kernel& launched() const { return *kernel_; }

  // Nothing is missing that a change of the kernel took away.
  bool is_complete() const;
  ze_result_t check() const { return launch_.check(); }
  std::shared_ptr<command> make_command() const;

 private:
  ref<kernel> kernel_;
  kernel::launch launch_;
  std::vector<bool> missing_arguments_;  // empty: none
  ze_mutable_command_exp_flags_t missing_shape_ = 0;
};

}  // namespace zevent::driver
