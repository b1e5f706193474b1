#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/model.hpp"
#include "base/result.hpp"
#include "trace/blob_store.hpp"
#include "trace/call.hpp"
#include "trace/call_block.hpp"
#include "trace/call_filter.hpp"
#include "trace/call_usage.hpp"
#include "trace/chunk_file.hpp"
#include "trace/memory_notes.hpp"
#include "trace/object_table.hpp"
#include "trace/run_info.hpp"

// A packed trace, written and read. docs/trace-format.md tells the story of its bytes.
namespace zevent::trace {

struct device_time;  // trace/device_times.hpp

// Writes a trace in one go: begin with what it is about, then blobs and calls in any mixture, then
// the objects.
class trace_writer {
 public:
  // The descriptor stays the caller's. `model` is what api::write_model gave: the description that
  // the calls were encoded by.
  static result<trace_writer> begin(int descriptor, int compression_level,
                                    std::span<const std::byte> model, const run_info& run);

  result<void> add_blob(const blob_hash& hash, std::span<const std::byte> content);
  // Calls come in order of their start; their numbers are theirs by position, from 0.
  result<void> add_call(const call& each, call_arguments arguments);
  // What memory held at the last call that was added.
  result<void> add_memory(const memory_note& note);
  // What the thread of the last call that was added did meanwhile.
  result<void> add_usage(const call_usage& note);
  // Once, when all calls were added.
  result<void> add_device_times(std::vector<device_time> times);
  // Writes the objects and what is held back; gives the size of the file.
  result<uint64_t> finish(std::span<const object> objects);

 private:
  explicit trace_writer(chunk_writer file) : file_(std::move(file)) {}

  chunk_writer file_;
  blob_writer blobs_;
  call_block_writer calls_;
  memory_note_writer memory_;
  call_usage_writer usage_;
};

// A trace that was opened. Everything of it may be used from several threads at once.
class trace_file {
 public:
  // A .zev file.
  static result<trace_file> open(const std::filesystem::path& path);
  static result<trace_file> parse(owned_bytes bytes);

  const api::model& model() const { return *model_; }
  const run_info& run() const { return run_; }
  const api::function& function(const call& each) const { return model_->functions[each.function]; }
  uint32_t process_of(const call& each) const { return run_.threads[each.thread].process; }

  // One more than the highest call number. Damage may have left gaps below it.
  uint64_t calls() const;
  uint64_t size_bytes() const { return file_.size_bytes(); }

  // What is wrong with the file, as far as opening it showed; empty for a whole one.
  std::span<const file_damage> damage() const { return damage_; }

  // Chunks of calls, in order of number.
  size_t blocks() const { return blocks_.size(); }
  result<call_block> read_block(size_t index) const;
  // The block that holds the call, or the first behind a gap in which it would be.
  size_t block_of(call_number number) const;

  const object_table& objects() const { return objects_; }

  // Memory notes of the calls in [first, last].
  result<std::vector<memory_note>> memory_notes(call_number first, call_number last) const;

  // Executions of commands, in order of the calls that appended them; none unless profiled.
  bool has_device_times() const { return !device_chunks_.empty(); }
  result<std::vector<device_time>> device_times() const;

  // Notes of what threads did during slow calls, for call_usage_reader: which chunk would have that
  // of a call, and its notes.
  bool has_usage() const { return !usage_chunks_.empty(); }
  std::optional<size_t> usage_chunk_of(call_number call) const;
  result<std::vector<call_usage>> read_usage_chunk(size_t index) const;

  const blob_index& blobs() const { return blobs_; }
  result<std::vector<std::byte>> read_blob(const blob_hash& hash) const {
    return blobs_.read(file_, hash);
  }

  // For filters on this trace's calls.
  const filter_names& names() const { return names_; }

 private:
  explicit trace_file(chunk_file file) : file_(std::move(file)) {}
  result<void> read_model();
  result<void> read_run();
  void find_blocks();
  void read_object_table();
  std::vector<object> find_objects() const;

  chunk_file file_;
  std::shared_ptr<const api::model> model_;
  run_info run_;
  std::vector<file_damage> damage_;
  std::vector<chunk_entry> blocks_;
  std::vector<chunk_entry> memory_chunks_;
  std::vector<chunk_entry> device_chunks_;
  std::vector<chunk_entry> usage_chunks_;  // in order of their first calls
  blob_index blobs_;
  object_table objects_;
  filter_names names_;
};

// Reads calls one after the other. Blocks that are damaged are left out and noted.
class call_reader {
 public:
  explicit call_reader(const trace_file& trace, call_number first = call_number{0});

  // The next call; null at the end.
  const call* next();
  // Of the call that next() gave last. Empty where they cannot be unpacked.
  call_arguments arguments();

  std::span<const file_damage> damage() const { return damage_; }

 private:
  bool next_block();

  const trace_file* trace_;
  size_t next_block_;
  std::optional<call_block> block_;
  size_t position_ = 0;  // in block_, of the call that comes next
  call current_;
  bool arguments_failed_ = false;  // of block_
  std::vector<file_damage> damage_;
};

}  // namespace zevent::trace
