#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

namespace zevent {

// A futex word is an atomic of 32 bits. `shared` says that other processes may wait on it.
enum class futex_scope { process, shared };

enum class futex_wait_result { woken, value_changed, timed_out };

inline constexpr uint64_t no_timeout = UINT64_MAX;

inline int futex_operation(int operation, futex_scope scope) {
  return scope == futex_scope::process ? operation | FUTEX_PRIVATE_FLAG : operation;
}

// Sleeps while `word` holds `expected`. Wakes spuriously: the caller looks at the word again.
inline futex_wait_result futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                                    futex_scope scope, uint64_t timeout_ns = no_timeout) {
  timespec relative{};
  timespec* timeout = nullptr;
  if (timeout_ns != no_timeout) {
    relative.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000u);
    relative.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000u);
    timeout = &relative;
  }
  const long status =
      syscall(SYS_futex, &word, futex_operation(FUTEX_WAIT, scope), expected, timeout, nullptr, 0);
  if (status == 0 || errno == EINTR) return futex_wait_result::woken;
  return errno == ETIMEDOUT ? futex_wait_result::timed_out : futex_wait_result::value_changed;
}

inline void futex_wake(const std::atomic<uint32_t>& word, futex_scope scope, int count = INT_MAX) {
  syscall(SYS_futex, &word, futex_operation(FUTEX_WAKE, scope), count, nullptr, nullptr, 0);
}

}  // namespace zevent
