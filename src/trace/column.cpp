#include "trace/column.hpp"

#include <algorithm>

namespace zevent::trace {
namespace {

template <typename T>
result<void> decode_planes(const chunk& source, column_id column, std::span<T> values) {
  for (unsigned plane = sizeof(T); plane < planes_per_column; ++plane)
    if (source.decoded_bytes(plane_stream(column, plane)))
      return fail("column {} holds numbers of more than {} bytes", column, sizeof(T));
  std::fill(values.begin(), values.end(), T{0});
  std::vector<std::byte> bytes(values.size());
  for (unsigned plane = 0; plane < sizeof(T); ++plane) {
    const auto name = plane_stream(column, plane);
    if (!source.decoded_bytes(name)) continue;
    if (auto decoded = source.decode(name, std::span(bytes)); !decoded) return decoded;
    T* const value = values.data();
    const std::byte* const byte = bytes.data();
    for (size_t i = 0; i < values.size(); ++i)
      value[i] = static_cast<T>(value[i] | static_cast<T>(static_cast<T>(byte[i]) << (8 * plane)));
  }
  return {};
}

}  // namespace

column_planes::column_planes(column_id column, std::span<const uint64_t> values) : column_(column) {
  uint64_t bits = 0;
  for (const uint64_t value : values) bits |= value;
  for (unsigned plane = 0; plane < planes_per_column && (bits >> (8 * plane)) != 0; ++plane) {
    auto& bytes = planes_.emplace_back(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      bytes[i] = static_cast<std::byte>(values[i] >> (8 * plane));
  }
}

void column_planes::append_streams(std::vector<stream_source>& streams) const {
  for (unsigned plane = 0; plane < planes_.size(); ++plane)
    streams.push_back({plane_stream(column_, plane), planes_[plane]});
}

result<void> decode_column(const chunk& source, column_id column, std::span<uint64_t> values) {
  return decode_planes(source, column, values);
}

result<void> decode_column(const chunk& source, column_id column, std::span<uint32_t> values) {
  return decode_planes(source, column, values);
}

result<void> decode_column(const chunk& source, column_id column, std::span<uint8_t> values) {
  return decode_planes(source, column, values);
}

bool undo_delta(std::span<uint64_t> values, uint64_t base) {
  bool overflow = false;
  for (uint64_t& value : values)
    overflow |= __builtin_add_overflow(base, value, &base), value = base;
  return !overflow;
}

}  // namespace zevent::trace
