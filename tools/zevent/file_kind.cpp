#include "file_kind.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "trace/file_format.hpp"

namespace zevent::tool {

file_kind kind_of(const std::string& path) {
  std::error_code error;
  // A pipe may never have a first byte.
  if (!std::filesystem::is_regular_file(path, error)) return file_kind::other;
  std::array<char, sizeof(trace::file_magic)> first{};
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), first.size());
  const std::string_view begin(first.data(), static_cast<size_t>(file.gcount()));
  if (begin == std::string_view(trace::file_magic, sizeof(trace::file_magic)))
    return file_kind::trace;
  return begin.starts_with(
             "\x7f"
             "ELF") ||
                 begin.starts_with("#!")
             ? file_kind::program
             : file_kind::other;
}

}  // namespace zevent::tool
