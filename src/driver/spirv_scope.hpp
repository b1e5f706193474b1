#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver/spirv_binary.hpp"

namespace zevent::driver::spirv {

// Finds the types and constants of a module, or adds them. What is added is collected and put in
// its place by flush(), so that positions of instructions stay what they are until then.
class module_scope {
 public:
  explicit module_scope(binary& module) : module_(module) {}

  // The module's instructions end, or its functions begin, here: what comes before has been read,
  // and what is added goes in between.
  void begin_functions();

  id type(spv::Op opcode, const std::vector<uint32_t>& operands);
  id integer_type(uint32_t bits);
  id float_type(uint32_t bits);
  id vector_type(id component, uint32_t count);
  id pointer_type(spv::StorageClass storage, id pointee);
  id integer_constant(uint32_t bits, uint64_t value);
  id constant(spv::Op opcode, id type, const std::vector<uint32_t>& operands, bool are_ids);
  void decorate(id target, spv::Decoration decoration, std::vector<uint32_t> literals);

  void flush();

 private:
  id find_or_add(instruction wanted);

  binary& module_;
  size_t functions_start_ = 0;
  std::map<std::vector<uint32_t>, id> known_;  // opcode, type and operands of types and constants
  std::vector<instruction> added_globals_;
  std::vector<instruction> added_decorations_;
};

}  // namespace zevent::driver::spirv
