// Kernels that run for long get machine code for their group size, made in the background.

#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>

#include "base/temporary_folder.hpp"
#include "kernel_fixture.hpp"
#include "kernels/group_reduce_spv.h"
#include "kernels/ids_spv.h"

namespace zevent::driver::test {
namespace {

bool has_mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

class hot_kernels : public kernel_fixture {
 protected:
  void SetUp() override {
    kernel_fixture::SetUp();
    if (const char* before = std::getenv("ZEVENT_CACHE_DIR")) before_ = before;
    setenv("ZEVENT_CACHE_DIR", cache_.path().c_str(), 1);
  }
  void TearDown() override {
    setenv("ZEVENT_CACHE_DIR", before_.c_str(), 1);
    kernel_fixture::TearDown();
  }

  // Launches until there is code for groups of such a size.
  void run_until_special(ze_kernel_handle_t kernel, ze_group_count_t groups, const char* size) {
    while (!has_mapped(std::string("@") + size + "-") && !HasFatalFailure()) run(kernel, groups);
    run(kernel, groups);
  }

  // What a launch of record_ids says about where its work-items are.
  std::vector<uint64_t> ids(ze_kernel_handle_t kernel, ze_group_count_t groups, size_t work_items,
                            uint32_t offset) {
    auto* out = shared_memory<uint64_t>(16 * work_items);
    set_all(kernel, out);
    EXPECT_EQ(zeKernelSetGlobalOffsetExp(kernel, offset, offset, offset), ZE_RESULT_SUCCESS);
    run(kernel, groups);
    return {out, out + 16 * work_items};
  }

 private:
  const temporary_folder cache_;
  std::string before_;
};

TEST_F(hot_kernels, know_where_they_are_as_before) {
  const auto kernel = kernel_of(module_of(ids_spv), "record_ids");
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 2, 3, 4), ZE_RESULT_SUCCESS);
  constexpr ze_group_count_t groups = {3, 5, 7};
  constexpr size_t work_items = 24 * 3 * 5 * 7;
  const auto before = ids(kernel, groups, work_items, 0);
  const auto before_with_offset = ids(kernel, groups, work_items, 10);
  ASSERT_NE(before, before_with_offset);

  constexpr ze_group_count_t many = {64, 64, 1};
  auto* out = shared_memory<uint64_t>(size_t{16} * 24 * 64 * 64);
  set_all(kernel, out);
  ASSERT_EQ(zeKernelSetGlobalOffsetExp(kernel, 0, 0, 0), ZE_RESULT_SUCCESS);
  run_until_special(kernel, many, "2x3x4");

  EXPECT_EQ(ids(kernel, groups, work_items, 0), before);
  EXPECT_EQ(ids(kernel, groups, work_items, 10), before_with_offset);
  // Another size of as many work-items.
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 4, 3, 2), ZE_RESULT_SUCCESS);
  const auto other = ids(kernel, groups, work_items, 0);
  EXPECT_NE(other, before);
  EXPECT_EQ(other[16 * work_items - 13], 3U) << "the last work-item's local id";
}

TEST_F(hot_kernels, share_local_memory_and_meet_at_barriers_as_before) {
  constexpr uint32_t groups = 2048, size = 64;
  auto* in = shared_memory<int>(groups * size);
  auto* out = shared_memory<int>(groups);
  std::iota(in, in + groups * size, 0);
  const auto kernel = kernel_of(module_of(group_reduce_spv), "sum_in_argument");
  set_all(kernel, in, out);
  set_local(kernel, 2, size * sizeof(int));
  ASSERT_EQ(zeKernelSetGroupSize(kernel, size, 1, 1), ZE_RESULT_SUCCESS);
  run_until_special(kernel, {groups, 1, 1}, "64x1x1");
  std::fill(out, out + groups, -1);
  run(kernel, {groups, 1, 1});
  for (uint32_t group = 0; group < groups; ++group) {
    const uint32_t first = group * size;
    ASSERT_EQ(out[group], std::accumulate(in + first, in + first + size, 0)) << "group " << group;
  }
}

std::atomic<int> children_ended{0};

TEST_F(hot_kernels, are_compiled_behind_the_back_of_a_program_that_waits_for_its_children) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer has the compiler run as a child";
#endif
  constexpr uint32_t groups = 2048, size = 32;
  auto* in = shared_memory<int>(groups * size);
  auto* out = shared_memory<int>(groups);
  const auto kernel = kernel_of(module_of(group_reduce_spv), "sum_in_variable");
  set_all(kernel, in, out);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, size, 1, 1), ZE_RESULT_SUCCESS);

  struct sigaction before {
  }, action{};
  action.sa_handler = [](int) { ++children_ended; };
  sigaction(SIGCHLD, &action, &before);
  children_ended = 0;
  while (!has_mapped("@" + std::to_string(size) + "x1x1-") && !HasFailure()) {
    run(kernel, {groups, 1, 1});
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child that the program did not start";
    EXPECT_EQ(errno, ECHILD);
  }
  EXPECT_EQ(children_ended, 0);
  sigaction(SIGCHLD, &before, nullptr);
}

}  // namespace
}  // namespace zevent::driver::test
