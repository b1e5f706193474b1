#include "driver/last_error.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"

namespace zevent::driver {
namespace {

// A plain array: a thread's objects with destructors are gone when its last calls come.
thread_local char text_of_thread[512];

}  // namespace

const char* last_error() {
  return text_of_thread;
}

void set_last_error(std::string text) {
  log_info("driver", "{}", text);
  const size_t length = std::min(text.size(), sizeof text_of_thread - 1);
  std::memcpy(text_of_thread, text.data(), length);
  text_of_thread[length] = '\0';
}

}  // namespace zevent::driver
