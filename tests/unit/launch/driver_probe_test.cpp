#include "launch/driver_probe.hpp"

#include <gtest/gtest.h>

#include "launch/replay_driver.hpp"

namespace zevent::launch {
namespace {

TEST(driver_probe, names_the_devices_of_a_driver) {
  const auto devices = probe_device(SOFTWARE_DRIVER);
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(*devices, "zevent software device");
}

TEST(driver_probe, a_driver_that_hangs_is_given_up) {
  const auto devices = probe_device(HANGING_DRIVER, 100);
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().message, "it hangs");
  EXPECT_TRUE(probe_driver(HANGING_DRIVER)) << "loading it does not hang";
}

TEST(driver_probe, a_library_that_is_no_driver_has_no_devices) {
  EXPECT_FALSE(probe_device("libm.so.6"));
  EXPECT_FALSE(probe_device("/nowhere.so"));
}

TEST(replay_driver, is_the_one_asked_for_then_the_recorded_one_then_the_software_driver) {
  installation files;
  files.driver = "/own/libze_zevent.so.1";
  const auto library = [&](const char* asked, const char* recorded) {
    return choose_replay_driver(asked, {recorded, ""}, files).library;
  };
  EXPECT_EQ(library("/asked.so", "/recorded.so"), "/asked.so");
  EXPECT_EQ(library("software", "/recorded.so"), files.driver);
  EXPECT_EQ(library("", "/nowhere.so"), files.driver);
  EXPECT_EQ(library("", "libm.so.6"), files.driver);
  EXPECT_EQ(library("", ""), files.driver);
  EXPECT_EQ(choose_replay_driver("", {}, files).note, "");
  // The software driver of another installation, even where it is gone, is this one.
  EXPECT_EQ(library("", "/elsewhere/libze_zevent.so.1"), files.driver);
  EXPECT_EQ(choose_replay_driver("", {"/elsewhere/libze_zevent.so.1", ""}, files).note, "");
}

TEST(replay_driver, a_library_that_a_recording_from_elsewhere_brings_is_not_loaded) {
  installation files;
  files.driver = "/own/libze_zevent.so.1";
  const auto from_elsewhere = choose_replay_driver("", {HANGING_DRIVER, "another boot"}, files);
  EXPECT_EQ(from_elsewhere.library, files.driver);
  EXPECT_NE(from_elsewhere.note.find("recorded elsewhere"), std::string::npos)
      << from_elsewhere.note;
  EXPECT_NE(from_elsewhere.note.find("--driver"), std::string::npos) << from_elsewhere.note;
  // Neither is one that the working directory or a search path decides on.
  for (const char* relative : {"./driver.so", "driver.so"})
    EXPECT_EQ(choose_replay_driver("", {relative, "another boot"}, files).library, files.driver);
}

TEST(replay_driver, installed_is_what_only_root_can_write_where_systems_install) {
  EXPECT_TRUE(is_installed_by_system("/usr/bin/env"));
  EXPECT_FALSE(is_installed_by_system("/etc/passwd")) << "no place for libraries";
  EXPECT_FALSE(is_installed_by_system("/tmp"));
  EXPECT_FALSE(is_installed_by_system("/usr/lib/../../tmp"));
  EXPECT_FALSE(is_installed_by_system("/usr/nowhere.so"));
  EXPECT_FALSE(is_installed_by_system(""));
}

}  // namespace
}  // namespace zevent::launch
