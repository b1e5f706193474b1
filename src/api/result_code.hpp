#pragma once

#include <cstdint>

namespace zevent::api {

// Results by their numbers in ze_result_t, because a trace may be newer or older than the headers
// of this build. The numbers that are no errors are few; what is not known is taken for one.
constexpr bool is_error(uint32_t result) {
  switch (result) {
    case 0:           // SUCCESS
    case 1:           // NOT_READY
    case 0x70020001:  // WARNING_DROPPED_DATA
    case 0x7800001b:  // WARNING_ACTION_REQUIRED
    case 0x7800001d:  // EXT_RTAS_BUILD_RETRY
    case 0x7800001e:  // EXT_RTAS_BUILD_DEFERRED
    case 0x78000022:  // QUERY_TRUE
    case 0x78000023:  // QUERY_FALSE
    case 0x7fff0000:  // QUERY_TRUE, as drivers had it before it was part of the API
    case 0x7fff0001:  // QUERY_FALSE
    case 0x7ff00005:  // EXP_RTAS_BUILD_RETRY
    case 0x7ff00006:  // EXP_RTAS_BUILD_DEFERRED
      return false;
    default:
      return true;
  }
}

// Whether a call with that result has outputs worth reading: it did not fail, or it failed to build
// or link a module and says why in a log.
constexpr bool has_outputs(uint32_t result) {
  constexpr uint32_t build_failure = 0x70000004, link_failure = 0x70000005;
  return !is_error(result) || result == build_failure || result == link_failure;
}

}  // namespace zevent::api
