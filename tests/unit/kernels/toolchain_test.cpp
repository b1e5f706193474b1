#include "driver/pocl/toolchain.hpp"

#include <gtest/gtest.h>

namespace {

using zevent::pocl::toolchain_of;

TEST(toolchain, is_that_of_pocl_s_own_llvm) {
  const auto debian_12 = toolchain_of(
      "OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 15.0.6, SLEEF, DISTRO");
  ASSERT_TRUE(debian_12);
  EXPECT_EQ(debian_12->pocl_version, "3.1");
  EXPECT_EQ(debian_12->translator(), "llvm-spirv-15");
  const auto debian_13 = toolchain_of(
      "OpenCL 3.0 PoCL 6.0  Linux, Debian, RELOC, SPIR-V, LLVM 18.1.8, SLEEF, DISTRO, POCL_DEBUG");
  ASSERT_TRUE(debian_13);
  EXPECT_EQ(debian_13->pocl_version, "6.0");
  EXPECT_EQ(debian_13->translator(), "llvm-spirv-18");
}

TEST(toolchain, of_a_release_whose_way_to_print_is_another_is_refused_by_name) {
  const auto refused = toolchain_of("OpenCL 3.0 PoCL 7.0  Linux, Debian, LLVM 20.1.2");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("3.1, 4.0, 5.0, 6.0"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("PoCL 7.0"), std::string::npos) << refused.error().message;
}

TEST(toolchain, needs_to_know_the_llvm) {
  EXPECT_FALSE(toolchain_of("OpenCL 3.0 PoCL 6.0  Linux"));
  EXPECT_FALSE(toolchain_of(""));
}

}  // namespace
