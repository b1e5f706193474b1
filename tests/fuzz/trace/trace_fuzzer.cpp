#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/call_codec.hpp"
#include "api/model_file.hpp"
#include "base/byte_writer.hpp"
#include "base/untrusted_reader.hpp"
#include "model/append_waits.hpp"
#include "report/call_json.hpp"
#include "report/call_text.hpp"
#include "report/trace_summary.hpp"
#include "small_model.hpp"
#include "trace/pack.hpp"
#include "trace/trace_file.hpp"

// Whatever the bytes are, reading them as a trace ends without a fault. The first byte says what
// the others are:
//
//   'z'  chunks of a packed trace, behind a good file header, description of the API and run
//   's'  streams of one chunk, put into a good file: kind, then name, length and bytes of each
//   'r'  segments of a recording, behind a good file header and a segment with the description
//   'm'  the description of an API, instead of the one that the others have
//   'f'  a filter
//
// The others have a small one (small_model.hpp), so that thousands of inputs are read a second.
// Checksums are not looked at (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION).
namespace zevent::trace {
namespace {

using bytes = std::vector<std::byte>;

const bytes& model_bytes() {
  static const bytes model = api::write_model(small_model(api::builtin_model()).view());
  return model;
}

run_info plain_run() {
  run_info run;
  run.processes.push_back({.process_id = 1, .host = "here"});
  run.threads.push_back({0, 1, "main"});
  run.threads.push_back({0, 2, "other"});
  return run;
}

bytes contents_of(int descriptor) {
  bytes all(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)));
  if (pread(descriptor, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) all.clear();
  close(descriptor);
  return all;
}

// A trace with no calls, not finished.
const bytes& good_beginning() {
  static const bytes beginning = [] {
    const int descriptor = memfd_create("beginning", MFD_CLOEXEC);
    if (!trace_writer::begin(descriptor, 1, model_bytes(), plain_run())) __builtin_trap();
    return contents_of(descriptor);
  }();
  return beginning;
}

void use(const trace_file& trace) {
  (void)trace.memory_notes(call_number{0}, call_number{UINT64_MAX});
  for (const auto& hash : trace.blobs().all()) (void)trace.read_blob(hash);
  call_usage_reader usage(trace);
  for (const uint64_t call : {uint64_t{0}, trace.calls() / 2, UINT64_MAX})
    (void)usage.find(call_number{call});
  if (trace.calls() == 0) return;
  const report::call_text text(trace, {.coloured = true});
  const model::append_waits waits(trace);
  const report::call_json json(trace, report::handle_style::both, &waits);
  call_reader reader(trace);
  for (int left = 200; left > 0; --left) {
    const call* each = reader.next();
    if (each == nullptr) break;
    const auto arguments = reader.arguments();
    (void)text.line(*each, arguments);
    (void)json.object(*each, arguments);
  }
  (void)report::summarise(trace, {}, {});
}

void read_packed(std::span<const std::byte> chunks) {
  bytes file = good_beginning();
  file.insert(file.end(), chunks.begin(), chunks.end());
  if (const auto trace = trace_file::parse(own_bytes(std::move(file)))) use(*trace);
}

void read_streams(std::span<const std::byte> input) {
  untrusted_reader reader(input);
  const auto kind = static_cast<chunk_kind>(reader.number<uint8_t>());
  const auto items = reader.number<uint8_t>();
  std::vector<stream_source> streams;
  while (!reader.at_end() && streams.size() < 64) {
    const auto name = reader.number<uint8_t>();
    const auto stored = reader.take(reader.number<uint8_t>());
    if (!reader.ok()) break;
    streams.push_back({name, stored});
  }
  const int descriptor = memfd_create("streams", MFD_CLOEXEC);
  auto writer = chunk_writer::begin(descriptor, 1);
  if (!writer || !writer->append(kind, 0, items, streams)) __builtin_trap();
  // Behind the file's own header comes the chunk alone.
  const auto file = contents_of(descriptor);
  read_packed(std::span(file).subspan(file_header_bytes));
}

void read_recording(std::span<const std::byte> segments) {
  static const bytes beginning = [] {
    constexpr uint64_t unit_bytes = 4096;
    recording::file_header header{};
    header.magic = recording::file_magic;
    header.version = recording::format_version;
    header.header_bytes = sizeof header;
    header.segment_unit_bytes = unit_bytes;
    header.ticks_per_second = 1'000'000'000;
    header.clock = recording::clock_kind::monotonic_raw_clock;
    header.state = recording::part_state::recording;
    header.schema = hash_of(model_bytes());
    // A segment of its own for the description, which is nobody's.
    const auto& model = model_bytes();
    const recording::thread_record nobody{{sizeof(nobody), 0, recording::record_kind::thread, 0}};
    const recording::blob_record blob{
        {static_cast<uint32_t>(sizeof(blob) + model.size()), 0, recording::record_kind::blob, 0},
        header.schema};
    const uint64_t used =
        sizeof(recording::first_segment_header) + sizeof(nobody) + sizeof(blob) + model.size();
    const recording::first_segment_header segment{
        recording::first_segment_magic, (used + unit_bytes - 1) / unit_bytes * unit_bytes};
    byte_writer out;
    out.bytes(std::as_bytes(std::span(&header, 1)));
    out.bytes(std::as_bytes(std::span(&segment, 1)));
    out.bytes(std::as_bytes(std::span(&nobody, 1)));
    out.bytes(std::as_bytes(std::span(&blob, 1)));
    out.bytes(model);
    bytes all = out.take();
    all.resize(sizeof(header) + segment.bytes);
    return all;
  }();
  bytes file = beginning;
  file.insert(file.end(), segments.begin(), segments.end());
  const auto part = recording_part::parse(own_bytes(std::move(file)), "input");
  if (!part) return;
  const int descriptor = memfd_create("packed", MFD_CLOEXEC);
  const auto report = pack_parts({&*part, 1}, descriptor, {.compression_level = 1});
  auto packed = contents_of(descriptor);
  if (!report) return;
  const auto trace = trace_file::parse(own_bytes(std::move(packed)));
  // What was packed from anything must be a whole trace.
  if (!trace || !trace->damage().empty()) __builtin_trap();
  use(*trace);
}

// A good call is decoded by whatever model comes out of it.
void read_model(std::span<const std::byte> input) {
  const auto model = api::read_model(input);
  if (!model) return;
  static constexpr std::byte arguments[64] = {std::byte{1}};
  for (const auto& function : (*model)->functions) {
    (void)api::decode_inputs(**model, function, arguments);
    (void)api::decode_outputs(**model, function, arguments);
  }
}

void read_filter(std::span<const std::byte> input) {
  static const auto trace = trace_file::parse(own_bytes(good_beginning()));
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto filter = call_filter::compile(text, trace->names());
  if (filter) (void)filter->matches(call{}), (void)filter->numbers();
}

}  // namespace
}  // namespace zevent::trace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace zevent::trace;
  if (size == 0) return 0;
  const auto rest = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0]) {
    case 'z':
      read_packed(rest);
      break;
    case 's':
      read_streams(rest);
      break;
    case 'r':
      read_recording(rest);
      break;
    case 'm':
      read_model(rest);
      break;
    case 'f':
      read_filter(rest);
      break;
  }
  return 0;
}
