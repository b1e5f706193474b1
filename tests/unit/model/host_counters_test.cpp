#include "model/host_counters.hpp"

#include <gtest/gtest.h>

#include "hand_made_program.hpp"

namespace zevent::model {
namespace {

class host_counters_test : public testing::Test {
 protected:
  uint64_t external_counter(uint64_t value) {
    const uint64_t made = program.new_handle();
    program.call(function::zeEventCounterBasedCreate,
                 {{argument::hContext, context},
                  {argument::hDevice, device},
                  {argument::desc, 1},
                  {argument::flags, ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE},
                  {argument::external_device_address, storage},
                  {argument::external_value, value},
                  {argument::phEvent, made}});
    return made;
  }
  std::vector<host_counter_write> found() {
    program.finish();
    return search.take();
  }

  host_counters search;
  hand_made_program<host_counters> program{search};
  uint64_t device = program.device();
  uint64_t context = program.context();
  uint64_t storage = program.memory(context, device, 64, function::zeMemAllocHost);
  uint64_t memory = program.memory(context, device, 4096);
  uint64_t list = program.in_order_immediate_list(context, device);
};

TEST_F(host_counters_test, the_host_wrote_before_it_saw_that_a_waiting_command_was_done) {
  const auto go = external_counter(3);
  program.fill(list, memory, 4096, {.waits = {go}});
  const auto waited = program.synchronise_list(list);
  const auto writes = found();
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].before, waited);
  EXPECT_EQ(writes[0].address, storage);
  EXPECT_EQ(writes[0].value, 3u);
}

TEST_F(host_counters_test, and_before_it_found_the_event_complete) {
  const auto go = external_counter(7);
  const auto waited = program.synchronise(go);
  const auto writes = found();
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].before, waited);
}

TEST_F(host_counters_test, a_command_that_nobody_waited_for_shows_nothing) {
  program.fill(list, memory, 4096, {.waits = {external_counter(3)}});
  EXPECT_TRUE(found().empty());
}

TEST_F(host_counters_test, what_a_command_signals_the_host_did_not_write) {
  const auto done = external_counter(3);
  program.fill(list, memory, 4096, {.signal = done});
  program.synchronise(done);
  EXPECT_TRUE(found().empty());
}

TEST_F(host_counters_test, storage_that_a_command_writes_may_be_its_work) {
  const auto go = external_counter(3);
  program.fill(list, memory, 4096, {.waits = {go}});
  program.fill(program.immediate_list(context, device), storage, 8);
  program.synchronise_list(list);
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace zevent::model
