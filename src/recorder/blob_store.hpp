#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "api/recording_format.hpp"

namespace zevent::recorder {

class thread_log;

recording::blob_hash hash_of(std::span<const std::byte> content);

// Puts the content into the part, unless it is there, and gives its address. Nothing when it could
// not be written.
std::optional<recording::blob_hash> keep_blob(thread_log& log, std::span<const std::byte> content);

}  // namespace zevent::recorder
