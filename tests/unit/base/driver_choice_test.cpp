#include "base/driver_choice.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/temporary_folder.hpp"

namespace zevent {
namespace {

using enum driver_origin;
using libraries = std::vector<std::string>;

struct machine {
  const char* what;
  driver_facts facts;
  std::string library;
  driver_origin origin;
  libraries others = {};
};

// With everything that could be chosen; each row takes the first thing away.
driver_facts everything() {
  return {.asked = "/asked.so",
          .zevent_driver = "/named.so",
          .alternatives = "/first.so,/second.so",
          .has_render_node = true,
          .has_dxg = true,
          .has_accel = true,
          .gpu_drivers = {"/gpu.so", "/legacy.so"},
          .npu_drivers = {"/npu.so"}};
}

template <typename Change>
driver_facts everything_but(Change change) {
  auto facts = everything();
  change(facts);
  return facts;
}

driver_facts with_alternatives(const char* list) {
  return {.alternatives = list};
}

TEST(driver_choice, is_made_in_the_documented_order) {
  const machine machines[] = {
      {"--driver comes first", everything(), "/asked.so", asked},
      {"--driver software on a machine with a GPU",
       everything_but([](auto& f) { f.asked = "software"; }), "", asked},
      {"--driver with several libraries",
       everything_but([](auto& f) { f.asked = "/a.so,/b.so,/a.so"; }),
       "/a.so",
       asked,
       {"/b.so"}},
      {"then ZEVENT_DRIVER", everything_but([](auto& f) { f.asked = ""; }), "/named.so",
       environment},
      {"ZEVENT_DRIVER=software", everything_but([](auto& f) {
         f.asked = "";
         f.zevent_driver = "software";
       }),
       "", environment},
      {"then the alternative drivers",
       everything_but([](auto& f) { f.asked = f.zevent_driver = ""; }),
       "/first.so",
       environment,
       {"/second.so"}},
      {"then what is installed",
       everything_but([](auto& f) { f.asked = f.zevent_driver = f.alternatives = ""; }),
       "/gpu.so",
       installed,
       {"/legacy.so", "/npu.so"}},
      {"a render node alone",
       {.has_render_node = true, .gpu_drivers = {"/gpu.so"}},
       "/gpu.so",
       installed},
      {"WSL's device alone", {.has_dxg = true, .gpu_drivers = {"/gpu.so"}}, "/gpu.so", installed},
      {"an NPU alone",
       {.has_accel = true, .gpu_drivers = {"/gpu.so"}, .npu_drivers = {"/npu.so"}},
       "/npu.so",
       installed},
      {"drivers without a device",
       {.gpu_drivers = {"/gpu.so"}, .npu_drivers = {"/npu.so"}},
       "",
       software},
      {"devices without a driver",
       {.has_render_node = true, .has_dxg = true, .has_accel = true},
       "",
       software},
      {"nothing at all", {}, "", software},
  };
  for (const auto& each : machines) {
    const auto chosen = choose_driver(each.facts);
    EXPECT_EQ(chosen.library, each.library) << each.what;
    EXPECT_EQ(chosen.origin, each.origin) << each.what;
    EXPECT_EQ(chosen.others, each.others) << each.what;
  }
}

TEST(driver_choice, the_recorder_is_no_driver_to_record) {
  const auto of = [](const char* list) { return choose_driver(with_alternatives(list)); };
  EXPECT_EQ(of("/lib/libzevent_recorder.so.1").origin, software);
  EXPECT_EQ(of("libzevent_recorder.so.1,").origin, software);
  EXPECT_EQ(of(",,").origin, software);
  EXPECT_EQ(of("/lib/libzevent_recorder.so.1,/own.so").library, "/own.so");
  EXPECT_EQ(of("/own.so,/lib/libzevent_recorder.so.1").others, libraries{});
  EXPECT_EQ(of(",/own.so,,/own.so").others, libraries{});
}

TEST(driver_choice, tells_what_is_left_out_and_how_to_choose) {
  const auto of = [](const char* list, size_t recorded) {
    return describe_left_out(choose_driver(with_alternatives(list)), recorded, "choose");
  };
  EXPECT_EQ(of("/a.so", 1), "");
  EXPECT_EQ(of("/a.so,/b.so,/c.so", 1), "recording /a.so; left out: /b.so, /c.so (choose)");
  EXPECT_EQ(of("/a.so,/b.so,/c.so", 2), "recording /a.so, /b.so; left out: /c.so (choose)");
  EXPECT_EQ(of("/a.so,/b.so,/c.so", 3), "");
}

TEST(driver_choice, knows_the_recorder_and_its_copies_by_their_names) {
  EXPECT_EQ(recorder_number("/lib/libzevent_recorder.so.1"), 0u);
  for (size_t number = 0; number < max_recorders; ++number)
    EXPECT_EQ(recorder_number("libzevent_recorder" + recorder_suffix(number) + ".so.1"), number);
  EXPECT_EQ(recorder_suffix(1), "_2");
  EXPECT_EQ(recorder_number("/lib/libzevent_recorder_9.so.1"), std::nullopt);
  EXPECT_EQ(recorder_number("/libzevent_recorder.so.1/libze_intel_gpu.so.1"), std::nullopt);
  EXPECT_EQ(count_recorders("libzevent_recorder.so.1,/a.so,/lib/libzevent_recorder_2.so.1"), 2u);
  EXPECT_EQ(choose_driver(with_alternatives("/lib/libzevent_recorder_2.so.1,/a.so")).library,
            "/a.so");
}

TEST(driver_choice, knows_the_software_driver_by_its_name) {
  EXPECT_TRUE(is_software_driver("/usr/lib/libze_zevent.so.1"));
  EXPECT_TRUE(is_software_driver("libze_zevent.so.1"));
  EXPECT_FALSE(is_software_driver("/libze_zevent.so.1/libze_intel_gpu.so.1"));
  EXPECT_FALSE(is_software_driver(""));
}

libraries searched;

std::string find_any(const std::string& soname) {
  searched.push_back(soname);
  return "/found/" + soname;
}

class DriverFacts : public testing::Test {
 protected:
  void SetUp() override {
    searched.clear();
    unsetenv("ZEVENT_DRIVER");
    unsetenv("ZE_ENABLE_ALT_DRIVERS");
  }
  void TearDown() override { SetUp(); }

  void add_device(const std::string& name) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path).put('\n');
  }
  driver_facts read(bool trusts_environment = true) {
    return read_driver_facts(folder_.path().string(), &find_any, trusts_environment);
  }

  temporary_folder folder_;
};

TEST_F(DriverFacts, WithoutADeviceNoLibraryIsLoaded) {
  add_device("dri/card0");
  add_device("null");
  EXPECT_EQ(choose_driver(read()).origin, software);
  EXPECT_EQ(searched, libraries{});
}

TEST_F(DriverFacts, AnyRenderNodeIsAGpu) {
  add_device("dri/renderD129");
  const auto chosen = choose_driver(read());
  EXPECT_EQ(chosen.library, "/found/libze_intel_gpu.so.1");
  EXPECT_EQ(chosen.others, libraries{"/found/libze_intel_gpu_legacy1.so.1"});
}

TEST_F(DriverFacts, TheDeviceOfWslIsAGpu) {
  add_device("dxg");
  EXPECT_EQ(choose_driver(read()).library, "/found/libze_intel_gpu.so.1");
}

TEST_F(DriverFacts, AnAcceleratorIsAnNpuWithOneDriverUnderTwoNames) {
  add_device("accel/accel0");
  const auto chosen = choose_driver(read());
  EXPECT_EQ(chosen.library, "/found/libze_intel_npu.so.1");
  EXPECT_EQ(chosen.others, libraries{});
}

TEST_F(DriverFacts, NoLibraryIsLoadedWhereTheEnvironmentDecides) {
  add_device("dri/renderD128");
  setenv("ZE_ENABLE_ALT_DRIVERS", "/other.so", 1);
  EXPECT_EQ(choose_driver(read()).library, "/other.so");
  setenv("ZEVENT_DRIVER", "software", 1);
  EXPECT_EQ(choose_driver(read()).library, "");
  EXPECT_EQ(searched, libraries{});
}

TEST_F(DriverFacts, TheEnvironmentIsNotReadForAnotherUsersProgram) {
  setenv("ZEVENT_DRIVER", "/evil.so", 1);
  setenv("ZE_ENABLE_ALT_DRIVERS", "/evil.so", 1);
  EXPECT_EQ(choose_driver(read(false)).origin, software);
}

}  // namespace
}  // namespace zevent
