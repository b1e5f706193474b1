#include <algorithm>

#include "kernel_fixture.hpp"
#include "kernels/divergent_barriers_spv.h"

namespace zevent::driver::test {
namespace {

constexpr int untouched = -100;

class divergent_barriers : public kernel_fixture {
 protected:
  template <typename... Values>
  const int* results_of(const char* name, const Values&... values) {
    const auto kernel = kernel_of(module_of(divergent_barriers_spv), name);
    auto* out = shared_memory<int>(16);
    std::fill(out, out + 16, untouched);
    set_all(kernel, out, values...);
    run(kernel, 16, 1);
    return out;
  }
};

TEST_F(divergent_barriers, do_not_wait_for_who_has_returned) {
  const int* results = results_of("guarded", 10);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(results[i], i < 10 ? 3 * (9 - i) : untouched) << i;
}

TEST_F(divergent_barriers, do_not_wait_for_who_has_left_a_loop) {
  const int* results = results_of("leaving", 12);
  for (int i = 0; i < 16; ++i) {
    int sum = 0;
    for (int round = 0; round <= std::min(i, 11); ++round) sum += 15 + round;
    EXPECT_EQ(results[i], i < 12 ? sum : -sum) << i;
  }
}

TEST_F(divergent_barriers, may_be_in_functions) {
  const int* results = results_of("calling");
  for (int i = 0; i < 16; ++i) EXPECT_EQ(results[i], i < 10 ? 5 * (i ^ 1) : untouched) << i;
}

}  // namespace
}  // namespace zevent::driver::test
