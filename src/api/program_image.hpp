#pragma once

#include <cstdint>
#include <cstring>

#include "api/recording_format.hpp"

namespace zevent::recording {

// A process has a part for each of its drivers, and other parts for the program that it was before
// it became another one. This tells them apart: the same in the parts of one program, 0 where it is
// not known. It is in the first bytes of file_header::reserved.
inline uint64_t program_image(const file_header& header) {
  uint64_t image = 0;
  std::memcpy(&image, header.reserved, sizeof(image));
  return image;
}

inline void set_program_image(file_header& header, uint64_t image) {
  std::memcpy(header.reserved, &image, sizeof(image));
}

}  // namespace zevent::recording
