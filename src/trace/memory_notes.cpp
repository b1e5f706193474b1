#include "trace/memory_notes.hpp"

#include <cstring>

#include "base/byte_writer.hpp"
#include "trace/column.hpp"

namespace zevent::trace {
namespace {

enum column : column_id { call_column = 1, address_column = 2, bytes_column = 3, flags_column = 4 };
constexpr uint16_t content_stream = 1;
constexpr size_t memory_notes_per_chunk = 32768;

}  // namespace

result<void> memory_note_writer::add(const memory_note& note, chunk_writer& file) {
  if (notes_.size() >= memory_notes_per_chunk)
    if (auto flushed = flush(file); !flushed) return flushed;
  notes_.push_back(note);
  return {};
}

result<void> memory_note_writer::flush(chunk_writer& file) {
  if (notes_.empty()) return {};
  std::vector<uint64_t> calls, addresses, bytes, flags;
  byte_writer contents;
  uint64_t last_call = number_of(notes_.front().call);
  const uint64_t first_call = last_call;
  for (const auto& note : notes_) {
    calls.push_back(number_of(note.call) - last_call);
    last_call = number_of(note.call);
    addresses.push_back(note.address);
    bytes.push_back(note.bytes);
    flags.push_back(note.flags);
    contents.bytes(std::as_bytes(std::span(note.content.bytes)));
  }
  const column_planes columns[] = {{call_column, calls},
                                   {address_column, addresses},
                                   {bytes_column, bytes},
                                   {flags_column, flags}};
  std::vector<stream_source> streams{{content_stream, contents.view()}};
  for (const auto& each : columns) each.append_streams(streams);
  auto written = file.append(chunk_kind::memory, first_call, notes_.size(), streams);
  notes_.clear();
  return written;
}

result<std::vector<memory_note>> read_memory_notes(const chunk& source, const chunk_entry& entry) {
  if (entry.items > max_calls_per_chunk)
    return fail("the chunk at byte {} says it holds {} notes", entry.offset, entry.items);
  const auto count = static_cast<size_t>(entry.items);
  std::vector<uint64_t> calls(count), addresses(count), bytes(count);
  std::vector<uint8_t> flags(count);
  for (auto decoded : {decode_column(source, call_column, std::span(calls)),
                       decode_column(source, address_column, std::span(addresses)),
                       decode_column(source, bytes_column, std::span(bytes)),
                       decode_column(source, flags_column, std::span(flags))})
    if (!decoded) return tl::unexpected(decoded.error());
  if (!undo_delta(calls, entry.first_item)) return fail("the numbers of calls overflow");
  std::vector<std::byte> contents(count * sizeof(blob_hash));
  if (auto decoded = source.decode(content_stream, std::span(contents)); !decoded)
    return tl::unexpected(decoded.error());

  std::vector<memory_note> notes(count);
  for (size_t i = 0; i < count; ++i) {
    notes[i] = {call_number{calls[i]}, addresses[i], bytes[i], flags[i], {}};
    std::memcpy(notes[i].content.bytes, contents.data() + i * sizeof(blob_hash), sizeof(blob_hash));
  }
  return notes;
}

}  // namespace zevent::trace
