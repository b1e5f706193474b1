#pragma once

#include <level_zero/ze_api.h>

#include <exception>
#include <new>

namespace zevent::api {

// The result for the exception being handled: no exception leaves a C function.
inline ze_result_t exception_result() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  } catch (...) {
    return ZE_RESULT_ERROR_UNKNOWN;
  }
}

}  // namespace zevent::api
