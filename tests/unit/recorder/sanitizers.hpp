#pragma once

// Which sanitizers this is built with, whatever the compiler.
#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ZEVENT_ADDRESS_SANITIZER 1
#else
#define ZEVENT_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define ZEVENT_THREAD_SANITIZER 1
#else
#define ZEVENT_THREAD_SANITIZER 0
#endif

namespace zevent::recorder_test {

// A sanitizer ends the program when it finds no memory.
inline constexpr bool may_run_out_of_memory = !ZEVENT_ADDRESS_SANITIZER && !ZEVENT_THREAD_SANITIZER;

}  // namespace zevent::recorder_test
