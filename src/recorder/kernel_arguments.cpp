#include "recorder/kernel_arguments.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "api/call_codec.hpp"
#include "recorder/call_writer.hpp"
#include "recorder/plain_memory.hpp"
#include "recorder/readable.hpp"
#include "recorder/watched_memory.hpp"

namespace zevent::recorder {
namespace {

using word = uint32_t;

constexpr word spirv_magic = 0x07230203;
constexpr size_t spirv_header_words = 5;
constexpr uint32_t pointer_bytes = 8;
// Larger than any parameter can be; stops at types that contain themselves.
constexpr uint32_t largest_parameter_bytes = 64 * 1024;
constexpr int deepest_type = 16;

enum spirv_operation : word {
  op_entry_point = 15,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_array = 28,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_type_function = 33,
  op_constant = 43,
  op_function = 54,
  op_function_parameter = 55,
  op_decorate = 71,
};

constexpr word storage_class_workgroup = 4;
constexpr word decoration_packed = 10;
constexpr word decoration_parameter_attribute = 38;
constexpr word attribute_by_value = 2;

struct layout {
  uint32_t bytes = pointer_bytes;
  uint32_t alignment = pointer_bytes;
};

// Reads of a module what the sizes of parameters need. Any bytes may be given.
class module_reader {
 public:
  explicit module_reader(std::span<const std::byte> bytes) : words_(bytes.size() / sizeof(word)) {
    if (!words_.empty()) std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(word));
  }

  std::map<std::string, std::vector<kernel_parameter>, std::less<>> kernels() {
    if (words_.size() < spirv_header_words || words_[0] != spirv_magic) return {};
    for (size_t at = spirv_header_words; at < words_.size();) {
      const word length = words_[at] >> 16;
      if (length == 0 || length > words_.size() - at) return {};
      read_instruction(words_[at] & 0xffff, std::span(words_).subspan(at + 1, length - 1));
      at += length;
    }
    std::map<std::string, std::vector<kernel_parameter>, std::less<>> all;
    for (const auto& [function, name] : entry_points_)
      for (const word parameter : parameters_[function])
        all[name].push_back({parameter_bytes(parameter), is_pointer(parameter)});
    return all;
  }

 private:
  struct type {
    word operation = 0;
    std::vector<word> operands;  // without the result
  };

  void read_instruction(word operation, std::span<const word> operands) {
    switch (operation) {
      case op_entry_point:
        if (operands.size() > 2) entry_points_[operands[1]] = text(operands.subspan(2));
        break;
      case op_type_int:
      case op_type_float:
      case op_type_vector:
      case op_type_array:
      case op_type_struct:
      case op_type_pointer:
        if (!operands.empty())
          types_[operands[0]] = {operation, {operands.begin() + 1, operands.end()}};
        break;
      case op_constant:
        if (operands.size() > 2) constants_[operands[1]] = operands[2];
        break;
      case op_function:
        if (operands.size() > 1) present_function_ = operands[1];
        break;
      case op_function_parameter:
        if (operands.size() > 1) {
          parameters_[present_function_].push_back(operands[1]);
          type_of_[operands[1]] = operands[0];
        }
        break;
      case op_decorate:
        if (operands.size() > 1 && operands[1] == decoration_packed) packed_.insert(operands[0]);
        if (operands.size() > 2 && operands[1] == decoration_parameter_attribute &&
            operands[2] == attribute_by_value)
          by_value_.insert(operands[0]);
        break;
      default:
        break;
    }
  }

  static std::string text(std::span<const word> words) {
    const auto* begin = reinterpret_cast<const char*>(words.data());
    return {begin, strnlen(begin, words.size() * sizeof(word))};
  }

  uint32_t parameter_bytes(word parameter) const {
    word wanted = type_of_.at(parameter);
    const auto pointer = types_.find(wanted);
    if (by_value_.contains(parameter) && pointer != types_.end() &&
        pointer->second.operation == op_type_pointer && pointer->second.operands.size() > 1)
      wanted = pointer->second.operands[1];
    return std::min(layout_of(wanted, 0).bytes, largest_parameter_bytes);
  }

  bool is_pointer(word parameter) const {
    const auto found = types_.find(type_of_.at(parameter));
    if (found == types_.end() || found->second.operation != op_type_pointer) return false;
    const auto& operands = found->second.operands;
    return !by_value_.contains(parameter) && !operands.empty() &&
           operands[0] != storage_class_workgroup;
  }

  // Images, samplers and whatever else is opaque are handles.
  layout layout_of(word id, int depth) const {
    const auto found = types_.find(id);
    if (found == types_.end() || found->second.operands.empty() || depth == deepest_type) return {};
    const auto& operands = found->second.operands;
    switch (found->second.operation) {
      case op_type_int:
      case op_type_float: {
        const uint32_t bytes = std::clamp<uint32_t>(operands[0] / 8, 1, 8);
        return {bytes, bytes};
      }
      case op_type_vector: {
        const layout element = layout_of(operands[0], depth + 1);
        // A vector of three takes the room of four.
        const uint32_t count = operands.size() > 1 ? std::min<word>(operands[1], 16) : 1;
        const uint32_t bytes = element.bytes * (count == 3 ? 4 : count);
        return {bytes, bytes};
      }
      case op_type_array: {
        const layout element = layout_of(operands[0], depth + 1);
        const auto length = operands.size() > 1 ? constants_.find(operands[1]) : constants_.end();
        const uint64_t count = length != constants_.end() ? length->second : 1;
        return {bounded(count * element.bytes), element.alignment};
      }
      case op_type_struct:
        return layout_of_struct(id, operands, depth);
      default:
        return {};
    }
  }

  layout layout_of_struct(word id, std::span<const word> members, int depth) const {
    const bool is_packed = packed_.contains(id);
    uint64_t bytes = 0;
    uint32_t alignment = 1;
    for (const word member : members) {
      const layout each = layout_of(member, depth + 1);
      if (!is_packed) {
        alignment = std::max(alignment, each.alignment);
        bytes = (bytes + each.alignment - 1) / each.alignment * each.alignment;
      }
      bytes = bounded(bytes + each.bytes);
    }
    return {bounded((bytes + alignment - 1) / alignment * alignment), alignment};
  }

  static uint32_t bounded(uint64_t bytes) {
    return static_cast<uint32_t>(std::min<uint64_t>(bytes, largest_parameter_bytes));
  }

  std::vector<word> words_;
  std::unordered_map<word, std::string> entry_points_;
  std::unordered_map<word, type> types_;
  std::unordered_map<word, word> constants_;
  std::unordered_map<word, std::vector<word>> parameters_;  // of functions
  std::unordered_map<word, word> type_of_;                  // of parameters
  std::unordered_set<word> packed_, by_value_;
  word present_function_ = 0;
};

using module_kernels = std::map<std::string, std::vector<kernel_parameter>, std::less<>>;

// What is known of modules and kernels. Never destroyed: programs call until the very end.
struct known_kernels {
  std::mutex mutex;  // guards the rest
  std::unordered_map<ze_module_handle_t, module_kernels> modules;
  std::unordered_map<ze_kernel_handle_t, std::vector<kernel_parameter>> kernels;
  // Addresses in arguments that are set, by kernel and index.
  std::unordered_map<ze_kernel_handle_t, std::map<uint32_t, std::vector<uint64_t>>> addresses;
};

known_kernels& known() {
  static auto* all = new known_kernels;
  return *all;
}

std::span<const std::byte> bytes_of(const uint8_t* module, size_t size) {
  return {reinterpret_cast<const std::byte*>(module), module != nullptr ? size : 0};
}

// A module of one input, or a program of several.
module_kernels kernels_in(const ze_module_desc_t& desc) {
  module_kernels all = kernel_parameters(bytes_of(desc.pInputModule, desc.inputSize));
  const auto* next = static_cast<const ze_base_desc_t*>(desc.pNext);
  for (; next != nullptr; next = static_cast<const ze_base_desc_t*>(next->pNext)) {
    if (next->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC) continue;
    const auto& program = *reinterpret_cast<const ze_module_program_exp_desc_t*>(next);
    if (program.pInputModules == nullptr || program.inputSizes == nullptr) continue;
    for (uint32_t i = 0; i < program.count; ++i)
      all.merge(kernel_parameters(bytes_of(program.pInputModules[i], program.inputSizes[i])));
  }
  return all;
}

// Without the code nothing tells an address from a number: small ones are numbers.
bool may_be_address(uint64_t value) {
  return value >= uint64_t{1} << 32 && value < uint64_t{1} << 47;
}

// Words of a structure that is passed by value and holds addresses of plain memory.
constexpr size_t max_scanned_argument_bytes = 4096;

std::vector<uint64_t> plain_addresses_in(const void* value, size_t bytes) {
  std::vector<uint64_t> found;
  if (bytes < sizeof(uint64_t)) return found;
  std::vector<std::byte> content(std::min(bytes, max_scanned_argument_bytes));
  if (!copy_memory(value, content)) return found;
  const plain_address_space space = plain_addresses();
  for (size_t at = 0; at + sizeof(uint64_t) <= content.size(); at += sizeof(uint64_t)) {
    uint64_t address = 0;
    std::memcpy(&address, content.data() + at, sizeof(address));
    if (space.contains(address)) found.push_back(address);
  }
  return found;
}

void write_run(call_writer& out, const void* address, uint32_t bytes) {
  std::byte* place = out.claim(sizeof(bytes) + bytes);
  call_writer::store<4>(place, bytes);
  std::memset(place + sizeof(bytes), 0, bytes);
  if (address != nullptr) copy_memory(address, {place + sizeof(bytes), bytes});
}

void begin_runs(call_writer& out, uint32_t count) {
  std::byte* place = out.claim(1 + sizeof(count));
  call_writer::store<1>(place, api::content_form::here);
  call_writer::store<4>(place + 1, count);
}

}  // namespace

module_kernels kernel_parameters(std::span<const std::byte> module) {
  return module_reader(module).kernels();
}

void module_was_created(ze_module_handle_t module, const ze_module_desc_t& desc) {
  auto kernels = kernels_in(desc);
  const std::lock_guard lock(known().mutex);
  known().modules[module] = std::move(kernels);
}

void module_is_destroyed(ze_module_handle_t module) {
  const std::lock_guard lock(known().mutex);
  known().modules.erase(module);
}

void kernel_was_created(ze_kernel_handle_t kernel, ze_module_handle_t module, const char* name) {
  if (name == nullptr) return;
  const std::lock_guard lock(known().mutex);
  const auto kernels = known().modules.find(module);
  if (kernels == known().modules.end()) return;
  const auto found = kernels->second.find(std::string_view(name));
  if (found != kernels->second.end()) known().kernels[kernel] = found->second;
}

void kernel_is_destroyed(ze_kernel_handle_t kernel) {
  const std::lock_guard lock(known().mutex);
  known().kernels.erase(kernel);
  known().addresses.erase(kernel);
}

void argument_was_set(ze_kernel_handle_t kernel, uint32_t index, size_t bytes, const void* value) {
  std::vector<uint64_t> addresses;
  const std::lock_guard lock(known().mutex);
  const auto about = known().kernels.find(kernel);
  const bool is_known = about != known().kernels.end();
  if (value != nullptr && bytes == sizeof(uint64_t)) {
    uint64_t address = 0;
    std::memcpy(&address, value, sizeof(address));
    const bool is_address =
        is_known ? index < about->second.size() && about->second[index].is_pointer && address != 0
                 : may_be_address(address);
    if (is_address) addresses.push_back(address);
  }
  const bool may_be_structure =
      is_known ? index < about->second.size() && !about->second[index].is_pointer
               : bytes > sizeof(uint64_t);
  if (value != nullptr && addresses.empty() && may_be_structure)
    addresses = plain_addresses_in(value, bytes);
  if (!addresses.empty()) {
    known().addresses[kernel][index] = std::move(addresses);
  } else if (const auto set = known().addresses.find(kernel); set != known().addresses.end()) {
    set->second.erase(index);
  }
}

std::vector<uint64_t> address_arguments(ze_kernel_handle_t kernel) {
  std::vector<uint64_t> out;
  const std::lock_guard lock(known().mutex);
  if (const auto set = known().addresses.find(kernel); set != known().addresses.end())
    for (const auto& [index, addresses] : set->second)
      out.insert(out.end(), addresses.begin(), addresses.end());
  return out;
}

std::vector<uint64_t> address_arguments(ze_kernel_handle_t kernel, void* const* arguments) {
  std::vector<uint64_t> out;
  const std::lock_guard lock(known().mutex);
  const auto about = known().kernels.find(kernel);
  if (about == known().kernels.end() ||
      !can_read(arguments, about->second.size(), sizeof(*arguments)))
    return out;
  for (size_t i = 0; i < about->second.size(); ++i) {
    if (arguments[i] == nullptr) continue;
    if (about->second[i].is_pointer) {
      uint64_t address = 0;
      if (copy_memory(arguments[i], std::as_writable_bytes(std::span(&address, 1))) && address != 0)
        out.push_back(address);
      continue;
    }
    const auto found = plain_addresses_in(arguments[i], about->second[i].bytes);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

void write_kernel_arguments(call_writer& out, ze_kernel_handle_t kernel, void* const* arguments) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().kernels.find(kernel);
  if (found == known().kernels.end()) return out.form(api::content_form::nothing);
  const auto& parameters = found->second;
  begin_runs(out, static_cast<uint32_t>(parameters.size()));
  for (size_t i = 0; i < parameters.size(); ++i) write_run(out, arguments[i], parameters[i].bytes);
}

void write_specialization_constant(call_writer& out, const void* value) {
  constexpr uint32_t largest_constant_bytes = 8;
  begin_runs(out, 1);
  write_run(out, value, largest_constant_bytes);
}

}  // namespace zevent::recorder
