#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace zevent {

// The name of a result as the headers spell it ("ZE_RESULT_NOT_READY"); "unknown result" for a
// value that they do not have.
const char* result_name(ze_result_t result) noexcept;

// The one exception of this library: which call failed, with which result, and why. Refusals of
// the library itself carry the result that a careful driver would have given.
class error : public std::runtime_error {
 public:
  // `call` is a string literal: only the pointer is kept. `appended`: see below.
  error(ze_result_t result, const char* call, const std::string& reason = {},
        uint64_t appended = 0);

  ze_result_t result() const noexcept { return result_; }

  // The Level Zero function that failed, or the function of this library that refused.
  const char* call() const noexcept { return call_; }

  // How many commands the failed function had appended to the list before the error; 0 when it
  // changed nothing.
  uint64_t appended() const noexcept { return appended_; }

 private:
  ze_result_t result_;
  const char* call_;
  uint64_t appended_;
};

}  // namespace zevent
