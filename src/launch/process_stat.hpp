#pragma once

#include <cstdint>
#include <optional>

namespace zevent::launch {

// What /proc/PID/stat says of a process.
struct process_stat {
  char state = 0;      // of its first thread: R, S, Z, …
  uint64_t start = 0;  // field 22: with the process number, unique since boot
  // Field 52: of a process that has ended and that nobody has waited for, what waitpid() will say.
  // 0 also where this process may not know.
  int status = 0;
};

// Nothing when there is no such process.
std::optional<process_stat> read_process_stat(uint32_t process_id);

// Whether this very process still has a thread. Process numbers are given out again.
bool is_alive(uint32_t process_id, uint64_t start);

}  // namespace zevent::launch
