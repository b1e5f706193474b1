#include "replay/recorded_environment.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zevent::replay {
namespace {

trace::process_info process_with(std::string_view environment) {
  trace::process_info out;
  out.facts.emplace_back("environment", std::string(environment));
  return out;
}

using namespace std::string_view_literals;

TEST(recorded_environment, settings_of_a_driver_are_set_again) {
  const auto process =
      process_with("ZEVENT_FAULTS=device-lost\0ZE_AFFINITY_MASK=0.1\0ZEVENT_CHAOS=7"sv);
  const variable_list settings = {
      {"ZEVENT_CHAOS", "7"}, {"ZEVENT_FAULTS", "device-lost"}, {"ZE_AFFINITY_MASK", "0.1"}};
  EXPECT_EQ(recorded_environment(process), settings);
  EXPECT_TRUE(variables_left_out(process).empty());
}

TEST(recorded_environment, what_may_name_a_file_or_a_library_is_left_out) {
  const auto process = process_with(
      "ZEVENT_TRIAL_NOTE=/home/user/.profile\0ZE_NEW_LIBRARY=/tmp/x.so\0ZEVENT_CACHE_DIR=/tmp\0"
      "ZEVENT_KERNEL_COMPILER=/tmp/x\0ZEVENT_DEVICE_FOLDER=/tmp"sv);
  EXPECT_TRUE(recorded_environment(process).empty());
  const variable_list others = {{"ZE_NEW_LIBRARY", "/tmp/x.so"}};
  EXPECT_EQ(variables_left_out(process), others);
}

TEST(recorded_environment, how_it_was_recorded_is_no_part_of_it) {
  const auto process = process_with(
      "ZE_ENABLE_ALT_DRIVERS=a.so\0ZEVENT_RECORD=t.zev\0ZEVENT_PROFILE=1\0ZEVENT_DRIVER=b.so\0"
      "nothing"sv);
  EXPECT_TRUE(recorded_environment(process).empty());
  EXPECT_TRUE(variables_left_out(process).empty());
}

}  // namespace
}  // namespace zevent::replay
