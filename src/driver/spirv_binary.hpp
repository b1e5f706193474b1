#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace zevent::driver::spirv {

using id = uint32_t;

// One instruction, as words in the machine's byte order. The first word holds opcode and length
// only in the binary; here the opcode stands apart and the length is that of `operands`.
struct instruction {
  spv::Op opcode = spv::OpNop;
  id type = 0;                        // result type; 0 when there is none
  id result = 0;                      // 0 when there is none
  std::vector<uint32_t> operands;     // what follows opcode, result type and result
  std::vector<uint16_t> id_operands;  // which of the operands are ids
  uint32_t extended_set = 0;          // OpExtInst: the kind of set, as SPIRV-Tools numbers it

  // OpExtInst of OpenCL.std; operand 1 says which.
  bool is_opencl_function() const;
  bool is_atomic() const;

  // The literal string that starts at an operand, and the operand after it.
  std::string string_at(size_t operand) const;
  static size_t string_words(std::string_view text);
  static void append_string(std::vector<uint32_t>& words, std::string_view text);

  template <typename Function>
  void for_each_id(Function&& function) {
    for (const uint16_t position : id_operands) function(operands[position]);
  }
  template <typename Function>
  void for_each_id(Function&& function) const {
    for (const uint16_t position : id_operands) function(operands[position]);
  }
};

// An instruction all of whose operands are ids.
instruction make_instruction(spv::Op opcode, id type, id result, std::vector<uint32_t> ids);
// An instruction whose operands are literals.
instruction make_literal_instruction(spv::Op opcode, id type, id result,
                                     std::vector<uint32_t> literals);

// A SPIR-V module as a list of instructions that can be changed and written out again. It has been
// parsed, so every instruction is known and whole; that does not make it valid.
class binary {
 public:
  // The bytes may be hostile. Both byte orders are accepted.
  static result<binary> parse(std::span<const uint8_t> bytes);
  static result<binary> parse(std::span<const uint32_t> words);

  std::vector<uint32_t> write() const;

  uint32_t version() const { return version_; }  // 0x00010200 is 1.2
  void set_version(uint32_t version) { version_ = version; }
  id bound() const { return bound_; }
  id new_id() { return bound_++; }
  // Whether any instruction is this function of OpenCL.std.
  bool calls_opencl_function(uint32_t function) const;

  std::vector<instruction> instructions;

 private:
  uint32_t version_ = 0;
  uint32_t generator_ = 0;
  id bound_ = 1;
};

// Whether it defines a type.
inline bool is_type(spv::Op opcode) {
  return opcode >= spv::OpTypeVoid && opcode <= spv::OpTypeForwardPointer;
}

}  // namespace zevent::driver::spirv
