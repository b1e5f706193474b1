#include "trace/pack.hpp"
#include "base/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "api/call_codec.hpp"
#include "api/program_image.hpp"
#include "packed.hpp"
#include "trace/open_trace.hpp"

namespace zevent::trace {
namespace {

const auto context = fake_handle<ze_context_handle_t>(0xc0);
const auto pool = fake_handle<ze_event_pool_handle_t>(0x9001);
const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
const ze_event_desc_t* const event_desc_pointer = &event_desc;

void create_event(fake_program& program, fake_program::times when, uint64_t handle) {
  ze_event_handle_t event = nullptr;
  ze_event_handle_t* event_pointer = &event;
  program.call(
      "zeEventCreate", when, ZE_RESULT_SUCCESS,
      [&] { event = fake_handle<ze_event_handle_t>(handle); }, pool, event_desc_pointer,
      event_pointer);
}

void query_event(fake_program& program, fake_program::times when, uint64_t handle,
                 ze_result_t result = ZE_RESULT_SUCCESS) {
  program.call(
      "zeEventQueryStatus", when, result, [] {}, fake_handle<ze_event_handle_t>(handle));
}

void destroy_event(fake_program& program, fake_program::times when, uint64_t handle,
                   ze_result_t result = ZE_RESULT_SUCCESS) {
  program.call(
      "zeEventDestroy", when, result, [] {}, fake_handle<ze_event_handle_t>(handle));
}

uint16_t event_class() {
  const auto& model = api::builtin_model();
  const auto& parameter = model.find_function("zeEventDestroy")->parameters.front();
  return model.types[parameter.type_index].index;
}

// The name of the event that a call's first parameter is.
std::string event_of(const trace_file& trace, const call& each, uint64_t handle) {
  const auto found =
      trace.objects().find({trace.process_of(each), event_class(), handle}, each.start_ns);
  return found ? trace.objects().name(*found, trace.model()) : "unknown";
}

TEST(pack, calls_of_all_threads_are_numbered_by_their_start) {
  fake_program program;
  query_event(program, {1000, 10}, 1);
  query_event(program, {3000, 10}, 1);
  program.on_thread(2, "worker");
  query_event(program, {2000, 10}, 1, ZE_RESULT_NOT_READY);
  program.hang("zeEventQueryStatus", 4000, fake_handle<ze_event_handle_t>(1));
  pack_report report;
  const auto trace = packed({&program}, &report);
  EXPECT_EQ(report.calls, 4u);
  EXPECT_EQ(report.threads, 2u);
  EXPECT_EQ(report.unreturned_calls, 1u);
  EXPECT_TRUE(report.damage.empty());

  const auto calls = calls_of(trace);
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(trace.calls(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(number_of(calls[i].number), i);
    EXPECT_EQ(calls[i].start_ns, i * 1000);
    EXPECT_EQ(trace.function(calls[i]).name, "zeEventQueryStatus");
  }
  EXPECT_EQ(calls[1].thread, 1u);
  EXPECT_EQ(calls[1].result, 1u);
  EXPECT_EQ(trace.run().threads[1].name, "worker");
  EXPECT_FALSE(calls[3].returned());
}

TEST(pack, process_that_found_no_room_for_anything_has_lost_its_calls) {
  fake_program first;
  query_event(first, {1000, 10}, 1);
  first.file.header().lost_calls = 2;
  auto late = recording_builder();
  late.header().state = recording::part_state::stopped;
  std::strcpy(late.header().stop_reason, "the disk is almost full");
  late.header().lost_calls = 5;
  late.header().open_ticks = 2000;
  std::vector<recording_part> parts;
  for (auto bytes : {first.file.bytes(), late.bytes(), recording_builder().bytes()})
    parts.push_back(*recording_part::parse(own_bytes(std::move(bytes)), "test"));
  const int descriptor = memfd_create("packed", MFD_CLOEXEC);
  const auto report = pack_parts(parts, descriptor);
  close(descriptor);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->calls, 1u);
  EXPECT_EQ(report->lost_calls, 7u);
  EXPECT_EQ(report->stop_reason, "the disk is almost full");
  // The third never did anything.
  EXPECT_EQ(report->processes, 2u);
}

TEST(pack, arguments_decode_by_the_model_in_the_trace) {
  fake_program program;
  create_event(program, {1000, 10}, 0xe1);
  const auto trace = packed({&program});
  call_reader reader(trace);
  const call* each = reader.next();
  ASSERT_NE(each, nullptr);
  const auto outputs =
      api::decode_outputs(trace.model(), trace.function(*each), reader.arguments().outputs);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->find("phEvent")->items.front().bits, 0xe1u);
}

TEST(pack, handle_given_out_again_is_another_object) {
  fake_program program;
  create_event(program, {1000, 10}, 0xe1);
  query_event(program, {2000, 10}, 0xe1);
  destroy_event(program, {3000, 10}, 0xe1);
  create_event(program, {4000, 10}, 0xe1);
  query_event(program, {5000, 10}, 0xe1);
  const auto trace = packed({&program});
  const auto calls = calls_of(trace);
  EXPECT_EQ(event_of(trace, calls[1], 0xe1), "event_0");
  EXPECT_EQ(event_of(trace, calls[2], 0xe1), "event_0");
  EXPECT_EQ(event_of(trace, calls[4], 0xe1), "event_1");
  EXPECT_EQ(trace.objects().all()[0].released_by, call_number{2});
  EXPECT_EQ(trace.objects().all()[1].released_by, std::nullopt);
}

TEST(pack, handle_given_out_again_before_the_destroying_call_returned) {
  // Thread 2 asks for an event before thread 1 destroys its own, and gets the same address.
  fake_program program;
  create_event(program, {1000, 10}, 0xe1);
  destroy_event(program, {3000, 1000}, 0xe1);
  program.on_thread(2);
  create_event(program, {2000, 1500}, 0xe1);
  query_event(program, {3700, 10}, 0xe1);
  const auto trace = packed({&program});
  const auto calls = calls_of(trace);
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(trace.objects().all().size(), 2u);
  EXPECT_EQ(event_of(trace, calls[2], 0xe1), "event_0") << "what is destroyed is the first";
  EXPECT_EQ(event_of(trace, calls[3], 0xe1), "event_1");
  EXPECT_EQ(trace.objects().all()[1].released_by, std::nullopt);
}

TEST(pack, destroy_that_failed_ends_nothing) {
  fake_program program;
  create_event(program, {1000, 10}, 0xe1);
  destroy_event(program, {2000, 10}, 0xe1, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  const auto trace = packed({&program});
  EXPECT_EQ(trace.objects().all()[0].released_by, std::nullopt);
}

TEST(pack, object_that_is_looked_up_again_stays_the_same) {
  fake_program program;
  const auto driver = fake_handle<ze_driver_handle_t>(0xd0);
  for (const uint64_t start : {1000u, 2000u}) {
    uint32_t count = 2;
    ze_device_handle_t devices[2] = {};
    uint32_t* count_pointer = &count;
    ze_device_handle_t* devices_pointer = devices;
    program.call(
        "zeDeviceGet", {start, 10}, ZE_RESULT_SUCCESS,
        [&] {
          devices[0] = fake_handle<ze_device_handle_t>(0xa0);
          devices[1] = fake_handle<ze_device_handle_t>(0xa1);
        },
        driver, count_pointer, devices_pointer);
  }
  const auto trace = packed({&program});
  ASSERT_EQ(trace.objects().all().size(), 2u);
  EXPECT_FALSE(trace.objects().all()[0].created);
  EXPECT_EQ(trace.objects().name(object_id{1}, trace.model()), "device_1");
}

TEST(pack, memory_is_an_object_with_a_size) {
  fake_program program;
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  const auto* desc_pointer = &desc;
  const size_t size = 4096, alignment = 64;
  void* memory = nullptr;
  void** memory_pointer = &memory;
  program.call(
      "zeMemAllocHost", {1000, 10}, ZE_RESULT_SUCCESS,
      [&] { memory = fake_handle<void*>(0x10000); }, context, desc_pointer, size, alignment,
      memory_pointer);
  program.call("zeMemFree", {2000, 10}, context, memory);
  const auto trace = packed({&program});
  ASSERT_EQ(trace.objects().all().size(), 1u);
  const auto& object = trace.objects().all()[0];
  EXPECT_EQ(object.handle.handle_class, memory_class);
  EXPECT_EQ(object.size_bytes, 4096u);
  EXPECT_EQ(object.released_by, call_number{1});
  EXPECT_TRUE(trace.objects().find_memory(0, 0x10fff, 1500));
}

TEST(pack, processes_of_one_run_become_one_trace) {
  fake_program first, second;
  second.file.header().process_id = 200;
  second.file.header().open_ticks = 5;
  create_event(first, {1000, 10}, 0xe1);
  create_event(second, {1500, 10}, 0xe1);
  query_event(first, {2000, 10}, 0xe1);
  query_event(second, {2500, 10}, 0xe1);
  const auto trace = packed({&first, &second});
  const auto calls = calls_of(trace);
  ASSERT_EQ(calls.size(), 4u);
  ASSERT_EQ(trace.run().processes.size(), 2u);
  EXPECT_EQ(trace.run().processes[1].process_id, 200u);
  EXPECT_EQ(event_of(trace, calls[2], 0xe1), "event_0");
  EXPECT_EQ(event_of(trace, calls[3], 0xe1), "event_1") << "the same value in another process";
  EXPECT_EQ(trace.run().start_realtime_ns, uint64_t{1'753'849'873} * 1'000'000'000 + 999);
}

TEST(pack, how_a_process_ended_is_in_the_trace) {
  constexpr uint64_t start = uint64_t{1'753'849'873} * 1'000'000'000 + 999;
  fake_program crashed, unknown;
  query_event(crashed, {1000, 10}, 1);
  query_event(unknown, {1500, 10}, 1);
  crashed.file.header().state = recording::part_state::recording;
  crashed.file.header().end = {recording::end_kind::by_signal, 11, start + 7000};
  unknown.file.header().process_id = 200;
  unknown.file.header().end.kind = static_cast<recording::end_kind>(9);
  const auto trace = packed({&crashed, &unknown});
  ASSERT_EQ(trace.run().processes.size(), 2u);
  EXPECT_EQ(trace.run().processes[0].end, (process_end{end_kind::by_signal, 11, 7000}));
  EXPECT_EQ(trace.run().processes[1].end, process_end{});
}

TEST(pack, fork_of_a_recorded_process_is_in_the_trace_and_no_fact) {
  fake_program parent, became, child, orphan;
  for (auto* each : {&parent, &became}) each->file.header().process_id = 100;
  child.file.header().process_id = 200;
  orphan.file.header().process_id = 300;
  became.file.header().open_ticks = 3000;  // the parent, as another program
  child.file.header().open_ticks = 4000;
  orphan.file.header().open_ticks = 4500;
  query_event(parent, {1000, 10}, 1);
  query_event(became, {3500, 10}, 1);
  child.file.fact(recording::fork_fact, "100 2000");
  query_event(child, {4200, 10}, 1);
  orphan.file.fact(recording::fork_fact, "400 2000");
  query_event(orphan, {5000, 10}, 1);
  const auto trace = packed({&parent, &became, &child, &orphan});
  ASSERT_EQ(trace.run().processes.size(), 4u);
  EXPECT_FALSE(trace.run().processes[1].fork);
  EXPECT_EQ(trace.run().processes[2].fork, (process_fork{0, 1000}));
  EXPECT_EQ(trace.run().processes[2].fact(recording::fork_fact), "");
  EXPECT_FALSE(trace.run().processes[3].fork) << "nobody recorded its parent";
}

TEST(pack, a_process_that_became_another_program_ended_as_the_last_one) {
  fake_program first, second, other;
  for (auto* each : {&first, &second, &other}) {
    query_event(*each, {1000, 10}, 1);
    each->file.header().state = recording::part_state::recording;
    each->file.header().process_start = 77;
  }
  second.file.header().open_ticks = 5;
  second.file.header().end = {recording::end_kind::exited, 7, 0};
  other.file.header().open_ticks = 9;
  other.file.header().process_start = 78;
  const auto trace = packed({&second, &other, &first});
  ASSERT_EQ(trace.run().processes.size(), 3u);
  EXPECT_EQ(trace.run().processes[0].end.kind, end_kind::replaced);
  EXPECT_EQ(trace.run().processes[1].end, (process_end{end_kind::exited, 7, std::nullopt}));
  EXPECT_EQ(trace.run().processes[2].end.kind, end_kind::unknown)
      << "the number of a process was given out again";
}

TEST(pack, parts_of_one_program_with_several_drivers_all_have_its_end) {
  fake_program before, first, second;
  for (auto* each : {&before, &first, &second}) {
    query_event(*each, {1000, 10}, 1);
    each->file.header().state = recording::part_state::recording;
    each->file.header().process_start = 77;
    each->file.header().end = {recording::end_kind::exited, 7, 0};
    recording::set_program_image(each->file.header(), each == &before ? 1 : 2);
  }
  first.file.header().open_ticks = 5;
  second.file.header().open_ticks = 6;
  const auto trace = packed({&before, &first, &second});
  ASSERT_EQ(trace.run().processes.size(), 3u);
  EXPECT_EQ(trace.run().processes[0].end.kind, end_kind::replaced);
  for (const size_t i : {1, 2})
    EXPECT_EQ(trace.run().processes[i].end, (process_end{end_kind::exited, 7, std::nullopt}));
}

TEST(pack, parts_of_processes_that_found_no_room_at_all_are_not_kept) {
  const temporary_folder folder;
  const auto parts = folder / "t.zev.parts";
  std::filesystem::create_directory(parts);
  recording_builder without_room;
  without_room.header().state = recording::part_state::stopped;
  std::strcpy(without_room.header().stop_reason, "the disk is almost full");
  without_room.header().lost_calls = 5;
  const auto bytes = without_room.bytes();
  const auto write_part = [&](const char* name, const auto& content) {
    std::ofstream(parts / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  };
  write_part("here-100-0.part", bytes);
  write_part("here-101-0.part", std::string(4096, '\0'));
  const auto report = pack_finished_run(parts, folder / "t.zev", true, {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("the disk is almost full"), std::string::npos);
  EXPECT_EQ(report.error().message.find("the recording is in"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  std::filesystem::create_directory(parts);
  write_part("here-100-0.part", bytes);
  write_part("here-102-0.part", std::string(5000, 'x'));
  EXPECT_FALSE(pack_finished_run(parts, folder / "t.zev", false, {}));
  EXPECT_TRUE(std::filesystem::exists(parts / "here-102-0.part")) << "which is not understood";
}

TEST(pack, what_is_cancelled_leaves_the_parts_and_nothing_else) {
  const temporary_folder folder;
  const auto parts = folder / "t.zev.parts";
  std::filesystem::create_directory(parts);
  fake_program program;
  for (uint64_t i = 0; i < 3; ++i) query_event(program, {1000 + 100 * i, 10}, 1);
  program.file.blob(hash_of(std::as_bytes(std::span("content"))), std::string_view("content", 8));
  const auto bytes = program.file.bytes();
  std::ofstream(parts / "here-100-0.part", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  pack_options options;
  options.cancelled = [] { return true; };
  const auto report = pack_finished_run(parts, folder / "t.zev", false, options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find(parts.string()), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(parts / "here-100-0.part"));
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  options.cancelled = nullptr;
  EXPECT_TRUE(pack_finished_run(parts, folder / "t.zev", false, options));
}

TEST(pack, a_process_that_was_killed_at_its_beginning_is_left_out) {
  fake_program killed, program;
  killed.file.header().schema = {};
  create_event(program, {1500, 10}, 0xe1);
  pack_report report;
  const auto trace = packed({&killed, &program}, &report);
  EXPECT_EQ(calls_of(trace).size(), 1u);
  EXPECT_TRUE(report.damage.empty());
}

TEST(pack, blobs_and_memory_notes_are_there) {
  fake_program program;
  const std::string content(100'000, 'k');
  const auto hash = hash_of(std::as_bytes(std::span(content)));
  query_event(program, {1000, 10}, 1);
  const auto place =
      program.call("zeEventQueryStatus", {2000, 10}, fake_handle<ze_event_handle_t>(1));
  program.file.memory(place, 0x1234, content.size(), hash);
  program.file.blob(hash, content);
  program.file.blob(hash, content);
  program.file.blob({{1}}, "its hash is wrong");
  pack_report report;
  const auto trace = packed({&program}, &report);
  ASSERT_EQ(report.damage.size(), 1u);
  EXPECT_NE(report.damage[0].find("damaged"), std::string::npos);
  EXPECT_EQ(trace.blobs().size(), 1u);
  EXPECT_TRUE(trace.read_blob(hash));
  const auto notes = trace.memory_notes(call_number{0}, call_number{10});
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 1u);
  EXPECT_EQ(notes->front().call, call_number{1});
  EXPECT_EQ(notes->front().address, 0x1234u);
  EXPECT_EQ(notes->front().content, hash);
  EXPECT_TRUE(trace.memory_notes(call_number{2}, call_number{10})->empty());
}

TEST(pack, function_that_the_model_does_not_have_is_left_out_and_reported) {
  fake_program program;
  program.file.call(UINT16_MAX, 1000, recording::returned_word(0, 1));
  query_event(program, {2000, 10}, 1);
  pack_report report;
  EXPECT_EQ(calls_of(packed({&program}, &report)).size(), 1u);
  EXPECT_EQ(report.damage.size(), 1u);
}

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

class recording_folder : public testing::Test {
 protected:
  recording_folder() {
    query_event(program_, {1000, 10}, 1);
    std::filesystem::create_directory(folder_ / "t.zev.parts");
    write(folder_ / "t.zev.parts/here-100-0.part", program_.file.bytes());
  }

  temporary_folder folder_;
  fake_program program_;
};

TEST_F(recording_folder, opens_by_any_of_its_names) {
  for (const char* name : {"t.zev.parts", "t.zev", "t.zev.parts/here-100-0.part"}) {
    const auto opened = open_trace(folder_ / name);
    ASSERT_TRUE(opened) << name << ": " << opened.error().message;
    EXPECT_EQ(opened->trace.calls(), 1u) << name;
    EXPECT_TRUE(opened->warnings.empty()) << opened->warnings.front();
  }
}

TEST_F(recording_folder, packs_into_a_file_that_only_its_owner_reads) {
  const auto report = pack_recording(folder_ / "t.zev.parts", folder_ / "t.zev");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->size_bytes, std::filesystem::file_size(folder_ / "t.zev"));
  EXPECT_EQ(std::filesystem::status(folder_ / "t.zev").permissions(), std::filesystem::perms(0600));
  size_t files = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder_.path()))
    ++files;
  EXPECT_EQ(files, 2u) << "nothing unfinished is left";
  EXPECT_TRUE(open_trace(folder_ / "t.zev"));
}

TEST_F(recording_folder, part_that_cannot_be_read_does_not_take_the_others_with_it) {
  write(folder_ / "t.zev.parts/here-101-0.part", std::vector<std::byte>(8192));
  const auto opened = open_trace(folder_ / "t.zev");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->trace.calls(), 1u);
  ASSERT_EQ(opened->warnings.size(), 1u);
  EXPECT_NE(opened->warnings[0].find("here-101-0.part"), std::string::npos);
}

TEST_F(recording_folder, part_of_a_process_that_was_killed_before_it_recorded_is_no_damage) {
  std::vector<std::byte> begun(sizeof(recording::file_header));
  begun[20] = std::byte{7};
  write(folder_ / "t.zev.parts/here-101-0.part", begun);
  write(folder_ / "t.zev.parts/here-102-0.part", std::vector<std::byte>{});
  const auto report = pack_recording(folder_ / "t.zev.parts", folder_ / "t.zev");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->damage.empty());
}

TEST_F(recording_folder, stopped_recording_and_lost_calls_are_said) {
  program_.file.header().state = recording::part_state::stopped;
  std::strcpy(program_.file.header().stop_reason, "No space left on device");
  program_.file.header().lost_calls = 3;
  program_.file.counter("passed through zeNew", 2);
  write(folder_ / "t.zev.parts/here-100-0.part", program_.file.bytes());
  const auto opened = open_trace(folder_ / "t.zev");
  ASSERT_TRUE(opened);
  ASSERT_EQ(opened->warnings.size(), 3u);
  EXPECT_EQ(opened->warnings[0], "process 100: recording stopped: No space left on device");
  EXPECT_EQ(opened->warnings[1], "process 100: 3 calls were not recorded");
}

TEST(open_trace, nothing_there_is_said_plainly) {
  const temporary_folder folder;
  const auto missing = open_trace(folder / "none.zev");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos)
      << missing.error().message;
  const auto other = open_trace(folder.path());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("is a folder, and no recording"), std::string::npos);
  std::filesystem::create_directory(folder / "t.zev.parts");
  const auto empty = open_trace(folder / "t.zev");
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("nothing was recorded"), std::string::npos);
}

}  // namespace
}  // namespace zevent::trace
