#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/way_in.hpp"

namespace zevent::launch {

// Exit statuses of a launcher, as shells and env(1) have them.
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

// Replaces this process by the program, found through PATH. Returns only when that fails.
failure become_program(const std::vector<std::string>& command, const environment_changes& changes);

// How a program ended.
struct program_end {
  int exit_status = 0;  // as $? shows it: 128 + signal when a signal ended it
  int signal = 0;       // 0 when it exited by itself
  bool core_dumped = false;
};

// Runs the program as a child and waits for it. Terminal, stdin and stdout are the program's own:
// signals from the keyboard reach it directly and are ignored here; those sent to this process
// (TERM, HUP, USR1, USR2) are passed on.
result<program_end> run_program(const std::vector<std::string>& command,
                                const environment_changes& changes);

// What a launcher exits with when the program could not be started.
int exit_status_of_failed_start(const std::string& program);

// Ends this process the way the program ended: the same status, or the same signal.
[[noreturn]] void end_like(const program_end& end);

}  // namespace zevent::launch
