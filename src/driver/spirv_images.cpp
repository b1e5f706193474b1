#include "driver/spirv_images.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "driver/image_descriptor.hpp"
#include "driver/spirv_scope.hpp"
#include "driver/spirv_types.hpp"

namespace zevent::driver::spirv {
namespace {

constexpr uint32_t word_bytes = 8;
constexpr uint64_t read_word = offsetof(image_descriptor, read) / word_bytes;
constexpr uint64_t write_word = offsetof(image_descriptor, write) / word_bytes;
constexpr uint64_t sizes_word = offsetof(image_descriptor, sizes) / word_bytes;
constexpr uint64_t data_type_word = offsetof(image_descriptor, channel_data_type) / word_bytes;
constexpr uint64_t order_word = offsetof(image_descriptor, channel_order) / word_bytes;

bool is_refused(spv::Op opcode) {
  switch (opcode) {
    case spv::OpImageTexelPointer:
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageQueryLod:
    case spv::OpImageQuerySamples:
    case spv::OpSubgroupImageBlockReadINTEL:
    case spv::OpSubgroupImageBlockWriteINTEL:
    case spv::OpSubgroupImageMediaBlockReadINTEL:
    case spv::OpSubgroupImageMediaBlockWriteINTEL:
      return true;
    default:
      return (opcode >= spv::OpImageSampleDrefImplicitLod &&
              opcode <= spv::OpImageSampleProjDrefExplicitLod) ||
             opcode == spv::OpImageGather || opcode == spv::OpImageDrefGather ||
             (opcode >= spv::OpImageSparseSampleImplicitLod &&
              opcode <= spv::OpImageSparseTexelsResident);
  }
}

bool is_image_capability(uint32_t capability) {
  switch (capability) {
    case spv::CapabilityImageBasic:
    case spv::CapabilityImageReadWrite:
    case spv::CapabilityImageMipmap:
    case spv::CapabilityLiteralSampler:
    case spv::CapabilitySampled1D:
    case spv::CapabilityImage1D:
    case spv::CapabilitySampledBuffer:
    case spv::CapabilityImageBuffer:
      return true;
    default:
      return false;
  }
}

class image_lowering {
 public:
  explicit image_lowering(binary& module) : module_(module), scope_(module) {}

  result<void> run() {
    for (const instruction& each : module_.instructions) {
      const bool is_image = each.opcode == spv::OpTypeImage && each.operands.size() > 4;
      if (is_image && each.operands[4] != 0) {
        return fail("images with several samples a pixel are not supported");
      }
    }
    if (!replace_types()) return {};
    const module_index index(module_);
    index_ = &index;
    for (const instruction& each : module_.instructions) {
      if (each.result != 0 && each.type != 0) types_[each.result] = each.type;
    }
    scope_.begin_functions();
    word_type_ = scope_.integer_type(64);
    number_type_ = scope_.integer_type(32);
    color_type_ = scope_.vector_type(number_type_, 4);
    for (const instruction& each : module_.instructions) {
      if (auto status = lower(each); !status) return status;
    }
    std::move(bodies_.begin(), bodies_.end(), std::back_inserter(out_));
    module_.instructions = std::move(out_);
    scope_.flush();
    std::erase_if(module_.instructions, [&](const instruction& each) {
      return each.opcode == spv::OpName && sampled_.contains(each.operands[0]);
    });
    substitute(replaced_);
    return {};
  }

 private:
  // Images become pointers to words, samplers words. Both types are put before all others, where
  // whatever uses them finds them. False: there are neither.
  bool replace_types() {
    std::unordered_map<id, id> replaced;
    bool is_needed = false;
    id word = 0;
    for (const instruction& each : module_.instructions) {
      is_needed = is_needed || each.opcode == spv::OpTypeImage || each.opcode == spv::OpTypeSampler;
      if (each.opcode == spv::OpTypeInt && each.operands[0] == 64) word = each.result;
    }
    if (!is_needed) return false;
    if (word == 0) word = module_.new_id();
    pointer_type_ = module_.new_id();
    for (const instruction& each : module_.instructions) {
      const bool is_same_pointer = each.opcode == spv::OpTypePointer &&
                                   each.operands[0] == spv::StorageClassCrossWorkgroup &&
                                   each.operands[1] == word;
      if (each.opcode == spv::OpTypeImage || is_same_pointer) {
        replaced[each.result] = pointer_type_;
      } else if (each.opcode == spv::OpTypeSampler) {
        replaced[each.result] = word;
      } else if (each.opcode == spv::OpTypeSampledImage) {
        replaced[each.result] = 0;
      }
    }
    // What is said of parameters that were images or samplers may be false of what stands for them.
    std::unordered_set<id> changed;
    for (const instruction& each : module_.instructions) {
      const bool is_parameter = each.opcode == spv::OpFunctionParameter;
      if (is_parameter && replaced.contains(each.type)) changed.insert(each.result);
      if (replaced.contains(each.result)) changed.insert(each.result);
    }
    std::erase_if(module_.instructions, [&](instruction& each) {
      switch (each.opcode) {
        case spv::OpName:
          return replaced.contains(each.operands[0]);
        case spv::OpDecorate:
          return changed.contains(each.operands[0]);
        case spv::OpGroupDecorate:
          std::erase_if(each.operands, [&](id target) { return changed.contains(target); });
          each.id_operands.resize(each.operands.size());
          return false;
        case spv::OpCapability:
          return is_image_capability(each.operands[0]);
        case spv::OpString:  // the names of argument types
          return each.string_at(0).starts_with("kernel_arg_type");
        default:
          return replaced.contains(each.result) || each.result == word;
      }
    });
    substitute(replaced);
    auto first_type = std::find_if(module_.instructions.begin(), module_.instructions.end(),
                                   [](const instruction& each) { return is_type(each.opcode); });
    instruction pointer =
        make_literal_instruction(spv::OpTypePointer, 0, pointer_type_,
                                 {static_cast<uint32_t>(spv::StorageClassCrossWorkgroup), word});
    pointer.id_operands = {1};
    first_type = module_.instructions.insert(first_type, std::move(pointer));
    module_.instructions.insert(first_type,
                                make_literal_instruction(spv::OpTypeInt, 0, word, {64, 0}));
    return true;
  }

  void substitute(const std::unordered_map<id, id>& by) {
    const auto replace = [&](id& used) {
      const auto found = by.find(used);
      if (found != by.end()) used = found->second;
    };
    for (instruction& each : module_.instructions) {
      replace(each.type);
      each.for_each_id(replace);
    }
  }

  result<void> lower(const instruction& each) {
    switch (each.opcode) {
      case spv::OpConstantSampler:
        out_.push_back(make_literal_instruction(
            spv::OpConstant, each.type, each.result,
            {each.operands[0] | each.operands[1] << 3 | each.operands[2] << 4, 0}));
        return {};
      case spv::OpSampledImage:
        sampled_[each.result] = {each.operands[0], each.operands[1]};
        return {};
      case spv::OpImage:
        replaced_[each.result] = sampled_[each.operands[0]].first;
        return {};
      case spv::OpImageSampleExplicitLod: {
        const auto sampled = sampled_.find(each.operands[0]);
        if (sampled == sampled_.end()) return fail("a sampled image is not made where it is used");
        return read(each, sampled->second.first, sampled->second.second);
      }
      case spv::OpImageRead:
      case spv::OpImageFetch:
        return read(each, each.operands[0], 0);
      case spv::OpImageWrite:
        return write(each);
      case spv::OpImageQuerySizeLod:
      case spv::OpImageQuerySize:
        return query(each, sizes_word);
      case spv::OpImageQueryFormat:
        return query(each, data_type_word);
      case spv::OpImageQueryOrder:
        return query(each, order_word);
      case spv::OpImageQueryLevels:
        replaced_[each.result] = scope_.integer_constant(32, 1);
        return {};
      default:
        if (is_refused(each.opcode)) {
          return fail("the instruction {} on images is not supported",
                      static_cast<uint32_t>(each.opcode));
        }
        out_.push_back(each);
        return {};
    }
  }

  struct shape {
    id component = 0;
    uint32_t count = 0;
    bool is_float = false;
    uint32_t bits = 0;
  };

  result<shape> shape_of(id type) const {
    shape found{type, 1, false, 0};
    const instruction* definition = index_->definition(type);
    if (definition != nullptr && definition->opcode == spv::OpTypeVector) {
      found.component = definition->operands[0];
      found.count = definition->operands[1];
      definition = index_->definition(found.component);
    }
    const bool is_number = definition != nullptr && (definition->opcode == spv::OpTypeInt ||
                                                     definition->opcode == spv::OpTypeFloat);
    if (!is_number || found.count > 4) return fail("coordinates or pixels that are no numbers");
    found.is_float = definition->opcode == spv::OpTypeFloat;
    found.bits = definition->operands[0];
    return found;
  }

  id emit(spv::Op opcode, id type, std::vector<uint32_t> ids) {
    return emit_to(out_, make_instruction(opcode, type, 0, std::move(ids)));
  }

  id emit_to(std::vector<instruction>& where, instruction added) {
    if (added.type != 0) added.result = module_.new_id();
    const id made = added.result;
    where.push_back(std::move(added));
    return made;
  }

  id extract(id type, id vector, uint32_t index) {
    instruction part = make_literal_instruction(spv::OpCompositeExtract, type, 0, {vector, index});
    part.id_operands = {0};
    return emit_to(out_, std::move(part));
  }

  id load(std::vector<instruction>& where, id type, id pointer, uint32_t alignment_bytes) {
    instruction made = make_literal_instruction(
        spv::OpLoad, type, 0, {pointer, uint32_t{spv::MemoryAccessAlignedMask}, alignment_bytes});
    made.id_operands = {0};
    return emit_to(where, std::move(made));
  }

  id float_type() {
    for (const instruction& each : module_.instructions) {
      if (each.opcode == spv::OpTypeFloat && each.operands[0] == 32) return each.result;
    }
    return scope_.constant(spv::OpTypeFloat, 0, {32}, false);
  }

  // A vector of these parts, the rest of which is that of another. The translator of the kernel
  // compiler constructs vectors of constants only.
  id assemble(id type, const std::vector<uint32_t>& parts, id base) {
    for (uint32_t i = 0; i < parts.size(); ++i) {
      instruction part =
          make_literal_instruction(spv::OpCompositeInsert, type, 0, {parts[i], base, i});
      part.id_operands = {0, 1};
      base = emit_to(out_, std::move(part));
    }
    return base;
  }
  id assemble(id type, const std::vector<uint32_t>& parts) {
    return assemble(type, parts, scope_.constant(spv::OpUndef, type, {}, true));
  }

  // One component as 32 bits.
  id to_number(const shape& from, id component) {
    if (from.is_float) {
      if (from.bits != 32) component = emit(spv::OpFConvert, float_type(), {component});
      return emit(spv::OpBitcast, number_type_, {component});
    }
    return from.bits == 32 ? component : emit(spv::OpSConvert, number_type_, {component});
  }

  // A number or up to four of them as a vector of four times 32 bits.
  result<id> to_color(id value, shape& from) {
    const auto type = types_.find(value);
    if (type == types_.end()) return fail("coordinates or pixels without a type");
    auto found = shape_of(type->second);
    if (!found) return tl::unexpected(found.error());
    from = *found;
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < from.count; ++i) {
      parts.push_back(to_number(from, from.count == 1 ? value : extract(from.component, value, i)));
    }
    const id zero = scope_.integer_constant(32, 0);
    return assemble(
        color_type_, parts,
        scope_.constant(spv::OpConstantComposite, color_type_, {zero, zero, zero, zero}, true));
  }

  id from_number(const shape& to, id number) {
    if (!to.is_float) {
      return to.bits == 32 ? number : emit(spv::OpUConvert, to.component, {number});
    }
    if (to.bits == 32) return emit(spv::OpBitcast, to.component, {number});
    const id wide = emit(spv::OpBitcast, float_type(), {number});
    return emit(spv::OpFConvert, to.component, {wide});
  }

  result<void> read(const instruction& each, id image, id sampler) {
    const auto to = shape_of(each.type);
    if (!to) return tl::unexpected(to.error());
    shape place_shape;
    const auto place = to_color(each.operands[1], place_shape);
    if (!place) return tl::unexpected(place.error());
    uint64_t bits = sampler != 0 ? 0 : image_access::unsampled;
    if (place_shape.is_float) bits |= image_access::has_float_place;
    if (!to->is_float) bits |= image_access::has_integers;
    id access = scope_.integer_constant(64, bits);
    if (sampler != 0) access = emit(spv::OpBitwiseOr, word_type_, {sampler, access});
    const id pixel =
        emit(spv::OpFunctionCall, color_type_, {read_function(), image, access, *place});
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < to->count; ++i) {
      parts.push_back(from_number(*to, extract(number_type_, pixel, i)));
    }
    replaced_[each.result] = to->count == 1 ? parts[0] : assemble(each.type, parts);
    return {};
  }

  result<void> write(const instruction& each) {
    shape place_shape, pixel_shape;
    const auto place = to_color(each.operands[1], place_shape);
    if (!place) return tl::unexpected(place.error());
    const auto pixel = to_color(each.operands[2], pixel_shape);
    if (!pixel) return tl::unexpected(pixel.error());
    const id access =
        scope_.integer_constant(64, pixel_shape.is_float ? 0 : image_access::has_integers);
    emit(spv::OpFunctionCall, nothing(),
         {write_function(), each.operands[0], access, *place, *pixel});
    return {};
  }

  result<void> query(const instruction& each, uint64_t word) {
    const auto to = shape_of(each.type);
    if (!to || to->is_float) return fail("a size or format that is no integer");
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < to->count; ++i) {
      const id value = load_word(out_, each.operands[0], word + i);
      parts.push_back(to->bits == 64 ? value : emit(spv::OpUConvert, to->component, {value}));
    }
    replaced_[each.result] = to->count == 1 ? parts[0] : assemble(each.type, parts);
    return {};
  }

  id load_word(std::vector<instruction>& where, id image, uint64_t word) {
    const id place =
        emit_to(where, make_instruction(spv::OpInBoundsPtrAccessChain, pointer_type_, 0,
                                        {image, scope_.integer_constant(64, word)}));
    return load(where, word_type_, place, word_bytes);
  }

  id nothing() { return scope_.type(spv::OpTypeVoid, {}); }

  id read_function() {
    if (read_function_ == 0) read_function_ = write_function(read_word, false);
    return read_function_;
  }

  id write_function() {
    if (write_function_ == 0) write_function_ = write_function(write_word, true);
    return write_function_;
  }

  // A function that calls the one whose address is in a word of the descriptor. What that one takes
  // and gives goes through memory, so that no more than pointers has to be agreed on.
  id write_function(uint64_t word, bool takes_pixel) {
    const id color_pointer = scope_.pointer_type(spv::StorageClassFunction, color_type_);
    const id called_type = scope_.type(
        spv::OpTypeFunction, {nothing(), pointer_type_, word_type_, color_pointer, color_pointer});
    const id address_type = scope_.pointer_type(spv::StorageClassFunction, called_type);
    std::vector<uint32_t> signature = {takes_pixel ? nothing() : color_type_, pointer_type_,
                                       word_type_, color_type_};
    if (takes_pixel) signature.push_back(color_type_);
    const auto add = [&](spv::Op opcode, id type, std::vector<uint32_t> ids) {
      return emit_to(bodies_, make_instruction(opcode, type, 0, std::move(ids)));
    };
    const auto add_variable = [&] {
      return emit_to(bodies_,
                     make_literal_instruction(spv::OpVariable, color_pointer, 0,
                                              {static_cast<uint32_t>(spv::StorageClassFunction)}));
    };
    instruction head = make_literal_instruction(
        spv::OpFunction, signature[0], 0,
        {spv::FunctionControlMaskNone, scope_.type(spv::OpTypeFunction, signature)});
    head.id_operands = {1};
    const id function = emit_to(bodies_, std::move(head));
    const id image = add(spv::OpFunctionParameter, pointer_type_, {});
    const id access = add(spv::OpFunctionParameter, word_type_, {});
    const id place = add(spv::OpFunctionParameter, color_type_, {});
    const id pixel = takes_pixel ? add(spv::OpFunctionParameter, color_type_, {}) : 0;
    bodies_.push_back(make_instruction(spv::OpLabel, 0, module_.new_id(), {}));
    const id place_variable = add_variable();
    const id pixel_variable = add_variable();
    add(spv::OpStore, 0, {place_variable, place});
    if (takes_pixel) add(spv::OpStore, 0, {pixel_variable, pixel});
    const id address = add(spv::OpConvertUToPtr, address_type, {load_word(bodies_, image, word)});
    add(spv::OpFunctionPointerCallINTEL, nothing(),
        {address, image, access, place_variable, pixel_variable});
    if (takes_pixel) {
      add(spv::OpReturn, 0, {});
    } else {
      add(spv::OpReturnValue, 0, {add(spv::OpLoad, color_type_, {pixel_variable})});
    }
    add(spv::OpFunctionEnd, 0, {});
    return function;
  }

  binary& module_;
  module_scope scope_;
  const module_index* index_ = nullptr;  // of the module with its types replaced
  id pointer_type_ = 0;                  // what stands for an image
  id word_type_ = 0, number_type_ = 0, color_type_ = 0;
  id read_function_ = 0, write_function_ = 0;
  std::unordered_map<id, id> types_;                   // of values
  std::unordered_map<id, std::pair<id, id>> sampled_;  // image and sampler
  std::unordered_map<id, id> replaced_;                // results
  std::vector<instruction> out_, bodies_;
};

}  // namespace

result<void> lower_images(binary& module) {
  return image_lowering(module).run();
}

}  // namespace zevent::driver::spirv
