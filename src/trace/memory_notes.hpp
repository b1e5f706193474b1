#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "trace/blob_store.hpp"
#include "trace/call.hpp"
#include "trace/chunk_file.hpp"

// What memory held when calls were made.
//
//   column    of every note, in order of call
//   call      distance from the call of the note before it, the first from `first item`
//   address, bytes, flags (recording::memory_flag)
//   stream
//   content   16 bytes a note: the hash of the blob
namespace zevent::trace {

struct memory_note {
  call_number call{};
  uint64_t address = 0;  // as the program saw it
  uint64_t bytes = 0;
  uint8_t flags = 0;  // of recording::memory_flag
  blob_hash content{};
};

class memory_note_writer {
 public:
  // Notes are added in order of their calls.
  result<void> add(const memory_note& note, chunk_writer& file);
  result<void> flush(chunk_writer& file);

 private:
  std::vector<memory_note> notes_;
};

result<std::vector<memory_note>> read_memory_notes(const chunk& source, const chunk_entry& entry);

}  // namespace zevent::trace
