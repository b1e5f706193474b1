#include "kernel_fixture.hpp"
#include "kernels/exchanges_spv.h"

namespace zevent::driver::test {
namespace {

// Work-items hand on what their neighbours wrote before a barrier; the last one gets 1000.
class barriers : public kernel_fixture {
 protected:
  static int handed_on(int item, int times) { return item + times < 16 ? item + times : 1000; }
};

TEST_F(barriers, let_work_items_see_what_others_wrote_to_local_variables) {
  const auto kernel = kernel_of(module_of(exchanges_spv), "exchange_twice");
  auto* out = shared_memory<int>(16);
  set_all(kernel, out);
  run(kernel, 16, 1);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], handed_on(i, 2)) << i;
}

TEST_F(barriers, let_work_items_see_what_others_wrote_to_restricted_local_memory) {
  const auto kernel = kernel_of(module_of(exchanges_spv), "exchange_restrict");
  auto* out = shared_memory<int>(16);
  set_all(kernel, out);
  set_local(kernel, 1, 17 * sizeof(int));
  run(kernel, 16, 1);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], handed_on(i, 3)) << i;
}

TEST_F(barriers, let_work_items_see_what_others_wrote_to_restricted_global_memory) {
  const auto kernel = kernel_of(module_of(exchanges_spv), "exchange_in_global_memory");
  auto* out = shared_memory<int>(16);
  auto* shared = shared_memory<int>(17);
  set_all(kernel, out, shared);
  run(kernel, 16, 1);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], handed_on(i, 2)) << i;
}

}  // namespace
}  // namespace zevent::driver::test
