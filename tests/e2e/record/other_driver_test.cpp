// The recorder in front of a driver that is not zevent's.

#include "other_driver.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <level_zero/ze_ddi.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "api/zex_api.h"
#include "recorded_child.hpp"

namespace zevent::recorder_test {
namespace {

class OtherDriver : public RecordedChild {
 protected:
  void SetUp() override {
    RecordedChild::SetUp();
    setenv("ZEVENT_DRIVER", OTHER_DRIVER, 1);
  }
  void TearDown() override {
    unsetenv("ZEVENT_DRIVER");
    RecordedChild::TearDown();
  }

  // The last call of the only thread of the only part: under way, and about that event.
  void expect_last_call_under_way(misdeed deed) {
    const auto part = only_part();
    const auto& calls = part.calls.at(1);
    ASSERT_FALSE(calls.empty());
    EXPECT_EQ(function_name(calls.back().function), "zeEventQueryStatus");
    EXPECT_EQ(input_at<ze_event_handle_t>(calls.back(), 0), event_for(deed));
    EXPECT_FALSE(calls.back().end.has_value());
    for (size_t i = 0; i + 1 < calls.size(); ++i) EXPECT_TRUE(calls[i].end.has_value());
    EXPECT_EQ(part.header.lost_calls, 0u);
  }
};

TEST_F(OtherDriver, ACrashInsideTheDriverIsTheLastCall) {
  const int status = run([] {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer has its own
    zeInit(0);
    zeEventQueryStatus(event_for(misdeed::crash));
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  expect_last_call_under_way(misdeed::crash);
}

TEST_F(OtherDriver, AnAbortInsideTheDriverIsTheLastCall) {
  const int status = run([] {
    zeInit(0);
    zeEventQueryStatus(event_for(misdeed::abort));
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  expect_last_call_under_way(misdeed::abort);
}

TEST_F(OtherDriver, AnExitInsideTheDriverIsTheLastCall) {
  const int status = run([] {
    zeInit(0);
    zeEventQueryStatus(event_for(misdeed::exit));
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
  expect_last_call_under_way(misdeed::exit);
}

TEST_F(OtherDriver, ACallThatHangsIsThereWhileItHangs) {
  const pid_t child = start([] {
    zeInit(0);
    zeEventQueryStatus(event_for(misdeed::hang));
  });
  const auto hangs = [&] {
    for (const auto& part : parts())
      for (const auto& [thread, calls] : part.calls)
        for (const auto& call : calls)
          if (!call.end && function_name(call.function) == "zeEventQueryStatus") return true;
    return false;
  };
  // The test's own time limit ends this where it fails.
  while (!hangs()) usleep(1000);
  kill(child, SIGKILL);
  wait_for(child);
  expect_last_call_under_way(misdeed::hang);
}

TEST_F(OtherDriver, CallsMadeInsideACallAreThereAndBothReturn) {
  EXPECT_EQ(run([] {
              zeInit(0);
              void* library = dlopen(OTHER_DRIVER, RTLD_NOW | RTLD_NOLOAD);
              auto* callback =
                  static_cast<ze_result_t (**)()>(dlsym(library, "callback_of_driver"));
              *callback = [] {
                for (int i = 0; i < 20'000; ++i) zeEventQueryStatus(nullptr);
                return ZE_RESULT_SUCCESS;
              };
              zeEventQueryStatus(event_for(misdeed::call_back));
            }),
            0);
  const auto part = only_part();
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), 20'002u);
  EXPECT_EQ(input_at<ze_event_handle_t>(calls[1], 0), event_for(misdeed::call_back));
  EXPECT_EQ(calls[1].result, 0u);
  for (const auto& call : calls) ASSERT_TRUE(call.end.has_value());
  EXPECT_GE(*calls[1].end, *calls.back().end);
}

TEST_F(OtherDriver, LivesOfARecycledHandleAreToldApartByTime) {
  EXPECT_EQ(run([] {
              zeInit(0);
              for (int i = 0; i < 3; ++i) {
                ze_event_handle_t event = nullptr;
                const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
                zeEventCreate(nullptr, &desc, &event);
                zeEventDestroy(event);
              }
            }),
            0);
  const auto part = only_part();
  uint64_t previous_end = 0;
  int lives = 0;
  for (const auto& call : part.calls.at(1)) {
    if (function_name(call.function) == "zeEventCreate") {
      ASSERT_TRUE(call.outputs.has_value());
      EXPECT_GT(*call.end, previous_end);
      ++lives;
    }
    if (function_name(call.function) == "zeEventDestroy") previous_end = call.start;
  }
  EXPECT_EQ(lives, 3);
}

TEST_F(OtherDriver, TheStartOfTheRecorderIsNotTheFirstCallsTime) {
  EXPECT_EQ(run([] { zeInit(0); }), 0);
  const auto part = only_part();
  const auto& first = part.calls.at(1).front();
  EXPECT_EQ(function_name(first.function), "zeInit");
  EXPECT_GT(first.start, part.header.open_ticks);
  EXPECT_GT(first.start, part.calibrations.at(0).ticks);
}

TEST_F(OtherDriver, FunctionsThatItLacksAreUnsupported) {
  EXPECT_EQ(run([] {
              zeInit(0);
              if (zeEventHostSignal(nullptr) != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) std::_Exit(1);
            }),
            0);
}

TEST_F(OtherDriver, AnUnknownFunctionByNameIsPassedThroughAndCounted) {
  EXPECT_EQ(run([] {
              zeInit(0);
              void* address = nullptr;
              zeDriverGetExtensionFunctionAddress(nullptr, "zeFutureFunction", &address);
              auto* function = reinterpret_cast<future_signature*>(address);
              for (int i = 0; i < 3; ++i)
                if (function(1, 2, 3, 4, 5, 6, 7, 0.5) != 144) std::_Exit(1);
            }),
            0);
  EXPECT_EQ(only_part().counters.at("passed through zeFutureFunction"), 3u);
}

TEST_F(OtherDriver, AForkedChildCountsWhatItsParentGot) {
  EXPECT_EQ(run([] {
              zeInit(0);
              void* address = nullptr;
              zeDriverGetExtensionFunctionAddress(nullptr, "zeFutureFunction", &address);
              auto* function = reinterpret_cast<future_signature*>(address);
              function(1, 2, 3, 4, 5, 6, 7, 0.5);
              const pid_t child = fork();
              if (child == 0) {
                zeEventQueryStatus(nullptr);
                function(1, 2, 3, 4, 5, 6, 7, 0.5);
                function(1, 2, 3, 4, 5, 6, 7, 0.5);
                std::_Exit(0);
              }
              int status = 1;
              waitpid(child, &status, 0);
              if (status != 0) std::_Exit(1);
            }),
            0);
  std::multiset<uint64_t> counted;
  for (const auto& part : parts())
    counted.insert(part.counters.at("passed through zeFutureFunction"));
  EXPECT_EQ(counted, (std::multiset<uint64_t>{1, 2}));
}

TEST_F(OtherDriver, AKnownFunctionByNameIsRecorded) {
  EXPECT_EQ(
      run([] {
        zeInit(0);
        void* address = nullptr;
        zeDriverGetExtensionFunctionAddress(
            nullptr, "zexDeviceGetAggregatedCopyOffloadIncrementValue", &address);
        auto* function =
            reinterpret_cast<decltype(zexDeviceGetAggregatedCopyOffloadIncrementValue)*>(address);
        uint32_t value = 0;
        function(nullptr, &value);
        if (value != 77) std::_Exit(1);
      }),
      0);
  const auto part = only_part();
  const auto& last = part.calls.at(1).back();
  EXPECT_EQ(function_name(last.function), "zexDeviceGetAggregatedCopyOffloadIncrementValue");
  EXPECT_TRUE(last.outputs.has_value());
}

// A loader's table of an old version ends early: nothing is written behind it.
TEST_F(OtherDriver, TablesAreFilledAsFarAsTheVersionGoes) {
  EXPECT_EQ(run([] {
              ze_event_dditable_t table;
              std::memset(&table, 0x55, sizeof(table));
              void* const untouched = reinterpret_cast<void*>(0x5555555555555555);
              if (zeGetEventProcAddrTable(ZE_API_VERSION_1_0, &table) != ZE_RESULT_SUCCESS)
                std::_Exit(1);
              // The hooks, where the driver has a function; as it was, where it has none.
              if (table.pfnCreate != zeEventCreate) std::_Exit(2);
              if (reinterpret_cast<void*>(table.pfnHostSignal) != untouched) std::_Exit(3);
              void* const* slots = reinterpret_cast<void* const*>(&table);
              if (slots[sizeof(table) / sizeof(void*) - 1] != untouched) std::_Exit(4);
              table.pfnQueryStatus(nullptr);
            }),
            0);
  const auto part = only_part();
  EXPECT_EQ(part.facts.at("way in"), "loader");
  EXPECT_EQ(part.call_count(), 1u);
}

TEST_F(OtherDriver, SlotsOfANewerVersionArePassedThroughAndCounted) {
  EXPECT_EQ(run([] {
              void* slots[128] = {};
              const auto newer = static_cast<ze_api_version_t>(ZE_API_VERSION_CURRENT + 1);
              if (zeGetDriverProcAddrTable(newer, reinterpret_cast<ze_driver_dditable_t*>(slots)) !=
                  ZE_RESULT_SUCCESS)
                std::_Exit(1);
              constexpr size_t unknown = sizeof(ze_driver_dditable_t) / sizeof(void*);
              auto* function = reinterpret_cast<future_signature*>(slots[unknown]);
              if (function == nullptr || function(1, 2, 3, 4, 5, 6, 7, 0.5) != 144) std::_Exit(2);
            }),
            0);
  uint64_t calls = 0;
  for (const auto& [name, value] : only_part().counters) calls += value;
  EXPECT_EQ(calls, 1u);
}

TEST_F(OtherDriver, AVersionThatItDoesNotKnowIsItsToRefuse) {
  EXPECT_EQ(
      run([] {
        void* slots[128] = {};
        const auto future = static_cast<ze_api_version_t>(ZE_API_VERSION_CURRENT + 2);
        if (zeGetDriverProcAddrTable(future, reinterpret_cast<ze_driver_dditable_t*>(slots)) !=
            ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
          std::_Exit(1);
      }),
      0);
}

// What the set-uid copy of this program does.
TEST(DISABLED_WithAnothersRights, CallsLevelZero) {
  zeInit(0);
}

TEST_F(OtherDriver, AProgramWithAnothersRightsIsNotRecorded) {
  constexpr uid_t somebody = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a program somebody else's";
  const std::string program = folder() + "/program";
  std::filesystem::copy_file("/proc/self/exe", program);
  ASSERT_EQ(chown(program.c_str(), somebody, somebody), 0);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  ASSERT_EQ(chmod(folder().c_str(), 0777), 0);
  const int status = run([&] {
    const int said = open((folder() + "/said").c_str(), O_RDWR | O_CREAT, 0600);
    dup2(said, STDERR_FILENO);
    dup2(said, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_filter=DISABLED_WithAnothersRights.*", nullptr);
  });
  std::ifstream file(folder() + "/said");
  const std::string said((std::istreambuf_iterator<char>(file)), {});
  struct statvfs where {};
  statvfs(program.c_str(), &where);
  if ((where.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "set-uid means nothing in this folder";
  if (said.find("[ RUN") == std::string::npos) GTEST_SKIP() << "it cannot start: " << said;
  EXPECT_EQ(status, 0) << said;
  EXPECT_NE(said.find("another user's rights is not recorded"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(output() + recording::parts_suffix));
}

TEST_F(OtherDriver, ALibraryThatIsNoneLeavesTheProgramWithoutADriver) {
  EXPECT_EQ(run([] {
              setenv("ZEVENT_DRIVER", "/nowhere/libze_none.so", 1);
              dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
              if (zeInit(0) != ZE_RESULT_ERROR_UNINITIALIZED) std::_Exit(1);
            }),
            0);
}

TEST_F(OtherDriver, TheRecorderDoesNotRecordItself) {
  EXPECT_EQ(run([] {
              Dl_info own{};
              dladdr(reinterpret_cast<void*>(&zeInit), &own);
              setenv("ZEVENT_DRIVER", own.dli_fname, 1);
              dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
              if (zeInit(0) != ZE_RESULT_ERROR_UNINITIALIZED) std::_Exit(1);
            }),
            0);
}

}  // namespace
}  // namespace zevent::recorder_test
