#include <algorithm>

#include "api/call_codec.hpp"
#include "base/untrusted_reader.hpp"

namespace zevent::api {
namespace {

// Deeper than any record of the API nests; a chain adds two levels a struct.
constexpr uint32_t max_depth = 2 * max_chain_length + 16;
// Every value takes memory, some of them no byte of input.
constexpr uint32_t max_values = 1u << 20;

class decoder {
 public:
  decoder(const model& m, const function* f, std::span<const std::byte> bytes)
      : model_(m), reader_(bytes), chain_api_(f != nullptr ? f->api : api_name::ze) {}

  value read_variable(const variable& v, record_part part, bool with_content);
  value read_record(const record& r, record_part part);
  void read_content(const extent& e, const extent& inner, const type& pointee, record_part part,
                    value& pointer);
  void set_chain_api(api_name api) { chain_api_ = api; }

  uint64_t read_number(uint32_t size_bytes);
  bool ok() const { return reader_.ok() && problem_ == nullptr; }
  // Null when all is well: every byte was read and meant something.
  const char* problem() const;

 private:
  value read_element(const type& t, record_part part, const extent& inner);
  value read_pointer(const type& t, const extent& e, const extent& inner, record_part part,
                     bool with_content);
  value read_elements(const type& pointee, const extent& inner, record_part part);
  value read_chain(content_form form, record_part part);
  value read_runs();
  value read_bytes(value_form form);
  value read_blob();
  value scalar(const type& t);
  value raw(const type& t, uint64_t count);
  bool enter();

  const model& model_;
  untrusted_reader reader_;
  api_name chain_api_;
  const char* problem_ = nullptr;
  uint32_t depth_ = 0;
  uint32_t values_ = 0;
};

bool decoder::enter() {
  if (depth_ >= max_depth) {
    problem_ = "it nests too deep";
  } else if (++values_ > max_values) {
    problem_ = "it has too many values";
  }
  return ok();
}

const char* decoder::problem() const {
  if (problem_ != nullptr) return problem_;
  if (!reader_.ok()) return "it ends early";
  return reader_.at_end() ? nullptr : "bytes are left over";
}

uint64_t decoder::read_number(uint32_t size_bytes) {
  uint64_t out = 0;
  const auto bytes = reader_.take(size_bytes);
  std::copy_n(bytes.begin(), std::min(bytes.size(), sizeof(out)),
              reinterpret_cast<std::byte*>(&out));
  return out;
}

value decoder::scalar(const type& t) {
  value out{.form = value_form::scalar, .declared = &t};
  out.bits = read_number(t.size_bytes);
  return out;
}

value decoder::raw(const type& t, uint64_t count) {
  return {.form = value_form::raw, .declared = &t, .bytes = reader_.take(count * t.size_bytes)};
}

value decoder::read_variable(const variable& v, record_part part, bool with_content) {
  const type& t = model_.types[v.type_index];
  value out;
  if (v.array_length == 0) {
    out = t.kind == type_kind::pointer ? read_pointer(t, v.pointee, v.inner, part, with_content)
                                       : read_element(t, part, {});
  } else if (t.kind != type_kind::record && t.kind != type_kind::pointer) {
    out = raw(t, v.array_length);
  } else {
    out.form = value_form::list;
    for (uint32_t i = 0; i < v.array_length && ok(); ++i) {
      out.items.push_back(t.kind == type_kind::pointer
                              ? read_pointer(t, v.pointee, v.inner, part, with_content)
                              : read_element(t, part, {}));
    }
  }
  out.origin = &v;
  return out;
}

value decoder::read_element(const type& t, record_part part, const extent& inner) {
  if (t.kind == type_kind::pointer) return read_pointer(t, inner, {}, part, true);
  if (t.kind != type_kind::record) return scalar(t);
  const record& r = model_.records[t.index];
  if (r.is_union) return raw(t, 1);
  return read_record(r, part);
}

value decoder::read_record(const record& r, record_part part) {
  value out{.form = value_form::record, .structure = &r};
  if (!enter()) return out;
  ++depth_;
  for (const variable& field : r.fields) {
    if (!ok()) break;
    if (has_field(part, field.way))
      out.items.push_back(read_variable(field, below(part, field.way), true));
  }
  --depth_;
  return out;
}

value decoder::read_pointer(const type& t, const extent& e, const extent& inner, record_part part,
                            bool with_content) {
  value out{.form = value_form::pointer, .declared = &t};
  if (!enter()) return out;
  out.bits = read_number(sizeof(uint64_t));
  if (out.bits != 0 && with_content && is_followed(e)) {
    ++depth_;
    read_content(e, inner, model_.types[t.index], part, out);
    --depth_;
  }
  return out;
}

void decoder::read_content(const extent& e, const extent& inner, const type& pointee,
                           record_part part, value& pointer) {
  const auto form = static_cast<content_form>(reader_.number<uint8_t>());
  if (form == content_form::nothing || !ok()) return;
  if (e.kind == extent_kind::chain) {
    pointer.items.push_back(read_chain(form, part));
  } else if (form == content_form::blob && e.kind == extent_kind::elements && is_byte(pointee)) {
    pointer.items.push_back(read_blob());
    pointer.items.back().declared = &pointee;
  } else if (form != content_form::here) {
    problem_ = "a content has an unknown form";
  } else if (e.kind == extent_kind::single) {
    pointer.items.push_back(read_element(pointee, part, inner));
  } else if (e.kind == extent_kind::string) {
    pointer.items.push_back(read_bytes(value_form::text));
  } else if (e.kind == extent_kind::external) {
    pointer.items.push_back(read_runs());
  } else if (is_byte(pointee)) {
    pointer.items.push_back(read_bytes(value_form::bytes));
    pointer.items.back().declared = &pointee;
  } else {
    pointer.items.push_back(read_elements(pointee, inner, part));
  }
}

value decoder::read_elements(const type& pointee, const extent& inner, record_part part) {
  const auto count = reader_.number<uint32_t>();
  const bool is_union = pointee.kind == type_kind::record && model_.records[pointee.index].is_union;
  if (is_union || (pointee.kind != type_kind::record && pointee.kind != type_kind::pointer))
    return raw(pointee, count);
  value out{.form = value_form::list};
  if (count > reader_.remaining()) {
    problem_ = "a count is larger than what is there";
    return out;
  }
  for (uint32_t i = 0; i < count && ok(); ++i)
    out.items.push_back(read_element(pointee, part, inner));
  return out;
}

value decoder::read_chain(content_form form, record_part part) {
  const auto stype = reader_.number<uint32_t>();
  if (form == content_form::unknown) return {.form = value_form::unknown_chain, .bits = stype};
  const record* r = model_.find_chained(chain_api_, stype);
  if (form != content_form::here || r == nullptr) {
    problem_ = "a chain has a struct of an unknown kind";
    return {};
  }
  return read_record(*r, part);
}

value decoder::read_runs() {
  value out{.form = value_form::runs};
  const auto count = reader_.number<uint32_t>();
  for (uint32_t i = 0; i < count && enter(); ++i)
    out.items.push_back(read_bytes(value_form::bytes));
  return out;
}

value decoder::read_bytes(value_form form) {
  value out{.form = form};
  out.bytes = reader_.take(reader_.number<uint32_t>());
  return out;
}

value decoder::read_blob() {
  value out{.form = value_form::blob};
  out.bits = reader_.number<uint64_t>();
  out.bytes = reader_.take(blob_hash_bytes);
  return out;
}

}  // namespace

bool has_any_field(const record& r, record_part part) {
  return r.is_union || std::any_of(r.fields.begin(), r.fields.end(), [&](const variable& field) {
           return has_field(part, field.way);
         });
}

result<call_values> decode_inputs(const model& m, const function& f,
                                  std::span<const std::byte> bytes) {
  decoder in(m, &f, bytes);
  call_values out{.callee = &f};
  for (const variable& v : f.parameters) {
    const auto part = v.way == direction::inout ? record_part::inputs : record_part::all;
    if (in.ok()) out.parameters.push_back(in.read_variable(v, part, v.way != direction::out));
  }
  if (const char* problem = in.problem())
    return fail("the inputs of a {} cannot be read: {}", f.name, problem);
  return out;
}

result<call_values> decode_outputs(const model& m, const function& f,
                                   std::span<const std::byte> bytes) {
  decoder in(m, &f, bytes);
  call_values out{.callee = &f};
  out.parameters.resize(f.parameters.size());
  if (bytes.empty()) return out;
  const type& result_type = m.types[f.result_type];
  if (result_type.name != "ze_result_t") out.returned = in.read_number(result_type.size_bytes);
  for (size_t i = 0; i < f.parameters.size() && in.ok(); ++i) {
    const variable& v = f.parameters[i];
    const type& t = m.types[v.type_index];
    if (v.way == direction::in || t.kind != type_kind::pointer || !is_followed(v.pointee)) continue;
    const auto part = v.way == direction::inout ? record_part::outputs : record_part::all;
    value pointer{.form = value_form::pointer, .origin = &v, .declared = &t};
    in.read_content(v.pointee, v.inner, m.types[t.index], part, pointer);
    if (!pointer.items.empty()) out.parameters[i] = std::move(pointer);
  }
  if (const char* problem = in.problem())
    return fail("the outputs of a {} cannot be read: {}", f.name, problem);
  return out;
}

result<value> decode_record(const model& m, const record& r, std::span<const std::byte> bytes) {
  decoder in(m, nullptr, bytes);
  in.set_chain_api(r.api);
  value out = in.read_record(r, record_part::all);
  if (const char* problem = in.problem()) return fail("a {} cannot be read: {}", r.name, problem);
  return out;
}

}  // namespace zevent::api
