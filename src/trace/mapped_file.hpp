#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace zevent::trace {

// Bytes to read, with their owner: a mapping of a file, or memory.
struct owned_bytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Maps a whole file for reading. Anything but a regular file is refused.
result<owned_bytes> map_file(const std::filesystem::path& path);

// The same of an open descriptor, which may be closed afterwards. `name` is for messages.
result<owned_bytes> map_descriptor(int descriptor, const std::string& name);

owned_bytes own_bytes(std::vector<std::byte> bytes);

}  // namespace zevent::trace
