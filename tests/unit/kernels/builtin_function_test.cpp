#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "driver/half_float.hpp"
#include "kernel_fixture.hpp"
#include "kernels/generic_pointers_spv.h"
#include "kernels/half_bits_spv.h"
#include "kernels/wide_vectors_spv.h"

namespace zevent::driver::test {
namespace {

class builtin_functions : public kernel_fixture {};

TEST_F(builtin_functions, give_a_second_number_through_any_pointer) {
  const auto kernel = kernel_of(module_of(generic_pointers_spv), "pairs");
  constexpr uint32_t count = 16, results = 16;
  auto* in = shared_memory<double>(count);
  auto* out = shared_memory<double>(count * results);
  for (uint32_t i = 0; i < count; ++i) in[i] = (i - 7.25) / 2;
  set_all(kernel, in, out);
  set_local(kernel, 2, count * sizeof(double));
  run(kernel, count, 1);
  for (uint32_t i = 0; i < count; ++i) {
    const double x = in[i];
    SCOPED_TRACE(x);
    const auto result = [&](uint32_t column) { return out[column * count + i]; };
    EXPECT_EQ(result(0), x - std::floor(x));
    EXPECT_EQ(result(1), std::floor(x));
    double whole = 0;
    EXPECT_EQ(result(2), std::modf(x, &whole));
    EXPECT_EQ(result(3), whole);
    EXPECT_NEAR(result(4), std::sin(x), 1e-14);
    EXPECT_NEAR(result(5), std::cos(x), 1e-14);
    int number = 0;
    EXPECT_EQ(result(6), std::frexp(x, &number));
    EXPECT_EQ(result(7), number);
    EXPECT_NEAR(result(8), std::remquo(x, 0.75, &number), 1e-14);
    EXPECT_EQ(result(9), number & 7);
    EXPECT_NEAR(result(10), std::lgamma(std::abs(x) + 1), 1e-13);
    EXPECT_EQ(result(11), 1);
    EXPECT_EQ(result(12), x);
    EXPECT_EQ(result(13), std::modf(2 * x, &whole));
    EXPECT_EQ(result(14), x);
    EXPECT_EQ(result(15), x);
  }
}

TEST_F(builtin_functions, load_and_store_vectors_through_any_pointer) {
  const auto kernel = kernel_of(module_of(generic_pointers_spv), "vectors");
  constexpr uint32_t count = 8;
  auto* in = shared_memory<float>(4 * count);
  auto* out = shared_memory<float>(2 * count);
  for (uint32_t i = 0; i < 4 * count; ++i) in[i] = static_cast<float>(i) / 4;
  set_all(kernel, in, out);
  set_local(kernel, 2, 4 * count * sizeof(float));
  run(kernel, count, 1);
  for (uint32_t i = 0; i < 2 * count; ++i) {
    EXPECT_EQ(out[i], in[i / 2 * 4 + 1 + i % 2]) << i;
  }
}

TEST_F(builtin_functions, wait_for_events_through_any_pointer) {
  const auto kernel = kernel_of(module_of(generic_pointers_spv), "copies");
  auto* in = shared_memory<int>(8);
  auto* out = shared_memory<int>(12);
  for (int i = 0; i < 8; ++i) in[i] = 10 + i;
  set_all(kernel, in, out);
  set_local(kernel, 2, 12 * sizeof(int));
  run(kernel, 4, 1);
  const std::vector<int> expected = {10, 11, 12, 13, 14, 15, 16, 17, 10, 12, 14, 16};
  EXPECT_EQ(std::vector<int>(out, out + 12), expected);
}

TEST_F(builtin_functions, fence_memory_of_any_kind) {
  const auto kernel = kernel_of(module_of(generic_pointers_spv), "fences");
  auto* out = shared_memory<int>(4);
  set_all(kernel, out);
  run(kernel, 3, 1);
  EXPECT_EQ(std::vector<int>(out, out + 4), (std::vector<int>{7, 7, 7, 7}));
}

TEST_F(builtin_functions, of_vectors_of_doubles_larger_than_a_register) {
  const auto kernel = kernel_of(module_of(wide_vectors_spv), "wide_doubles");
  auto* in = shared_memory<double>(16);
  auto* out = shared_memory<double>(7 * 16);
  for (uint32_t i = 0; i < 16; ++i) in[i] = (i + 1) * 0.375;
  set_all(kernel, in, out);
  run(kernel, 1, 1);
  for (uint32_t i = 0; i < 16; ++i) {
    const double x = in[i];
    SCOPED_TRACE(x);
    const auto result = [&](uint32_t column) { return out[column * 16 + i]; };
    EXPECT_NEAR(result(0), std::sin(x), 1e-14);
    EXPECT_NEAR(result(1), std::pow(x, x / 2), std::pow(x, x / 2) * 1e-14);
    EXPECT_NEAR(result(2), std::sin(x), 1e-14);
    EXPECT_NEAR(result(3), std::cos(x), 1e-14);
    int quotient = 0;
    EXPECT_NEAR(result(4), std::remquo(x, 0.75, &quotient), 1e-14);
    EXPECT_EQ(result(5), quotient & 7);
    EXPECT_EQ(result(6), std::ldexp(x, static_cast<int>(x)));
  }
}

TEST_F(builtin_functions, of_vectors_of_floats_larger_than_a_register) {
  const auto kernel = kernel_of(module_of(wide_vectors_spv), "wide_floats");
  auto* in = shared_memory<float>(16);
  auto* out = shared_memory<float>(3 * 16);
  auto* halves = shared_memory<uint16_t>(24);
  for (uint32_t i = 0; i < 16; ++i) in[i] = static_cast<float>(i + 1) / 3;
  set_all(kernel, in, out, halves);
  run(kernel, 1, 1);
  for (uint32_t i = 0; i < 16; ++i) {
    SCOPED_TRACE(in[i]);
    const float x = in[i];
    EXPECT_NEAR(out[i], std::cosh(x), std::cosh(x) * 1e-6f);
    EXPECT_NEAR(out[16 + i], std::exp(x), std::exp(x) * 1e-3f);
    EXPECT_LE(half_to_float(halves[i]), x);
    EXPECT_GT(half_to_float(static_cast<uint16_t>(halves[i] + 1)), x);
    if (i >= 8) continue;
    EXPECT_NEAR(out[32 + i], std::log2(x), 1e-6f);
    EXPECT_NEAR(out[40 + i], in[8 + i] / x, in[8 + i] / x * 1e-3f);
    if (i >= 3) continue;
    EXPECT_GE(half_to_float(halves[20 + i]), x);
    EXPECT_LT(half_to_float(static_cast<uint16_t>(halves[20 + i] - 1)), x);
  }
}

// The next half above or below.
uint16_t neighbour(uint16_t half, bool above) {
  if ((half & 0x7fff) == 0) return above ? 0x0001 : 0x8001;
  const bool grows = above == ((half & 0x8000) == 0);
  return static_cast<uint16_t>(grows ? half + 1 : half - 1);
}

TEST_F(builtin_functions, work_on_the_bits_of_halves) {
  const auto kernel = kernel_of(module_of(half_bits_spv), "half_bits");
  constexpr uint32_t count = 16;
  const std::array<uint16_t, count> bits = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
                                            0x83ff, 0x8400, 0x3c00, 0xbc00, 0x4000, 0x7bff,
                                            0xfbff, 0x7c00, 0xfc00, 0x3555};
  const std::array<float, count> numbers = {0.1f,  -0.1f,  1e-9f,    -1e-9f, 70000, -70000,
                                            65519, -65519, 2049,     -2049,  1,     -1,
                                            3e-5f, -3e-5f, INFINITY, 4095.5f};
  auto* in = shared_memory<uint16_t>(count);
  auto* floats = shared_memory<float>(count);
  auto* out = shared_memory<uint16_t>(16 * count);
  std::copy(bits.begin(), bits.end(), in);
  std::copy(numbers.begin(), numbers.end(), floats);
  set_all(kernel, in, floats, out);
  run(kernel, count, 1);
  for (uint32_t i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const auto result = [&](uint32_t column) { return out[column * count + i]; };
    const float x = half_to_float(in[i]);
    EXPECT_EQ(result(0), x == 2 ? in[i] : neighbour(in[i], x < 2));
    const auto negated = static_cast<uint16_t>(in[i] ^ 0x8000);
    EXPECT_EQ(result(1), negated == 0xfc00 ? negated : neighbour(negated, false));
    EXPECT_EQ(result(2), 0x7e00 | i);
    const bool is_normal = (in[i] & 0x7c00) != 0 && (in[i] & 0x7c00) != 0x7c00;
    EXPECT_EQ(half_to_float(result(3)), is_normal ? 1.0f : 0.0f);
    EXPECT_EQ(half_to_float(result(4)), is_normal ? 1.0f : 0.0f);
    EXPECT_EQ(result(5), (in[i] & 0x7000) | (0x3c00 & 0x8fff));
    EXPECT_EQ(result(6), negated);
    EXPECT_EQ(result(7), in[i & 3]);
    EXPECT_EQ(result(13), in[i]);
    EXPECT_EQ(out[14 * count + 2 * i], in[i]);
    EXPECT_EQ(out[14 * count + 2 * i + 1], negated);

    const float number = floats[i];
    const uint16_t nearest = float_to_half(number);
    const float back = half_to_float(nearest);
    const uint16_t up = back < number ? neighbour(nearest, true) : nearest;
    const uint16_t down = back > number ? neighbour(nearest, false) : nearest;
    EXPECT_EQ(result(8), number < 0 ? up : down);
    EXPECT_EQ(result(9), up);
    EXPECT_EQ(result(10), down);
    EXPECT_EQ(result(11), nearest);
    if (std::isinf(number)) continue;
    const float whole = std::trunc(number);
    const uint16_t near_whole = float_to_half(whole);
    const bool is_beyond = std::abs(half_to_float(near_whole)) > std::abs(whole);
    EXPECT_EQ(half_to_float(result(12)),
              half_to_float(is_beyond ? neighbour(near_whole, whole < 0) : near_whole));
  }
}

TEST_F(builtin_functions, copy_halves) {
  const auto kernel = kernel_of(module_of(half_bits_spv), "half_copies");
  auto* in = shared_memory<uint16_t>(8);
  auto* out = shared_memory<uint16_t>(12);
  for (uint16_t i = 0; i < 8; ++i) in[i] = static_cast<uint16_t>(0x3c00 + i);
  set_all(kernel, in, out);
  set_local(kernel, 2, 12 * sizeof(uint16_t));
  run(kernel, 16, 1);
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(out[i], in[i < 8 ? i : 2 * (i - 8)]) << i;
}

}  // namespace
}  // namespace zevent::driver::test
