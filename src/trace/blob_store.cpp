#include "trace/blob_store.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "base/byte_writer.hpp"
#include "base/untrusted_reader.hpp"

namespace zevent::trace {
namespace {

constexpr uint16_t table_stream = 1;
constexpr uint16_t blob_content_stream = 2;

constexpr uint64_t content_bytes_per_chunk = uint64_t{1} << 20;
constexpr uint64_t table_entry_bytes = sizeof(blob_hash) + sizeof(uint64_t);
constexpr uint64_t most_blobs_per_chunk = uint64_t{1} << 20;

}  // namespace

bool blob_hash_order::operator()(const blob_hash& a, const blob_hash& b) const {
  return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) < 0;
}

namespace {

blob_hash to_blob_hash(const XXH128_hash_t& value) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, value);
  blob_hash hash{};
  static_assert(sizeof hash.bytes == sizeof canonical.digest);
  std::memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
  return hash;
}

// Of `bytes` bytes that are all the same.
blob_hash hash_of_constant(std::byte value, uint64_t bytes) {
  const std::vector<std::byte> part(static_cast<size_t>(std::min<uint64_t>(bytes, 65536)), value);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  while (bytes > 0) {
    const uint64_t now = std::min<uint64_t>(bytes, part.size());
    XXH3_128bits_update(state.get(), part.data(), static_cast<size_t>(now));
    bytes -= now;
  }
  return to_blob_hash(XXH3_128bits_digest(state.get()));
}

}  // namespace

blob_hash hash_of(std::span<const std::byte> content) {
  return to_blob_hash(XXH3_128bits(content.data(), content.size()));
}

std::string to_text(const blob_hash& hash) {
  std::string text;
  for (const uint8_t byte : hash.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

result<void> blob_writer::add(const blob_hash& hash, std::span<const std::byte> content,
                              chunk_writer& file) {
  if (written_.contains(hash)) return {};
  if (content.size() > max_stream_bytes)
    return fail("the blob {} of {} bytes is too large", to_text(hash), content.size());
  if (hash_of(content) != hash) return fail("the blob {} is damaged", to_text(hash));
  const bool crowded = content_.size() + content.size() > content_bytes_per_chunk ||
                       table_.size() >= most_blobs_per_chunk;
  if (crowded && !table_.empty())
    if (auto flushed = flush(file); !flushed) return flushed;
  written_.insert(hash);
  table_.emplace_back(hash, content.size());
  content_.insert(content_.end(), content.begin(), content.end());
  return {};
}

result<void> blob_writer::flush(chunk_writer& file) {
  if (table_.empty()) return {};
  byte_writer table;
  for (const auto& [hash, bytes] : table_) {
    table.bytes(std::as_bytes(std::span(hash.bytes)));
    table.number(bytes);
  }
  const stream_source streams[] = {{table_stream, table.view()}, {blob_content_stream, content_}};
  auto written = file.append(chunk_kind::blobs, first_item_, table_.size(), streams);
  first_item_ += table_.size();
  table_.clear();
  content_.clear();
  return written;
}

blob_index::blob_index(const chunk_file& file, std::vector<file_damage>& damage) {
  for (const auto& entry : file.chunks()) {
    if (entry.kind != chunk_kind::blobs) continue;
    const auto loaded = file.load(entry);
    const auto table = loaded
                           ? loaded->decode(table_stream, most_blobs_per_chunk * table_entry_bytes)
                           : tl::unexpected(loaded.error());
    if (!table) {
      damage.push_back({entry.offset, table.error().message});
      continue;
    }
    const uint64_t content_bytes = loaded->decoded_bytes(blob_content_stream).value_or(0);
    uint64_t offset = 0;
    untrusted_reader reader(*table);
    while (reader.remaining() >= table_entry_bytes) {
      blob_hash hash{};
      std::memcpy(hash.bytes, reader.take(sizeof hash.bytes).data(), sizeof hash.bytes);
      const auto bytes = reader.number<uint64_t>();
      if (bytes > content_bytes - offset) {
        damage.push_back({entry.offset, "the table of blobs is damaged"});
        break;
      }
      places_.try_emplace(hash, place{entry, offset, bytes});
      offset += bytes;
    }
  }
}

std::optional<uint64_t> blob_index::size_of(const blob_hash& hash) const {
  const auto found = places_.find(hash);
  return found == places_.end() ? std::nullopt : std::optional(found->second.bytes);
}

result<std::vector<std::byte>> blob_index::read(const chunk_file& file,
                                                const blob_hash& hash) const {
  const auto found = places_.find(hash);
  if (found == places_.end()) return fail("the trace does not hold the blob {}", to_text(hash));
  const auto& [entry, offset, bytes] = found->second;
  const auto loaded = file.load(entry);
  if (!loaded) return tl::unexpected(loaded.error());
  if (const auto value = loaded->constant(blob_content_stream)) {
    // A few bytes may stand for gigabytes: no memory is taken for what is not the blob.
    if (hash_of_constant(*value, bytes) != hash)
      return fail("the blob {} is damaged", to_text(hash));
    return std::vector<std::byte>(static_cast<size_t>(bytes), *value);
  }
  auto content = loaded->decode(blob_content_stream, max_stream_bytes);
  if (!content) return content;
  const auto begin = content->begin() + static_cast<std::ptrdiff_t>(offset);
  std::vector<std::byte> blob(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  if (hash_of(blob) != hash) return fail("the blob {} is damaged", to_text(hash));
  return blob;
}

std::vector<blob_hash> blob_index::all() const {
  std::vector<blob_hash> hashes;
  for (const auto& each : places_) hashes.push_back(each.first);
  return hashes;
}

}  // namespace zevent::trace
