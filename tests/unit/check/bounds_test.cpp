#include "checked_program.hpp"

namespace zevent::check {
namespace {

using argument = model::argument;
using function = model::function;

// The addresses of these programs could be the program's own memory; such as these could not.
constexpr uint64_t device_address = 0xffff'd556'0000'0000;

class bounds : public checked_program {
 protected:
  handle list = program.immediate_list(context, device);

  uint64_t allocate(uint64_t address, uint64_t bytes) {
    program.call(function::zeMemAllocDevice, {{argument::hContext, context},
                                              {argument::hDevice, device},
                                              {argument::size, bytes},
                                              {argument::pptr, address}});
    return address;
  }
};

TEST_F(bounds, a_copy_that_begins_before_an_allocation_is_an_error) {
  program.copy(list, a - 16, b, 32);
  EXPECT_EQ(broken(), "EV-73");
}

TEST_F(bounds, a_copy_that_ends_where_an_allocation_begins_is_not) {
  program.copy(list, a - 16, b, 16);
  EXPECT_EQ(broken(), "");
}

TEST_F(bounds, freed_device_memory_is_not_used) {
  const uint64_t memory = allocate(device_address, 4096);
  program.free(context, memory);
  program.copy(list, memory + 100, a, 8);
  EXPECT_EQ(broken(), "EV-73");
}

TEST_F(bounds, addresses_that_the_system_may_have_given_out_again_are_a_note) {
  program.free(context, b);
  program.copy(list, b, a, 8);
  EXPECT_EQ(broken(), "");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().level, severity::note);
}

TEST_F(bounds, reserved_opened_and_imported_memory_may_lie_where_freed_memory_was) {
  const uint64_t reserved = allocate(device_address, 4096);
  const uint64_t opened = allocate(device_address + 0x10'0000, 4096);
  const uint64_t imported = allocate(device_address + 0x20'0000, 4096);
  for (const auto each : {reserved, opened, imported}) program.free(context, each);
  program.call(function::zeVirtualMemReserve,
               {{argument::hContext, context}, {argument::size, 4096}, {argument::pptr, reserved}});
  program.call(function::zexDriverImportExternalPointer,
               {{argument::ptr, imported}, {argument::size, 4096}});
  program.call(function::zeMemOpenIpcHandle,
               {{argument::hContext, context}, {argument::pptr, opened}});
  for (const auto each : {reserved, opened, imported}) program.copy(list, each, a, 4096);
  EXPECT_EQ(broken(), "");
}

TEST_F(bounds, memory_of_a_destroyed_context_has_no_end_that_is_known) {
  const handle other = program.context();
  const handle memory = program.memory(other, device, 4096);
  program.call(function::zeContextDestroy, {{argument::hContext, other}});
  program.copy(list, memory, a, 4096);
  program.copy(list, memory + 4095, a, 16, {});
  EXPECT_EQ(broken().find("EV-73"), std::string::npos);
}

TEST_F(bounds, a_free_that_failed_frees_nothing) {
  const uint64_t memory = allocate(device_address, 4096);
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT).free(context, memory);
  program.copy(list, memory, a, 4096);
  program.synchronise_list(list);
  program.free(context, memory);
  EXPECT_EQ(broken(), "");
}

TEST_F(bounds, a_second_free_is_a_finding_also_where_the_driver_refuses_it) {
  program.free(context, a);
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT).free(context, a);
  EXPECT_EQ(broken(), "EV-73");
  EXPECT_NE(findings.front().message.find("refused"), std::string::npos);
}

TEST_F(bounds, memory_is_freed_by_the_pointer_that_was_given_out) {
  program.free(context, a + 64);
  EXPECT_EQ(broken(), "EV-73");
}

TEST_F(bounds, a_kernel_launched_with_a_pointer_to_freed_memory_is_a_hazard) {
  const handle kernel = program.new_handle();
  program.call(function::zeKernelCreate, {{argument::phKernel, kernel}});
  program.call(function::zeKernelSetArgumentValue, {{argument::hKernel, kernel},
                                                    {argument::argIndex, 0},
                                                    {argument::argSize, 8},
                                                    {argument::pArgValue, a}});
  program.free(context, a);
  program.launch(list, kernel);
  EXPECT_EQ(broken(), "EV-73");
  EXPECT_EQ(findings.front().level, severity::hazard);
}

// A buffer of the host, and a descriptor that a later call has at the same place.
class buffers_of_the_host : public checked_program {
 protected:
  static constexpr uint64_t stack = 0x7ffc'0000'0000;
  handle list = program.in_order_immediate_list(context, device);

  uint64_t events = 0;

  void create_event_with_descriptor_at(uint64_t address) {
    program.call(model::function::zeEventCreate,
                 {{model::argument::hEventPool, pool},
                  {model::argument::desc, address},
                  {model::argument::index, events++},
                  {model::argument::phEvent, program.new_handle()}});
  }
};

TEST_F(buffers_of_the_host, that_hold_something_else_now_have_gone_too_early) {
  program.copy(list, a, stack, 256);
  create_event_with_descriptor_at(stack + 128);
  EXPECT_EQ(broken(), "EV-73");
  EXPECT_EQ(findings.front().level, severity::hazard);
}

TEST_F(buffers_of_the_host, may_go_once_the_copy_is_complete) {
  program.copy(list, a, stack, 256);
  program.synchronise_list(list);
  create_event_with_descriptor_at(stack + 128);
  EXPECT_EQ(broken(), "");
}

TEST_F(buffers_of_the_host, are_not_what_lies_beside_them) {
  program.copy(list, a, stack, 256);
  create_event_with_descriptor_at(stack + 256);
  create_event_with_descriptor_at(stack - 16);
  EXPECT_EQ(broken(), "");
}

}  // namespace
}  // namespace zevent::check
