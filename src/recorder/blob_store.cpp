#include "recorder/blob_store.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "recorder/process_recording.hpp"
#include "recorder/thread_log.hpp"

namespace zevent::recorder {

recording::blob_hash hash_of(std::span<const std::byte> content) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(content.data(), content.size()));
  recording::blob_hash hash;
  static_assert(sizeof(hash.bytes) == sizeof(canonical.digest));
  std::memcpy(hash.bytes, canonical.digest, sizeof(hash.bytes));
  return hash;
}

std::optional<recording::blob_hash> keep_blob(thread_log& log, std::span<const std::byte> content) {
  auto* recording = process_recording::current();
  if (recording == nullptr) return std::nullopt;
  const auto hash = hash_of(content);
  if (recording->has_blob(hash)) return hash;
  if (!log.write_blob(hash, content)) return std::nullopt;
  recording->note_blob(hash);
  return hash;
}

}  // namespace zevent::recorder
