#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "api/recording_format.hpp"
#include "recorder/mapped_allocator.hpp"
#include "recorder/part_file.hpp"

namespace zevent::recorder {

// Puts the records of a full segment into fewer bytes; api/recording_format.hpp says how.
//
// Programs make the same calls again and again. A call that differs from an earlier one of the
// segment only in its times takes 8 bytes; any other record takes 8 more than it has. It is done by
// the thread whose calls they are, once a segment: some 3 ns a call.
class segment_packer : public in_mapped_memory<segment_packer> {
 public:
  // The whole block, from its header to its trailer. Valid until the next one is packed.
  std::span<const std::byte> pack(const mapped_segment& segment);

 private:
  struct progress;
  void forget_templates();
  void add_call(progress& now, const std::byte* segment, const std::byte* record, uint64_t bytes);

  // At worst all records are as short as can be and nothing can be said in fewer bytes. Not
  // initialised: what is not used takes no memory.
  static constexpr uint64_t largest_block_bytes =
      2 * segment_unit_bytes + sizeof(recording::block_header) + sizeof(uint64_t);

  // Where in the segment the record of each template is; 0 for none.
  std::array<uint32_t, recording::template_count> templates_;
  // Which one came last after each.
  std::array<uint16_t, recording::template_count> followers_;
  std::array<std::byte, largest_block_bytes> block_;
};

}  // namespace zevent::recorder
