#include "launch/way_in.hpp"

#include <gtest/gtest.h>

namespace zevent::launch {
namespace {

const elf_symbols old_loader{{}, {"zeInit", "zeEventCreate"}, {}};

TEST(way_in, program_that_the_loader_satisfies_goes_through_it) {
  const elf_symbols program{{"zeInit"}, {}, {"libze_loader.so.1", "libc.so.6"}};
  EXPECT_EQ(choose_way_in(program, old_loader).way, way_in::loader);
}

TEST(way_in, program_newer_than_the_loader_goes_directly_and_the_reason_names_the_function) {
  const elf_symbols program{{"zeInit", "zeInitDrivers"}, {}, {"libze_loader.so.1"}};
  const auto choice = choose_way_in(program, old_loader);
  EXPECT_EQ(choice.way, way_in::direct);
  EXPECT_NE(choice.reason.find("zeInitDrivers"), std::string::npos) << choice.reason;
}

TEST(way_in, script_or_program_without_the_loader_goes_directly) {
  EXPECT_EQ(choose_way_in(fail("a script"), old_loader).way, way_in::direct);
  const elf_symbols python{{}, {}, {"libc.so.6"}};
  EXPECT_EQ(choose_way_in(python, old_loader).way, way_in::direct);
}

TEST(way_in, several_drivers_are_reached_by_the_loader_unless_it_is_too_old) {
  EXPECT_EQ(choose_way_to_several(fail("a script"), old_loader).way, way_in::loader);
  const elf_symbols python{{}, {}, {"libc.so.6"}};
  EXPECT_EQ(choose_way_to_several(python, old_loader).way, way_in::loader);
  const elf_symbols newer{{"zeInitDrivers"}, {}, {"libze_loader.so.1"}};
  EXPECT_EQ(choose_way_to_several(newer, old_loader).way, way_in::direct);
  EXPECT_EQ(choose_way_to_several("/bin/true", "").way, way_in::direct);
}

TEST(way_in, every_driver_gets_a_recorder_as_far_as_there_are_copies) {
  installation files;
  files.recorder = "/x/libzevent_recorder.so.1";
  files.record_directory = "/x/zevent/record";
  EXPECT_EQ(files.recorders_for(1), "/x/libzevent_recorder.so.1");
  EXPECT_EQ(files.recorders_for(2),
            "/x/libzevent_recorder.so.1,/x/zevent/record/libzevent_recorder_2.so.1");
  EXPECT_EQ(files.recorders_for(9), files.recorders_for(4));
}

TEST(way_in, without_a_loader_everything_goes_directly) {
  EXPECT_EQ(choose_way_in("/bin/true", "").way, way_in::direct);
}

TEST(way_in, direct_way_goes_before_the_present_library_path) {
  const installation files{"/x/lib/libze_zevent.so.1", "/x/lib/zevent/direct"};
  const environment_changes expected{{"ZE_ENABLE_ALT_DRIVERS", "/x/lib/libze_zevent.so.1"},
                                     {"LD_LIBRARY_PATH", "/x/lib/zevent/direct:/opt/lib"}};
  EXPECT_EQ(environment_for(way_in::direct, files, "/opt/lib"), expected);
}

TEST(way_in, loader_way_leaves_the_library_path_alone) {
  const installation files{"/x/lib/libze_zevent.so.1", "/x/lib/zevent/direct"};
  const environment_changes expected{{"ZE_ENABLE_ALT_DRIVERS", "/x/lib/libze_zevent.so.1"}};
  EXPECT_EQ(environment_for(way_in::loader, files, "/opt/lib"), expected);
}

}  // namespace
}  // namespace zevent::launch
