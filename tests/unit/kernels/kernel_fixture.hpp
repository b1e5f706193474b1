#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "../driver/driver_fixture.hpp"

namespace zevent::driver::test {

// Modules, kernels and launches in short.
class kernel_fixture : public driver_fixture {
 protected:
  static ze_module_desc_t spirv_desc(std::span<const uint32_t> words) {
    ze_module_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    desc.inputSize = words.size_bytes();
    desc.pInputModule = reinterpret_cast<const uint8_t*>(words.data());
    return desc;
  }

  // The log of a call that gives one; destroys it.
  static std::string text_of(ze_module_build_log_handle_t log) {
    size_t size = 0;
    EXPECT_EQ(zeModuleBuildLogGetString(log, &size, nullptr), ZE_RESULT_SUCCESS);
    std::string text(size, '\0');
    EXPECT_EQ(zeModuleBuildLogGetString(log, &size, text.data()), ZE_RESULT_SUCCESS);
    text.resize(size - 1);
    EXPECT_EQ(zeModuleBuildLogDestroy(log), ZE_RESULT_SUCCESS);
    return text;
  }

  struct build_outcome {
    ze_result_t result;
    std::string log;
    ze_module_handle_t module = nullptr;
  };

  build_outcome build(const ze_module_desc_t& desc) {
    build_outcome outcome;
    ze_module_build_log_handle_t log = nullptr;
    outcome.result = zeModuleCreate(context_, device_, &desc, &outcome.module, &log);
    if (log != nullptr) outcome.log = text_of(log);
    if (outcome.result == ZE_RESULT_SUCCESS) {
      at_end([module = outcome.module] { EXPECT_EQ(zeModuleDestroy(module), ZE_RESULT_SUCCESS); });
    }
    return outcome;
  }

  ze_module_handle_t module_of(std::span<const uint32_t> words, const char* flags = nullptr) {
    ze_module_desc_t desc = spirv_desc(words);
    desc.pBuildFlags = flags;
    const build_outcome outcome = build(desc);
    EXPECT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
    return outcome.module;
  }

  ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char* name) {
    const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    ze_kernel_handle_t kernel = nullptr;
    EXPECT_EQ(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_SUCCESS) << name;
    at_end([kernel] { EXPECT_EQ(zeKernelDestroy(kernel), ZE_RESULT_SUCCESS); });
    return kernel;
  }

  template <typename T>
  static void set(ze_kernel_handle_t kernel, uint32_t index, const T& value) {
    EXPECT_EQ(zeKernelSetArgumentValue(kernel, index, sizeof(value), &value), ZE_RESULT_SUCCESS)
        << "argument " << index;
  }

  // Sets the arguments from the first on.
  template <typename... Values>
  static void set_all(ze_kernel_handle_t kernel, const Values&... values) {
    uint32_t index = 0;
    (set(kernel, index++, values), ...);
  }

  static void set_local(ze_kernel_handle_t kernel, uint32_t index, size_t bytes) {
    EXPECT_EQ(zeKernelSetArgumentValue(kernel, index, bytes, nullptr), ZE_RESULT_SUCCESS);
  }

  // Launches on a list of its own and waits.
  void run(ze_kernel_handle_t kernel, ze_group_count_t groups) {
    const ze_command_list_handle_t list = in_order_list();
    ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  }

  void run(ze_kernel_handle_t kernel, uint32_t group_size, uint32_t groups) {
    ASSERT_EQ(zeKernelSetGroupSize(kernel, group_size, 1, 1), ZE_RESULT_SUCCESS);
    run(kernel, ze_group_count_t{groups, 1, 1});
  }
};

}  // namespace zevent::driver::test
