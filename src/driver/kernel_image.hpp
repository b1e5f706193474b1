#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace zevent::driver {

// What a work-group function finds out about the launch it belongs to: pocl_context for 64-bit
// devices, of all the versions of PoCL that the kernel compiler accepts
// (driver/pocl/toolchain.hpp).
struct launch_context {
  std::array<uint64_t, 3> group_count{};
  std::array<uint64_t, 3> global_offset{};
  std::array<uint64_t, 3> group_size{};
  char* printf_buffer = nullptr;
  uint32_t* printf_position = nullptr;
  uint32_t printf_capacity_bytes = 0;
  uint32_t dimensions = 3;           // in PoCL 3.1; later a gap
  char* global_variables = nullptr;  // since 4.0: none, the driver has made arguments of them
  uint32_t later_dimensions = 3;     // since 4.0
  uint32_t has_failed = 0;           // since 7.0
};
static_assert(offsetof(launch_context, dimensions) == 92 && sizeof(launch_context) == 112);

// The machine code of a kernel, loaded. Running a work-group is a call:
//
//   arguments[i] points to the value of the i-th argument; for a pointer, to the pointer; for a
//   local pointer, to a pointer to memory that this group has for itself.
class kernel_image {
 public:
  using work_group_function = void (*)(void** arguments, const launch_context* context,
                                       uint64_t group_x, uint64_t group_y, uint64_t group_z);

  static result<std::shared_ptr<const kernel_image>> load(const std::filesystem::path& file,
                                                          const std::string& kernel);
  ~kernel_image();
  kernel_image(const kernel_image&) = delete;
  kernel_image& operator=(const kernel_image&) = delete;

  work_group_function run_group() const { return run_group_; }
  // What a call takes on the stack, apart from what depends on the size of the group: that for
  // which there are not enough registers.
  uint32_t stack_frame_bytes() const;

 private:
  kernel_image(void* library, work_group_function function)
      : library_(library), run_group_(function) {}

  void* library_;
  work_group_function run_group_;
};

}  // namespace zevent::driver
