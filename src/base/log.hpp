#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

// What zevent says on stderr on request (ZEVENT_LOG): the command, the driver and the recorder.
//
//   error   only what goes wrong for zevent itself; that is said without this
//   info    what was chosen, and why something that the program asked for failed
//   trace   every step
//
// What is not wanted costs a load and a comparison, and its arguments are not formatted.
namespace zevent {

enum class log_level : int { error, info, trace };

// The level that the environment asks for, read once.
log_level wanted_log_level();

inline bool logs(log_level level) {
  return level <= wanted_log_level();
}

// One line, "zevent: PART: MESSAGE", in one write: other threads and processes write there too. Of
// a message of several lines each gets the beginning.
void write_log(std::string_view part, std::string_view message);

template <typename... Args>
void log_info(std::string_view part, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(log_level::info)) write_log(part, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_trace(std::string_view part, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(log_level::trace)) write_log(part, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zevent
