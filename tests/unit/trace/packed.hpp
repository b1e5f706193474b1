#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "fake_program.hpp"
#include "trace/pack.hpp"
#include "trace/trace_file.hpp"

namespace zevent::trace {

// The bytes of the packed trace of these programs.
inline std::vector<std::byte> packed_bytes(std::vector<fake_program*> programs,
                                           pack_report* report = nullptr) {
  std::vector<recording_part> parts;
  for (auto* program : programs) {
    auto part = recording_part::parse(own_bytes(program->file.bytes()), "test");
    EXPECT_TRUE(part) << part.error().message;
    parts.push_back(std::move(*part));
  }
  const int descriptor = memfd_create("packed", MFD_CLOEXEC);
  auto made = pack_parts(parts, descriptor);
  EXPECT_TRUE(made) << made.error().message;
  if (made && report != nullptr) *report = *made;
  std::vector<std::byte> bytes(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)));
  EXPECT_EQ(pread(descriptor, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  close(descriptor);
  return bytes;
}

inline trace_file packed(std::vector<fake_program*> programs, pack_report* report = nullptr) {
  auto trace = trace_file::parse(own_bytes(packed_bytes(std::move(programs), report)));
  EXPECT_TRUE(trace) << trace.error().message;
  return std::move(*trace);
}

inline std::vector<call> calls_of(const trace_file& trace) {
  std::vector<call> all;
  call_reader reader(trace);
  while (const call* each = reader.next()) all.push_back(*each);
  EXPECT_TRUE(reader.damage().empty());
  return all;
}

}  // namespace zevent::trace
