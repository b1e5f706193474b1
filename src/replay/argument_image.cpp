#include "replay/argument_image.hpp"

#include <algorithm>
#include <cstring>

#include "api/call_codec.hpp"
#include "replay/shared_handles.hpp"

namespace zevent::replay {
namespace {

using api::extent_kind;
using api::type_kind;
using api::value;
using api::value_form;

// Outputs of this size and more share their memory, unless handles are to be read from them.
constexpr uint64_t large_output_bytes = 64u << 10;
constexpr uint64_t most_output_bytes = uint64_t{1} << 36;

// Stands for whatever a program wanted to have called back.
void called_back(void*) {}

}  // namespace

result<std::span<std::byte>> blob_cache::get(const trace::blob_hash& hash) {
  if (const auto known = known_.find(hash); known != known_.end()) return known->second;
  const auto content = trace_.read_blob(hash);
  if (!content) return tl::unexpected(content.error());
  std::byte* copy = memory_.take(content->size());
  std::copy(content->begin(), content->end(), copy);
  const std::span<std::byte> kept(copy, content->size());
  known_.emplace(hash, kept);
  return kept;
}

result<void> argument_image::build(const recorded_call& call, compiled_call& compiled,
                                   call_extras& extras) {
  call_ = &call;
  extras_ = &extras;
  problem_.clear();
  compiled.first_patch = static_cast<uint32_t>(out_.patches.size());
  compiled.first_capture = static_cast<uint32_t>(out_.captures.size());
  const auto& parameters = call.function->parameters;
  parameters_ = {parameters, &call.inputs.parameters, &call.outputs.parameters};
  compiled.slots = out_.images.take_array<uint64_t>(std::max<size_t>(parameters.size(), 1));
  for (size_t i = 0; i < parameters.size() && problem_.empty(); ++i) {
    const auto& parameter = parameters[i];
    const auto& type = model_.types[parameter.type_index];
    auto* slot = reinterpret_cast<std::byte*>(compiled.slots + i);
    if (type.kind == type_kind::record) {
      std::byte* by_value = out_.images.take(type.size_bytes);
      compiled.slots[i] = reinterpret_cast<uint64_t>(by_value);
      slot = by_value;
    }
    put_variable(parameter, value_of(parameters_.in, parameter),
                 value_of(parameters_.out, parameter), slot, parameters_);
  }
  if (!problem_.empty()) return fail("call {}: {}", call.number(), problem_);
  const auto& returned = model_.types[call.function->result_type];
  if (returned.kind == type_kind::handle)
    extras.returned = book_.find_handle(returned.index, call.outputs.returned, call.call.end_ns());
  const size_t patches = out_.patches.size() - compiled.first_patch;
  const size_t captures = out_.captures.size() - compiled.first_capture;
  if (std::max(patches, captures) > UINT16_MAX)
    return fail("call {}: it passes {} handles; 65535 are possible", call.number(),
                std::max(patches, captures));
  compiled.patches = static_cast<uint16_t>(patches);
  compiled.captures = static_cast<uint16_t>(captures);
  return {};
}

void argument_image::fail_with(std::string message) {
  if (problem_.empty()) problem_ = std::move(message);
}

void argument_image::put_variable(const api::variable& v, const value* in, const value* out,
                                  std::byte* at, const value_scope& s) {
  const auto& type = model_.types[v.type_index];
  if (v.array_length == 0) return put({type, v.pointee, v.inner, v, in, out}, at, s);
  if (type.kind != type_kind::record && type.kind != type_kind::pointer)
    return put_scalars({type, {}, {}, v, in, out}, v.array_length, at);
  for (uint32_t i = 0; i < v.array_length; ++i)
    put({type, v.pointee, v.inner, v, item_at(in, i), item_at(out, i), i},
        at + uint64_t{i} * type.size_bytes, s);
}

void argument_image::put(const item& it, std::byte* at, const value_scope& s) {
  switch (it.type.kind) {
    case type_kind::pointer:
      return put_pointer(it, at, s);
    case type_kind::record: {
      const auto& r = model_.records[it.type.index];
      if (r.is_union) return put_scalars(it, 1, at);
      if (is_opaque(r)) return put_opaque(it.in, it.out, at);
      return put_record(r, it.in, it.out, at);
    }
    case type_kind::handle:
      return put_handle(it.type.index, bits_of(it.in), bits_of(it.out), at);
    case type_kind::function: {
      const auto stand_in = reinterpret_cast<uint64_t>(&called_back);
      if (bits_of(it.in) != 0) std::memcpy(at, &stand_in, sizeof(stand_in));
      return;
    }
    default: {
      const uint64_t bits = bits_of(it.in);
      std::memcpy(at, &bits, std::min<size_t>(it.type.size_bytes, sizeof(bits)));
      if (bits_of(it.out) == 0 || !is_address_as_number(it.variable, it.type)) return;
      const auto place = book_.find_memory(bits_of(it.out), call_->call.end_ns());
      if (place && place->offset == 0) add_capture(at, place->slot);
    }
  }
}

void argument_image::put_record(const api::record& r, const value* in, const value* out,
                                std::byte* at) {
  const value_scope fields{r.fields, in != nullptr ? &in->items : nullptr,
                           out != nullptr ? &out->items : nullptr};
  for (const auto& field : r.fields) {
    if (!problem_.empty()) return;
    put_variable(field, value_of(fields.in, field), value_of(fields.out, field),
                 at + field.offset_bytes, fields);
  }
}

void argument_image::put_opaque(const value* in, const value* out, std::byte* at) {
  if (in != nullptr && !in->items.empty()) {
    const auto recorded = in->items.front().bytes;
    std::copy_n(recorded.begin(), std::min<size_t>(recorded.size(), opaque_bytes), at);
    if (const auto known = book_.find_opaque(recorded))
      extras_->opaque_inputs.push_back({at, *known, !book_.knows_opaque(recorded)});
  }
  if (out != nullptr && !out->items.empty())
    if (const auto known = book_.find_opaque(out->items.front().bytes))
      extras_->opaque_outputs.push_back({at, *known});
}

void argument_image::put_handle(uint16_t handle_class, uint64_t in, uint64_t out, std::byte* at) {
  if (in != 0) {
    if (const auto slot = book_.find_handle(handle_class, in, call_->call.start_ns)) {
      patch(at, {*slot, 0});
    } else if (call_->call.failed() || !call_->call.returned() ||
               handle_class >= model_.handles.size()) {
      // What was refused, or the end of the program, may well be so for this.
      std::memcpy(at, &in, sizeof(in));
    } else {
      fail_with(fmt::format("it uses the {} {:#x}, {}", model_.handles[handle_class].short_name, in,
                            describe_maker(book_.objects(), handle_class, in)));
    }
  }
  if (out != 0)
    if (const auto slot = book_.find_handle(handle_class, out, call_->call.end_ns()))
      add_capture(at, *slot);
}

// An array of numbers or handles, or a union.
void argument_image::put_scalars(const item& it, uint64_t count, std::byte* at) {
  if (it.type.kind == type_kind::handle) {
    for (uint64_t i = 0; i < count; ++i)
      put_handle(it.type.index, element_at(it.in, i), element_at(it.out, i),
                 at + i * it.type.size_bytes);
    return;
  }
  if (it.in == nullptr) return;
  const auto recorded = it.in->bytes;
  std::copy_n(recorded.begin(), std::min<size_t>(recorded.size(), count * it.type.size_bytes), at);
}

void argument_image::put_pointer(const item& it, std::byte* at, const value_scope& s) {
  const uint64_t in = bits_of(it.in);
  // The address of what is put out stands in the inputs; an address that is itself put out does
  // not.
  if (!api::is_followed(it.pointee)) return put_address(it, in, bits_of(it.out), at);
  if (in == 0 && pointee_of(it.out) == nullptr) return;
  const auto behind = reinterpret_cast<uint64_t>(content(it, s));
  std::memcpy(at, &behind, sizeof(behind));
}

void argument_image::put_address(const item& it, uint64_t in, uint64_t out, std::byte* at) {
  if (in != 0) {
    if (it.variable.name == "pUserData" || it.variable.name == "pStart") {
      std::memcpy(at, &in, sizeof(in));
    } else if (const auto place = book_.find_memory(in, call_->call.start_ns)) {
      patch(at, *place);
    } else {
      const auto host = reinterpret_cast<uint64_t>(host_address(in));
      std::memcpy(at, &host, sizeof(host));
    }
  }
  if (out != 0) {
    const auto place = book_.find_memory(out, call_->call.end_ns());
    if (place && place->offset == 0) add_capture(at, place->slot);
    if (call_->function->name == "zeDriverGetExtensionFunctionAddress")
      extras_->fetched_place = reinterpret_cast<const uint64_t*>(at);
  }
}

std::byte* argument_image::host_address(uint64_t address) const {
  const auto place = book_.find_host(address);
  return place ? out_.host_memory[place->range].data() + place->offset : nullptr;
}

std::byte* argument_image::content(const item& it, const value_scope& s) {
  const auto& pointee = model_.types[it.type.index];
  const value* in = pointee_of(it.in);
  const value* out = pointee_of(it.out);
  switch (it.pointee.kind) {
    case extent_kind::single: {
      std::byte* at = out_.images.take(std::max<uint64_t>(pointee.size_bytes, 8));
      put({pointee, it.inner, {}, it.variable, in, out}, at, s);
      return at;
    }
    case extent_kind::elements:
      return api::is_byte(pointee) ? bytes(it, s) : elements(it, pointee, s);
    case extent_kind::string:
      return copy(in != nullptr ? in->bytes : std::span<const std::byte>{},
                  std::max(recorded_length(in), recorded_length(out)) + 1);
    case extent_kind::chain: {
      const value* known = in != nullptr ? in : out;
      if (known == nullptr || known->form != value_form::record) return nullptr;
      std::byte* at = out_.images.take(known->structure->size_bytes);
      const bool same = out != nullptr && out->structure == known->structure;
      put_record(*known->structure, in, same ? out : nullptr, at);
      return at;
    }
    case extent_kind::external:
      return runs(it, pointee);
    case extent_kind::none:
    case extent_kind::address:
      break;
  }
  return nullptr;
}

std::byte* argument_image::elements(const item& it, const api::type& pointee,
                                    const value_scope& s) {
  const value* in = pointee_of(it.in);
  const value* out = pointee_of(it.out);
  const uint64_t recorded = std::max(recorded_length(in), recorded_length(out));
  // An array that goes in is as long as it was recorded; one that is filled may have more room.
  const uint64_t length =
      it.variable.way == api::direction::in
          ? recorded
          : std::max(recorded, length_of(it.pointee, s, parameters_, it.position));
  if (pointee.size_bytes == 0 || length > most_output_bytes / pointee.size_bytes) {
    fail_with(fmt::format("{} has room for {} elements", it.variable.name, length));
    return nullptr;
  }
  const bool plain = pointee.kind != type_kind::record && pointee.kind != type_kind::pointer;
  std::byte* at = output_room(length * pointee.size_bytes, recorded != 0);
  if (at == nullptr) return nullptr;
  const bool is_union = pointee.kind == type_kind::record && model_.records[pointee.index].is_union;
  if (plain || is_union) {
    put_scalars({pointee, {}, {}, it.variable, in, out}, recorded, at);
    return at;
  }
  for (uint64_t i = 0; i < recorded && problem_.empty(); ++i)
    put({pointee, it.inner, {}, it.variable, item_at(in, i), item_at(out, i), i},
        at + i * pointee.size_bytes, s);
  return at;
}

// Untyped memory.
std::byte* argument_image::bytes(const item& it, const value_scope& s) {
  const value* in = pointee_of(it.in);
  if (in == nullptr) {
    const uint64_t recorded = recorded_length(pointee_of(it.out));
    return output_room(std::max(recorded, length_of(it.pointee, s, parameters_, it.position)),
                       false);
  }
  std::span<const std::byte> recorded = in->bytes;
  if (in->form == value_form::blob) {
    trace::blob_hash hash{};
    std::memcpy(hash.bytes, in->bytes.data(), std::min(in->bytes.size(), sizeof(hash.bytes)));
    const auto kept = blobs_.get(hash);
    if (!kept) {
      fail_with(fmt::format("{}: {}", it.variable.name, kept.error().message));
      return nullptr;
    }
    if (!is_kernel_argument(it.variable)) return kept->data();
    recorded = *kept;
  }
  std::byte* at = copy(recorded, std::max<uint64_t>(recorded.size(), 8));
  if (is_kernel_argument(it.variable)) patch_argument({at, recorded.size()});
  return at;
}

// Pieces whose sizes another object knows: behind an array of pointers, or one behind a pointer.
std::byte* argument_image::runs(const item& it, const api::type& pointee) {
  const value* in = pointee_of(it.in);
  if (in == nullptr || in->form != value_form::runs) return nullptr;
  const bool is_array = pointee.kind == type_kind::pointer;
  auto* pointers = out_.images.take_array<uint64_t>(std::max<size_t>(in->items.size(), 1));
  std::byte* first = nullptr;
  for (size_t i = 0; i < in->items.size(); ++i) {
    const auto recorded = in->items[i].bytes;
    std::byte* at = copy(recorded, std::max<uint64_t>(recorded.size(), 8));
    if (is_kernel_argument(it.variable)) patch_argument({at, recorded.size()});
    pointers[i] = reinterpret_cast<uint64_t>(at);
    if (i == 0) first = at;
  }
  return is_array ? reinterpret_cast<std::byte*>(pointers) : first;
}

void argument_image::patch_argument(std::span<std::byte> content) {
  for (const auto& each :
       place_pointers(content, book_.find_argument_pointers(content, call_->call.start_ns)))
    out_.patches.push_back(each);
}

// Where plain memory is in this process is known already.
std::vector<pointer_patch> argument_image::place_pointers(
    std::span<std::byte> content, std::span<const embedded_pointer> pointers) const {
  std::vector<pointer_patch> out;
  for (const auto& each : pointers) {
    std::byte* place = content.data() + each.offset;
    if (each.host) {
      const auto address =
          reinterpret_cast<uint64_t>(out_.host_memory[each.host->range].data() + each.host->offset);
      std::memcpy(place, &address, sizeof(address));
    } else {
      out.push_back({reinterpret_cast<uint64_t*>(place), each.target.offset, each.target.slot});
    }
  }
  return out;
}

std::byte* argument_image::copy(std::span<const std::byte> recorded, uint64_t room) {
  std::byte* at = out_.images.take(std::max<uint64_t>(recorded.size(), room));
  std::copy(recorded.begin(), recorded.end(), at);
  return at;
}

std::byte* argument_image::output_room(uint64_t bytes, bool has_content) {
  if (bytes > most_output_bytes) {
    fail_with(fmt::format("it has room for {} bytes of output", bytes));
    return nullptr;
  }
  if (bytes < large_output_bytes || has_content) return out_.images.take(bytes);
  if (out_.scratch.size() < bytes) {
    // Images made before keep the address they have, so the scratch memory is as large as any
    // output can be; the kernel gives pages only where something is written.
    auto room = mapped_memory::make(most_output_bytes);
    if (!room) {
      fail_with(room.error().message);
      return nullptr;
    }
    out_.scratch = std::move(*room);
  }
  return out_.scratch.data();
}

void argument_image::patch(std::byte* at, slot_place place) {
  out_.patches.push_back({reinterpret_cast<uint64_t*>(at), place.offset, place.slot});
}

void argument_image::add_capture(std::byte* at, slot_id slot) {
  out_.captures.push_back({reinterpret_cast<const uint64_t*>(at), slot});
}

}  // namespace zevent::replay
