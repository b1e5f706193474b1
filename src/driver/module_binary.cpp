#include "driver/module_binary.hpp"

#include <cstring>

#include "base/byte_writer.hpp"
#include "base/checked_cast.hpp"
#include "base/untrusted_reader.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace zevent::driver {
namespace {

constexpr uint64_t magic = 0x5649'5441'4e56'455a;  // "ZEVNATIV"
constexpr uint32_t current_version = 1;

}  // namespace

std::vector<uint8_t> write_module_binary(const module_binary& module) {
  byte_writer contents;
  contents.bytes(std::as_bytes(std::span(module.flags)));
  contents.bytes(std::as_bytes(std::span(module.words)));
  byte_writer whole;
  whole.number(magic);
  whole.number(current_version);
  whole.number(checked_cast<uint32_t>(module.flags.size()));
  whole.number(static_cast<uint64_t>(module.words.size() * sizeof(uint32_t)));
  whole.number(static_cast<uint64_t>(XXH3_64bits(contents.view().data(), contents.view().size())));
  whole.bytes(contents.view());
  const auto* first = reinterpret_cast<const uint8_t*>(whole.view().data());
  return {first, first + whole.view().size()};
}

result<module_binary> read_module_binary(std::span<const uint8_t> untrusted) {
  untrusted_reader reader(std::as_bytes(untrusted));
  const auto found_magic = reader.number<uint64_t>();
  const auto version = reader.number<uint32_t>();
  const auto flags_bytes = reader.number<uint32_t>();
  const auto spirv_bytes = reader.number<uint64_t>();
  const auto hash = reader.number<uint64_t>();
  if (!reader.ok() || found_magic != magic) return fail("not a native binary of this driver");
  if (version != current_version) {
    return fail("a native binary of version {}, where this driver reads {}", version,
                current_version);
  }
  const auto contents = untrusted.subspan(untrusted.size() - reader.remaining());
  const auto flags = reader.take(flags_bytes);
  const auto spirv = reader.take(spirv_bytes);
  if (!reader.ok() || !reader.at_end() || spirv_bytes % sizeof(uint32_t) != 0) {
    return fail("a native binary whose parts do not add up: {} bytes", untrusted.size());
  }
  if (hash != XXH3_64bits(contents.data(), contents.size())) {
    return fail("a native binary that has been damaged");
  }
  module_binary module;
  module.flags.assign(reinterpret_cast<const char*>(flags.data()), flags.size());
  module.words.resize(spirv.size() / sizeof(uint32_t));
  std::memcpy(module.words.data(), spirv.data(), spirv.size());
  return module;
}

}  // namespace zevent::driver
