#include "base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/environment.hpp"

namespace zevent {
namespace {

log_level read_level() {
  const auto text = read_environment("ZEVENT_LOG");
  if (!text || *text == "error") return log_level::error;
  if (*text == "info") return log_level::info;
  if (*text == "trace") return log_level::trace;
  write_log("ZEVENT_LOG", "'" + *text + "' is not error, info or trace; using error");
  return log_level::error;
}

}  // namespace

log_level wanted_log_level() {
  static const log_level level = read_level();
  return level;
}

void write_log(std::string_view part, std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const size_t end = std::min(message.find('\n'), message.size());
    if (end > 0) text += fmt::format("zevent: {}: {}\n", part, message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace zevent
