#include "driver/spirv_binary.hpp"

#include <spirv-tools/libspirv.h>
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked_cast.hpp"
#include "driver/spirv_tools_handles.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint32_t words_of_header = 5;

// A module may name no more ids than this: Vulkan's and OpenCL's universal limit, which keeps
// tables that are indexed by id small.
constexpr id most_ids = 4'194'303;

bool is_id(spv_operand_type_t type) {
  switch (type) {
    case SPV_OPERAND_TYPE_ID:
    case SPV_OPERAND_TYPE_TYPE_ID:
    case SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID:
    case SPV_OPERAND_TYPE_SCOPE_ID:
      return true;
    default:
      return false;
  }
}

struct parse_state {
  uint32_t version = 0;
  uint32_t generator = 0;
  uint32_t bound = 0;
  std::vector<instruction> instructions;
};

spv_result_t on_header(void* user_data, spv_endianness_t, uint32_t, uint32_t version,
                       uint32_t generator, uint32_t id_bound, uint32_t) {
  auto& state = *static_cast<parse_state*>(user_data);
  state.version = version;
  state.generator = generator;
  state.bound = id_bound;
  return SPV_SUCCESS;
}

spv_result_t on_instruction(void* user_data, const spv_parsed_instruction_t* parsed) {
  auto& state = *static_cast<parse_state*>(user_data);
  instruction& added = state.instructions.emplace_back();
  added.opcode = static_cast<spv::Op>(parsed->opcode);
  added.type = parsed->type_id;
  added.result = parsed->result_id;
  added.extended_set = static_cast<uint32_t>(parsed->ext_inst_type);
  for (uint16_t i = 0; i < parsed->num_operands; ++i) {
    const spv_parsed_operand_t& operand = parsed->operands[i];
    if (operand.type == SPV_OPERAND_TYPE_RESULT_ID) continue;
    if (operand.type == SPV_OPERAND_TYPE_TYPE_ID && parsed->type_id != 0 && operand.offset == 1) {
      continue;
    }
    if (is_id(operand.type)) {
      added.id_operands.push_back(static_cast<uint16_t>(added.operands.size()));
    }
    const uint32_t* first = parsed->words + operand.offset;
    added.operands.insert(added.operands.end(), first, first + operand.num_words);
  }
  return SPV_SUCCESS;
}

}  // namespace

bool instruction::is_opencl_function() const {
  return opcode == spv::OpExtInst && extended_set == SPV_EXT_INST_TYPE_OPENCL_STD;
}

bool instruction::is_atomic() const {
  switch (opcode) {
    case spv::OpAtomicFlagTestAndSet:
    case spv::OpAtomicFlagClear:
    case spv::OpAtomicFAddEXT:
    case spv::OpAtomicFMinEXT:
    case spv::OpAtomicFMaxEXT:
      return true;
    default:
      return opcode >= spv::OpAtomicLoad && opcode <= spv::OpAtomicXor;
  }
}

std::string instruction::string_at(size_t operand) const {
  std::string text;
  for (size_t i = operand; i < operands.size(); ++i) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>((operands[i] >> shift) & 0xff);
      if (c == '\0') return text;
      text.push_back(c);
    }
  }
  return text;
}

size_t instruction::string_words(std::string_view text) {
  return text.size() / 4 + 1;
}

void instruction::append_string(std::vector<uint32_t>& words, std::string_view text) {
  const size_t first = words.size();
  words.resize(first + string_words(text), 0);
  for (size_t i = 0; i < text.size(); ++i) {
    words[first + i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(text[i])) << (8 * (i % 4));
  }
}

instruction make_instruction(spv::Op opcode, id type, id result, std::vector<uint32_t> ids) {
  instruction made = make_literal_instruction(opcode, type, result, std::move(ids));
  for (size_t i = 0; i < made.operands.size(); ++i) {
    made.id_operands.push_back(static_cast<uint16_t>(i));
  }
  return made;
}

instruction make_literal_instruction(spv::Op opcode, id type, id result,
                                     std::vector<uint32_t> literals) {
  instruction made;
  made.opcode = opcode;
  made.type = type;
  made.result = result;
  made.operands = std::move(literals);
  return made;
}

zevent::result<binary> binary::parse(std::span<const uint8_t> bytes) {
  if (bytes.size() < size_t{words_of_header} * 4) {
    return fail("not SPIR-V: {} bytes are less than the {} of its header", bytes.size(),
                words_of_header * 4);
  }
  if (bytes.size() % 4 != 0) {
    return fail("not SPIR-V: {} bytes are not a whole number of 32-bit words", bytes.size());
  }
  std::vector<uint32_t> words(bytes.size() / 4);  // the caller's bytes may not be aligned
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return parse(words);
}

zevent::result<binary> binary::parse(std::span<const uint32_t> words) {
  const std::unique_ptr<spv_context_t, context_deleter> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6));
  spv_diagnostic raw_diagnostic = nullptr;
  parse_state state;
  const spv_result_t status = spvBinaryParse(context.get(), &state, words.data(), words.size(),
                                             on_header, on_instruction, &raw_diagnostic);
  const std::unique_ptr<spv_diagnostic_t, diagnostic_deleter> diagnostic(raw_diagnostic);
  if (status != SPV_SUCCESS) {
    return fail("not a SPIR-V module: {} (at word {})",
                diagnostic != nullptr ? diagnostic->error : "it cannot be parsed",
                diagnostic != nullptr ? diagnostic->position.index : 0);
  }
  if (state.bound == 0 || state.bound > most_ids) {
    return fail("not a SPIR-V module: its id bound is {}, which is not from 1 to {}", state.bound,
                most_ids);
  }
  binary parsed;
  parsed.version_ = state.version;
  parsed.generator_ = state.generator;
  parsed.bound_ = state.bound;
  parsed.instructions = std::move(state.instructions);
  // SPIRV-Tools leaves this to its validator; our tables are indexed by id.
  for (const instruction& each : parsed.instructions) {
    bool in_bound = each.type < parsed.bound_ && each.result < parsed.bound_;
    each.for_each_id([&](id used) { in_bound = in_bound && used < parsed.bound_; });
    if (!in_bound) return fail("not a SPIR-V module: an id is not below the id bound");
  }
  return parsed;
}

bool binary::calls_opencl_function(uint32_t function) const {
  return std::any_of(instructions.begin(), instructions.end(), [&](const instruction& each) {
    return each.is_opencl_function() && each.operands[1] == function;
  });
}

std::vector<uint32_t> binary::write() const {
  std::vector<uint32_t> words = {spv::MagicNumber, version_, generator_, bound_, 0};
  for (const instruction& each : instructions) {
    const size_t length =
        1 + (each.type != 0 ? 1 : 0) + (each.result != 0 ? 1 : 0) + each.operands.size();
    words.push_back(uint32_t{checked_cast<uint16_t>(length)} << 16 |
                    static_cast<uint32_t>(each.opcode));
    if (each.type != 0) words.push_back(each.type);
    if (each.result != 0) words.push_back(each.result);
    words.insert(words.end(), each.operands.begin(), each.operands.end());
  }
  return words;
}

}  // namespace zevent::driver::spirv
