#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernel_fixture.hpp"
#include "kernels/float_functions_spv.h"

namespace zevent::driver::test {
namespace {

struct function {
  const char* name;
  double (*exact)(double);  // all but exact, compared with single precision
};

constexpr std::array<function, 12> functions = {
    {{"sin", [](double x) { return std::sin(x); }},
     {"cos", [](double x) { return std::cos(x); }},
     {"tan", [](double x) { return std::tan(x); }},
     {"asin", [](double x) { return std::asin(x); }},
     {"acos", [](double x) { return std::acos(x); }},
     {"atan", [](double x) { return std::atan(x); }},
     {"exp", [](double x) { return std::exp(x); }},
     {"exp2", [](double x) { return std::exp2(x); }},
     {"exp10", [](double x) { return std::pow(10, x); }},
     {"log", [](double x) { return std::log(x); }},
     {"log2", [](double x) { return std::log2(x); }},
     {"log10", [](double x) { return std::log10(x); }}}};

// How far a result is from the exact one, in units of the last place.
double error_of(float result, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(nearest)) return std::isnan(result) ? 0 : INFINITY;
  if (std::isinf(nearest) || nearest == 0) {
    const bool is_same = result == nearest && std::signbit(result) == std::signbit(nearest);
    // What is too small to be told from zero may be the smallest number.
    const bool is_near = nearest == 0 && exact != 0 && std::abs(result) <= 0x1p-149F;
    return is_same || is_near ? 0 : INFINITY;
  }
  const int exponent = std::max(std::ilogb(nearest), std::numeric_limits<float>::min_exponent - 1);
  return std::abs(result - exact) / std::ldexp(1, exponent - 23);
}

// Computed in double precision, they are wrong by little more than the rounding at the end.
constexpr double most_error = 0.52;

class float_functions : public kernel_fixture {
 protected:
  // Calls all functions with a number for each work-item, and expects little error of them.
  void expect_exact(ze_kernel_handle_t kernel, std::span<const float> numbers) {
    const auto count = static_cast<uint32_t>(numbers.size());
    auto* in = shared_memory<float>(count);
    auto* out = shared_memory<float>(count * functions.size());
    std::copy(numbers.begin(), numbers.end(), in);
    set_all(kernel, in, out);
    run(kernel, 64, count / 64);
    for (size_t column = 0; column < functions.size(); ++column) {
      const float* results = out + column * count;
      double greatest = 0;
      float at = 0, result = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const double error = error_of(results[i], functions[column].exact(in[i]));
        if (error <= greatest) continue;
        greatest = error;
        at = in[i];
        result = results[i];
      }
      EXPECT_LE(greatest, most_error) << functions[column].name << "(" << at << ") is " << result;
    }
  }
};

std::vector<float> numbers_of_every_exponent() {
  constexpr uint64_t step = 8191;
  std::vector<float> numbers;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
    numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  numbers.resize(numbers.size() / 64 * 64);
  return numbers;
}

std::vector<float> special_numbers() {
  std::vector<float> numbers;
  for (const float each : {0.0F,
                           0x1p-149F,
                           0x1.fffffcp-127F,
                           0x1p-126F,
                           0x1p-24F,
                           0.5F,
                           1.0F,
                           2.0F,
                           10.0F,
                           1000.0F,
                           0x1.921fb6p0F,
                           0x1.921fb6p1F,
                           0.785398185F,
                           0.414213562F,
                           2.414213562F,
                           0.70710678F,
                           1.41421356F,
                           88.0F,
                           89.0F,
                           104.0F,
                           128.0F,
                           150.0F,
                           38.5F,
                           45.0F,
                           0x1p20F,
                           0x1.921fb6p20F,
                           1e8F,
                           1e20F,
                           0x1.fffffep127F,
                           INFINITY,
                           NAN,
                           33.0F}) {
    for (const float near : {std::nextafter(each, 0.0F), each, std::nextafter(each, INFINITY)}) {
      numbers.push_back(near);
      numbers.push_back(-near);
    }
  }
  return numbers;
}

TEST_F(float_functions, are_rounded_from_nearly_exact_results) {
  const auto kernel = kernel_of(module_of(float_functions_spv), "float_functions");
  expect_exact(kernel, numbers_of_every_exponent());
}

TEST_F(float_functions, know_special_numbers_whatever_the_program_allows) {
  for (const char* flags : {"", "-cl-fast-relaxed-math", "-cl-finite-math-only"}) {
    SCOPED_TRACE(flags);
    const auto kernel = kernel_of(module_of(float_functions_spv, flags), "float_functions");
    expect_exact(kernel, special_numbers());
  }
}

TEST_F(float_functions, take_small_numbers_for_zero_only_where_the_program_allows_it) {
  const auto kernel =
      kernel_of(module_of(float_functions_spv, "-cl-denorms-are-zero"), "float_functions");
  constexpr uint32_t count = 64;
  auto* in = shared_memory<float>(count);
  auto* out = shared_memory<float>(count * functions.size());
  for (uint32_t i = 0; i < count; ++i)
    in[i] = std::ldexp(1.0F + 0.01F * static_cast<float>(i), -148 + static_cast<int>(i % 20));
  set_all(kernel, in, out);
  run(kernel, count, 1);
  for (size_t column = 9; column < functions.size(); ++column) {  // the logarithms
    for (uint32_t i = 0; i < count; ++i) {
      const float result = out[column * count + i];
      const bool is_of_zero = result == -INFINITY;
      EXPECT_TRUE(is_of_zero || error_of(result, functions[column].exact(in[i])) <= most_error)
          << functions[column].name << "(" << in[i] << ") is " << result;
    }
  }
}

TEST_F(float_functions, are_those_of_each_component_of_a_vector) {
  const auto kernel = kernel_of(module_of(float_functions_spv), "of_vectors");
  auto* in = shared_memory<float>(16);
  auto* out = shared_memory<float>(19);
  for (uint32_t i = 0; i < 16; ++i) in[i] = static_cast<float>(i) * 0.75F - 6;
  set_all(kernel, in, out);
  run(kernel, 1, 1);
  for (uint32_t i = 0; i < 16; ++i)
    EXPECT_LE(error_of(out[i], std::sin(double{in[i]})), most_error) << i;
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_LE(error_of(out[16 + i], std::exp(double{in[i]})), most_error) << i;
  }
}

}  // namespace
}  // namespace zevent::driver::test
