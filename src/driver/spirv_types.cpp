#include "driver/spirv_types.hpp"

#include <algorithm>
#include <bit>

#include "driver/alignment.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr unsigned deepest_type = 64;
constexpr uint64_t largest_type_bytes = uint64_t{1} << 40;
constexpr uint64_t pointer_bytes = 8;

}  // namespace

module_index::module_index(const binary& module) : module_(module) {
  definition_of_.resize(module.bound(), 0);
  std::unordered_map<id, std::vector<decoration>> groups;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const instruction& each = module.instructions[i];
    if (each.result != 0) definition_of_[each.result] = static_cast<uint32_t>(i + 1);
    switch (each.opcode) {
      case spv::OpDecorate:
      case spv::OpDecorateId:
      case spv::OpDecorateString: {
        const auto kind = static_cast<spv::Decoration>(each.operands[1]);
        decorations_[each.operands[0]].push_back(
            {kind, {each.operands.begin() + 2, each.operands.end()}});
        if (kind == spv::DecorationLinkageAttributes) {
          linkages_[each.operands[0]] = {each.string_at(2),
                                         static_cast<spv::LinkageType>(each.operands.back())};
        }
        break;
      }
      case spv::OpGroupDecorate: {
        const auto group = decorations_.find(each.operands[0]);
        if (group == decorations_.end()) break;
        const std::vector<decoration> shared = group->second;
        for (size_t target = 1; target < each.operands.size(); ++target) {
          auto& own = decorations_[each.operands[target]];
          own.insert(own.end(), shared.begin(), shared.end());
        }
        break;
      }
      default:
        break;
    }
  }
}

const instruction* module_index::definition(id wanted) const {
  if (wanted >= definition_of_.size() || definition_of_[wanted] == 0) return nullptr;
  return &module_.instructions[definition_of_[wanted] - 1];
}

spv::Op module_index::opcode_of(id wanted) const {
  const instruction* found = definition(wanted);
  return found != nullptr ? found->opcode : spv::OpNop;
}

std::span<const decoration> module_index::decorations(id target) const {
  const auto found = decorations_.find(target);
  if (found == decorations_.end()) return {};
  return found->second;
}

const decoration* module_index::find_decoration(id target, spv::Decoration kind) const {
  for (const decoration& each : decorations(target)) {
    if (each.kind == kind) return &each;
  }
  return nullptr;
}

const module_index::linkage* module_index::find_linkage(id target) const {
  const auto found = linkages_.find(target);
  return found != linkages_.end() ? &found->second : nullptr;
}

std::optional<uint64_t> module_index::integer_constant(id constant) const {
  const instruction* found = definition(constant);
  if (found == nullptr) return std::nullopt;
  if (found->opcode == spv::OpConstantNull) return 0;
  if (found->opcode != spv::OpConstant && found->opcode != spv::OpSpecConstant) return std::nullopt;
  const instruction* type = definition(found->type);
  if (type == nullptr || type->opcode != spv::OpTypeInt) return std::nullopt;
  uint64_t value = found->operands[0];
  if (found->operands.size() > 1) value |= uint64_t{found->operands[1]} << 32;
  return value;
}

result<layout> module_index::layout_of(id type) const {
  return layout_of(type, 0);
}

// Each type is worked out once: types that use one another many times over would take for ever.
result<layout> module_index::layout_of(id type, unsigned depth) const {
  if (depth > deepest_type) return fail("type %{} is nested more than {} deep", type, deepest_type);
  const auto known = layouts_.find(type);
  if (known != layouts_.end()) return known->second;
  layouts_.emplace(type, fail("type %{} contains itself", type));
  auto found = compute_layout(type, depth);
  layouts_.insert_or_assign(type, found);
  return found;
}

result<layout> module_index::compute_layout(id type, unsigned depth) const {
  const instruction* found = definition(type);
  if (found == nullptr) return fail("type %{} is not defined", type);
  switch (found->opcode) {
    case spv::OpTypeBool:
      return layout{1, 1};
    case spv::OpTypeInt:
    case spv::OpTypeFloat: {
      const uint64_t bytes = std::bit_ceil(std::max<uint64_t>(found->operands[0], 8)) / 8;
      return layout{bytes, bytes};
    }
    case spv::OpTypePointer:
    case spv::OpTypeEvent:
    case spv::OpTypeDeviceEvent:
    case spv::OpTypeSampler:
    case spv::OpTypeImage:
      return layout{pointer_bytes, pointer_bytes};
    case spv::OpTypeVector: {
      const auto element = layout_of(found->operands[0], depth + 1);
      if (!element) return element;
      // A vector of three is as large as one of four (OpenCL C 6.1.5).
      const uint64_t count = found->operands[1] == 3 ? 4 : found->operands[1];
      const uint64_t bytes = element->size_bytes * count;
      if (bytes > largest_type_bytes) break;
      return layout{bytes, std::bit_ceil(bytes)};
    }
    case spv::OpTypeArray: {
      const auto element = layout_of(found->operands[0], depth + 1);
      if (!element) return element;
      const auto count = integer_constant(found->operands[1]);
      if (!count) return fail("the length of array type %{} is not a constant", type);
      if (element->size_bytes != 0 && *count > largest_type_bytes / element->size_bytes) break;
      return layout{element->size_bytes * *count, element->alignment_bytes};
    }
    case spv::OpTypeStruct: {
      auto whole = struct_layout(type, UINT64_MAX, depth);
      if (whole) whole->size_bytes = round_up(whole->size_bytes, whole->alignment_bytes);
      return whole;
    }
    default:
      return fail("type %{} has no size", type);
  }
  return fail("type %{} is larger than {} bytes", type, largest_type_bytes);
}

// The size is that up to the start of `stop_at_member`, without padding at the end.
result<layout> module_index::struct_layout(id type, uint64_t stop_at_member, unsigned depth) const {
  const instruction& found = *definition(type);
  const bool packed = find_decoration(type, spv::DecorationCPacked) != nullptr;
  layout whole;
  for (size_t i = 0; i < found.operands.size(); ++i) {
    const auto member = layout_of(found.operands[i], depth + 1);
    if (!member) return member;
    if (!packed) {
      whole.size_bytes = round_up(whole.size_bytes, member->alignment_bytes);
      whole.alignment_bytes = std::max(whole.alignment_bytes, member->alignment_bytes);
    }
    if (i == stop_at_member) return whole;
    whole.size_bytes += member->size_bytes;
    if (whole.size_bytes > largest_type_bytes) {
      return fail("type %{} is larger than {} bytes", type, largest_type_bytes);
    }
  }
  return whole;
}

result<uint64_t> module_index::offset_of(id aggregate_type, uint64_t index) const {
  const id element = element_type(aggregate_type, index);
  if (element == 0) return fail("type %{} has no element {}", aggregate_type, index);
  if (opcode_of(aggregate_type) == spv::OpTypeStruct) {
    const auto before = struct_layout(aggregate_type, index, 0);
    if (!before) return tl::unexpected(before.error());
    return before->size_bytes;
  }
  const auto part = layout_of(element);
  if (!part) return tl::unexpected(part.error());
  if (part->size_bytes != 0 && index > largest_type_bytes / part->size_bytes) {
    return fail("element {} of type %{} is out of reach", index, aggregate_type);
  }
  return part->size_bytes * index;
}

id module_index::element_type(id aggregate_type, uint64_t index) const {
  const instruction* found = definition(aggregate_type);
  if (found == nullptr) return 0;
  switch (found->opcode) {
    case spv::OpTypeVector:
    case spv::OpTypeArray:
      return found->operands[0];
    case spv::OpTypeStruct:
      return index < found->operands.size() ? found->operands[index] : 0;
    default:
      return 0;
  }
}

}  // namespace zevent::driver::spirv
