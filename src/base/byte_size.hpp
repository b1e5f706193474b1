#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace zevent {

// "500M", "2G", "1.5 GB", "64MiB", "1048576": a number of bytes as people write it. K, M, G and T
// are powers of 1000, as in what zevent prints; with "i" they are powers of 1024.
result<uint64_t> parse_byte_size(std::string_view text);

// "512 bytes", "52.9 kB", "500 MB", "1.5 GB".
std::string byte_size_text(uint64_t bytes);

}  // namespace zevent
