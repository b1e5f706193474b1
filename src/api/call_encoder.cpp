#include "api/call_encoder.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked_cast.hpp"

namespace zevent::api {
namespace {

template <typename T>
T load(const void* at) {
  T out;
  std::memcpy(&out, at, sizeof(T));
  return out;
}

uint64_t load_number(const void* at, uint32_t size_bytes) {
  uint64_t out = 0;
  std::memcpy(&out, at, std::min<size_t>(size_bytes, sizeof(out)));
  return out;
}

std::span<const std::byte> bytes_at(const void* address, uint64_t size) {
  return {static_cast<const std::byte*>(address), checked_cast<size_t>(size)};
}

record_part input_part(direction way) {
  return way == direction::inout ? record_part::inputs : record_part::all;
}

record_part output_part(direction way) {
  return way == direction::inout ? record_part::outputs : record_part::all;
}

}  // namespace

const std::byte* call_encoder::scope::address_of(size_t index) const {
  if (base != nullptr) return base + variables[index].offset_bytes;
  return static_cast<const std::byte*>(arguments[index]);
}

void call_encoder::inputs(const function& f, std::span<const void* const> arguments,
                          byte_writer& out) {
  out_ = &out;
  call_ = {f.parameters, arguments};
  after_call_ = false;
  chain_api_ = f.api;
  capacities_.clear();
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const variable& v = f.parameters[i];
    const type& t = model_.types[v.type_index];
    if (t.kind == type_kind::pointer && v.way == direction::out) {
      const auto* address = load<const std::byte*>(arguments[i]);
      out.number(reinterpret_cast<uint64_t>(address));
      if (address != nullptr && v.pointee.source == length_source::sibling_pointee)
        valid_length(address, length_of(v.pointee, call_, 0));
    } else {
      write_variable(v, call_.address_of(i), input_part(v.way), call_);
    }
  }
}

void call_encoder::outputs(const function& f, std::span<const void* const> arguments,
                           const void* returned, byte_writer& out) {
  out_ = &out;
  call_ = {f.parameters, arguments};
  after_call_ = true;
  chain_api_ = f.api;
  if (returned != nullptr) out.bytes(bytes_at(returned, model_.types[f.result_type].size_bytes));
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const variable& v = f.parameters[i];
    const type& t = model_.types[v.type_index];
    if (v.way == direction::in || t.kind != type_kind::pointer || !is_followed(v.pointee)) continue;
    const auto* address = load<const void*>(arguments[i]);
    if (address == nullptr) {
      form(content_form::nothing);
    } else {
      write_content(v.pointee, v.inner, model_.types[t.index], v, address, output_part(v.way),
                    call_, 0);
    }
  }
}

void call_encoder::record_at(const record& r, const void* address, byte_writer& out) {
  out_ = &out;
  call_ = {};
  after_call_ = false;
  chain_api_ = r.api;
  capacities_.clear();
  write_record(r, static_cast<const std::byte*>(address), record_part::all);
}

void call_encoder::write_variable(const variable& v, const std::byte* at, record_part part,
                                  const scope& s) {
  const type& t = model_.types[v.type_index];
  const size_t count = std::max<uint32_t>(v.array_length, 1);
  for (size_t i = 0; i < count; ++i) {
    const std::byte* element = at + i * t.size_bytes;
    if (t.kind != type_kind::pointer) {
      write_element(t, element, part, {}, v, s, i);
      continue;
    }
    const auto* address = load<const void*>(element);
    out_->number(reinterpret_cast<uint64_t>(address));
    if (address != nullptr && is_followed(v.pointee))
      write_content(v.pointee, v.inner, model_.types[t.index], v, address, part, s, i);
  }
}

// What is in memory at `at`: an element of an array, a field, or what a pointer points at.
void call_encoder::write_element(const type& t, const std::byte* at, record_part part,
                                 const extent& inner, const variable& v, const scope& s,
                                 size_t index) {
  if (t.kind == type_kind::record) {
    const record& r = model_.records[t.index];
    if (r.is_union) {
      out_->bytes({at, r.size_bytes});
    } else {
      write_record(r, at, part);
    }
  } else if (t.kind == type_kind::pointer) {
    const auto* address = load<const void*>(at);
    out_->number(reinterpret_cast<uint64_t>(address));
    if (address != nullptr && is_followed(inner))
      write_content(inner, {}, model_.types[t.index], v, address, part, s, index);
  } else {
    out_->bytes({at, t.size_bytes});
  }
}

void call_encoder::write_record(const record& r, const std::byte* base, record_part part) {
  const scope fields{r.fields, {}, base};
  for (const variable& field : r.fields) {
    if (has_field(part, field.way))
      write_variable(field, base + field.offset_bytes, below(part, field.way), fields);
  }
}

void call_encoder::write_content(const extent& e, const extent& inner, const type& pointee,
                                 const variable& v, const void* address, record_part part,
                                 const scope& s, size_t index) {
  if (pointee.kind == type_kind::record && !has_any_field(model_.records[pointee.index], part))
    return form(content_form::nothing);
  const auto* bytes = static_cast<const std::byte*>(address);
  switch (e.kind) {
    case extent_kind::single:
      form(content_form::here);
      return write_element(pointee, bytes, part, inner, v, s, 0);
    case extent_kind::elements:
      return write_elements(e, inner, pointee, v, bytes, part, s, index);
    case extent_kind::string:
      return write_string(static_cast<const char*>(address));
    case extent_kind::chain:
      return write_chain(bytes, part);
    case extent_kind::external:
      return write_external(v, address, index);
    case extent_kind::none:
    case extent_kind::address:
      break;
  }
  ZEVENT_UNREACHABLE("content of a pointer that is not followed");
}

void call_encoder::write_elements(const extent& e, const extent& inner, const type& pointee,
                                  const variable& v, const std::byte* address, record_part part,
                                  const scope& s, size_t index) {
  uint64_t length = length_of(e, s, index);
  if (e.source == length_source::sibling_pointee || e.source == length_source::call_pointee)
    length = valid_length(address, length);
  if (is_byte(pointee)) return write_bytes(bytes_at(address, length));
  if (length > UINT32_MAX) return form(content_form::nothing);
  form(content_form::here);
  out_->number(static_cast<uint32_t>(length));
  for (size_t i = 0; i < length; ++i)
    write_element(pointee, address + i * pointee.size_bytes, part, inner, v, s, i);
}

void call_encoder::write_bytes(std::span<const std::byte> bytes) {
  const auto hash = policy_ != nullptr ? policy_->keep_blob(bytes) : std::span<const std::byte>{};
  if (hash.size() == blob_hash_bytes) {
    form(content_form::blob);
    out_->number(static_cast<uint64_t>(bytes.size()));
    out_->bytes(hash);
  } else if (bytes.size() <= UINT32_MAX) {
    form(content_form::here);
    out_->number(static_cast<uint32_t>(bytes.size()));
    out_->bytes(bytes);
  } else {
    form(content_form::nothing);
  }
}

void call_encoder::write_string(const char* text) {
  const size_t size = strnlen(text, max_string_bytes);
  form(content_form::here);
  out_->number(static_cast<uint32_t>(size));
  out_->bytes(bytes_at(text, size));
}

void call_encoder::write_chain(const std::byte* address, record_part part) {
  const bool was_never_set = after_call_ && part == record_part::all;
  if (was_never_set || chain_length_ == max_chain_length) return form(content_form::nothing);
  const auto stype = load<uint32_t>(address);
  const record* r = model_.find_chained(chain_api_, stype);
  if (r == nullptr) {
    form(content_form::unknown);
    out_->number(stype);
    return;
  }
  form(content_form::here);
  out_->number(stype);
  ++chain_length_;
  write_record(*r, address, part);
  --chain_length_;
}

void call_encoder::write_external(const variable& v, const void* address, size_t index) {
  std::vector<std::span<const std::byte>> runs;
  if (policy_ == nullptr || !policy_->external_runs(v, address, index, runs))
    return form(content_form::nothing);
  form(content_form::here);
  out_->number(checked_cast<uint32_t>(runs.size()));
  for (const auto& run : runs) {
    out_->number(checked_cast<uint32_t>(run.size()));
    out_->bytes(run);
  }
}

uint64_t call_encoder::length_of(const extent& e, const scope& s, size_t index) const {
  const scope& where = e.source == length_source::call_pointee ? call_ : s;
  if (e.index >= where.variables.size()) return 0;
  const type& t = model_.types[where.variables[e.index].type_index];
  const std::byte* at = where.address_of(e.index);
  if (e.source == length_source::sibling) return load_number(at, t.size_bytes);
  const auto* pointee = load<const std::byte*>(at);
  if (pointee == nullptr) return 0;
  const uint32_t size = model_.types[t.index].size_bytes;
  if (e.source == length_source::sibling_element) pointee += index * size;
  return load_number(pointee, size);
}

uint64_t call_encoder::valid_length(const void* buffer, uint64_t length) {
  const auto known = std::find_if(capacities_.begin(), capacities_.end(),
                                  [&](const auto& c) { return c.first == buffer; });
  if (known != capacities_.end()) return after_call_ ? std::min(known->second, length) : length;
  if (!after_call_) capacities_.emplace_back(buffer, length);
  return length;
}

}  // namespace zevent::api
