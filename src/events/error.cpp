#include "zevent/error.hpp"

#include <cstdio>

namespace zevent {
namespace {

std::string message_of(ze_result_t result, const char* call, const std::string& reason,
                       uint64_t appended) {
  char number[24];
  std::snprintf(number, sizeof number, " (0x%x)", static_cast<unsigned>(result));
  std::string message = std::string(call) + ": " + result_name(result) + number;
  if (!reason.empty()) message += ": " + reason;
  if (appended > 0) message += "; " + std::to_string(appended) + " commands were appended before";
  return message;
}

}  // namespace

error::error(ze_result_t result, const char* call, const std::string& reason, uint64_t appended)
    : std::runtime_error(message_of(result, call, reason, appended)),
      result_(result),
      call_(call),
      appended_(appended) {}

const char* result_name(ze_result_t result) noexcept {
  switch (result) {
#define ZEVENT_RESULT(name) \
  case name:                \
    return #name;
#include "result_names.inc"
#undef ZEVENT_RESULT
    default:
      return "unknown result";
  }
}

}  // namespace zevent
