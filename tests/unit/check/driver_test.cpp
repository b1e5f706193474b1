#include <algorithm>

#include "checked_program.hpp"

namespace zevent::check {
namespace {

using argument = model::argument;
using function = model::function;

// The severity of the finding about a host reset of an event that a list has signalled.
class host_reset : public testing::Test {
 protected:
  checker judge;
  model::hand_made_program<checker> program{judge};

  std::optional<severity> reset(uint64_t version, uint64_t id,
                                uint32_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                bool is_in_order = true) {
    const auto device = program.device();
    const auto context = program.context();
    if (version != 0)
      program.call(function::zeDriverGetProperties, {{argument::driver_version, version}});
    if (id != 0)
      program.call(function::zeDeviceGetProperties,
                   {{argument::hDevice, device}, {argument::device_id, id}});
    const auto list = is_in_order ? program.in_order_immediate_list(context, device)
                                  : program.immediate_list(context, device);
    const auto event = program.event(program.pool(context, 1, flags));
    program.barrier(list, {event});
    program.synchronise(event);
    program.synchronise_list(list);
    program.host_reset(event);
    for (const auto& each : judge.finish()) {
      if (each.rule == ev(77)) return each.level;
    }
    return std::nullopt;
  }
};

class host_reset_on_intels_driver : public host_reset {
 protected:
  host_reset_on_intels_driver() { judge.set_intel_driven({0}); }
};

TEST_F(host_reset, is_a_note_on_other_drivers) {
  EXPECT_EQ(reset(0, 0), severity::note);
}

constexpr uint64_t version_26_27 = 0x0100'0000 | 39122;
constexpr uint64_t version_24_22 = 0x0100'0000 | 29735;

TEST_F(host_reset_on_intels_driver, is_a_hazard_where_nothing_else_is_known) {
  EXPECT_EQ(reset(0, 0), severity::hazard);
}
TEST_F(host_reset_on_intels_driver, is_a_hazard_on_arc_b) {
  EXPECT_EQ(reset(version_26_27, 0xe20b), severity::hazard);
}
TEST_F(host_reset_on_intels_driver, is_a_note_on_other_devices) {
  EXPECT_EQ(reset(version_26_27, 0x56a0), severity::note);
}
TEST_F(host_reset_on_intels_driver, is_a_note_before_24_26) {
  EXPECT_EQ(reset(version_24_22, 0xe20b), severity::note);
}
TEST_F(host_reset_on_intels_driver, is_nothing_for_shared_pools) {
  EXPECT_EQ(reset(0, 0, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC), std::nullopt);
}
TEST_F(host_reset_on_intels_driver, is_nothing_for_lists_that_are_not_in_order) {
  EXPECT_EQ(reset(0, 0, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, false), std::nullopt);
}

class fill_of_plain_memory : public checked_program {
 protected:
  static constexpr uint64_t plain = 0x7000'0000'0000;
  handle list = program.in_order_immediate_list(context, device);

  void device_reports(uint64_t access) {
    program.call(function::zeDeviceGetMemoryAccessProperties,
                 {{argument::hDevice, device},
                  {argument::shared_access, 0},
                  {argument::shared_system_access, access}});
  }
  std::string after_fill(uint64_t address) {
    program.fill(list, address, 64);
    program.synchronise_list(list);
    return broken();
  }
};

TEST_F(fill_of_plain_memory, needs_a_device_with_access) {
  device_reports(0);
  EXPECT_EQ(after_fill(plain), "EV-78");
}
TEST_F(fill_of_plain_memory, is_legal_on_a_device_with_access) {
  device_reports(ZE_MEMORY_ACCESS_CAP_FLAG_RW);
  EXPECT_EQ(after_fill(plain), "");
}
TEST_F(fill_of_plain_memory, is_a_note_where_no_one_asked) {
  EXPECT_EQ(after_fill(plain), "");
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [](const finding& each) { return each.rule == ev(78); }));
}
TEST_F(fill_of_plain_memory, is_none_of_allocated_memory) {
  device_reports(0);
  EXPECT_EQ(after_fill(a), "");
}
TEST_F(fill_of_plain_memory, is_none_of_reserved_addresses) {
  device_reports(0);
  program.call(function::zeVirtualMemReserve, {{argument::size, 4096}, {argument::pptr, plain}});
  EXPECT_EQ(after_fill(plain + 64), "");
}

TEST_F(fill_of_plain_memory, is_none_of_a_variable_of_a_module) {
  device_reports(0);
  program.call(function::zeModuleGetGlobalPointer,
               {{argument::size, 256}, {argument::pptr, plain}});
  EXPECT_EQ(after_fill(plain + 128), "");
}

}  // namespace
}  // namespace zevent::check
