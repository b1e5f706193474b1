#include "driver/launch_draft.hpp"

#include <algorithm>

#include "driver/launch_command.hpp"

namespace zevent::driver {

ze_result_t launch_draft::set_argument(uint32_t index, size_t size_bytes, const void* value) {
  const ze_result_t result = kernel_->put_argument(launch_.arguments, index, size_bytes, value);
  if (result == ZE_RESULT_SUCCESS && index < missing_arguments_.size()) {
    missing_arguments_[index] = false;
  }
  return result;
}

ze_result_t launch_draft::set_group_size(uint32_t x, uint32_t y, uint32_t z) {
  const ze_result_t result = kernel_->check_group_size(x, y, z);
  if (result != ZE_RESULT_SUCCESS) return result;
  launch_.shape.group_size = {x, y, z};
  missing_shape_ &= ~uint32_t{ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE};
  return ZE_RESULT_SUCCESS;
}

void launch_draft::set_group_count(const ze_group_count_t& groups) {
  launch_.shape.group_count = to_array(groups);
  missing_shape_ &= ~uint32_t{ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT};
}

void launch_draft::set_global_offset(uint32_t x, uint32_t y, uint32_t z) {
  launch_.shape.global_offset = {x, y, z};
}

void launch_draft::set_kernel(kernel& next, ze_mutable_command_exp_flags_t flags) {
  if (&next == kernel_.get()) return;
  kernel::launch fresh = next.unset_launch();
  const bool keeps_size = (flags & ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE) == 0 &&
                          next.signature().required_group_size[0] == 0;
  if (keeps_size) fresh.shape.group_size = launch_.shape.group_size;
  fresh.shape.group_count = launch_.shape.group_count;
  if ((flags & ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET) == 0) {
    fresh.shape.global_offset = launch_.shape.global_offset;
  }
  fresh.options.is_cooperative = launch_.options.is_cooperative;
  launch_ = std::move(fresh);
  kernel_ = ref<kernel>(&next);
  missing_arguments_.assign(next.signature().arguments.size(), true);
  missing_shape_ =
      flags & (ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT | ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE);
}

bool launch_draft::is_complete() const {
  return missing_shape_ == 0 && std::find(missing_arguments_.begin(), missing_arguments_.end(),
                                          true) == missing_arguments_.end();
}

std::shared_ptr<command> launch_draft::make_command() const {
  return std::make_shared<launch_command>(launch_);
}

}  // namespace zevent::driver
