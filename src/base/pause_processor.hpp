#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zevent {

// In a loop that waits for another processor.
inline void pause_processor() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace zevent
