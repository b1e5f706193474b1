#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "small_model.hpp"
#include "story.hpp"

// Writes story_vN.zev and profile_vN.zev for the present version of the format, and seeds for
// tests/fuzz/trace.

namespace {

using namespace zevent;
using namespace zevent::trace;

void write_new(const std::filesystem::path& path, std::span<const std::byte> bytes,
               std::string_view before = {}) {
  if (std::filesystem::exists(path)) return fmt::print("{} is there already\n", path.string());
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(before.data(), static_cast<std::streamsize>(before.size()));
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  fmt::print("{}: {} bytes\n", path.string(), bytes.size() + before.size());
}

// The story, in two processes, with everything that a trace can hold.
std::vector<std::byte> whole_story() {
  story first, second;
  auto& file = first.program.file;
  file.fact("executable", "/usr/bin/story");
  file.fact("mpi rank", "0");
  file.counter("passed through zeFunctionOfTheFuture", 3);
  const std::string content = "what the copy read";
  const auto hash = hash_of(std::as_bytes(std::span(content)));
  const auto list = fake_handle<ze_command_list_handle_t>(0x11);
  const auto place = first.program.call("zeCommandListClose", {2'060'000, 90}, list);
  file.memory(place, 0x100000, content.size(), hash);
  file.blob(hash, content);
  file.call(api::builtin_model().index_of(*api::builtin_model().find_function("zeInit")), 2'070'000,
            recording::returned_word(0, 5), std::string_view("\0\0\0\0", 4),
            recording::call_is_injected);
  second.program.file.header().process_id = 200;
  second.program.file.header().open_ticks = 5;
  second.program.file.header().state = recording::part_state::stopped;
  std::strcpy(second.program.file.header().stop_reason, "No space left on device");
  return packed_bytes({&first.program, &second.program});
}

// The same calls, described by the fuzzer's small model.
std::vector<std::byte> retold(const std::vector<std::byte>& bytes, const small_model& by) {
  const auto trace = *trace_file::parse(own_bytes(bytes));
  const int descriptor = memfd_create("retold", MFD_CLOEXEC);
  auto out = trace_writer::begin(descriptor, 1, api::write_model(by.view()), trace.run());
  for (const auto& hash : trace.blobs().all()) out->add_blob(hash, *trace.read_blob(hash));
  call_reader reader(trace);
  while (const call* each = reader.next()) {
    call told = *each;
    told.function = by.function(static_cast<uint16_t>(each->function));
    if (!out->add_call(told, reader.arguments())) std::abort();
  }
  const auto notes = trace.memory_notes(call_number{0}, call_number{UINT64_MAX});
  for (const auto& note : *notes)
    if (!out->add_memory(note)) std::abort();
  std::vector<object> objects(trace.objects().all().begin(), trace.objects().all().end());
  for (auto& each : objects)
    if (each.handle.handle_class != memory_class)
      each.handle.handle_class = by.handle_class(each.handle.handle_class);
  if (!out->finish(objects)) std::abort();
  std::vector<std::byte> all(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)));
  if (pread(descriptor, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size()))
    std::abort();
  return all;
}

void write_seeds(const std::filesystem::path& folder, const std::vector<std::byte>& story) {
  const small_model small(api::builtin_model());
  const auto trace = retold(story, small);
  write_new(folder / "model", api::write_model(small.view()), "m");

  // Behind the model and the run.
  const auto file = chunk_file::parse(own_bytes(trace));
  const auto rest = std::span(trace).subspan(file->chunks()[2].offset);
  write_new(folder / "packed", rest, "z");

  // Every chunk's streams as they are when decoded, cut to what a seed can say.
  for (const auto& entry : file->chunks().subspan(1)) {
    const auto chunk = file->load(entry);
    byte_writer seed;
    seed.number(static_cast<uint8_t>(entry.kind));
    seed.number(static_cast<uint8_t>(entry.items));
    for (uint16_t name = 1; name < 128; ++name) {
      const auto bytes = chunk->decode(name, UINT32_MAX);
      if (!bytes || bytes->size() > UINT8_MAX) continue;
      seed.number(static_cast<uint8_t>(name));
      seed.number(static_cast<uint8_t>(bytes->size()));
      seed.bytes(*bytes);
    }
    write_new(folder / fmt::format("streams_{}", static_cast<unsigned>(entry.kind)), seed.view(),
              "s");
  }

  recording_builder recording;
  recording.segment();
  recording.thread(1, 0);
  const auto event = std::string_view("\xe1\0\0\0\0\0\0\0", 8);
  const auto& model = api::builtin_model();
  const auto query = small.function(model.index_of(*model.find_function("zeEventQueryStatus")));
  const auto place = recording.call(query, 1000, recording::returned_word(1, 50), event);
  recording.completion(place, 1050);
  recording.memory(place, 0x100, 16, {{1}});
  recording.calibration(1, 1, 1'753'849'873'000'000'000);
  recording.fact("executable", "app");
  recording.counter("passed through zeNew", 1);
  recording.thread(2, 0, "other");
  recording.call(query, 2000, 0, event);
  const auto segments = recording.bytes();
  write_new(folder / "recording", std::span(segments).subspan(sizeof(recording::file_header), 600),
            "r");

  const std::string_view filter =
      "not (100-200 or zeEvent* and append) or failed and >1.5ms or thread 2 or result NOT_READY";
  write_new(folder / "filter", std::as_bytes(std::span(filter)), "f");
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return fmt::print("usage: golden_trace_maker GOLDEN SEEDS\n"), 2;
  const auto trace = whole_story();
  write_new(std::filesystem::path(arguments[1]) / fmt::format("story_v{}.zev", file_version),
            trace);
  story profiled;
  profiled.add_device_times();
  write_new(std::filesystem::path(arguments[1]) / fmt::format("profile_v{}.zev", file_version),
            packed_bytes({&profiled.program}));
  write_seeds(arguments[2], trace);
}
