#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "trace/chunk_file.hpp"

namespace zevent::trace {

// The bytes that `write` puts into a chunk file, finished unless told otherwise.
inline std::vector<std::byte> written_file(const std::function<void(chunk_writer&)>& write,
                                           bool finish = true) {
  const int descriptor = memfd_create("trace", MFD_CLOEXEC);
  auto writer = chunk_writer::begin(descriptor, 1);
  EXPECT_TRUE(writer);
  write(*writer);
  if (finish) {
    EXPECT_TRUE(writer->finish());
  }
  std::vector<std::byte> bytes(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)));
  EXPECT_EQ(pread(descriptor, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  close(descriptor);
  return bytes;
}

}  // namespace zevent::trace
