#pragma once

#include <cstdint>

#include <level_zero/ze_api.h>

namespace zevent::driver {

// The two-call protocol of every getter that answers with an array: asked with a count of 0 or
// without an array, it tells how many there are; asked with an array, it fills in as many as there
// is room for, by write(element, index), and tells how many that were.
template <typename T, typename Write>
ze_result_t answer_in_two_calls(uint32_t available, uint32_t* count, T* array, Write&& write) {
  if (*count == 0 || array == nullptr) {
    *count = available;
    return ZE_RESULT_SUCCESS;
  }
  if (*count > available) *count = available;
  for (uint32_t i = 0; i < *count; ++i) write(array[i], i);
  return ZE_RESULT_SUCCESS;
}

}  // namespace zevent::driver
