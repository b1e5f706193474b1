#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zevent {

// "SIGSEGV"; "signal 40" where it has no name.
std::string signal_name(int number);

// From SIGSEGV, SEGV or 11.
std::optional<int> parse_signal(std::string_view text);

// Whether a process that this signal ended failed by itself: a fault, an abort. The other signals
// are sent to processes that somebody wants to end.
bool is_crash_signal(int number);

}  // namespace zevent
