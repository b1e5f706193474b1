#include "check/checker.hpp"

#include <gtest/gtest.h>

#include "checked_program.hpp"

// What real programs on the software driver cannot show, or not every time: two threads at the same
// instant, devices that are not peers, sub-devices, times. Mutable lists and graphs have a file of
// their own; the rest is in tests/rules.
namespace zevent::check {
namespace {

class threads_and_times : public checked_program {};

TEST_F(threads_and_times, events_of_one_pool_are_not_created_at_once) {
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).event(pool, 0);
  program.at_ns(102'000).on_thread(2).takes_ns(5'000).event(pool, 1);
  EXPECT_EQ(broken(), "EV-5");
}

TEST_F(threads_and_times, but_one_after_the_other_they_are) {
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).event(pool, 0);
  program.at_ns(105'000).on_thread(2).takes_ns(5'000).event(pool, 1);
  EXPECT_EQ(broken(), "");
}

TEST_F(threads_and_times, an_event_is_not_destroyed_by_two_threads) {
  const auto event = program.event(pool);
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).destroy_event(event);
  program.at_ns(102'000).on_thread(2).takes_ns(5'000).destroy_event(event);
  EXPECT_EQ(broken(), "EV-8");
}

TEST_F(threads_and_times, an_address_may_be_given_out_again_before_the_free_has_returned) {
  program.at_ns(100'000).on_thread(1).takes_ns(30'000).free(context, a);
  program.at_ns(110'000).on_thread(2).call(function::zeMemAllocDevice,
                                           {{argument::hContext, context},
                                            {argument::hDevice, device},
                                            {argument::size, 4096},
                                            {argument::pptr, a}});
  program.at_ns(120'000).on_thread(2).free(context, a);
  EXPECT_EQ(broken(), "");
}

TEST_F(threads_and_times, but_memory_is_not_freed_by_two_threads) {
  program.at_ns(100'000).on_thread(1).takes_ns(30'000).free(context, a);
  program.at_ns(120'000).on_thread(2).free(context, a);
  EXPECT_EQ(broken(), "EV-40 EV-73");
}

TEST_F(threads_and_times, a_wait_that_began_before_the_host_signalled_was_for_that_signal) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.at_ns(100'000).on_thread(1).takes_ns(50'000).synchronise(event);
  program.at_ns(110'000).on_thread(2).host_signal(event);
  program.at_ns(120'000).on_thread(2).signal(list, event);
  program.finish();
  EXPECT_EQ(broken(), "");
}

TEST_F(threads_and_times, and_one_that_began_afterwards_waits_for_nothing) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.at_ns(110'000).on_thread(2).host_signal(event);
  program.at_ns(120'000).on_thread(2).signal(list, event);
  program.at_ns(130'000).on_thread(1).takes_ns(50'000).synchronise(event);
  program.finish();
  EXPECT_EQ(broken(), "EV-10");
}

TEST_F(threads_and_times, a_list_is_not_appended_to_by_two_threads_at_once) {
  const auto list = program.immediate_list(context, device);
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).barrier(list);
  program.at_ns(101'000).on_thread(2).takes_ns(5'000).barrier(list);
  EXPECT_EQ(broken(), "EV-40");
}

TEST_F(threads_and_times, a_list_that_two_threads_use_in_turn_is_noted) {
  const auto list = program.immediate_list(context, device);
  const auto first = program.at_ns(100'000).on_thread(1).takes_ns(5'000).barrier(list);
  const auto second = program.at_ns(106'000).on_thread(2).takes_ns(5'000).barrier(list);
  program.at_ns(112'000).on_thread(1).takes_ns(5'000).barrier(list);
  EXPECT_EQ(broken(), "");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, ev(40));
  EXPECT_EQ(findings[0].level, severity::note);
  ASSERT_EQ(findings[0].calls.size(), 2u);
  EXPECT_EQ(findings[0].calls[0].call, first);
  EXPECT_EQ(findings[0].calls[1].call, second);
}

TEST_F(threads_and_times, once_two_threads_use_it_at_the_same_time_no_note_is_needed) {
  const auto list = program.immediate_list(context, device);
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).barrier(list);
  program.at_ns(106'000).on_thread(2).takes_ns(5'000).barrier(list);
  program.at_ns(108'000).on_thread(1).takes_ns(5'000).barrier(list);
  EXPECT_EQ(broken(), "EV-40");
  EXPECT_EQ(findings.size(), 1u);
}

TEST_F(threads_and_times, a_list_that_another_thread_destroys_is_not_worth_a_note) {
  const auto list = program.immediate_list(context, device);
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).barrier(list);
  program.at_ns(106'000).on_thread(1).synchronise_list(list);
  program.at_ns(112'000).on_thread(2).call(function::zeCommandListDestroy,
                                           {{argument::hCommandList, list}});
  EXPECT_EQ(broken(), "");
  EXPECT_TRUE(findings.empty());
}

TEST_F(threads_and_times, queries_may_be_made_by_all_threads_at_once) {
  const auto event = program.event(pool);
  program.at_ns(100'000).on_thread(1).takes_ns(5'000).query(event);
  program.at_ns(101'000).on_thread(2).takes_ns(5'000).host_signal(event);
  program.at_ns(102'000).on_thread(3).takes_ns(5'000).host_reset(event);
  EXPECT_EQ(broken(), "");
}

TEST_F(threads_and_times, a_slow_query_is_found_with_what_the_device_was_doing) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  const auto copy = program.copy(list, b, a, 4096, {.signal = event});
  program.takes_ns(177'866'000).returns(ZE_RESULT_NOT_READY).query(event);
  ASSERT_EQ(broken(), "EV-70");
  ASSERT_EQ(findings[0].calls.size(), 2u);
  EXPECT_EQ(findings[0].calls[0].call, copy);
  EXPECT_NE(findings[0].message.find("177.9 ms"), std::string::npos) << findings[0].message;
}

TEST_F(threads_and_times, a_wait_without_limit_may_take_as_long_as_it_likes) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, b, a, 4096, {.signal = event});
  program.takes_ns(177'866'000).synchronise(event);
  EXPECT_EQ(broken(), "");
}

TEST_F(threads_and_times, an_append_to_a_synchronous_list_may_block) {
  const auto list = program.immediate_list(context, device, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  program.takes_ns(177'866'000).copy(list, b, a, 4096);
  EXPECT_EQ(broken(), "");
}

TEST_F(threads_and_times, a_wait_that_overran_its_timeout_is_found) {
  const auto event = program.event(pool);
  program.takes_ns(60'000'000).returns(ZE_RESULT_NOT_READY).synchronise(event, 10'000'000);
  program.takes_ns(10'100'000).returns(ZE_RESULT_NOT_READY).synchronise(event, 10'000'000);
  ASSERT_EQ(broken(), "EV-71");
  EXPECT_EQ(findings.size(), 1u);
}

TEST_F(threads_and_times, polling_with_other_calls_between_is_no_busy_loop) {
  const auto event = program.event(pool);
  const auto other = program.event(pool, 1);
  for (int i = 0; i < 3000; ++i) {
    program.returns(ZE_RESULT_NOT_READY).query(event);
    program.returns(ZE_RESULT_NOT_READY).query(other);
  }
  EXPECT_EQ(broken(), "");
}

class devices_and_kinds : public checked_program {
 protected:
  handle sub_device_of(handle root) {
    const handle made = program.new_handle();
    program.call(function::zeDeviceGetSubDevices, [&](call_view& call) {
      call.set(argument::hDevice, root);
      call.set_list(argument::phDevices, std::vector{made});
    });
    return made;
  }
};

TEST_F(devices_and_kinds, a_counter_event_is_waited_for_only_by_peers) {
  const handle other = program.device();
  const auto one = program.in_order_immediate_list(context, device);
  const auto two = program.in_order_immediate_list(context, other);
  const auto event = program.counter_event(context, device);
  program.call(function::zeDeviceCanAccessPeer,
               {{argument::hDevice, other}, {argument::hPeerDevice, device}, {argument::value, 0}});
  program.barrier(one, {.signal = event});
  program.barrier(two, {.waits = {event}});
  EXPECT_EQ(broken(), "EV-55");
}

TEST_F(devices_and_kinds, and_by_those_that_say_they_are) {
  const handle other = program.device();
  const auto one = program.in_order_immediate_list(context, device);
  const auto two = program.in_order_immediate_list(context, other);
  const auto event = program.counter_event(context, device);
  program.call(function::zeDeviceCanAccessPeer,
               {{argument::hDevice, other}, {argument::hPeerDevice, device}, {argument::value, 1}});
  program.barrier(one, {.signal = event});
  program.barrier(two, {.waits = {event}});
  EXPECT_EQ(broken(), "");
}

TEST_F(devices_and_kinds, a_pool_of_a_device_serves_its_sub_devices) {
  const handle part = sub_device_of(device);
  const handle made = program.new_handle();
  program.call(function::zeEventPoolCreate, [&](call_view& call) {
    call.set(argument::hContext, context);
    call.set(argument::desc, 1);
    call.set(argument::count, 4);
    call.set(argument::flags, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    call.set(argument::numDevices, 1);
    call.set_list(argument::phDevices, std::vector{device});
    call.set(argument::phEventPool, made);
  });
  const auto list = program.immediate_list(context, part);
  program.barrier(list, {.signal = program.event(made)});
  EXPECT_EQ(broken(), "");
}

class shared_pools_of_parts : public devices_and_kinds {
 protected:
  // A pool made for a sub-device, shared, and opened again.
  handle opened(handle part) {
    const handle made = program.new_handle(), again = program.new_handle();
    program.call(function::zeEventPoolCreate, [&](call_view& call) {
      call.set(argument::hContext, context);
      call.set(argument::desc, 1);
      call.set(argument::count, 4);
      call.set(argument::flags, ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
      call.set(argument::numDevices, 1);
      call.set_list(argument::phDevices, std::vector{part});
      call.set(argument::phEventPool, made);
    });
    program.call(function::zeEventPoolGetIpcHandle, [&](call_view& call) {
      call.set(argument::hEventPool, made);
      call.set_bytes(argument::phIpc, std::as_bytes(std::span(ipc_handle)));
    });
    program.call(function::zeEventPoolOpenIpcHandle, [&](call_view& call) {
      call.set(argument::hContext, context);
      call.set_bytes(argument::hIpc, std::as_bytes(std::span(ipc_handle)));
      call.set(argument::phEventPool, again);
    });
    return again;
  }
  const std::string ipc_handle = std::string(64, 'i');
};

TEST_F(shared_pools_of_parts, are_not_used_on_the_whole) {
  const handle part = sub_device_of(device);
  const auto event = program.event(opened(part));
  program.barrier(program.immediate_list(context, device), {.signal = event});
  EXPECT_EQ(broken(), "EV-63");
}

TEST_F(shared_pools_of_parts, are_used_on_parts) {
  const handle part = sub_device_of(device);
  const auto event = program.event(opened(part));
  program.barrier(program.immediate_list(context, part), {.signal = event});
  EXPECT_EQ(broken(), "");
}

class kernels : public checked_program {
 protected:
  handle kernel_with(handle argument_value) {
    const handle made = program.new_handle();
    program.call(function::zeKernelCreate, {{argument::phKernel, made}});
    program.call(function::zeKernelSetArgumentValue, {{argument::hKernel, made},
                                                      {argument::argIndex, 0},
                                                      {argument::argSize, 8},
                                                      {argument::pArgValue, argument_value}});
    return made;
  }
  severity worst() {
    auto level = severity::note;
    for (const auto& each : findings) level = std::min(level, each.level);
    return level;
  }
  handle list = program.immediate_list(context, device);
};

TEST_F(kernels, that_share_a_pointer_are_a_possible_race) {
  program.launch(list, kernel_with(a));
  program.launch(list, kernel_with(a));
  EXPECT_EQ(broken(), "EV-25");
  EXPECT_EQ(worst(), severity::hazard);
}

TEST_F(kernels, with_pointers_into_one_allocation_are_only_worth_a_note) {
  program.launch(list, kernel_with(a));
  program.launch(list, kernel_with(a + 2048));
  EXPECT_EQ(broken(), "");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].level, severity::note);
}

TEST_F(kernels, and_copies_race_too) {
  program.launch(list, kernel_with(a));
  program.copy(list, b, a, 4096);
  EXPECT_EQ(broken(), "EV-25");
  EXPECT_EQ(worst(), severity::hazard);
}

TEST_F(kernels, are_not_destroyed_while_they_run) {
  const auto kernel = kernel_with(a);
  program.launch(list, kernel);
  program.call(function::zeKernelDestroy, {{argument::hKernel, kernel}});
  EXPECT_EQ(broken(), "EV-44");
}

TEST_F(kernels, may_be_destroyed_afterwards) {
  const auto kernel = kernel_with(a);
  program.launch(list, kernel);
  program.synchronise_list(list);
  program.call(function::zeKernelDestroy, {{argument::hKernel, kernel}});
  EXPECT_EQ(broken(), "");
}

TEST_F(kernels, use_their_images_as_long) {
  const handle image = program.new_handle();
  program.call(function::zeImageCreate,
               {{argument::hContext, context}, {argument::phImage, image}});
  program.launch(list, kernel_with(image));
  program.call(function::zeImageDestroy, {{argument::hImage, image}});
  EXPECT_EQ(broken(), "EV-44");
}

class chains_of_reasons : public checked_program {};

TEST_F(chains_of_reasons, a_circle_of_waits_is_told_from_beginning_to_end) {
  const auto left = program.in_order_immediate_list(context, device);
  const auto right = program.in_order_immediate_list(context, device);
  const auto one = program.event(pool, 0), two = program.event(pool, 1);
  program.barrier(left, {.waits = {two}});
  program.barrier(left, {.signal = one});
  program.barrier(right, {.waits = {one}});
  program.barrier(right, {.signal = two});
  ASSERT_EQ(broken(), "EV-13");
  ASSERT_EQ(findings.size(), 1u) << "one circle is one finding";
  EXPECT_EQ(findings[0].steps.size(), 5u);
}

TEST_F(chains_of_reasons, a_long_chain_leads_to_its_end) {
  std::vector<handle> events;
  for (uint32_t i = 0; i < 5; ++i) events.push_back(program.event(pool, i));
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    const auto list = program.in_order_immediate_list(context, device);
    program.barrier(list, {.signal = events[i], .waits = {events[i + 1]}});
  }
  ASSERT_EQ(broken(), "EV-12");
  EXPECT_NE(findings[0].steps.back().find("ever signals"), std::string::npos);
}

TEST_F(chains_of_reasons, calls_that_are_missing_might_have_signalled) {
  const auto list = program.immediate_list(context, device);
  program.barrier(list, {.waits = {program.event(pool)}});
  EXPECT_TRUE(judge.finish({0}).empty());
}

class many_findings : public checked_program {};

TEST_F(many_findings, of_one_kind_are_counted) {
  for (int i = 0; i < 1500; ++i) {
    const auto event = program.counter_event(context, device);
    program.returns(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE).host_reset(event);
  }
  ASSERT_EQ(broken(), "EV-49");
  EXPECT_EQ(findings.size(), finding_list::max_of_a_kind);
  EXPECT_EQ(findings.back().more, 1500 - finding_list::max_of_a_kind);
}

TEST_F(many_findings, of_less_weight_do_not_hide_one_that_matters) {
  const auto list = program.immediate_list(context, device);
  const auto kernel_with = [&](handle pointer) {
    const handle made = program.new_handle();
    program.call(function::zeKernelCreate, {{argument::phKernel, made}});
    program.call(function::zeKernelSetArgumentValue, {{argument::hKernel, made},
                                                      {argument::argIndex, 0},
                                                      {argument::argSize, 8},
                                                      {argument::pArgValue, pointer}});
    return made;
  };
  for (uint64_t i = 0; i < 20; ++i) program.launch(list, kernel_with(a + 64 * i));
  program.copy(list, b, c, 4096);
  program.copy(list, b, c, 4096);
  EXPECT_EQ(broken(), "EV-25");
}

class waits_of_the_host : public checked_program {};

TEST_F(waits_of_the_host, for_the_last_chunk_and_then_for_the_list_are_right) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, b, a, 2048);
  program.copy(list, b + 2048, a + 2048, 2048, {.signal = event});
  program.synchronise(event);
  program.synchronise_list(list);
  program.free(context, b);
  EXPECT_EQ(broken(), "");
}

TEST_F(waits_of_the_host, for_the_last_chunk_alone_are_not) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, b, a, 2048);
  program.copy(list, b + 2048, a + 2048, 2048, {.signal = event});
  program.synchronise(event);
  program.free(context, b);
  EXPECT_EQ(broken(), "EV-0 EV-44");
}

constexpr uint64_t array = 0x7f00'0000'0000;  // of the host, unknown to the driver

TEST_F(waits_of_the_host, for_the_last_row_of_an_array_say_nothing_about_the_others) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  for (uint64_t i = 0; i < 16; ++i)
    program.copy(list, array + i * 6000, a, 4096, {.signal = i == 15 ? event : 0});
  program.synchronise(event);
  program.host_reset(event);
  program.barrier(list, {.signal = event});
  ASSERT_EQ(broken(), "EV-0");
  EXPECT_NE(findings[0].message.find("#8 to #22"), std::string::npos) << findings[0].message;
}

TEST_F(waits_of_the_host,
       for_the_last_row_are_right_when_the_list_is_synchronised_before_it_is_used) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, array, a, 4096);
  program.copy(list, array + 4096, a, 4096, {.signal = event});
  program.synchronise(event);
  program.host_reset(event);
  program.destroy_event(event);
  program.synchronise_list(list);
  program.barrier(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(waits_of_the_host, for_one_of_two_arrays_that_lie_far_apart_are_right) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, array, a, 4096);
  program.copy(list, array + (64 << 20), a, 4096, {.signal = event});
  program.synchronise(event);
  program.barrier(list);
  EXPECT_EQ(broken(), "");
}

class what_is_known_at_the_end : public checked_program {
 protected:
  handle queue = program.queue(context, device);
  handle list = program.list(context, device);
  handle first = program.event(pool, 0), last = program.event(pool, 1);

  void execute() {
    program.close(list);
    program.execute(queue, {list});
  }
};

TEST_F(what_is_known_at_the_end, includes_a_barrier_that_the_last_command_comes_after) {
  program.copy(list, b, a, 4096, {.signal = first});
  program.barrier(list);
  program.copy(list, c, b, 4096, {.signal = last});
  execute();
  program.synchronise(last);
  program.reset_list(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(what_is_known_at_the_end, includes_a_wait_that_the_last_command_comes_after) {
  program.copy(list, b, a, 4096, {.signal = first});
  program.wait(list, {first});
  program.copy(list, c, b, 4096, {.signal = last});
  execute();
  program.synchronise(last);
  program.destroy_event(first);
  program.reset_list(list);
  EXPECT_EQ(broken(), "");
}

TEST_F(what_is_known_at_the_end, does_not_include_what_comes_after) {
  program.copy(list, b, a, 4096, {.signal = first});
  program.barrier(list);
  execute();
  program.synchronise(first);
  program.reset_list(list);
  EXPECT_EQ(broken(), "EV-36");
}

TEST_F(what_is_known_at_the_end, includes_lists_that_were_appended_to_an_immediate_one) {
  const auto outer = program.immediate_list(context, device);
  program.copy(list, b, a, 4096, {.signal = last});
  program.close(list);
  program.call(function::zeCommandListImmediateAppendCommandListsExp, [&](model::call_view& call) {
    call.set(argument::hCommandList, outer);
    call.set(argument::numCommandLists, 1);
    call.set_list(argument::phCommandLists, std::vector{list});
  });
  program.synchronise(last);
  program.reset_list(list);
  program.call(function::zeCommandListDestroy, {{argument::hCommandList, outer}});
  EXPECT_EQ(broken(), "");
}

TEST_F(what_is_known_at_the_end, of_a_wait_is_enough_to_reset_its_event_after_it) {
  program.signal(list, first);
  program.wait(list, {first});
  program.reset(list, first);
  execute();
  program.synchronise_queue(queue);
  EXPECT_EQ(broken(), "");
}

TEST_F(what_is_known_at_the_end, of_another_list_is_seen_only_through_an_event_with_a_scope) {
  const auto one = program.immediate_list(context, device);
  const auto other = program.immediate_list(context, device);
  const auto narrow = program.event(pool, 2, 0);
  program.copy(one, b, a, 4096, {.signal = narrow});
  program.wait(other, {narrow});
  program.copy(other, c, b, 4096);
  program.synchronise_list(one);
  program.synchronise_list(other);
  EXPECT_EQ(broken(), "EV-22");
}

TEST_F(what_is_known_at_the_end, a_signal_command_does_not_wait_for_the_copy_before_it) {
  program.copy(list, b, a, 4096);
  program.signal(list, first);
  program.barrier(list, {.waits = {first}});
  program.copy(list, c, b, 4096);
  execute();
  program.synchronise_queue(queue);
  ASSERT_EQ(broken(), "EV-0");
  EXPECT_EQ(findings[0].level, severity::hazard);
}

TEST_F(what_is_known_at_the_end, an_event_used_again_is_still_signalled_from_before) {
  program.copy(list, b, a, 4096, {.signal = first});
  program.barrier(list, {.signal = last, .waits = {first}});
  program.copy(list, c, b, 4096, {.signal = first, .waits = {last}});
  program.barrier(list, {.waits = {first}});
  program.copy(list, a, c, 4096);
  execute();
  program.synchronise_queue(queue);
  ASSERT_EQ(broken(), "EV-0");
  EXPECT_NE(findings[0].message.find("The first of them"), std::string::npos);
}

class killed_programs : public checked_program {
 protected:
  std::string broken_when_killed() { return first_of(judge.finish({}, {0})); }
  std::string broken_when_crashed() { return first_of(judge.finish({}, {}, {0})); }

 private:
  std::string first_of(std::vector<finding> found) {
    findings = std::move(found);
    return findings.empty()
               ? ""
               : fmt::format("{} {}", to_text(findings[0].level), to_text(findings[0].rule));
  }
};

TEST_F(killed_programs, may_have_had_the_signal_still_before_them) {
  program.barrier(program.immediate_list(context, device), {.waits = {program.event(pool)}});
  EXPECT_EQ(broken_when_killed(), "note EV-12");
}

TEST_F(killed_programs, that_polled_in_vain_are_stuck) {
  const auto list = program.immediate_list(context, device);
  const auto gate = program.event(pool, 0), done = program.event(pool, 1);
  program.barrier(list, {.signal = done, .waits = {gate}});
  program.returns(ZE_RESULT_NOT_READY).query(done);
  EXPECT_EQ(broken_when_killed(), "error EV-12");
}

TEST_F(killed_programs, that_crashed_in_a_call_may_have_had_the_signal_before_them_too) {
  const auto list = program.immediate_list(context, device);
  program.barrier(list, {.waits = {program.event(pool)}});
  program.never_returns().barrier(list);
  ASSERT_EQ(broken_when_crashed(), "note EV-12");
  EXPECT_EQ(findings[0].steps.back(), "The process crashed before it could have done so.");
}

TEST_F(killed_programs, that_crashed_while_they_waited_in_vain_are_stuck) {
  const auto list = program.immediate_list(context, device);
  const auto gate = program.event(pool, 0), done = program.event(pool, 1);
  program.barrier(list, {.signal = done, .waits = {gate}});
  program.never_returns().synchronise(done);
  EXPECT_EQ(broken_when_crashed(), "error EV-12");
}

// What memory of the host holds is noted when a copy from it is submitted, and found changed at a
// wait.
class memory_of_the_host : public testing::Test {
 protected:
  static constexpr uint64_t source = 0x7f00'0000'0000;

  static trace::blob_hash hash_of(std::byte first) {
    trace::blob_hash made{};
    made.bytes[0] = static_cast<uint8_t>(first);
    return made;
  }
  // Notes belong to the calls with these numbers.
  void note(uint64_t call, std::byte content) {
    notes.push_back({.call = model::call_number{call},
                     .address = source,
                     .bytes = 4096,
                     .content = hash_of(content)});
  }
  void add(uint64_t number, function which, uint32_t thread, uint64_t start_ns, uint64_t took_ns,
           std::initializer_list<std::pair<argument, uint64_t>> arguments) {
    model::call_view call;
    call.number = model::call_number{number};
    call.which = which;
    call.name = name_of(which);
    call.thread = thread;
    call.start_ns = start_ns;
    call.end_ns = start_ns + took_ns;
    for (const auto& [a, value] : arguments) call.set(a, value);
    std::vector<trace::memory_note> of_call;
    for (const auto& each : notes) {
      if (each.call == call.number) of_call.push_back(each);
    }
    judge.add(call, 0, of_call);
  }
  void set_up_lists() {
    using enum argument;
    for (const uint64_t list : {0x100u, 0x200u}) {
      add(list / 0x100 - 1, function::zeCommandListCreateImmediate, 1, list * 10, 100,
          {{desc, 1}, {mode, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS}, {phCommandList, list}});
    }
    note(2, std::byte{1});
    add(2, function::zeCommandListAppendMemoryCopy, 1, 10'000, 100,
        {{hCommandList, 0x100}, {dstptr, 0x8000}, {srcptr, source}, {argument::size, 4096}});
  }
  std::string found() {
    std::string text;
    for (const auto& each : judge.finish()) {
      if (each.rule != ev(76)) text += to_text(each.rule) + " ";  // it is a part of a program
    }
    return text;
  }

  std::vector<trace::memory_note> notes;
  checker judge{{}, {}, [](const trace::blob_hash& hash) -> std::optional<std::vector<std::byte>> {
                  return std::vector<std::byte>(4096, std::byte{hash.bytes[0]});
                }};
};

TEST_F(memory_of_the_host, that_changed_under_a_copy_was_written_too_early) {
  set_up_lists();
  note(3, std::byte{2});
  add(3, function::zeCommandListHostSynchronize, 1, 20'000, 1'000,
      {{argument::hCommandList, 0x100}, {argument::timeout, UINT64_MAX}});
  EXPECT_EQ(found(), "EV-47 ");
}

TEST_F(memory_of_the_host, may_be_written_by_who_has_waited_while_another_thread_still_waits) {
  set_up_lists();
  note(3, std::byte{2});
  add(3, function::zeCommandListHostSynchronize, 2, 20'000, 50'000,
      {{argument::hCommandList, 0x200}, {argument::timeout, UINT64_MAX}});
  add(4, function::zeCommandListHostSynchronize, 1, 21'000, 1'000,
      {{argument::hCommandList, 0x100}, {argument::timeout, UINT64_MAX}});
  EXPECT_EQ(found(), "");
}

TEST_F(memory_of_the_host, may_have_been_read_before_the_call_that_notes_it) {
  set_up_lists();
  const auto ask = [&](uint64_t number, uint32_t thread) {
    add(number, function::zeEventQueryStatus, thread, number * 10'000, 100, {});
  };
  add(3, function::zeDeviceSynchronize, 1, 30'000, 100, {});
  add(4, function::zeCommandListAppendMemoryCopy, 1, 40'000, 100,
      {{argument::hCommandList, 0x200},
       {argument::dstptr, source},
       {argument::srcptr, 0x8000},
       {argument::size, 4096}});
  add(5, function::zeDeviceSynchronize, 1, 50'000, 100, {});
  add(6, function::zeCommandListAppendMemoryCopy, 1, 60'000, 100,
      {{argument::hCommandList, 0x100},
       {argument::dstptr, 0x8000},
       {argument::srcptr, source},
       {argument::size, 4096}});
  note(7, std::byte{1});  // as it was before the copy
  ask(7, 2);
  note(8, std::byte{2});
  ask(8, 2);
  EXPECT_EQ(found(), "");
}

TEST_F(threads_and_times, a_call_at_which_memory_was_kept_may_not_block_either) {
  const auto list = program.immediate_list(context, device);
  const auto event = program.event(pool);
  program.copy(list, b, a, 4096, {.signal = event});
  const trace::memory_note notes[] = {{.call = {}, .address = 0x1000, .bytes = 65536}};
  model::call_view call;
  call.number = model::call_number{100};
  call.which = function::zeCommandListAppendBarrier;
  call.name = name_of(call.which);
  call.set(argument::hCommandList, list);
  constexpr uint64_t took_ns = 150'000;  // the recorder's own time is not in it
  call.start_ns = took_ns * 10;
  call.end_ns = call.start_ns + took_ns;
  judge.add(call, UINT64_MAX, notes);
  EXPECT_EQ(broken(), "EV-70");
}

}  // namespace
}  // namespace zevent::check
