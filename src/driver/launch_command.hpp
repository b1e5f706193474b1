#pragma once

#include <level_zero/ze_api.h>

#include <array>

#include "driver/command.hpp"
#include "driver/kernel.hpp"

namespace zevent::driver {

inline std::array<uint64_t, 3> to_array(const ze_group_count_t& groups) {
  return {groups.groupCountX, groups.groupCountY, groups.groupCountZ};
}

// Launches one kernel.
class launch_command final : public command {
 public:
  explicit launch_command(kernel::launch launch) : launch_(std::move(launch)) {}

  ze_result_t run() override { return run(launch_, launch_.shape); }

  static ze_result_t run(const kernel::launch& launch, const launch_shape& shape) {
    return run_launch(*launch.code, shape, launch.arguments, launch.options)
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_DEVICE_LOST;
  }

 private:
  const kernel::launch launch_;
};

}  // namespace zevent::driver
