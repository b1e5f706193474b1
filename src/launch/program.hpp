#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/signal_relay.hpp"
#include "launch/way_in.hpp"

namespace zevent::launch {

// Exit statuses of a launcher, as shells and env(1) have them.
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

// Says what is set for a program and how it is called, where ZEVENT_LOG asks for it.
void log_start(const std::vector<std::string>& command, const environment_changes& changes);

// Replaces this process by the program, found through PATH. Returns only when that fails, with
// errno that says why.
failure become_program(const std::vector<std::string>& command, const environment_changes& changes);

// How a program ended.
struct program_end {
  int exit_status = 0;  // as $? shows it: 128 + signal when a signal ended it
  int signal = 0;       // 0 when it exited by itself
  bool core_dumped = false;
  uint32_t process_id = 0;
  uint64_t process_start = 0;  // as in process_stat; 0 where it is not known
  uint64_t ended_at_ns = 0;    // CLOCK_REALTIME
};

// What is to be done while a program runs, whenever the descriptor is readable.
struct side_work {
  int descriptor = -1;
  std::function<void()> act;
};

// Runs the program as a child and waits for it. Terminal, stdin and stdout are the program's own,
// and so are the signals that are sent to this process: see signal_relay.
result<program_end> run_program(const std::vector<std::string>& command,
                                const environment_changes& changes, signal_relay& relay,
                                const side_work& meanwhile = {});
result<program_end> run_program(const std::vector<std::string>& command,
                                const environment_changes& changes);

// What a launcher exits with when the program could not be started.
int exit_status_of_failed_start(const std::string& program);

// Ends this process the way the program ended: the same status, or the same signal.
[[noreturn]] void end_like(const program_end& end);

}  // namespace zevent::launch
