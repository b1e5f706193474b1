#include "trace/call_block.hpp"

#include <algorithm>
#include <limits>

#include "base/byte_writer.hpp"
#include "base/checked_cast.hpp"
#include "base/invariant.hpp"
#include "base/untrusted_reader.hpp"
#include "trace/byte_matrix.hpp"
#include "trace/column.hpp"

namespace zevent::trace {
namespace {

// Columns take the stream names from 8 on, eight each.
enum column : column_id {
  start_column = 1,
  duration_column = 2,
  shape_column = 3,
  thread_column = 4,
  result_column = 5,
  flags_column = 6,
};

constexpr uint16_t head_stream = 1;
constexpr uint16_t shapes_stream = 2;
constexpr uint16_t arguments_stream = 3;

constexpr size_t calls_per_block = 32768;
constexpr uint64_t argument_bytes_per_block = uint64_t{8} << 20;

}  // namespace

bool call_block_writer::full() const {
  return starts_.size() >= calls_per_block || argument_bytes_ >= argument_bytes_per_block;
}

void call_block_writer::add(const call& each, call_arguments arguments) {
  const auto input_bytes = arguments.inputs.size();
  const auto output_bytes = arguments.outputs.size();
  const auto [found, added] = shape_of_.try_emplace({each.function, input_bytes, output_bytes},
                                                    checked_cast<uint32_t>(shape_table_.size()));
  if (added) shape_table_.push_back({each.function, input_bytes, output_bytes, {}});
  auto& rows = shape_table_[found->second].rows;
  rows.insert(rows.end(), arguments.inputs.begin(), arguments.inputs.end());
  rows.insert(rows.end(), arguments.outputs.begin(), arguments.outputs.end());
  argument_bytes_ += input_bytes + output_bytes;

  ZEVENT_INVARIANT(starts_.empty() || each.start_ns >= starts_.back());
  starts_.push_back(each.start_ns);
  durations_.push_back(each.duration_ns);
  shapes_.push_back(found->second);
  threads_.push_back(each.thread);
  results_.push_back(each.result);
  flags_.push_back(each.flags);
}

result<void> call_block_writer::write(chunk_writer& file) {
  ZEVENT_INVARIANT(!empty());
  byte_writer head;
  head.number(starts_.front());

  byte_writer shapes;
  std::vector<std::byte> tables(argument_bytes_);
  auto room = std::span(tables);
  for (const auto& each : shape_table_) {
    shapes.varint(each.function);
    shapes.varint(each.input_bytes);
    shapes.varint(each.output_bytes);
    if (const auto width = each.input_bytes + each.output_bytes; width != 0)
      transpose_bytes(each.rows, each.rows.size() / width, width, room.first(each.rows.size()));
    room = room.subspan(each.rows.size());
  }

  std::vector<uint64_t> deltas(starts_.size());
  for (size_t i = 1; i < starts_.size(); ++i) deltas[i] = starts_[i] - starts_[i - 1];

  const column_planes columns[] = {{start_column, deltas},    {duration_column, durations_},
                                   {shape_column, shapes_},   {thread_column, threads_},
                                   {result_column, results_}, {flags_column, flags_}};
  std::vector<stream_source> streams{{head_stream, head.view()}, {shapes_stream, shapes.view()}};
  for (const auto& each : columns) each.append_streams(streams);
  streams.push_back({arguments_stream, tables});

  const auto calls = starts_.size();
  if (auto written = file.append(chunk_kind::calls, next_number_, calls, streams); !written)
    return written;

  const uint64_t next_number = next_number_ + calls;
  *this = {};
  next_number_ = next_number;
  return {};
}

result<call_block> call_block::decode(chunk source, const chunk_entry& entry, limits most) {
  if (entry.items > max_calls_per_chunk)
    return fail("the chunk at byte {} says it holds {} calls", entry.offset, entry.items);
  call_block block;
  block.source_ = std::move(source);
  block.first_ = call_number{entry.first_item};
  const auto calls = static_cast<size_t>(entry.items);
  block.starts_.resize(calls);
  block.durations_.resize(calls);
  for (auto* column : {&block.shapes_, &block.threads_, &block.results_}) column->resize(calls);
  block.flags_.resize(calls);
  for (auto decoded : {block.decode_columns(), block.decode_shapes(most.functions)})
    if (!decoded) return tl::unexpected(decoded.error());
  const auto last_shape = std::max_element(block.shapes_.begin(), block.shapes_.end());
  const auto last_thread = std::max_element(block.threads_.begin(), block.threads_.end());
  if (calls != 0 && (*last_shape >= block.shape_table_.size() || *last_thread >= most.threads))
    return fail("the chunk at byte {} names a shape or a thread that does not exist", entry.offset);
  return block;
}

result<void> call_block::decode_columns() {
  uint64_t base = 0;
  if (auto decoded = source_.decode(head_stream, std::as_writable_bytes(std::span(&base, 1)));
      !decoded)
    return decoded;
  const std::pair<column_id, std::span<uint64_t>> wide[] = {{start_column, starts_},
                                                            {duration_column, durations_}};
  const std::pair<column_id, std::span<uint32_t>> narrow[] = {
      {shape_column, shapes_}, {thread_column, threads_}, {result_column, results_}};
  for (const auto& [name, values] : wide)
    if (auto decoded = decode_column(source_, name, values); !decoded) return decoded;
  for (const auto& [name, values] : narrow)
    if (auto decoded = decode_column(source_, name, values); !decoded) return decoded;
  if (!undo_delta(starts_, base) || !durations_fit()) return fail("the times of calls overflow");
  return decode_column(source_, flags_column, flags_);
}

bool call_block::durations_fit() const {
  uint64_t bits = starts_.empty() ? 0 : starts_.back();
  for (const uint64_t duration : durations_ns()) bits |= duration;
  return bits <= latest_time_ns;
}

result<void> call_block::decode_shapes(uint64_t functions) {
  // Every shape belongs to at least one call, and takes at most 5 + 10 + 10 bytes.
  const auto table = source_.decode(shapes_stream, uint64_t{25} * starts_.size());
  if (!table) return tl::unexpected(table.error());
  untrusted_reader reader(*table);
  while (reader.ok() && !reader.at_end()) {
    const auto function = reader.varint();
    const auto input_bytes = reader.varint();
    const auto output_bytes = reader.varint();
    if (function >= functions || input_bytes > max_stream_bytes || output_bytes > max_stream_bytes)
      return fail("the table of shapes is damaged");
    function_of_shape_.push_back(static_cast<uint32_t>(function));
    shape_table_.push_back({input_bytes, output_bytes, 0});
  }
  if (!reader.ok()) return fail("the table of shapes is damaged");
  return {};
}

result<void> call_block::load_arguments() {
  if (arguments_loaded_) return {};
  std::vector<uint32_t> rows_of_shape(shape_table_.size());
  rows_.resize(size());
  for (size_t i = 0; i < size(); ++i) rows_[i] = rows_of_shape[shapes_[i]]++;

  uint64_t total_bytes = 0;
  for (size_t i = 0; i < shape_table_.size(); ++i) {
    auto& each = shape_table_[i];
    each.first_row_offset = total_bytes;
    // Both factors are below 2^33: no overflow; the sum stops growing at the limit.
    total_bytes += rows_of_shape[i] * (each.input_bytes + each.output_bytes);
    if (total_bytes > max_stream_bytes) return fail("the arguments are larger than a chunk can be");
  }
  const auto tables = source_.decode(arguments_stream, total_bytes);
  if (!tables) return tl::unexpected(tables.error());
  if (tables->size() != total_bytes) return fail("the arguments are not as long as their shapes");

  argument_bytes_.resize(static_cast<size_t>(total_bytes));
  for (size_t i = 0; i < shape_table_.size(); ++i) {
    const auto& each = shape_table_[i];
    const auto width = static_cast<size_t>(each.input_bytes + each.output_bytes);
    const auto offset = static_cast<size_t>(each.first_row_offset);
    const auto bytes = rows_of_shape[i] * width;
    transpose_bytes(std::span(*tables).subspan(offset, bytes), width, rows_of_shape[i],
                    std::span(argument_bytes_).subspan(offset, bytes));
  }
  arguments_loaded_ = true;
  return {};
}

call_arguments call_block::arguments(size_t i) const {
  ZEVENT_INVARIANT(arguments_loaded_);
  const auto& each = shape_table_[shapes_[i]];
  const auto width = each.input_bytes + each.output_bytes;
  const auto row = std::span(argument_bytes_)
                       .subspan(static_cast<size_t>(each.first_row_offset + rows_[i] * width),
                                static_cast<size_t>(width));
  return {row.first(static_cast<size_t>(each.input_bytes)),
          row.subspan(static_cast<size_t>(each.input_bytes))};
}

}  // namespace zevent::trace
