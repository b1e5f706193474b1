#include "trace/chunk_file.hpp"

#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/byte_writer.hpp"
#include "base/checked_cast.hpp"
#include "base/invariant.hpp"
#include "base/untrusted_reader.hpp"

namespace zevent::trace {
namespace {

constexpr uint16_t index_stream = 1;
constexpr uint64_t index_entry_bytes = 40;

uint64_t checksum(std::span<const std::byte> bytes, uint64_t seed = 0) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

// A fuzzer that had to guess checksums would get no further than to them.
bool has_checksum(std::span<const std::byte> bytes, uint64_t expected, uint64_t seed = 0) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  static_cast<void>(bytes), static_cast<void>(expected), static_cast<void>(seed);
  return true;
#else
  return checksum(bytes, seed) == expected;
#endif
}

uint64_t padding_after(uint64_t bytes) {
  return (8 - bytes % 8) % 8;
}

bool begins_with(std::span<const std::byte> bytes, std::span<const char> magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

bool all_equal(std::span<const std::byte> bytes) {
  return !bytes.empty() && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

struct chunk_writer::compressor {
  struct context_deleter {
    void operator()(ZSTD_CCtx_s* unused) const { ZSTD_freeCCtx(unused); }
  };
  std::unique_ptr<ZSTD_CCtx_s, context_deleter> context{ZSTD_createCCtx()};

  // Appends the stored form of a stream; says which coding it took.
  result<stream_coding> encode(std::span<const std::byte> raw, int level,
                               std::vector<std::byte>& stored) {
    if (all_equal(raw)) {
      stored.push_back(raw.front());
      return stream_coding::constant;
    }
    const auto begin = stored.size();
    stored.resize(begin + ZSTD_compressBound(raw.size()));
    const size_t size = ZSTD_compressCCtx(context.get(), stored.data() + begin,
                                          stored.size() - begin, raw.data(), raw.size(), level);
    if (ZSTD_isError(size)) return fail("cannot compress: {}", ZSTD_getErrorName(size));
    if (size < raw.size()) {
      stored.resize(begin + size);
      return stream_coding::zstd;
    }
    stored.resize(begin);
    stored.insert(stored.end(), raw.begin(), raw.end());
    return stream_coding::raw;
  }
};

chunk_writer::chunk_writer(int descriptor, int compression_level)
    : descriptor_(descriptor),
      compression_level_(compression_level),
      compressor_(std::make_unique<compressor>()) {}
chunk_writer::~chunk_writer() = default;
chunk_writer::chunk_writer(chunk_writer&&) noexcept = default;
chunk_writer& chunk_writer::operator=(chunk_writer&&) noexcept = default;

result<chunk_writer> chunk_writer::begin(int descriptor, int compression_level) {
  chunk_writer writer(descriptor, compression_level);
  if (!writer.compressor_->context) return fail("out of memory");
  byte_writer header;
  header.bytes(std::as_bytes(std::span(file_magic)));
  header.number(file_version);
  header.number(checked_cast<uint32_t>(file_header_bytes));
  header.number(uint64_t{0});
  header.number(checksum(header.view()));
  if (auto written = writer.write(header.view()); !written) return tl::unexpected(written.error());
  return writer;
}

result<void> chunk_writer::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("cannot write the trace: {}", strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset_ += static_cast<uint64_t>(count);
  }
  return {};
}

result<void> chunk_writer::append(chunk_kind kind, uint64_t first_item, uint64_t items,
                                  std::span<const stream_source> streams) {
  ZEVENT_INVARIANT(streams.size() <= max_streams_per_chunk);
  std::vector<std::byte> stored;
  byte_writer payload;
  payload.number(checked_cast<uint32_t>(streams.size()));
  payload.number(uint32_t{0});
  for (const auto& stream : streams) {
    ZEVENT_INVARIANT(stream.bytes.size() <= max_stream_bytes);
    const auto begin = stored.size();
    const auto coding = compressor_->encode(stream.bytes, compression_level_, stored);
    if (!coding) return tl::unexpected(coding.error());
    payload.number(stream.name);
    payload.number(static_cast<uint8_t>(*coding));
    payload.number(uint8_t{0});
    payload.number(uint32_t{0});
    payload.number(uint64_t{stream.bytes.size()});
    payload.number(uint64_t{stored.size() - begin});
  }
  payload.bytes(stored);

  const chunk_entry entry{offset_, payload.view().size(), first_item, items, kind};
  byte_writer header;
  header.bytes(std::as_bytes(std::span(chunk_magic)));
  header.number(static_cast<uint16_t>(kind));
  header.number(uint16_t{0});
  header.number(entry.payload_bytes);
  header.number(first_item);
  header.number(items);
  header.number(checksum(payload.view()));
  header.number(checksum(header.view(), entry.offset));

  const std::vector<std::byte> padding(padding_after(entry.payload_bytes));
  for (const auto& part :
       {std::span<const std::byte>(header.view()), std::span<const std::byte>(payload.view()),
        std::span<const std::byte>(padding)})
    if (auto written = write(part); !written) return written;
  entries_.push_back(entry);
  return {};
}

result<uint64_t> chunk_writer::finish() {
  byte_writer index;
  for (const auto& entry : entries_) {
    index.number(entry.offset);
    index.number(entry.payload_bytes);
    index.number(entry.first_item);
    index.number(entry.items);
    index.number(static_cast<uint16_t>(entry.kind));
    index.number(uint16_t{0});
    index.number(uint32_t{0});
  }
  const uint64_t index_offset = offset_;
  const stream_source source{index_stream, index.view()};
  if (auto written = append(chunk_kind::index, 0, entries_.size(), {&source, 1}); !written)
    return tl::unexpected(written.error());
  byte_writer trailer;
  trailer.number(index_offset);
  trailer.number(checksum(trailer.view()));
  trailer.bytes(std::as_bytes(std::span(trailer_magic)));
  if (auto written = write(trailer.view()); !written) return tl::unexpected(written.error());
  return offset_;
}

namespace {

// Whether what is stored could unpack to as much as it says: asked before memory is taken for it.
bool is_possible(const chunk::stream& given) {
  // A block of zstd takes three bytes at least, and gives this much at most.
  constexpr uint64_t largest_block_bytes = uint64_t{128} << 10;
  switch (given.coding) {
    case stream_coding::raw:
      return given.decoded_bytes == given.stored.size();
    case stream_coding::constant:
      return given.stored.size() == 1;
    case stream_coding::zstd:
      return given.decoded_bytes <= (given.stored.size() / 3 + 1) * largest_block_bytes;
  }
  return false;
}

}  // namespace

const chunk::stream* chunk::find(uint16_t name) const {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const stream& each) { return each.name == name; });
  return found == streams_.end() ? nullptr : &*found;
}

std::optional<uint64_t> chunk::decoded_bytes(uint16_t name) const {
  const auto* found = find(name);
  return found == nullptr ? std::nullopt : std::optional(found->decoded_bytes);
}

std::optional<std::byte> chunk::constant(uint16_t name) const {
  const auto* found = find(name);
  if (found == nullptr || found->coding != stream_coding::constant) return std::nullopt;
  return found->stored.size() == 1 ? std::optional(found->stored.front()) : std::nullopt;
}

result<void> chunk::decode(uint16_t name, std::span<std::byte> destination) const {
  const auto* found = find(name);
  if (found == nullptr) return fail("the chunk at byte {} has no stream {}", entry_.offset, name);
  if (found->decoded_bytes != destination.size())
    return fail("stream {} of the chunk at byte {} has {} bytes where {} are needed", name,
                entry_.offset, found->decoded_bytes, destination.size());
  switch (found->coding) {
    case stream_coding::raw:
      if (found->stored.size() != destination.size()) break;
      std::copy(found->stored.begin(), found->stored.end(), destination.begin());
      return {};
    case stream_coding::constant:
      if (found->stored.size() != 1) break;
      std::fill(destination.begin(), destination.end(), found->stored.front());
      return {};
    case stream_coding::zstd: {
      struct context_deleter {
        void operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }
      };
      thread_local const std::unique_ptr<ZSTD_DCtx_s, context_deleter> context{ZSTD_createDCtx()};
      if (!context) return fail("out of memory");
      const size_t size = ZSTD_decompressDCtx(context.get(), destination.data(), destination.size(),
                                              found->stored.data(), found->stored.size());
      if (ZSTD_isError(size) || size != destination.size()) break;
      return {};
    }
  }
  return fail("stream {} of the chunk at byte {} does not decode", name, entry_.offset);
}

result<std::vector<std::byte>> chunk::decode(uint16_t name, uint64_t most_bytes) const {
  const auto bytes = decoded_bytes(name);
  if (!bytes) return fail("the chunk at byte {} has no stream {}", entry_.offset, name);
  if (*bytes > most_bytes)
    return fail("stream {} of the chunk at byte {} says it holds {} bytes; at most {} make sense",
                name, entry_.offset, *bytes, most_bytes);
  if (!is_possible(*find(name)))
    return fail("stream {} of the chunk at byte {} does not decode", name, entry_.offset);
  std::vector<std::byte> destination(static_cast<size_t>(*bytes));
  if (auto decoded = decode(name, std::span(destination)); !decoded)
    return tl::unexpected(decoded.error());
  return destination;
}

result<chunk_file> chunk_file::open(const std::filesystem::path& path) {
  auto mapped = map_file(path);
  if (!mapped) return tl::unexpected(mapped.error());
  auto file = parse(std::move(*mapped));
  if (!file) return fail("{}: {}", path.string(), file.error().message);
  return file;
}

result<chunk_file> chunk_file::parse(owned_bytes bytes) {
  chunk_file file(std::move(bytes));
  untrusted_reader header(file.file_.bytes);
  if (file.file_.bytes.empty()) return fail("not a zevent trace: it is empty");
  if (!begins_with(file.file_.bytes, file_magic))
    return fail("not a zevent trace: it does not begin with \"ZEVENT\"");
  header.take(sizeof file_magic);
  const auto version = header.number<uint32_t>();
  header.number<uint32_t>();
  header.number<uint64_t>();
  const auto expected = header.number<uint64_t>();
  if (!header.ok()) return fail("the file is cut inside its header");
  if (version > file_version)
    return fail("the trace has format version {}; this zevent reads up to version {}", version,
                file_version);
  if (!has_checksum(file.file_.bytes.first(file_header_bytes - 8), expected))
    file.damage_.push_back({0, "the file header is damaged"});
  if (!file.read_index()) file.walk_chunks();
  return file;
}

std::optional<chunk_entry> chunk_file::read_header(uint64_t offset) const {
  const auto size = file_.bytes.size();
  if (offset > size || size - offset < chunk_header_bytes) return std::nullopt;
  const auto raw = file_.bytes.subspan(offset, chunk_header_bytes);
  if (!begins_with(raw, chunk_magic)) return std::nullopt;
  untrusted_reader header(raw);
  header.take(sizeof chunk_magic);
  chunk_entry entry;
  entry.offset = offset;
  entry.kind = chunk_kind{header.number<uint16_t>()};
  header.number<uint16_t>();
  entry.payload_bytes = header.number<uint64_t>();
  entry.first_item = header.number<uint64_t>();
  entry.items = header.number<uint64_t>();
  header.number<uint64_t>();
  if (!has_checksum(raw.first(chunk_header_bytes - 8), header.number<uint64_t>(), offset))
    return std::nullopt;
  return entry;
}

// True when the trailer and the index are whole.
bool chunk_file::read_index() {
  const auto size = file_.bytes.size();
  if (size < file_header_bytes + trailer_bytes) return false;
  const auto raw = file_.bytes.last(trailer_bytes);
  if (!begins_with(raw.last(sizeof trailer_magic), trailer_magic)) return false;
  untrusted_reader trailer(raw);
  const auto index_offset = trailer.number<uint64_t>();
  if (!has_checksum(raw.first(8), trailer.number<uint64_t>())) return false;
  const auto entry = read_header(index_offset);
  if (!entry || entry->kind != chunk_kind::index) return false;
  const auto index_chunk = load(*entry);
  if (!index_chunk) return false;
  // Each entry stands for a chunk in the file, which bounds how many there can be.
  const auto most_entries = size / chunk_header_bytes;
  const auto index = index_chunk->decode(index_stream, most_entries * index_entry_bytes);
  if (!index || index->size() % index_entry_bytes != 0) return false;
  untrusted_reader reader(*index);
  while (!reader.at_end()) {
    chunk_entry next;
    next.offset = reader.number<uint64_t>();
    next.payload_bytes = reader.number<uint64_t>();
    next.first_item = reader.number<uint64_t>();
    next.items = reader.number<uint64_t>();
    next.kind = chunk_kind{reader.number<uint16_t>()};
    reader.number<uint16_t>();
    reader.number<uint32_t>();
    entries_.push_back(next);
  }
  return true;
}

void chunk_file::walk_chunks() {
  const uint64_t size = file_.bytes.size();
  uint64_t readable_until = file_header_bytes;
  bool index_seen = false;
  // Where there is no whole chunk the file is cut, or damaged and the next chunk is looked for.
  for (uint64_t offset = file_header_bytes; offset < size; offset += 8) {
    const auto entry = read_header(offset);
    if (!entry || entry->payload_bytes > size - offset - chunk_header_bytes) continue;
    if (offset != readable_until)
      damage_.push_back(
          {readable_until, fmt::format("{} damaged bytes are skipped", offset - readable_until)});
    if (entry->kind == chunk_kind::index)
      index_seen = true;
    else
      entries_.push_back(*entry);
    const uint64_t stored = chunk_header_bytes + entry->payload_bytes;
    readable_until = std::min(size, offset + stored + padding_after(stored));
    offset += stored + padding_after(stored) - 8;
  }
  if (index_seen)
    damage_.push_back({readable_until, "the end of the file is damaged"});
  else
    damage_.push_back({readable_until, fmt::format("the file is cut: of {} bytes {} can be read",
                                                   size, readable_until)});
}

result<chunk> chunk_file::load(const chunk_entry& entry) const {
  const auto header = read_header(entry.offset);
  const auto damaged = [&] { return fail("the chunk at byte {} is damaged", entry.offset); };
  if (!header || header->kind != entry.kind || header->payload_bytes != entry.payload_bytes ||
      header->first_item != entry.first_item || header->items != entry.items ||
      entry.payload_bytes > file_.bytes.size() - entry.offset - chunk_header_bytes)
    return damaged();
  const auto payload = file_.bytes.subspan(entry.offset + chunk_header_bytes, entry.payload_bytes);
  untrusted_reader stored_sum(file_.bytes.subspan(entry.offset + 32, 8));
  if (!has_checksum(payload, stored_sum.number<uint64_t>())) return damaged();

  chunk loaded;
  loaded.entry_ = entry;
  loaded.owner_ = file_.owner;
  untrusted_reader reader(payload);
  const auto streams = reader.number<uint32_t>();
  reader.number<uint32_t>();
  if (!reader.ok() || streams > max_streams_per_chunk) return damaged();
  std::vector<uint64_t> stored_bytes;
  for (uint32_t i = 0; i < streams; ++i) {
    chunk::stream next;
    next.name = reader.number<uint16_t>();
    next.coding = stream_coding{reader.number<uint8_t>()};
    reader.number<uint8_t>();
    reader.number<uint32_t>();
    next.decoded_bytes = reader.number<uint64_t>();
    stored_bytes.push_back(reader.number<uint64_t>());
    if (next.decoded_bytes > max_stream_bytes || stored_bytes.back() > payload.size())
      return damaged();
    loaded.streams_.push_back(next);
  }
  for (uint32_t i = 0; i < streams; ++i) loaded.streams_[i].stored = reader.take(stored_bytes[i]);
  if (!reader.ok()) return damaged();
  return loaded;
}

}  // namespace zevent::trace
