#include <cmath>

#include "driver/half_float.hpp"
#include "kernel_fixture.hpp"
#include "kernels/half_functions_spv.h"

namespace zevent::driver::test {
namespace {

TEST(half_numbers, become_floats_and_back) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float number = half_to_float(half);
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(number));
      EXPECT_EQ(float_to_half(number) & 0x7e00, 0x7e00);
      continue;
    }
    EXPECT_EQ(float_to_half(number), half) << bits;
    if ((bits & 0x7fff) >= 0x7bff) continue;
    // What lies between two neighbours goes to the nearer one, and to the even one from the middle.
    const float next = half_to_float(static_cast<uint16_t>(half + 1));
    const float middle = (number + next) / 2;
    const auto even = static_cast<uint16_t>(half + (half & 1));
    EXPECT_EQ(float_to_half(middle), even) << bits;
    EXPECT_EQ(float_to_half(std::nextafter(middle, number)), half) << bits;
    EXPECT_EQ(float_to_half(std::nextafter(middle, next)), half + 1) << bits;
  }
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00) << "too large for a half";
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
}

class half_functions : public kernel_fixture {};

TEST_F(half_functions, are_those_of_floats_rounded) {
  const auto kernel = kernel_of(module_of(half_functions_spv), "half_functions");
  constexpr uint32_t count = 64, results = 13;
  auto* in = shared_memory<uint16_t>(count);
  auto* out = shared_memory<uint16_t>(count * results);
  for (uint32_t i = 0; i < count; ++i) in[i] = float_to_half((static_cast<float>(i) - 31.5f) / 4);
  in[7] = float_to_half(NAN);
  set_all(kernel, in, out);
  run(kernel, count, 1);
  for (uint32_t i = 0; i < count; ++i) {
    const float x = half_to_float(in[i]);
    const auto result = [&](uint32_t column) { return half_to_float(out[column * count + i]); };
    EXPECT_EQ(result(9), std::isnan(x) ? 1.0f : 0.0f);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(result(1)));
      EXPECT_EQ(result(3), 2.0f) << "the greater of no number and two";
      continue;
    }
    const auto about = [](float expected) { return std::abs(expected) / 512 + 1e-3f; };
    EXPECT_NEAR(result(0), std::sqrt(std::abs(x)), about(std::sqrt(std::abs(x)))) << x;
    EXPECT_NEAR(result(1), std::sin(x), about(1)) << x;
    EXPECT_NEAR(result(2), std::exp(x / 16), about(std::exp(x / 16))) << x;
    EXPECT_EQ(result(3), std::max(x, 2.0f));
    EXPECT_EQ(result(4), std::floor(x));
    EXPECT_EQ(result(5), x / 2 + 1);
    EXPECT_EQ(result(6), 4 * x);
    EXPECT_EQ(result(7), static_cast<float>(std::ilogb(std::abs(x) + 1)));
    EXPECT_EQ(result(8), 4 * x + 2);
    EXPECT_NEAR(result(10), std::hypot(x, 3.0f), about(std::hypot(x, 3.0f))) << x;
    EXPECT_EQ(result(11), std::trunc(x * 3));
    const auto clamped = [](float number) { return std::clamp(number, -1.0f, 1.0f); };
    EXPECT_EQ(result(12), clamped(x) + clamped(-x) + clamped(2 * x)) << x;
  }
}

TEST_F(half_functions, give_a_second_number_through_a_pointer) {
  const auto kernel = kernel_of(module_of(half_functions_spv), "half_pairs");
  constexpr uint32_t count = 64, results = 8;
  auto* in = shared_memory<uint16_t>(count);
  auto* out = shared_memory<uint16_t>(count * results);
  for (uint32_t i = 0; i < count; ++i) in[i] = float_to_half((static_cast<float>(i) - 31.5f) / 4);
  in[1] = float_to_half(NAN);
  in[2] = float_to_half(INFINITY);
  in[3] = float_to_half(-INFINITY);
  in[4] = 0x8001;  // the greatest number less than zero
  in[5] = 0x8000;
  in[6] = float_to_half(-1);
  set_all(kernel, in, out);
  set_local(kernel, 2, count * sizeof(uint16_t));
  run(kernel, count, 1);
  for (uint32_t i = 0; i < count; ++i) {
    const float x = half_to_float(in[i]);
    SCOPED_TRACE(x);
    const auto result = [&](uint32_t column) { return half_to_float(out[column * count + i]); };
    if (std::isnan(x)) {
      for (uint32_t column = 0; column < results; ++column) {
        EXPECT_TRUE(std::isnan(result(column))) << column;
      }
      continue;
    }
    const bool is_infinite = std::isinf(x);
    const auto fraction = [&](float number) {
      return is_infinite ? 0.0f : std::min(number - std::floor(number), 0x1.ffcp-1f);
    };
    EXPECT_EQ(result(0), fraction(x));
    EXPECT_EQ(std::signbit(result(0)), (is_infinite || x == 0) && std::signbit(x));
    EXPECT_EQ(result(1), std::floor(x));
    float whole = 0;
    EXPECT_EQ(result(2), std::modf(x, &whole));
    EXPECT_EQ(std::signbit(result(2)), std::signbit(x));
    EXPECT_EQ(result(3), whole);
    if (!is_infinite) {
      EXPECT_NEAR(result(4), std::sin(x), 1e-3f);
      EXPECT_NEAR(result(5), std::cos(x), 1e-3f);
    }
    EXPECT_EQ(result(6), fraction(2 * x));
    EXPECT_EQ(result(7), std::floor(2 * x));
  }
}

}  // namespace
}  // namespace zevent::driver::test
