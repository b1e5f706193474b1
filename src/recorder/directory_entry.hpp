#pragma once

#include <cstdint>

namespace zevent::recorder {

// As the kernel gives it; the C library has it only in readdir(), which asks malloc() for memory.
struct linux_dirent64 {
  uint64_t d_ino;
  int64_t d_off;
  unsigned short d_reclen;
  unsigned char d_type;
  char d_name[];
};

}  // namespace zevent::recorder
