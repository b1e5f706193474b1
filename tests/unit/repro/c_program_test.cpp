#include "repro/c_program.hpp"

#include <level_zero/zes_api.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/temporary_folder.hpp"
#include "replay/program.hpp"
#include "story.hpp"

namespace zevent::repro {
namespace {

using trace::fake_handle;
using trace::packed;

// Whether compilers take the files without a word, and a linker all of them together.
void expect_compiles(const c_program& program) {
  const temporary_folder kept("zevent-c");
  ASSERT_FALSE(kept.path().empty());
  const std::string folder = kept.path().string();
  std::string files;
  for (const auto& each : program.sources) {
    std::ofstream(folder + "/" + each.name) << each.text;
    if (each.name.ends_with(".c")) files += fmt::format(" {}/{}", folder, each.name);
  }
  for (const std::string compiler : {"gcc", "clang-14", "clang-19"}) {
    if (std::system(fmt::format("command -v {} >/dev/null", compiler).c_str()) != 0) continue;
    const std::string command = fmt::format(
        "{} -std=c99 -Wall -Wextra -Wshadow -pedantic -Werror -isystem '{}' -o {}/repro{} '{}' "
        "-pthread -ldl",
        compiler, LEVEL_ZERO_INCLUDE, folder, files, LOADER_TO_LINK);
    EXPECT_EQ(std::system(command.c_str()), 0) << program.sources.back().text;
  }
}

class CProgram : public trace::story {
 protected:
  c_program write(std::string_view symptom = "zeInit>1s", program_options options = {}) {
    options.symptom = *model::parse_symptom(symptom);
    auto written = write_program(packed({&app}), options);
    EXPECT_TRUE(written) << written.error().message;
    // Whatever is written as one file can be written as several, too.
    options.lines_per_function = std::min<uint64_t>(options.lines_per_function, 8);
    options.lines_per_file = std::min<uint64_t>(options.lines_per_file, 1);
    const auto split = write_program(packed({&app}), options);
    EXPECT_TRUE(split) << split.error().message;
    if (split) expect_compiles(*split);
    return written ? std::move(*written) : c_program{};
  }
  static std::string text_of(const c_program& program) {
    std::string all;
    for (const auto& each : program.sources) all += each.text;
    return all;
  }
  static bool has(const c_program& program, std::string_view part) {
    return text_of(program).find(part) != std::string::npos;
  }
};

#define EXPECT_HAS(program, part) EXPECT_TRUE(has(program, part)) << text_of(program)
#define EXPECT_HAS_NOT(program, part) EXPECT_FALSE(has(program, part)) << text_of(program)

TEST_F(CProgram, HasEveryFieldOfDescriptorsAndTheirChain) {
  const ze_event_pool_counter_based_exp_desc_t next{
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr, 3};
  pool(0x9000, 7, &next);
  const auto written = write();
  EXPECT_HAS(written, "ze_event_pool_counter_based_exp_desc_t");
  EXPECT_HAS(written, ".stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC");
  EXPECT_HAS(written,
             ".flags = ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE |\n"
             "            ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE,\n");
  EXPECT_HAS(written, ".stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC");
  EXPECT_HAS(written, ".flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE");
  EXPECT_HAS(written, ".count = 7");
  expect_compiles(written);
}

TEST_F(CProgram, NumbersTheLinksOfALongChain) {
  ze_event_pool_counter_based_exp_desc_t chain[3]{};
  for (size_t i = 0; i < 3; ++i)
    chain[i] = {ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
                i + 1 < 3 ? &chain[i + 1] : nullptr, 1};
  pool(0x9000, 7, chain);
  const auto written = write();
  EXPECT_HAS(written, ".pNext = &desc_next,");
  EXPECT_HAS(written, ".pNext = &desc_next_2,");
  EXPECT_HAS(written, ".pNext = &desc_next_3,");
  expect_compiles(written);
}

TEST_F(CProgram, IndentsAStructureInAStructure) {
  const auto owner = context();
  ze_device_handle_t const device = nullptr;
  ze_image_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  desc.type = ZE_IMAGE_TYPE_2D;
  desc.width = desc.height = 16;
  const auto* desc_pointer = &desc;
  ze_image_handle_t made = nullptr;
  auto* out = &made;
  app.call(
      "zeImageCreate", when(), ZE_RESULT_SUCCESS,
      [&] { made = fake_handle<ze_image_handle_t>(0x1a6e); }, owner, device, desc_pointer, out);
  const auto written = write();
  EXPECT_HAS(written,
             "        .format = {\n"
             "            .layout = ZE_IMAGE_FORMAT_LAYOUT_8,\n");
  EXPECT_HAS(written,
             "            .w = ZE_IMAGE_FORMAT_SWIZZLE_R,\n"
             "        },\n"
             "        .width = 16,\n");
  expect_compiles(written);
}

TEST_F(CProgram, HasFloatingPointNumbersToTheirLastBit) {
  const zes_freq_handle_t domain = nullptr;
  for (const auto& [least, most] : {std::pair{1.0, 0.1}, std::pair{-1.0, HUGE_VAL}}) {
    const zes_freq_range_t range{least, most};
    const auto* limits = &range;
    app.call(
        "zesFrequencySetRange", when(), ZE_RESULT_ERROR_INVALID_NULL_HANDLE, [] {}, domain, limits);
  }
  const auto written = write();
  EXPECT_HAS(written, ".min = 1.0,");
  EXPECT_HAS(written, ".max = 0.10000000000000001");
  EXPECT_HAS(written, ".min = -1.0,");
  EXPECT_HAS(written, ".max = strtod(\"inf\", NULL)");
  expect_compiles(written);
}

TEST_F(CProgram, HasSmallFloatingPointNumbersToo) {
  const ze_rtas_builder_exp_handle_t builder = nullptr;
  const ze_rtas_builder_build_op_exp_desc_t* description = nullptr;
  void *scratch = nullptr, *buffer = nullptr, *data = nullptr;
  const size_t bytes = 0;
  const ze_rtas_parallel_operation_exp_handle_t operation = nullptr;
  ze_rtas_aabb_exp_t bounds{{1, 2, 0.5f}, {NAN, 3e30f, 0}};
  auto* in_and_out = &bounds;
  size_t* taken = nullptr;
  app.call(
      "zeRTASBuilderBuildExp", when(), ZE_RESULT_ERROR_INVALID_NULL_HANDLE, [] {}, builder,
      description, scratch, bytes, buffer, bytes, operation, data, in_and_out, taken);
  const auto written = write();
  EXPECT_HAS(written, ".x = 1.0f, .y = 2.0f, .z = 0.5f");
  EXPECT_HAS(written, ".x = strtof(\"nan\", NULL), .y = 2.99999989e+30f, .z = 0.0f");
  expect_compiles(written);
}

TEST_F(CProgram, NamesObjectsByWhatTheyAre) {
  const auto where = list();
  const auto done = event(pool(0x9000, 1), 0xe000);
  memory(0x7f0000001000, 64);
  copy(where, 0x7f0000001010, 0x7f0000001000, 8, done);
  const auto written = write();
  EXPECT_HAS(written, "list_imm_0");
  EXPECT_HAS(written, "event_memcopy");
  EXPECT_HAS(written, "at(host_mem_0, 16)");
  expect_compiles(written);
}

TEST_F(CProgram, KeepsAQueryAQueryAndExpectsItsResult) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  app.call(
      "zeEventQueryStatus", when(), ZE_RESULT_NOT_READY, [] {}, one);
  app.call("zeEventQueryStatus", when(1'500'000), one);
  const auto written = write();
  EXPECT_HAS(written,
             "EXPECT(ZE_RESULT_NOT_READY, zeEventQueryStatus(event_0)); /* call 4, 10 ns */");
  EXPECT_HAS(written, "POLL(zeEventQueryStatus(event_0)); /* call 5, 1.5 ms */");
  EXPECT_HAS_NOT(written, "zeEventHostSynchronize");
}

TEST_F(CProgram, HasALoopForAPoll) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  for (int i = 0; i < 500; ++i)
    app.call(
        "zeEventQueryStatus", when(), ZE_RESULT_NOT_READY, [] {}, one);
  app.call("zeEventQueryStatus", when(), one);
  const auto written = write();
  EXPECT_HAS(written, "POLL(zeEventQueryStatus(event_0)); /* call 4, 10 ns; asked 501 times */");
  EXPECT_HAS_NOT(written, "EXPECT(ZE_RESULT_NOT_READY, zeEventQueryStatus");
  EXPECT_EQ(written.calls, 505u);
  EXPECT_EQ(written.statements, 5u);
  expect_compiles(written);
  const auto exact = write("zeInit>1s", {.polls = replay::poll_mode::exact});
  EXPECT_HAS(exact, "for (long i = 0; i < 500; ++i)");
  EXPECT_HAS(exact, "CHECK(zeEventQueryStatus(event_0));");
  EXPECT_HAS_NOT(exact, "POLL");
}

TEST_F(CProgram, LetsTheOtherThreadGoWhileItPolls) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  const auto ask = [&](ze_result_t answer) {
    app.call(
        "zeEventQueryStatus", when(), answer, [] {}, one);
  };
  ask(ZE_RESULT_NOT_READY);
  app.on_thread(2, "other");
  app.call("zeEventHostSignal", when(), one);
  app.on_thread(1);
  ask(ZE_RESULT_NOT_READY);
  ask(ZE_RESULT_SUCCESS);
  app.on_thread(2);
  app.call("zeEventDestroy", when(), one);
  const auto written = write();
  EXPECT_HAS(written,
             "    pass_turn(1);\n    POLL(zeEventQueryStatus(event_host));\n    finished(0);\n");
  EXPECT_HAS(written, "  wait_for_call(0);\n  CHECK(zeEventDestroy(event_host));");
  expect_compiles(written);
}

TEST_F(CProgram, TimesTheCallsThatShowTheSymptomAndWatchesTheOthers) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  app.call("zeEventQueryStatus", when(), one);
  app.call("zeEventQueryStatus", when(1'500'000), one);
  const auto written = write("zeEventQueryStatus>1ms");
  EXPECT_HAS(written, "POLL_WATCHED(ZE_RESULT_SUCCESS, zeEventQueryStatus(event_0));");
  EXPECT_HAS(written, "POLL_TIMED(0, ZE_RESULT_SUCCESS, zeEventQueryStatus(event_0));");
  ASSERT_EQ(written.symptom_calls.size(), 1u);
  EXPECT_EQ(written.symptom_calls[0].number, 5u);
  expect_compiles(written);
}

TEST_F(CProgram, PassesAWildHandleWhereTheProgramEndedInTheCall) {
  const auto stranger = fake_handle<ze_event_handle_t>(0xbad);
  app.hang("zeEventQueryStatus", 1000, stranger);
  const auto written = write("crash");
  EXPECT_HAS(written, "HANGS(0, zeEventQueryStatus((ze_event_handle_t)0xbad));");
  EXPECT_HAS(written, "SIGSEGV, SIGSYS, SIGTRAP};");
  expect_compiles(written);
}

TEST_F(CProgram, ExpectsTheErrorsOfTheRecording) {
  const auto owner = pool(0x9000, 1);
  const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 5, 0, 0};
  const auto* desc_pointer = &desc;
  ze_event_handle_t made = nullptr;
  auto* out = &made;
  app.call(
      "zeEventCreate", when(), ZE_RESULT_ERROR_INVALID_ARGUMENT, [] {}, owner, desc_pointer, out);
  const auto written = write("zeEventCreate result=ERROR_INVALID_ARGUMENT");
  EXPECT_HAS(written, "TIMED(0, ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(");
  EXPECT_HAS(written, "#define SYMPTOM_RESULT ZE_RESULT_ERROR_INVALID_ARGUMENT");
  expect_compiles(written);
}

TEST_F(CProgram, HasALoopWhereTheRecordingRepeatsItself) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  for (int i = 0; i < 100; ++i) {
    app.call("zeEventHostSignal", when(), one);
    app.call("zeEventHostReset", when(), one);
  }
  const auto written = write();
  EXPECT_EQ(written.calls, 204u);
  EXPECT_LT(written.statements, 10u);
  EXPECT_HAS(written, "for (long i = 0; i < 100; ++i) {");
  expect_compiles(written);
}

TEST_F(CProgram, HasAnArrayOfObjectsThatALoopRunsOver) {
  const auto owner = pool(0x9000, 64);
  std::vector<ze_event_handle_t> events;
  for (uint32_t i = 0; i < 64; ++i) events.push_back(event(owner, 0xe000 + 16 * i, i));
  for (const auto each : events) app.call("zeEventHostSignal", when(), each);
  const auto written = write();
  EXPECT_LT(written.statements, 10u);
  EXPECT_HAS(written, "static ze_event_handle_t events");
  expect_compiles(written);
}

TEST_F(CProgram, IsSplitIntoFilesOfBoundedSize) {
  const auto owner = pool(0x9000, 400);
  for (uint32_t i = 0; i < 200; ++i) {
    const auto one = event(owner, 0xe000 + 16 * i, i * i % 389);
    if (i % 3 == 0) app.call("zeEventHostSignal", when(), one);
  }
  const auto written =
      write("zeInit>1s", {.symptom = {}, .lines_per_function = 20, .lines_per_file = 60});
  EXPECT_GT(written.sources.size(), 3u);
  for (const auto& each : written.sources)
    EXPECT_LT(std::count(each.text.begin(), each.text.end(), '\n'), 700) << each.name;
  expect_compiles(written);
}

TEST_F(CProgram, OfSeveralFilesDefinesAlignedMemoryOnce) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  held(copy(where, 0x7f0000001000, 0x5500000100, 5), 0x5500000100, "abcde");
  const auto module = fake_handle<ze_module_handle_t>(0);
  std::vector<uint8_t> room(1 << 20);
  size_t bytes = room.size();
  auto* size = &bytes;
  auto* binary = room.data();
  app.call("zeModuleGetNativeBinary", when(), module, size, binary);
  const auto written =
      write("zeInit>1s", {.symptom = {}, .lines_per_function = 8, .lines_per_file = 1});
  EXPECT_HAS(written, "extern unsigned char host_0[5] __attribute__((aligned(64)));");
  EXPECT_HAS(written, "extern char scratch_memory[1048576] __attribute__((aligned(64)));");
  expect_compiles(written);
}

TEST_F(CProgram, SaysWhatToCutWhereItIsTooLarge) {
  const auto owner = pool(0x9000, 400);
  for (uint32_t i = 0; i < 200; ++i) event(owner, 0xe000 + 16 * i, i * i % 389);
  program_options options;
  options.symptom = *model::parse_symptom("zeInit>1s");
  options.most_statements = 50;
  const auto written = write_program(packed({&app}), options);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("--until"), std::string::npos) << written.error().message;
}

// A runtime that recycles its events never does quite the same twice.
TEST_F(CProgram, MayBeLongWhereNothingRepeatsItself) {
  const auto owner = pool(0x9000, 64);
  std::vector<ze_event_handle_t> events;
  for (uint32_t i = 0; i < 64; ++i) events.push_back(event(owner, 0xe000 + 16 * i, i));
  app.file.segment(2000);
  app.on_thread(1);
  uint32_t noise = 1;
  for (int i = 0; i < 70'000; ++i) {
    noise = noise * 1664525u + 1013904223u;
    app.call("zeEventHostSignal", when(), events[noise >> 26]);
  }
  program_options options;
  options.symptom = *model::parse_symptom("zeInit>1s");
  const auto written = write_program(packed({&app}), options);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_GT(written->statements, 60'000u);
}

TEST_F(CProgram, HasThreadsThatTakeTurns) {
  const auto one = event(pool(0x9000, 1), 0xe000);
  app.on_thread(2, "other");
  app.call("zeEventHostSignal", when(), one);
  app.on_thread(1);
  app.call("zeEventHostReset", when(), one);
  const auto written = write();
  EXPECT_EQ(written.threads, 2u);
  EXPECT_HAS(written, "pthread_create(&threads[0], NULL, thread_2, NULL)");
  EXPECT_HAS(written, "take_turn(1);");
  EXPECT_HAS(written, "pass_turn(2);");
  expect_compiles(written);
}

TEST_F(CProgram, WritesWhatTheHostHadWritten) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  held(copy(where, 0x7f0000001000, 0x5500000100, 5), 0x5500000100, "abcde");
  const auto written = write();
  EXPECT_HAS(written, "memcpy(host_0, \"\\141\\142\\143\\144\\145\", 5);");
  EXPECT_HAS(written,
             "zeCommandListAppendMemoryCopy(list_imm_0, host_mem_0, host_0, 5, NULL, 0, NULL)");
  expect_compiles(written);
}

TEST_F(CProgram, PassesPointersInsideKernelArguments) {
  memory(0x7f0000001000, 64);
  const auto kernel = fake_handle<ze_kernel_handle_t>(0);
  const uint64_t by_value[] = {5, 0x7f0000001010};
  const auto* value = reinterpret_cast<const void*>(by_value);
  const uint32_t index = 2;
  const size_t bytes = sizeof(by_value);
  app.call("zeKernelSetArgumentValue", when(), kernel, index, bytes, value);
  const auto written = write();
  EXPECT_HAS(written, "uint64_t pArgValue[] = {5, (uint64_t)(uintptr_t)at(host_mem_0, 16)};");
  expect_compiles(written);
}

// Bytes as a recorder would have left them, but for some: whatever comes out is an error or a
// program.
TEST_F(CProgram, OfARecordingWithWrongBytesIsAnErrorOrAProgram) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  const auto one = event(pool(0x9000, 3), 0xe000, 0);
  const uint64_t middle = copy(where, 0x7f0000001000, 0x5500000100, 5, one);
  held(middle, 0x5500000100, "first");
  const uint64_t last = app.call("zeEventQueryStatus", when(), one);
  const auto bytes = app.file.bytes();
  size_t programs = 0, errors = 0;
  for (size_t place = middle - 800; place < last; place += 11) {
    auto wrong = bytes;
    wrong[place] ^= std::byte{static_cast<unsigned char>(1u << (place % 8))};
    auto part = trace::recording_part::parse(trace::own_bytes(wrong), "test");
    if (!part) continue;
    std::vector<trace::recording_part> parts;
    parts.push_back(std::move(*part));
    const int descriptor = memfd_create("packed", MFD_CLOEXEC);
    const auto made = trace::pack_parts(parts, descriptor);
    std::vector<std::byte> all(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)));
    ASSERT_EQ(pread(descriptor, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    close(descriptor);
    const auto trace = trace::trace_file::parse(trace::own_bytes(all));
    if (!made || !trace || trace->run().processes.empty()) continue;
    static_cast<void>(replay::compile(*trace, {}));
    program_options options;
    options.symptom = *model::parse_symptom("zeInit>1s");
    ++(write_program(*trace, options) ? programs : errors);
  }
  EXPECT_GT(programs, 0u);
  EXPECT_GT(errors, 0u);
}

TEST_F(CProgram, OfADamagedTraceIsAnErrorOrAProgram) {
  const auto where = list();
  memory(0x7f0000001000, 64);
  const auto one = event(pool(0x9000, 3), 0xe000, 0);
  held(copy(where, 0x7f0000001000, 0x5500000100, 5, one), 0x5500000100, "first");
  const auto bytes = trace::packed_bytes({&app});
  program_options options;
  options.symptom = *model::parse_symptom("zeInit>1s");
  const auto try_it = [&](std::vector<std::byte> damaged) {
    const auto trace = trace::trace_file::parse(trace::own_bytes(std::move(damaged)));
    if (trace && !trace->run().processes.empty()) static_cast<void>(write_program(*trace, options));
  };
  for (size_t cut = 0; cut < bytes.size(); cut += bytes.size() / 200 + 1) {
    try_it({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)});
    auto flipped = bytes;
    flipped[cut] ^= std::byte{0x55};
    try_it(std::move(flipped));
  }
}

}  // namespace
}  // namespace zevent::repro
