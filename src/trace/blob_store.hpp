#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "api/recording_format.hpp"
#include "base/result.hpp"
#include "trace/chunk_file.hpp"

// Contents that calls and memory notes refer to by their hash, each kept once.
//
//   stream    of a chunk of blobs
//   table     per blob: hash 16 bytes, size u64
//   content   of all blobs of the chunk, one after the other
namespace zevent::trace {

using recording::blob_hash;

struct blob_hash_order {
  bool operator()(const blob_hash& a, const blob_hash& b) const;
};

blob_hash hash_of(std::span<const std::byte> content);

// "5d301fe7c89740df…": 32 digits.
std::string to_text(const blob_hash& hash);

class blob_writer {
 public:
  // Keeps the content unless it is there already. Content that does not have the hash it is given
  // under is refused: whoever asks for it later must get what was meant.
  result<void> add(const blob_hash& hash, std::span<const std::byte> content, chunk_writer& file);
  // Writes what is still held back.
  result<void> flush(chunk_writer& file);

 private:
  std::set<blob_hash, blob_hash_order> written_;
  uint64_t first_item_ = 0;
  std::vector<std::pair<blob_hash, uint64_t>> table_;
  std::vector<std::byte> content_;
};

// Where the blobs of a file are. Reading one unpacks its chunk.
class blob_index {
 public:
  blob_index() = default;
  // Chunks that cannot be read are left out and noted in `damage`.
  blob_index(const chunk_file& file, std::vector<file_damage>& damage);

  bool contains(const blob_hash& hash) const { return places_.contains(hash); }
  size_t size() const { return places_.size(); }
  std::optional<uint64_t> size_of(const blob_hash& hash) const;
  // The content, checked against its hash.
  result<std::vector<std::byte>> read(const chunk_file& file, const blob_hash& hash) const;
  std::vector<blob_hash> all() const;

 private:
  struct place {
    chunk_entry entry;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  std::map<blob_hash, place, blob_hash_order> places_;
};

}  // namespace zevent::trace
