#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/file_format.hpp"
#include "trace/mapped_file.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

// The container of a packed trace: chunks of compressed streams and an index of them. What the
// streams mean is the business of the files that use it. The bytes are drawn in file_format.hpp.
namespace zevent::trace {

struct chunk_entry {
  uint64_t offset = 0;  // of the chunk header in the file
  uint64_t payload_bytes = 0;
  uint64_t first_item = 0;
  uint64_t items = 0;
  chunk_kind kind{};
};

struct stream_source {
  uint16_t name = 0;
  std::span<const std::byte> bytes;
};

// Writes chunks one after the other into a descriptor, which stays the caller's. A file that is
// never finished is still readable up to the last whole chunk.
class chunk_writer {
 public:
  static result<chunk_writer> begin(int descriptor, int compression_level);
  ~chunk_writer();
  chunk_writer(chunk_writer&&) noexcept;
  chunk_writer& operator=(chunk_writer&&) noexcept;

  result<void> append(chunk_kind kind, uint64_t first_item, uint64_t items,
                      std::span<const stream_source> streams);
  // Writes the index and the trailer; gives the size of the file.
  result<uint64_t> finish();

 private:
  struct compressor;
  chunk_writer(int descriptor, int compression_level);
  result<void> write(std::span<const std::byte> bytes);

  int descriptor_;
  int compression_level_;
  uint64_t offset_ = 0;
  std::unique_ptr<compressor> compressor_;
  std::vector<chunk_entry> entries_;
};

// The streams of one chunk whose checksum was right.
class chunk {
 public:
  struct stream {
    uint16_t name = 0;
    stream_coding coding{};
    uint64_t decoded_bytes = 0;
    std::span<const std::byte> stored;
  };

  // Bytes of a stream once decoded; nullopt when the chunk has no such stream.
  std::optional<uint64_t> decoded_bytes(uint16_t name) const;
  // Fills `destination`, whose size must be what decoded_bytes said.
  result<void> decode(uint16_t name, std::span<std::byte> destination) const;
  // The byte that all of the stream is; nullopt when it is not said to be one repeated byte.
  std::optional<std::byte> constant(uint16_t name) const;
  // The same into memory of its own; fails when it would be more than `most_bytes`, or more than
  // what is stored could ever unpack to.
  result<std::vector<std::byte>> decode(uint16_t name, uint64_t most_bytes) const;

 private:
  friend class chunk_file;
  const stream* find(uint16_t name) const;

  chunk_entry entry_;
  std::vector<stream> streams_;
  std::shared_ptr<const void> owner_;
};

// What is wrong with a file that was opened all the same.
struct file_damage {
  uint64_t offset = 0;
  std::string what;
};

class chunk_file {
 public:
  static result<chunk_file> open(const std::filesystem::path& path);
  static result<chunk_file> parse(owned_bytes file);

  std::span<const chunk_entry> chunks() const { return entries_; }
  std::span<const file_damage> damage() const { return damage_; }
  uint64_t size_bytes() const { return file_.bytes.size(); }

  // Checks the chunk's bytes against its checksum. May be called from several threads.
  result<chunk> load(const chunk_entry& entry) const;

 private:
  explicit chunk_file(owned_bytes file) : file_(std::move(file)) {}
  bool read_index();
  void walk_chunks();
  std::optional<chunk_entry> read_header(uint64_t offset) const;

  owned_bytes file_;
  std::vector<chunk_entry> entries_;
  std::vector<file_damage> damage_;
};

}  // namespace zevent::trace
