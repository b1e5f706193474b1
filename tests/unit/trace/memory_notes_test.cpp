#include "trace/memory_notes.hpp"

#include <gtest/gtest.h>

#include <random>

#include "written_file.hpp"

namespace zevent::trace {
namespace {

TEST(memory_notes, notes_come_back_as_they_were) {
  std::mt19937_64 random(5);
  std::vector<memory_note> notes(40'000);
  uint64_t call = 17;
  for (auto& note : notes) {
    call += random() % 3;
    note = {call_number{call}, random(), random() % 5000, static_cast<uint8_t>(random() % 8), {}};
    for (auto& byte : note.content.bytes) byte = static_cast<uint8_t>(random());
  }
  const auto file = chunk_file::parse(own_bytes(written_file([&](chunk_writer& writer) {
    memory_note_writer out;
    for (const auto& note : notes) ASSERT_TRUE(out.add(note, writer));
    ASSERT_TRUE(out.flush(writer));
  })));
  ASSERT_EQ(file->chunks().size(), 2u);
  size_t next = 0;
  for (const auto& entry : file->chunks()) {
    const auto read = read_memory_notes(*file->load(entry), entry);
    ASSERT_TRUE(read) << read.error().message;
    for (const auto& each : *read) {
      const auto& expected = notes[next++];
      ASSERT_EQ(each.call, expected.call);
      ASSERT_EQ(each.address, expected.address);
      ASSERT_EQ(each.bytes, expected.bytes);
      ASSERT_EQ(each.flags, expected.flags);
      ASSERT_EQ(each.content, expected.content);
    }
  }
  EXPECT_EQ(next, notes.size());
}

}  // namespace
}  // namespace zevent::trace
