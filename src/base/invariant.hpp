#pragma once

// A broken invariant is a bug of zevent, never of its user or of a file: the check stays on in
// release builds, says what was broken where, and aborts.
#define ZEVENT_INVARIANT(condition)                               \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      ::zevent::broken_invariant(#condition, __FILE__, __LINE__); \
  } while (false)

#define ZEVENT_UNREACHABLE(what) \
  ::zevent::broken_invariant("unreachable: " what, __FILE__, __LINE__)

namespace zevent {

[[noreturn]] void broken_invariant(const char* condition, const char* file, int line);

}  // namespace zevent
