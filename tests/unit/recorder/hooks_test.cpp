#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "api/call_encoder.hpp"
#include "api/model.hpp"
#include "api/result_code.hpp"
#include "base/temporary_folder.hpp"
#include "invocations.hpp"
#include "part_reader.hpp"
#include "random_arguments.hpp"
#include "recorder/next_driver.hpp"
#include "sanitizers.hpp"

namespace zevent::recorder_test {
namespace {

using bytes = std::vector<std::byte>;

// What the model's own encoder says of the call that the driver saw.
struct expected_call {
  uint16_t function = 0;
  uint32_t result = 0;
  bytes inputs;
  std::optional<bytes> outputs;
};

struct {
  random_arguments* arguments = nullptr;
  std::vector<expected_call>* expected = nullptr;
  uint32_t result = 0;
} present;

constexpr int rounds = 20;

// What the recorder knows of sizes that a call does not tell: kernels that it has not seen created
// have none.
class known_sizes : public api::capture_policy {
 public:
  bool external_runs(const api::variable& variable, const void* address, size_t,
                     std::vector<std::span<const std::byte>>& runs) override {
    if (variable.name != "pConstantValues") return false;
    runs.emplace_back(static_cast<const std::byte*>(address), 8);
    return true;
  }
};

}  // namespace

uint64_t driver_was_called(uint16_t index, const void* const* arguments) {
  const auto& model = api::builtin_model();
  const auto& function = model.functions[index];
  const bool is_result = model.types[function.result_type].name == "ze_result_t";
  const uint64_t returned = is_result ? present.result : 0x1122334455667788u;
  const std::span<const void* const> all(arguments, function.parameters.size());
  known_sizes policy;
  api::call_encoder encoder(model, &policy);
  expected_call expected{index, is_result ? present.result : 0, {}, {}};
  byte_writer inputs;
  encoder.inputs(function, all, inputs);
  expected.inputs = inputs.take();
  present.arguments->scribble(function, arguments);
  byte_writer outputs;
  encoder.outputs(function, all, is_result ? nullptr : &returned, outputs);
  if (api::has_outputs(expected.result) && !outputs.view().empty())
    expected.outputs = outputs.take();
  present.expected->push_back(std::move(expected));
  return returned;
}

namespace {

TEST(Hooks, EveryFunctionIsRecordedAsTheModelsEncoderWritesIt) {
  const temporary_folder folder("zevent-hooks");
  setenv("ZEVENT_RECORD", (folder / "out.zev").c_str(), 1);
  setenv("ZEVENT_RECORD_MEMORY", "off", 1);

  const auto& model = api::builtin_model();
  for (size_t i = 0; i < model.functions.size(); ++i)
    recorder::next_addresses[i].store(invocations[i].fake_driver);

  random_arguments arguments(1);
  std::vector<expected_call> expected;
  present = {&arguments, &expected, 0};
  for (int round = 0; round < rounds; ++round)
    for (uint16_t i = 0; i < model.functions.size(); ++i) {
      present.result = round % 4 == 3 ? 0x78000004u : 0;
      const auto values = arguments.make(model.functions[i]);
      // Its output is replaced by a hook; that has a test of its own.
      if (model.functions[i].name == "zeDriverGetExtensionFunctionAddress") present.result = 1;
      invocations[i].hook(values.data());
    }

  const auto paths = part_paths((folder / "out.zev").string() + recording::parts_suffix);
  ASSERT_EQ(paths.size(), 1u);
  const auto part = read_part_file(paths.front());
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.header.lost_calls, 0u);
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), expected.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto& name = model.functions[expected[i].function].name;
    ASSERT_EQ(calls[i].function, expected[i].function);
    EXPECT_EQ(calls[i].inputs, expected[i].inputs) << name;
    EXPECT_EQ(calls[i].outputs, expected[i].outputs) << name;
    EXPECT_EQ(calls[i].result, expected[i].result) << name;
    EXPECT_TRUE(calls[i].end.has_value()) << name;
  }
}

ze_result_t append_nothing(ze_command_list_handle_t, ze_event_handle_t, uint32_t,
                           ze_event_handle_t*) {
  return ZE_RESULT_SUCCESS;
}

uint64_t address_space_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Hooks, WhereThereIsNoMemoryForACallsArgumentsTheCallIsMade) {
  if (!may_run_out_of_memory) GTEST_SKIP() << "the sanitizer would end the program";
  const temporary_folder folder("zevent-hooks");
  const pid_t child = fork();
  if (child == 0) {
    setenv("ZEVENT_RECORD", (folder / "out.zev").c_str(), 1);
    setenv("ZEVENT_RECORD_MEMORY", "off", 1);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    const auto& model = api::builtin_model();
    const auto index = model.index_of(*model.find_function("zeCommandListAppendBarrier"));
    recorder::next_addresses[index].store(reinterpret_cast<void*>(&append_nothing));
    ze_command_list_handle_t list = nullptr;
    ze_event_handle_t signal = nullptr;
    std::vector<ze_event_handle_t> events(4'000'000);
    ze_event_handle_t* waits = events.data();
    uint32_t count = 2;
    void* const values[] = {&list, &signal, &count, &waits};
    invocations[index].hook(values);
    const rlimit limit{address_space_bytes() + (16u << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    count = static_cast<uint32_t>(events.size());
    invocations[index].hook(values);
    _exit(42);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42) << "signal " << WTERMSIG(status);
  const auto paths = part_paths((folder / "out.zev").string() + recording::parts_suffix);
  ASSERT_EQ(paths.size(), 1u);
  const auto part = read_part_file(paths.front());
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.call_count(), 1u);
  EXPECT_EQ(part.header.lost_calls, 1u);
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(ENOMEM));
}

}  // namespace
}  // namespace zevent::recorder_test
