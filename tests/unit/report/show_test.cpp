#include "report/show.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "story.hpp"

namespace zevent::report {
namespace {

std::vector<std::string> lines_of(const trace::trace_file& trace, std::string_view filter = "",
                                  show_options options = {}) {
  const int descriptor = memfd_create("shown", MFD_CLOEXEC);
  trace::call_filter chosen;
  if (!filter.empty()) {
    auto compiled = trace::call_filter::compile(filter, trace.names());
    EXPECT_TRUE(compiled) << compiled.error().message;
    chosen = *compiled;
  }
  {
    text_output out(descriptor);
    EXPECT_TRUE(show(trace, chosen, options, out).empty());
  }
  std::string text(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(descriptor, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(descriptor);
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class show_story : public testing::Test {
 protected:
  trace::story story_;
  trace::trace_file trace_ = trace::packed({&story_.program});
};

TEST_F(show_story, one_aligned_line_a_call) {
  const auto lines = lines_of(trace_);
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines[3],
            " 3 T1  0.000003000     50 ns  zeEventCreate(hEventPool=0x90, desc={index=0, signal=0, "
            "wait=0}, phEvent=→event_0) → SUCCESS");
  EXPECT_EQ(lines[7],
            " 7 T1  0.000008000    100 ns  zeEventQueryStatus(hEvent=event_1) → NOT_READY");
  EXPECT_EQ(lines[8],
            " 8 T1  0.000009000   2.00 ms  zeEventHostSynchronize(hEvent=event_1, "
            "timeout=UINT64_MAX) → SUCCESS");
  EXPECT_EQ(lines[12],
            "12 T2  0.002049000         -  zeEventHostSynchronize(hEvent=event_1, "
            "timeout=UINT64_MAX) → (did not return)");
}

TEST(show, says_below_a_slow_call_what_its_thread_did) {
  trace::story story(true);
  const auto trace = trace::packed({&story.program});
  EXPECT_EQ(lines_of(trace).size(), 13u);
  const auto lines = lines_of(trace, "", {.usage = true});
  ASSERT_EQ(lines.size(), 14u);
  EXPECT_NE(lines[9].find("    its thread waited 1.5 ms for a processor; 500 us are left"),
            std::string::npos)
      << lines[9];
  const auto json = nlohmann::json::parse(lines_of(trace, "8", {.json = true}).front());
  EXPECT_EQ(json["usage"]["no_processor_ns"], 1'500'000);
  EXPECT_EQ(json["usage"]["unexplained_ns"], 500'000);
  EXPECT_EQ(json["usage"]["voluntary_switches"], 2);
  EXPECT_FALSE(json["usage"].contains("other_run_delay_ns"));
  EXPECT_FALSE(
      nlohmann::json::parse(lines_of(trace, "7", {.json = true}).front()).contains("usage"));
}

TEST_F(show_story, ends_with_the_signal_that_ended_the_program) {
  const uint64_t start = trace_.run().start_realtime_ns;
  story_.program.file.header().end = {recording::end_kind::by_signal, 11, start + 2'500'000};
  const auto crashed = trace::packed({&story_.program});
  const auto lines = lines_of(crashed);
  ASSERT_EQ(lines.size(), 14u);
  EXPECT_EQ(lines[13], "       0.002500000            ended by SIGSEGV");
  EXPECT_EQ(lines_of(crashed, "zeEventQueryStatus").size(), 2u) << "only calls were asked for";
  show_options as_json;
  as_json.json = true;
  EXPECT_EQ(lines_of(crashed, "", as_json).size(), 13u);

  story_.program.file.header().end = {recording::end_kind::exited, 0, start};
  EXPECT_EQ(lines_of(trace::packed({&story_.program})).size(), 13u);
}

TEST_F(show_story, ends_are_shown_in_their_order) {
  trace::story other;
  other.program.file.header().process_id = 200;
  other.program.file.header().open_ticks = 1;
  const uint64_t start = trace_.run().start_realtime_ns;
  story_.program.file.header().end = {recording::end_kind::by_signal, 15, start + 9'000'000};
  other.program.file.header().end = {recording::end_kind::by_signal, 11, start + 8'000'000};
  const auto lines = lines_of(trace::packed({&story_.program, &other.program}));
  ASSERT_EQ(lines.size(), 28u);
  EXPECT_EQ(lines[26], "   P2     0.008000000            ended by SIGSEGV");
  EXPECT_EQ(lines[27], "   P1     0.009000000            ended by SIGTERM");
}

// A program that asks for the log of a build; the recorder keeps long ones as blobs.
class build_log_story {
 public:
  explicit build_log_story(const std::string& log, bool is_blob) {
    const auto& function = *api::builtin_model().find_function("zeModuleBuildLogGetString");
    const auto handle = trace::fake_handle<ze_module_build_log_handle_t>(0x10);
    const size_t size = log.size() + 1;
    const size_t* size_pointer = &size;
    const char* text = log.c_str();
    const void* const arguments[] = {&handle, &size_pointer, &text};
    api::call_encoder encoder(api::builtin_model());
    byte_writer inputs, outputs;
    encoder.inputs(function, arguments, inputs);
    encoder.outputs(function, arguments, nullptr, outputs);
    std::string out = text_of(outputs.view());
    const std::string content(text, size);
    if (is_blob) {
      const auto hash = trace::hash_of(std::as_bytes(std::span(content)));
      program.file.blob(hash, content);
      out.resize(out.size() - 1 - sizeof(uint32_t) - size);
      out += static_cast<char>(api::content_form::blob);
      out.append(reinterpret_cast<const char*>(&size), sizeof(size));
      out.append(reinterpret_cast<const char*>(hash.bytes), sizeof(hash.bytes));
    }
    const auto place = program.file.call(api::builtin_model().index_of(function), 1000,
                                         recording::returned_word(0, 10), text_of(inputs.view()));
    program.file.completion(place, 1010, out);
  }

  trace::fake_program program;

 private:
  static std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

TEST(show_text, build_log_is_text_whether_it_is_short_or_long) {
  const std::string message = "error: 'x' is \"undefined\"\n";
  const std::string long_log = message + std::string(2000, '.');
  for (const auto& log : {message, long_log}) {
    build_log_story story(log, log.size() >= 1024);
    const auto trace = trace::packed({&story.program});
    const auto lines = lines_of(trace);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find(R"(pBuildLog=→"error: 'x' is \"undefined\"\n)"), std::string::npos)
        << lines[0];
    EXPECT_LT(lines[0].size(), 300u) << "a long text is cut";
    show_options as_json;
    as_json.json = true;
    const auto json = nlohmann::json::parse(lines_of(trace, "", as_json).at(0));
    EXPECT_EQ(json["out"]["pBuildLog"], log);
  }
}

TEST_F(show_story, memory_is_named) {
  const auto lines = lines_of(trace_, "zeCommandListAppendMemoryCopy");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("dstptr=memory_0, srcptr=memory_1, size=4096"), std::string::npos)
      << lines[0];
}

TEST_F(show_story, handles_by_value_or_both) {
  EXPECT_NE(lines_of(trace_, "7", {.handles = handle_style::values})[0].find("hEvent=0xe1"),
            std::string::npos);
  EXPECT_NE(lines_of(trace_, "7", {.handles = handle_style::both})[0].find("hEvent=event_1(0xe1)"),
            std::string::npos);
}

TEST_F(show_story, filters_choose_calls) {
  EXPECT_EQ(lines_of(trace_, "append").size(), 2u);
  EXPECT_EQ(lines_of(trace_, "failed").size(), 1u);
  EXPECT_EQ(lines_of(trace_, "unreturned").size(), 1u);
  EXPECT_EQ(lines_of(trace_, ">1ms").size(), 1u);
  EXPECT_EQ(lines_of(trace_, "thread 2").size(), 1u);
  EXPECT_EQ(lines_of(trace_, "5-7").size(), 3u);
  EXPECT_EQ(lines_of(trace_, "zeEvent* and not (query or 10-)").size(), 3u);
}

TEST_F(show_story, waits_are_named_below_the_call) {
  const auto lines = lines_of(trace_, "append or zeEventHostSynchronize", {.waits = true});
  ASSERT_EQ(lines.size(), 8u);
  const std::string indentation(34, ' ');
  EXPECT_EQ(lines[2], indentation + "waits for #5 fill 4096 bytes (event_0)");
  EXPECT_EQ(lines[3], indentation + "comes after #5 fill 4096 bytes (in-order list)");
  EXPECT_EQ(lines[5], indentation + "signalled by #6 copy 4096 bytes (event_1)");
}

TEST_F(show_story, json_lines_are_json) {
  const auto lines = lines_of(trace_, "", {.json = true, .waits = true});
  ASSERT_EQ(lines.size(), 13u);
  const auto create = nlohmann::json::parse(lines[3]);
  EXPECT_EQ(create["call"], 3);
  EXPECT_EQ(create["thread"], 1);
  EXPECT_EQ(create["function"], "zeEventCreate");
  EXPECT_EQ(create["start_ns"], 3000);
  EXPECT_EQ(create["duration_ns"], 50);
  EXPECT_EQ(create["in"]["desc"]["index"], 0);
  EXPECT_EQ(create["out"]["phEvent"], "event_0");
  EXPECT_EQ(create["result"], "SUCCESS");

  const auto copy = nlohmann::json::parse(lines[6]);
  EXPECT_EQ(copy["in"]["phWaitEvents"], nlohmann::json::array({"event_0"}));
  EXPECT_EQ(copy["waits_for"][0]["call"], 5);
  EXPECT_EQ(copy["waits_for"][0]["why"], "signal");
  EXPECT_EQ(copy["waits_for"][0]["command"], "fill 4096 bytes");
  EXPECT_EQ(copy["waits_for"][0]["event"], "event_0");

  const auto hung = nlohmann::json::parse(lines[12]);
  EXPECT_TRUE(hung["duration_ns"].is_null());
  EXPECT_TRUE(hung["result"].is_null());
  EXPECT_FALSE(hung.contains("out"));
}

TEST_F(show_story, json_of_a_profile_has_device_times) {
  EXPECT_FALSE(
      nlohmann::json::parse(lines_of(trace_, "6", {.json = true})[0]).contains("device_times"));
  story_.add_device_times();
  const auto lines = lines_of(trace::packed({&story_.program}), "", {.json = true});
  EXPECT_FALSE(nlohmann::json::parse(lines[4]).contains("device_times"));
  EXPECT_EQ(
      nlohmann::json::parse(lines[5])["device_times"],
      nlohmann::json::parse(R"([{"execution":5,"device":0,"start_ns":7000,"duration_ns":1500}])"));
  const auto copy = nlohmann::json::parse(lines[6])["device_times"];
  ASSERT_EQ(copy.size(), 2u);
  EXPECT_EQ(copy[0].contains("impossible") + copy[1].contains("impossible"), 1);
}

TEST_F(show_story, colours_leave_the_text_as_it_is) {
  const auto plain = lines_of(trace_);
  auto coloured = lines_of(trace_, "", {.coloured = true});
  for (size_t i = 0; i < plain.size(); ++i) {
    auto& line = coloured[i];
    EXPECT_NE(line.find("\x1b["), std::string::npos);
    for (size_t at; (at = line.find('\x1b')) != std::string::npos;)
      line.erase(at, line.find('m', at) - at + 1);
    EXPECT_EQ(line, plain[i]);
  }
}

TEST(show, several_processes_are_told_apart) {
  trace::story first, second;
  second.program.file.header().process_id = 200;
  const auto trace = trace::packed({&first.program, &second.program});
  const auto lines = lines_of(trace, "0-1");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find(" P1 T1  "), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(" P2 T2  "), std::string::npos) << lines[1];
}

TEST(show, injected_calls_are_hidden_until_asked_for) {
  trace::fake_program program;
  program.file.call(0, 1000, recording::returned_word(0, 1), {}, recording::call_is_injected);
  const auto trace = trace::packed({&program});
  EXPECT_TRUE(lines_of(trace).empty());
  const auto lines = lines_of(trace, "injected", {.injected = true});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("(injected) "), std::string::npos);
}

// A kernel's arguments are bytes; those that are addresses are told as memory and offset.
class show_arguments : public testing::Test {
 protected:
  show_arguments() {
    set_argument(0, &pointer_, sizeof(pointer_));
    set_argument(1, &number_, sizeof(number_));
    set_argument(2, &both_, sizeof(both_));
  }

  void set_argument(uint32_t index, const void* value, size_t bytes) {
    const auto kernel = trace::fake_handle<ze_kernel_handle_t>(0x77);
    story_.program.call("zeKernelSetArgumentValue", {3'000'000 + index, 1}, kernel, index, bytes,
                        value);
  }

  const uint64_t pointer_ = 0x100040, number_ = 5;
  const uint64_t both_[3] = {7, 0x201000, 0};
  trace::story story_;
};

TEST_F(show_arguments, addresses_are_memory_and_offset) {
  const auto lines = lines_of(trace::packed({&story_.program}), "zeKernelSetArgumentValue");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("pArgValue=memory_0+0x40)"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("pArgValue=<8 bytes: 05 00"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("(memory_1+0x1000 at 8))"), std::string::npos) << lines[2];
}

TEST_F(show_arguments, addresses_are_memory_and_offset_in_json) {
  const auto lines =
      lines_of(trace::packed({&story_.program}), "zeKernelSetArgumentValue", {.json = true});
  ASSERT_EQ(lines.size(), 3u);
  const auto value_of = [&](size_t i) {
    return nlohmann::json::parse(lines[i])["in"]["pArgValue"];
  };
  const auto pointer = value_of(0)["pointers"];
  ASSERT_EQ(pointer.size(), 1u) << lines[0];
  EXPECT_EQ(pointer[0]["at"], 0);
  EXPECT_EQ(pointer[0]["memory"], "memory_0");
  EXPECT_EQ(pointer[0]["offset"], 0x40);
  EXPECT_FALSE(value_of(1).contains("pointers")) << lines[1];
  EXPECT_EQ(value_of(2)["pointers"][0]["at"], 8) << lines[2];
}

}  // namespace
}  // namespace zevent::report
