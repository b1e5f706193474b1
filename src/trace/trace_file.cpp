#include "trace/trace_file.hpp"

#include <algorithm>
#include <iterator>

#include "api/model_file.hpp"
#include "trace/device_times.hpp"
#include "trace/object_tracker.hpp"

namespace zevent::trace {
namespace {

constexpr uint16_t only_stream = 1;

// Far above what any API or run needs, far below what hurts.
constexpr uint64_t most_model_bytes = uint64_t{64} << 20;
constexpr uint64_t most_run_bytes = uint64_t{256} << 20;

std::optional<uint32_t> result_named(const api::model& model, std::string_view name) {
  for (const auto& enumeration : model.enumerations) {
    if (enumeration.name != "ze_result_t") continue;
    for (const auto& each : enumeration.values)
      if (each.name == name || each.short_name == name) return each.value;
  }
  return std::nullopt;
}

result<std::vector<std::byte>> only_content(const chunk_file& file, chunk_kind kind,
                                            uint64_t most_bytes, std::string_view what) {
  for (const auto& entry : file.chunks()) {
    if (entry.kind != kind) continue;
    const auto loaded = file.load(entry);
    if (!loaded) return tl::unexpected(loaded.error());
    return loaded->decode(only_stream, most_bytes);
  }
  return fail("the {} is missing: the file was cut too early", what);
}

}  // namespace

result<trace_writer> trace_writer::begin(int descriptor, int compression_level,
                                         std::span<const std::byte> model, const run_info& run) {
  auto file = chunk_writer::begin(descriptor, compression_level);
  if (!file) return tl::unexpected(file.error());
  trace_writer writer(std::move(*file));
  const auto run_bytes = encode_run_info(run);
  const std::pair<chunk_kind, std::span<const std::byte>> heads[] = {{chunk_kind::schema, model},
                                                                     {chunk_kind::run, run_bytes}};
  for (const auto& [kind, bytes] : heads) {
    const stream_source stream{only_stream, bytes};
    if (auto written = writer.file_.append(kind, 0, 1, {&stream, 1}); !written)
      return tl::unexpected(written.error());
  }
  return writer;
}

result<void> trace_writer::add_blob(const blob_hash& hash, std::span<const std::byte> content) {
  return blobs_.add(hash, content, file_);
}

result<void> trace_writer::add_call(const call& each, call_arguments arguments) {
  if (calls_.full())
    if (auto written = calls_.write(file_); !written) return written;
  calls_.add(each, arguments);
  return {};
}

result<void> trace_writer::add_memory(const memory_note& note) {
  return memory_.add(note, file_);
}

result<void> trace_writer::add_usage(const call_usage& note) {
  return usage_.add(note, file_);
}

result<void> trace_writer::add_device_times(std::vector<device_time> times) {
  return write_device_times(std::move(times), file_);
}

result<uint64_t> trace_writer::finish(std::span<const object> objects) {
  if (!calls_.empty())
    if (auto written = calls_.write(file_); !written) return tl::unexpected(written.error());
  for (auto written : {blobs_.flush(file_), memory_.flush(file_), usage_.flush(file_),
                       write_objects(objects, file_)})
    if (!written) return tl::unexpected(written.error());
  return file_.finish();
}

result<trace_file> trace_file::open(const std::filesystem::path& path) {
  auto mapped = map_file(path);
  if (!mapped) return tl::unexpected(mapped.error());
  auto trace = parse(std::move(*mapped));
  if (!trace) return fail("{}: {}", path.string(), trace.error().message);
  return trace;
}

result<trace_file> trace_file::parse(owned_bytes bytes) {
  auto file = chunk_file::parse(std::move(bytes));
  if (!file) return tl::unexpected(file.error());
  trace_file trace(std::move(*file));
  trace.damage_.assign(trace.file_.damage().begin(), trace.file_.damage().end());
  for (auto read : {trace.read_model(), trace.read_run()})
    if (!read) return tl::unexpected(read.error());
  trace.find_blocks();
  trace.blobs_ = blob_index(trace.file_, trace.damage_);
  trace.read_object_table();
  return trace;
}

result<void> trace_file::read_model() {
  const auto bytes =
      only_content(file_, chunk_kind::schema, most_model_bytes, "description of the API");
  if (!bytes) return tl::unexpected(bytes.error());
  auto model = api::read_model(*bytes);
  if (!model) return tl::unexpected(model.error());
  model_ = std::move(*model);
  for (const auto& function : model_->functions) names_.functions.emplace_back(function.name);
  names_.result_named = [model = model_](std::string_view name) {
    return result_named(*model, name);
  };
  return {};
}

result<void> trace_file::read_run() {
  const auto bytes = only_content(file_, chunk_kind::run, most_run_bytes, "description of the run");
  if (!bytes) return tl::unexpected(bytes.error());
  auto run = decode_run_info(*bytes);
  if (!run) return tl::unexpected(run.error());
  run_ = std::move(*run);
  for (const auto& thread : run_.threads) names_.process_of_thread.push_back(thread.process);
  return {};
}

void trace_file::find_blocks() {
  for (const auto& entry : file_.chunks()) {
    if (entry.kind == chunk_kind::memory) memory_chunks_.push_back(entry);
    if (entry.kind == chunk_kind::device_times) device_chunks_.push_back(entry);
    // One that is out of order is of no file that was written as a whole.
    if (entry.kind == chunk_kind::call_usage &&
        (usage_chunks_.empty() || usage_chunks_.back().first_item < entry.first_item))
      usage_chunks_.push_back(entry);
    if (entry.kind != chunk_kind::calls || entry.items == 0) continue;
    if (entry.items > max_calls_per_chunk || entry.first_item < calls() ||
        entry.first_item > UINT64_MAX - entry.items)
      damage_.push_back({entry.offset, "a chunk of calls is out of order"});
    else
      blocks_.push_back(entry);
  }
}

void trace_file::read_object_table() {
  std::vector<object> objects;
  uint64_t expected = 0;
  bool whole = true;
  for (const auto& entry : file_.chunks()) {
    if (entry.kind != chunk_kind::objects) continue;
    const auto loaded = file_.load(entry);
    const auto part = loaded ? read_objects(*loaded, entry) : tl::unexpected(loaded.error());
    whole = whole && part && entry.first_item == expected;
    if (!part) break;
    expected += part->size();
    objects.insert(objects.end(), part->begin(), part->end());
  }
  // A finished file says all of its objects; of any other they are found again from the calls.
  if (!whole || !file_.damage().empty()) objects = find_objects();
  objects_ = object_table(std::move(objects));
}

std::vector<object> trace_file::find_objects() const {
  object_tracker tracker(*model_);
  call_reader reader(*this);
  while (const call* each = reader.next())
    if (tracker.concerns(each->function)) tracker.add(*each, process_of(*each), reader.arguments());
  return tracker.take();
}

uint64_t trace_file::calls() const {
  return blocks_.empty() ? 0 : blocks_.back().first_item + blocks_.back().items;
}

result<call_block> trace_file::read_block(size_t index) const {
  const auto& entry = blocks_[index];
  auto loaded = file_.load(entry);
  if (!loaded) return tl::unexpected(loaded.error());
  return call_block::decode(std::move(*loaded), entry,
                            {model_->functions.size(), run_.threads.size()});
}

size_t trace_file::block_of(call_number number) const {
  const auto found = std::partition_point(blocks_.begin(), blocks_.end(), [&](const auto& entry) {
    return entry.first_item + entry.items <= number_of(number);
  });
  return static_cast<size_t>(found - blocks_.begin());
}

result<std::vector<memory_note>> trace_file::memory_notes(call_number first,
                                                          call_number last) const {
  std::vector<memory_note> wanted;
  for (size_t i = 0; i < memory_chunks_.size(); ++i) {
    const auto& entry = memory_chunks_[i];
    if (entry.first_item > number_of(last)) break;
    const bool ends_before =
        i + 1 < memory_chunks_.size() && memory_chunks_[i + 1].first_item < number_of(first);
    if (ends_before) continue;
    const auto loaded = file_.load(entry);
    auto notes = loaded ? read_memory_notes(*loaded, entry) : tl::unexpected(loaded.error());
    if (!notes) return notes;
    std::copy_if(notes->begin(), notes->end(), std::back_inserter(wanted),
                 [&](const auto& note) { return note.call >= first && note.call <= last; });
  }
  return wanted;
}

result<std::vector<device_time>> trace_file::device_times() const {
  std::vector<device_time> all;
  for (const auto& entry : device_chunks_) {
    const auto loaded = file_.load(entry);
    auto times =
        loaded ? read_device_times(*loaded, entry, calls()) : tl::unexpected(loaded.error());
    if (!times) return times;
    all.insert(all.end(), times->begin(), times->end());
  }
  return all;
}

std::optional<size_t> trace_file::usage_chunk_of(call_number call) const {
  const auto behind =
      std::partition_point(usage_chunks_.begin(), usage_chunks_.end(),
                           [&](const auto& entry) { return entry.first_item <= number_of(call); });
  if (behind == usage_chunks_.begin()) return std::nullopt;
  return static_cast<size_t>(behind - usage_chunks_.begin()) - 1;
}

result<std::vector<call_usage>> trace_file::read_usage_chunk(size_t index) const {
  const auto& entry = usage_chunks_[index];
  const auto loaded = file_.load(entry);
  if (!loaded) return tl::unexpected(loaded.error());
  return read_call_usage(*loaded, entry, calls());
}

call_reader::call_reader(const trace_file& trace, call_number first)
    : trace_(&trace), next_block_(trace.block_of(first)) {
  if (!next_block()) return;
  if (number_of(first) > number_of(block_->first()))
    position_ = static_cast<size_t>(
        std::min<uint64_t>(block_->size(), number_of(first) - number_of(block_->first())));
}

bool call_reader::next_block() {
  block_.reset();
  position_ = 0;
  arguments_failed_ = false;
  while (!block_ && next_block_ < trace_->blocks()) {
    auto block = trace_->read_block(next_block_++);
    if (block)
      block_ = std::move(*block);
    else
      damage_.push_back({0, block.error().message});
  }
  return block_.has_value();
}

const call* call_reader::next() {
  while (block_ && position_ == block_->size()) next_block();
  if (!block_) return nullptr;
  current_ = (*block_)[position_++];
  return &current_;
}

call_arguments call_reader::arguments() {
  if (!block_->has_arguments()) {
    if (auto loaded = block_->load_arguments(); !loaded) {
      if (!arguments_failed_) damage_.push_back({0, loaded.error().message});
      arguments_failed_ = true;
      return {};
    }
  }
  return block_->arguments(position_ - 1);
}

}  // namespace zevent::trace
