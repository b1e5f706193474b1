#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Where the parts of a type lie in memory, by the rules of OpenCL C for 64-bit devices.
struct layout {
  uint64_t size_bytes = 0;
  uint64_t alignment_bytes = 1;
};

struct decoration {
  spv::Decoration kind;
  std::vector<uint32_t> literals;
};

// Finds what a module says about an id: its definition, its decorations and, for a type, its
// layout. Positions are those of the instructions at the time the index was made.
class module_index {
 public:
  explicit module_index(const binary& module);

  // Null when nothing defines it.
  const instruction* definition(id wanted) const;
  spv::Op opcode_of(id wanted) const;

  std::span<const decoration> decorations(id target) const;
  const decoration* find_decoration(id target, spv::Decoration kind) const;
  // Name and kind of LinkageAttributes; nullopt when the id has none.
  struct linkage {
    std::string name;
    spv::LinkageType type;
  };
  const linkage* find_linkage(id target) const;

  // Fails for types that have no layout (images, opaque types) and for those that contain
  // themselves or are absurdly large.
  result<layout> layout_of(id type) const;
  // Where member `index` of a struct, or element `index` of an array or vector, starts.
  result<uint64_t> offset_of(id aggregate_type, uint64_t index) const;
  // The type of that member or element; 0 when there is none.
  id element_type(id aggregate_type, uint64_t index) const;

  // The value of an integer constant; nullopt when the id is not one.
  std::optional<uint64_t> integer_constant(id constant) const;

 private:
  result<layout> layout_of(id type, unsigned depth) const;
  result<layout> compute_layout(id type, unsigned depth) const;
  result<layout> struct_layout(id type, uint64_t stop_at_member, unsigned depth) const;

  const binary& module_;
  std::vector<uint32_t> definition_of_;  // instruction index + 1 by id; 0: none
  std::unordered_map<id, std::vector<decoration>> decorations_;
  std::unordered_map<id, linkage> linkages_;
  mutable std::unordered_map<id, result<layout>> layouts_;  // what layout_of has worked out so far
};

}  // namespace zevent::driver::spirv
