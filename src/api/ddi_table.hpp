#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace zevent::api {

// From `version` on (major << 16 | minor) a dispatch table has `slots` function pointers.
struct table_size {
  uint32_t version;
  uint32_t slots;
};

// How many slots the table of that version has; 0 when the table did not exist yet. `history` is
// sorted by version.
constexpr uint32_t slots_at(std::span<const table_size> history, uint32_t version) {
  uint32_t slots = 0;
  for (const auto& size : history) {
    if (size.version > version) break;
    slots = size.slots;
  }
  return slots;
}

// What a z*Get*ProcAddrTable function does: copies the slots that the caller's version of the table
// has and not one byte more, for the caller's struct ends there.
inline ze_result_t fill_table(ze_api_version_t version, void* table, const void* functions,
                              std::span<const table_size> history) {
  if (table == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  const auto asked = static_cast<uint32_t>(version);
  if ((asked >> 16) != (static_cast<uint32_t>(ZE_API_VERSION_CURRENT) >> 16))
    return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  std::memcpy(table, functions, slots_at(history, asked) * sizeof(void (*)()));
  return ZE_RESULT_SUCCESS;
}

}  // namespace zevent::api
