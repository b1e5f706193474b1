#include "recorder/kernel_arguments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string_view>

namespace zevent::recorder {
namespace {

// Puts a SPIR-V module together, instruction by instruction.
class spirv {
 public:
  spirv& add(uint32_t operation, std::vector<uint32_t> operands) {
    words_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | operation);
    words_.insert(words_.end(), operands.begin(), operands.end());
    return *this;
  }
  spirv& entry_point(uint32_t function, std::string_view name) {
    std::vector<uint32_t> operands = {6, function};
    operands.resize(2 + name.size() / 4 + 1);
    std::memcpy(operands.data() + 2, name.data(), name.size());
    return add(15, operands);
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }
  std::vector<uint32_t>& words() { return words_; }

 private:
  std::vector<uint32_t> words_ = {0x07230203, 0x00010200, 0, 100, 0};
};

spirv example() {
  spirv module;
  module.entry_point(50, "kernel_of_all")
      .add(71, {64, 38, 2})                // parameter 64 by value
      .add(21, {1, 32, 0})                 // 1 = uint
      .add(21, {2, 8, 0})                  // 2 = uchar
      .add(22, {3, 64})                    // 3 = double
      .add(23, {4, 1, 3})                  // 4 = uint3
      .add(43, {1, 5, 10})                 // 5 = 10
      .add(28, {6, 2, 5})                  // 6 = uchar[10]
      .add(30, {7, 2, 3, 6})               // 7 = struct {uchar; double; uchar[10]}
      .add(32, {8, 5, 1})                  // 8 = global uint*
      .add(32, {9, 7, 7})                  // 9 = struct*
      .add(25, {10, 1, 1, 0, 0, 0, 0, 0})  // 10 = image
      .add(54, {1, 50, 0, 11})
      .add(55, {1, 60})
      .add(55, {2, 61})
      .add(55, {4, 62})
      .add(55, {8, 63})
      .add(55, {9, 64})
      .add(55, {10, 65})
      .add(55, {9, 66})
      .add(56, {});
  return module;
}

TEST(KernelArguments, SizesOfParametersAreThoseOfTheirTypes) {
  const auto kernels = kernel_parameters(example().bytes());
  ASSERT_TRUE(kernels.contains("kernel_of_all"));
  EXPECT_EQ(
      kernels.at("kernel_of_all"),
      (std::vector<kernel_parameter>{
          {4, false}, {1, false}, {16, false}, {8, true}, {32, false}, {8, false}, {8, true}}));
}

TEST(KernelArguments, WhatIsNotSpirvHasNoKernels) {
  EXPECT_TRUE(kernel_parameters({}).empty());
  const char text[] = "not a module at all, but long enough to be taken for one";
  EXPECT_TRUE(kernel_parameters(std::as_bytes(std::span(text))).empty());
}

TEST(KernelArguments, DamagedModulesAreSurvived) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    auto module = example();
    for (int change = 0; change < 3; ++change)
      module.words()[1 + random() % (module.words().size() - 1)] =
          static_cast<uint32_t>(random() % 80);
    module.words().resize(5 + random() % (module.words().size() - 5));
    for (const auto& [name, parameters] : kernel_parameters(module.bytes()))
      for (const auto& each : parameters) ASSERT_LE(each.bytes, 64u * 1024);
  }
}

}  // namespace
}  // namespace zevent::recorder
