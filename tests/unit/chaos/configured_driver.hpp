#pragma once

#include <cstdlib>

#include "unit/driver/driver_fixture.hpp"

namespace zevent::driver::test {

// A driver that is configured by the environment before it is first used. The driver reads it once,
// so that only one case of a process can have one; CTest runs each in a process of its own.
class configured_driver : public driver_fixture {
 protected:
  void SetUp() override {}

  void start(const char* variable, const char* value) {
    static bool used = false;
    ASSERT_FALSE(used) << "one case a process: run these tests with ctest, or name one case with "
                          "--gtest_filter";
    used = true;
    setenv(variable, value, 1);
    driver_fixture::SetUp();
    started_ = true;
  }

  void TearDown() override {
    if (started_) driver_fixture::TearDown();
  }

  // Holds a list back until it is signalled.
  ze_event_handle_t gate_on(ze_command_list_handle_t list) {
    ze_event_handle_t gate = regular_event();
    EXPECT_EQ(zeCommandListAppendWaitOnEvents(list, 1, &gate), ZE_RESULT_SUCCESS);
    return gate;
  }

 private:
  bool started_ = false;
};

}  // namespace zevent::driver::test
