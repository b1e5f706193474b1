// The times themselves: on the host's axis, wherever the device's clock stands.

#include <time.h>

#include <atomic>
#include <cstring>
#include <numeric>

#include "kernels/vector_add_spv.h"
#include "profiled_child.hpp"

namespace zevent::profile_test {
namespace {

using ProfiledTimes = ProfiledChild;

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

constexpr uint64_t nap_ns = 2'000'000;

// When the device ran it, by the clock that the driver uses.
struct span {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// Runs on the device for a while.
void nap(void* taken) {
  auto& ran = *static_cast<span*>(taken);
  ran.start_ns = now_ns();
  while (now_ns() - ran.start_ns < nap_ns) {
  }
  ran.end_ns = now_ns();
}

constexpr size_t nap_count = 20;

void take_naps(findings& found) {
  const device_program p;
  const auto list = p.immediate(in_order_queue);
  std::vector<span> naps(nap_count);
  for (auto& each : naps)
    device_program::check(
        zeCommandListAppendHostFunction(list, nap, &each, nullptr, nullptr, 0, nullptr));
  device_program::check(zeCommandListHostSynchronize(list, no_timeout));
  found.executed(nap_count);
  for (const auto& each : naps) {
    found.add(each.start_ns);
    found.add(each.end_ns);
  }
}

class ClockSettings : public ProfiledChild, public testing::WithParamInterface<settings> {};

// A command contains its nap and lies between the naps before and after it. So the bounds are close
// on a machine that has time, and right on one that stops a thread anywhere.
TEST_P(ClockSettings, AreWhatTheDriversClockSays) {
  const auto end = run(take_naps, true, GetParam());
  ASSERT_EQ(end.status, 0);
  ASSERT_EQ(end.values.size(), 2 * nap_count);
  const auto all = times();
  ASSERT_EQ(all.size(), nap_count);
  uint64_t last_end_ns = 0;
  for (const auto& each : all) {
    EXPECT_GE(each.start_ns + 1000, last_end_ns) << "they ran one after the other";
    last_end_ns = each.end_ns();
  }
  // Clocks that are compared now and then differ by less than 1 % meanwhile.
  constexpr double rate_error = 0.01, tick_ns = 100;
  const auto start_of = [&](size_t nap) { return end.values[2 * nap]; };
  const auto end_of = [&](size_t nap) { return end.values[2 * nap + 1]; };
  for (size_t i = 0; i < nap_count; ++i) {
    const auto took_ns = static_cast<double>(all[i].duration_ns);
    const auto expected_ns = static_cast<double>(end_of(i) - start_of(i));
    EXPECT_GE(took_ns, expected_ns * (1 - rate_error) - tick_ns) << "nap " << i;
    if (i == 0 || i + 1 == nap_count) continue;
    const auto between_ns = static_cast<double>(start_of(i + 1) - end_of(i - 1));
    EXPECT_LE(took_ns, between_ns * (1 + rate_error) + tick_ns) << "nap " << i;
  }
  // Between the append and the end of the wait for all of them.
  trace::call_reader reader(trace());
  uint64_t first_append_ns = UINT64_MAX, wait_end_ns = 0;
  while (const auto* call = reader.next()) {
    const auto name = trace().function(*call).name;
    if (name == "zeCommandListAppendHostFunction")
      first_append_ns = std::min(first_append_ns, call->start_ns);
    if (name == "zeCommandListHostSynchronize") wait_end_ns = call->end_ns();
  }
  constexpr uint64_t error_ns = 200'000;  // of the comparison of the clocks, the best of several
  EXPECT_GE(all.front().start_ns + error_ns, first_append_ns);
  EXPECT_LE(all.back().end_ns(), wait_end_ns + error_ns);
}

INSTANTIATE_TEST_SUITE_P(Clocks, ClockSettings,
                         testing::Values(settings{},
                                         settings{{"ZEVENT_TIMER_FREQUENCY", "19200000"}},
                                         settings{{"ZEVENT_FAULTS", "timestamp-wrap:15"}},
                                         settings{{"ZEVENT_FAULTS", "timestamp-wrap:15"},
                                                  {"ZEVENT_TIMER_FREQUENCY", "12500000"},
                                                  {"ZEVENT_TIMER_BITS", "36"},
                                                  {"ZEVENT_KERNEL_TIMER_BITS", "32"}}));

TEST_F(ProfiledTimes, BelongToTheirExecution) {
  const auto end = run(
      [](findings&) {
        const device_program p;
        const auto queue = p.queue();
        const auto list = p.regular();
        device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
        device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
        device_program::check(zeCommandListClose(list));
        ze_command_list_handle_t lists[] = {list};
        for (int i = 0; i < 4; ++i) {
          device_program::check(zeCommandQueueExecuteCommandLists(queue, 1, lists, nullptr));
          device_program::check(zeCommandQueueSynchronize(queue, no_timeout));
        }
      },
      true);
  ASSERT_EQ(end.status, 0);
  std::map<uint64_t, int> by_execution;
  for (const auto& each : times()) {
    EXPECT_GT(each.execution, each.call);
    ++by_execution[number_of(each.execution)];
  }
  ASSERT_EQ(by_execution.size(), 4u);
  for (const auto& [execution, count] : by_execution) EXPECT_EQ(count, 2);
}

// A driver that leaves old times in events that were reset.
TEST_F(ProfiledTimes, AreMarkedWhereTheyCannotBeRight) {
  const auto naps = [](findings& found) {
    const device_program p;
    const auto list = p.immediate(in_order_queue);
    span ran;
    for (int i = 0; i < 12; ++i) {
      device_program::check(
          zeCommandListAppendHostFunction(list, nap, &ran, nullptr, nullptr, 0, nullptr));
      device_program::check(zeCommandListHostSynchronize(list, no_timeout));
    }
    found.executed(12);
  };
  const auto impossible = [this] {
    uint64_t count = 0;
    for (const auto& each : times()) count += each.is_impossible() ? 1 : 0;
    return count;
  };
  expect_all_timed(naps);
  EXPECT_EQ(impossible(), 0u);
  expect_all_timed(naps, {{"ZEVENT_FAULTS", "timestamp-stale-after-reset"}});
  EXPECT_GT(impossible(), 0u);
}

struct kernel_program : device_program {
  ze_kernel_handle_t kernel(const uint32_t* spirv, size_t size, const char* name) const {
    ze_module_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    desc.inputSize = size;
    desc.pInputModule = reinterpret_cast<const uint8_t*>(spirv);
    ze_module_handle_t module = nullptr;
    check(zeModuleCreate(context, device, &desc, &module, nullptr));
    const ze_kernel_desc_t kernel_desc{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    ze_kernel_handle_t made = nullptr;
    check(zeKernelCreate(module, &kernel_desc, &made));
    check(zeKernelSetGroupSize(made, 16, 1, 1));
    return made;
  }
  void set_arguments(ze_kernel_handle_t kernel) const {
    void* memory = this->memory(1024);
    const uint32_t count = 16;
    for (uint32_t i = 0; i < 3; ++i)
      check(zeKernelSetArgumentValue(kernel, i, sizeof(memory), &memory));
    check(zeKernelSetArgumentValue(kernel, 3, sizeof(count), &count));
  }
};

void launch_kernels(findings& found) {
  const kernel_program p;
  auto* add = p.kernel(vector_add_spv, sizeof(vector_add_spv), "vector_add");
  p.set_arguments(add);
  const auto list = p.immediate(in_order_queue);
  ze_group_count_t groups{1, 1, 1};
  auto* where = static_cast<ze_group_count_t*>(p.memory(64));
  *where = groups;
  auto* count = static_cast<uint32_t*>(p.memory(64));
  *count = 1;
  found.add(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr));
  found.add(zeCommandListAppendLaunchCooperativeKernel(list, add, &groups, nullptr, 0, nullptr));
  found.add(zeCommandListAppendLaunchKernelIndirect(list, add, where, nullptr, 0, nullptr));
  found.add(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 1, &add, count, where, nullptr,
                                                             0, nullptr));
  found.add(zeCommandListAppendLaunchKernelWithParameters(list, add, &groups, nullptr, nullptr, 0,
                                                          nullptr));
  device_program::check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  found.add(zeCommandListHostSynchronize(list, no_timeout));
  found.executed(6);
}

TEST_F(ProfiledTimes, AreTakenOfEveryKindOfLaunch) {
  expect_unchanged(launch_kernels);
  for (const auto& each : times()) EXPECT_GT(each.duration_ns, 0u);
  EXPECT_EQ(times_by_function().size(), 6u);
}

TEST_F(ProfiledTimes, AreTakenOfTheKernelsAskedForAlone) {
  ASSERT_EQ(run(launch_kernels, true, {{"ZEVENT_PROFILE_KERNELS", "vector_*"}}).status, 0);
  EXPECT_EQ(times().size(), 5u);
  ASSERT_EQ(run(launch_kernels, true, {{"ZEVENT_PROFILE_KERNELS", "*matrix"}}).status, 0);
  EXPECT_EQ(times().size(), 0u);
}

}  // namespace
}  // namespace zevent::profile_test
