#include "api/recording_format.hpp"
#include "checked_program.hpp"

namespace zevent::check {
namespace {

// The host waits for what commands write to its memory.
class scopes_of_host_waits : public checked_program {
 protected:
  void launch_with(handle argument_value, handle signal) {
    const handle kernel = program.new_handle();
    program.call(function::zeKernelCreate, {{argument::phKernel, kernel}});
    program.call(function::zeKernelSetArgumentValue, {{argument::hKernel, kernel},
                                                      {argument::argIndex, 0},
                                                      {argument::argSize, 8},
                                                      {argument::pArgValue, argument_value}});
    program.launch(list, kernel, {.signal = signal});
  }
  // What is there at the end of the wait is not what was there before.
  void wait_and_find_changed(handle waited_for, uint64_t address) {
    model::call_view call;
    call.number = model::call_number{1000};
    call.which = function::zeEventHostSynchronize;
    call.name = name_of(call.which);
    call.set(argument::hEvent, waited_for);
    call.set(argument::timeout, UINT64_MAX);
    call.start_ns = 1'000'000;
    call.end_ns = 1'000'100;
    const trace::memory_note notes[] = {{.call = call.number,
                                         .address = address,
                                         .bytes = 64,
                                         .flags = recording::memory_is_after_call}};
    judge.add(call, UINT64_MAX, notes);
  }

  handle list = program.immediate_list(context, device);
  handle narrow = program.event(pool, 0, ZE_EVENT_SCOPE_FLAG_DEVICE);
  handle wide = program.event(pool, 1);
  handle host = program.memory(context, device, 4096, function::zeMemAllocHost);
};

TEST_F(scopes_of_host_waits, reach_the_host_when_a_copy_writes_its_memory) {
  program.copy(list, host, a, 4096, {.signal = narrow});
  program.synchronise(narrow);
  EXPECT_EQ(broken(), "EV-22");
}

TEST_F(scopes_of_host_waits, reach_it_before_the_memory_is_freed) {
  program.copy(list, host, a, 4096, {.signal = narrow});
  program.synchronise(narrow);
  program.free(context, host);
  program.barrier(list, {.signal = wide});
  program.synchronise(wide);
  EXPECT_EQ(broken(), "EV-22");
}

TEST_F(scopes_of_host_waits, may_reach_it_by_a_later_signal) {
  program.copy(list, host, a, 4096, {.signal = narrow});
  program.synchronise(narrow);
  program.barrier(list, {.signal = wide});
  program.synchronise(wide);
  EXPECT_EQ(broken(), "");
}

TEST_F(scopes_of_host_waits, need_not_reach_it_for_memory_of_the_device) {
  program.copy(list, b, a, 4096, {.signal = narrow});
  program.synchronise(narrow);
  EXPECT_EQ(broken(), "");
}

TEST_F(scopes_of_host_waits, reach_it_when_a_kernel_has_written_its_memory) {
  launch_with(host, narrow);
  wait_and_find_changed(narrow, host);
  EXPECT_EQ(broken(), "EV-22");
}

TEST_F(scopes_of_host_waits, need_not_reach_it_for_a_kernel_that_was_only_given_the_pointer) {
  launch_with(host, narrow);
  program.synchronise(narrow);
  EXPECT_EQ(broken(), "");
}

TEST_F(scopes_of_host_waits, need_not_reach_it_when_other_memory_has_changed) {
  launch_with(host, narrow);
  wait_and_find_changed(narrow, host + 4096);
  EXPECT_EQ(broken(), "");
}

}  // namespace
}  // namespace zevent::check
