#include "report/text_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace zevent::report {

text_output::~text_output() {
  if (failed_) return;
  try {
    flush();
  } catch (const std::system_error&) {
    // Whoever wants to know flushes before.
  }
}

void text_output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      failed_ = true;
      throw std::system_error(errno, std::generic_category(), "cannot write the output");
    }
    rest.remove_prefix(static_cast<size_t>(count));
  }
  buffer_.clear();
}

}  // namespace zevent::report
