#include "model/spirv_parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_map>

// Reads just enough of SPIR-V for one question: does a kernel write through a pointer it was given?
// Everything that is not understood counts as a write.
namespace zevent::model {
namespace {

using word = uint32_t;
using id = uint32_t;

constexpr word magic = 0x07230203;
constexpr size_t header_words = 5;

enum opcode : word {
  op_name = 5,
  op_member_name = 6,
  op_line = 8,
  op_ext_inst = 12,
  op_entry_point = 15,
  op_function = 54,
  op_function_parameter = 55,
  op_function_end = 56,
  op_function_call = 57,
  op_variable = 59,
  op_load = 61,
  op_store = 62,
  op_copy_memory = 63,
  op_copy_memory_sized = 64,
  op_access_chain = 65,  // as far as the in-bounds form with a pointer
  op_in_bounds_access_chain = 66,
  op_ptr_access_chain = 67,
  op_in_bounds_ptr_access_chain = 70,
  op_decorate = 71,
  op_vector_extract_dynamic = 77,
  op_composite_construct = 80,
  op_composite_extract = 81,
  op_composite_insert = 82,
  op_copy_object = 83,
  op_sampled_image = 86,
  op_image_write = 99,
  op_image_query_samples = 107,
  first_conversion = 109,
  op_ptr_cast_to_generic = 121,
  op_generic_cast_to_ptr = 122,
  op_generic_cast_to_ptr_explicit = 123,
  op_bitcast = 124,
  first_arithmetic = 126,
  op_select = 169,
  last_arithmetic = 191,
  first_bit_operation = 194,
  last_bit_operation = 205,
  op_atomic_load = 227,
  op_atomic_store = 228,
  op_atomic_exchange = 229,
  op_atomic_xor = 242,
  op_phi = 245,
  op_branch_conditional = 250,
  op_switch = 251,
  op_return_value = 254,
  op_lifetime_start = 256,
  op_lifetime_stop = 257,
  op_group_async_copy = 259,
  op_no_line = 317,
  op_ptr_equal = 401,
  op_ptr_not_equal = 402,
};

constexpr word storage_class_function = 7;
constexpr word decoration_func_param_attr = 38;
constexpr word attribute_no_write = 6;
// Of the extended instructions of OpenCL: the vector loads and prefetch.
constexpr word reading_extended_instructions[] = {171, 173, 174, 179, 185};

struct instruction {
  word op = 0;
  std::span<const word> operands;

  word operand(size_t i) const { return i < operands.size() ? operands[i] : 0; }
};

struct spirv_function {
  std::vector<id> parameters;
  std::vector<instruction> body;
};

// Which parameters a value comes from, one bit each.
using origins = uint64_t;
constexpr size_t most_parameters = 64;

class module_reader {
 public:
  explicit module_reader(std::span<const std::byte> bytes) {
    words_.resize(bytes.size() / sizeof(word));
    if (!words_.empty()) std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(word));
    if (words_.size() > header_words && words_[0] == magic) read();
  }

  std::map<std::string, std::vector<kernel_parameter>, std::less<>> kernels() {
    std::map<std::string, std::vector<kernel_parameter>, std::less<>> found;
    for (const auto& [function, name] : entry_points_) {
      const auto body = functions_.find(function);
      if (body == functions_.end()) continue;
      const origins writes = written(function, 0);
      auto& parameters = found[name];
      for (size_t i = 0; i < body->second.parameters.size(); ++i) {
        const bool declared_read_only = never_written_.contains(body->second.parameters[i]);
        const bool may_write = i >= most_parameters || (writes >> i & 1) != 0;
        const bool is_used = i < most_parameters && (used(function, 0) >> i & 1) != 0;
        parameters.push_back({may_write && !declared_read_only, is_used});
      }
    }
    return found;
  }

 private:
  void read() {
    spirv_function* current = nullptr;
    for (size_t at = header_words; at < words_.size();) {
      const word length = words_[at] >> 16;
      if (length == 0 || length > words_.size() - at) return;
      const instruction next{words_[at] & 0xffff,
                             std::span(words_).subspan(at + 1, length - size_t{1})};
      at += length;
      switch (next.op) {
        case op_entry_point:
          entry_points_[next.operand(1)] = text(next, 2);
          break;
        case op_decorate:
          if (next.operand(1) == decoration_func_param_attr &&
              next.operand(2) == attribute_no_write)
            never_written_[next.operand(0)] = true;
          break;
        case op_function:
          current = &functions_[next.operand(1)];
          break;
        case op_function_parameter:
          if (current != nullptr) current->parameters.push_back(next.operand(1));
          break;
        case op_function_end:
          current = nullptr;
          break;
        default:
          if (current != nullptr) current->body.push_back(next);
          break;
      }
    }
  }

  static std::string text(const instruction& from, size_t first) {
    std::string read;
    for (size_t i = first; i < from.operands.size(); ++i) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        const char next = static_cast<char>(from.operands[i] >> shift & 0xff);
        if (next == 0) return read;
        read.push_back(next);
      }
    }
    return read;
  }

  origins written(id function, unsigned depth) {
    if (const auto known = written_.find(function); known != written_.end()) return known->second;
    const auto found = functions_.find(function);
    if (found == functions_.end() || found->second.body.empty() || depth > 64) return ~origins{0};
    const auto& what = found->second;
    std::unordered_map<id, origins> from;
    for (size_t i = 0; i < what.parameters.size() && i < most_parameters; ++i)
      from[what.parameters[i]] = origins{1} << i;
    // A loop can carry a value to an instruction before the one that made it.
    origins writes = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& each : what.body) writes |= follow(each, from, changed, depth);
    }
    written_[function] = writes;
    return writes;
  }

  // Notes what the result comes from; gives the parameters through which the instruction writes.
  origins follow(const instruction& each, std::unordered_map<id, origins>& from, bool& changed,
                 unsigned depth) {
    const auto origin = [&](size_t operand) {
      const auto known = from.find(each.operand(operand));
      return known != from.end() ? known->second : origins{0};
    };
    const auto all = [&](size_t first) {
      origins sum = 0;
      for (size_t i = first; i < each.operands.size(); ++i) sum |= origin(i);
      return sum;
    };
    const auto derive = [&](id to, origins more) {
      if (more == 0) return;
      auto& present = from[to];
      if ((more & ~present) != 0) changed = true;
      present |= more;
    };
    switch (each.op) {
      case op_name:
      case op_member_name:
      case op_line:
      case op_no_line:
      case op_lifetime_start:
      case op_lifetime_stop:
      case op_ptr_equal:
      case op_ptr_not_equal:
        return 0;
      case op_variable:
        if (each.operand(2) == storage_class_function) local_[each.operand(1)] = true;
        return 0;
      case op_load:
        // A pointer that was kept in a local variable comes out again.
        if (local_.contains(each.operand(2))) derive(each.operand(1), origin(2));
        return 0;
      case op_atomic_load:
        return 0;
      case op_store:
        if (local_.contains(each.operand(0))) {
          derive(each.operand(0), origin(1));
          return 0;
        }
        return origin(0) | origin(1);
      case op_copy_memory:
      case op_copy_memory_sized:
        return origin(0);
      case op_access_chain:
      case op_in_bounds_access_chain:
      case op_ptr_access_chain:
      case op_in_bounds_ptr_access_chain:
      case op_copy_object:
      case op_ptr_cast_to_generic:
      case op_generic_cast_to_ptr:
      case op_generic_cast_to_ptr_explicit:
      case op_bitcast:
        if (local_.contains(each.operand(2))) local_[each.operand(1)] = true;
        derive(each.operand(1), origin(2));
        return 0;
      case op_select:
      case op_phi:
        derive(each.operand(1), all(2));
        return 0;
      case op_group_async_copy:
        return origin(3);
      case op_ext_inst:
        for (const word reading : reading_extended_instructions) {
          if (each.operand(3) == reading) return 0;
        }
        return all(4);
      case op_function_call:
        return called(each, from, depth);
      default:
        return all(0);
    }
  }

  origins called(const instruction& call, const std::unordered_map<id, origins>& from,
                 unsigned depth) {
    origins writes = 0;
    const origins inside = written(call.operand(2), depth + 1);
    for (size_t i = 3; i < call.operands.size(); ++i) {
      const auto known = from.find(call.operand(i));
      if (known == from.end()) continue;
      const size_t parameter = i - 3;
      if (parameter >= most_parameters || (inside >> parameter & 1) != 0) writes |= known->second;
    }
    return writes;
  }

  // The parameters that are certain to matter: some instruction does more with them than to hand
  // them on. What is not understood does not count, unlike for writes.
  origins used(id function, unsigned depth) {
    if (const auto known = used_.find(function); known != used_.end()) return known->second;
    const auto found = functions_.find(function);
    if (found == functions_.end() || depth > 64) return 0;
    const auto& what = found->second;
    std::unordered_map<id, origins> from;
    for (size_t i = 0; i < what.parameters.size() && i < most_parameters; ++i)
      from[what.parameters[i]] = origins{1} << i;
    origins uses = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& each : what.body) uses |= follow_use(each, from, changed, depth);
    }
    used_[function] = uses;
    return uses;
  }

  // Notes what the result comes from; gives the parameters that the instruction uses up.
  origins follow_use(const instruction& each, std::unordered_map<id, origins>& from, bool& changed,
                     unsigned depth) {
    const auto origin = [&](size_t operand) {
      const auto known = from.find(each.operand(operand));
      return known != from.end() && operand < each.operands.size() ? known->second : origins{0};
    };
    const auto range = [&](size_t first, size_t end) {
      origins sum = 0;
      for (size_t i = first; i < std::min(end, each.operands.size()); ++i) sum |= origin(i);
      return sum;
    };
    const auto derive = [&](id to, origins more) {
      if (more == 0) return;
      auto& present = from[to];
      if ((more & ~present) != 0) changed = true;
      present |= more;
    };
    const word op = each.op;
    const auto is_between = [op](word first, word last) { return op >= first && op <= last; };
    switch (op) {
      case op_variable:
        if (each.operand(2) == storage_class_function) local_[each.operand(1)] = true;
        return 0;
      case op_load:
        if (!local_.contains(each.operand(2))) return origin(2);
        derive(each.operand(1), origin(2));
        return 0;
      case op_store:
        if (!local_.contains(each.operand(0))) return range(0, 2);
        derive(each.operand(0), origin(1));
        return 0;
      case op_copy_memory:
      case op_copy_memory_sized:
      case op_atomic_store:
      case op_image_write:
        return range(0, 3);
      case op_branch_conditional:
      case op_switch:
      case op_return_value:
        return origin(0);
      case op_ext_inst:
        return range(4, SIZE_MAX);
      case op_group_async_copy:
        return range(2, SIZE_MAX);
      case op_function_call: {
        origins uses = 0;
        const origins inside = used(each.operand(2), depth + 1);
        for (size_t i = 3; i < each.operands.size() && i - 3 < most_parameters; ++i) {
          if ((inside >> (i - 3) & 1) != 0) uses |= origin(i);
        }
        return uses;
      }
      default:
        break;
    }
    if (is_between(op_sampled_image, op_image_query_samples)) return range(2, 4);
    if (op == op_atomic_load || is_between(op_atomic_exchange, op_atomic_xor)) return range(2, 8);
    // Instructions without effect: composites, whose literals come last, and arithmetic.
    if (is_between(op_vector_extract_dynamic, op_composite_insert) && op != op_composite_construct)
      derive(each.operand(1), op == op_composite_extract ? origin(2) : range(2, 4));
    const bool is_pure = is_between(op_access_chain, op_in_bounds_ptr_access_chain) ||
                         op == op_composite_construct || op == op_copy_object ||
                         is_between(first_conversion, op_bitcast) ||
                         is_between(first_arithmetic, last_arithmetic) ||
                         is_between(first_bit_operation, last_bit_operation) || op == op_phi;
    if (is_pure) derive(each.operand(1), range(2, SIZE_MAX));
    return 0;
  }

  std::vector<word> words_;
  std::unordered_map<id, std::string> entry_points_;
  std::unordered_map<id, bool> never_written_;
  std::unordered_map<id, bool> local_;  // variables of functions, and pointers into them
  std::unordered_map<id, spirv_function> functions_;
  std::unordered_map<id, origins> written_;
  std::unordered_map<id, origins> used_;
};

}  // namespace

std::map<std::string, std::vector<kernel_parameter>, std::less<>> spirv_kernels(
    std::span<const std::byte> module) {
  return module_reader(module).kernels();
}

}  // namespace zevent::model
