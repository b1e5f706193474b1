#pragma once

#include "zevent/error.hpp"

namespace zevent {

// check(zeEventHostReset(event), "zeEventHostReset");
inline void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) [[unlikely]]
    throw error(result, call);
}

// A call that may answer "not yet".
inline bool check_ready(ze_result_t result, const char* call) {
  if (result == ZE_RESULT_NOT_READY) return false;
  check(result, call);
  return true;
}

}  // namespace zevent
