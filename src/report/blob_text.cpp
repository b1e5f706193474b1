#include "report/blob_text.hpp"

#include <cstring>

namespace zevent::report {

std::optional<std::string> blob_text(const trace::trace_file& trace,
                                     std::span<const std::byte> hash) {
  trace::blob_hash name;
  if (hash.size() != sizeof(name.bytes)) return std::nullopt;
  std::memcpy(name.bytes, hash.data(), hash.size());
  const auto content = trace.read_blob(name);
  if (!content) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(content->data()), content->size());
}

}  // namespace zevent::report
