#include "model/argument_plan.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "api/call_codec.hpp"
#include "base/untrusted_reader.hpp"

namespace zevent::model {

// What is wanted of a variable, and of what lies below it.
struct argument_plan::wanted {
  struct chained {
    const api::record* structure = nullptr;
    std::unique_ptr<wanted> of;
  };
  argument into = argument::none;
  argument before = argument::none;             // as it was when the call was made
  std::vector<std::unique_ptr<wanted>> fields;  // of the record it is or points at
  std::vector<chained> chain;                   // of structs behind it

  bool any() const {
    return into != argument::none || before != argument::none || !fields.empty() || !chain.empty();
  }
  // The one argument that an array below this gives a list for.
  argument leaf() const {
    if (into != argument::none && fields.empty()) return into;
    for (const auto& each : fields) {
      if (each && each->leaf() != argument::none) return each->leaf();
    }
    return argument::none;
  }
};

namespace {

using api::content_form;
using api::direction;
using api::extent;
using api::extent_kind;
using api::record_part;
using api::type_kind;
using wanted = argument_plan::wanted;

// As deep as the decoder of the codec goes.
constexpr uint32_t max_depth = 2 * api::max_chain_length + 16;

class reader {
 public:
  reader(const api::model& m, const argument_plan::blob_source& blobs, const api::function& f,
         std::span<const std::byte> bytes, call_view& into, bool inputs)
      : model_(m),
        blobs_(blobs),
        chain_api_(f.api),
        all_(bytes),
        bytes_(bytes),
        call_(into),
        inputs_(inputs) {}

  void variable(const api::variable& v, record_part part, bool with_content, const wanted* want);
  void content(const extent& e, const extent& inner, const api::type& pointee, record_part part,
               const wanted* want);
  uint64_t number(uint32_t size_bytes);
  bool ok() const { return ok_ && bytes_.ok(); }

 private:
  void element(const api::type& t, record_part part, const extent& inner, const wanted* want);
  void pointer(const api::type& t, const extent& e, const extent& inner, record_part part,
               bool with_content, const wanted* want);
  void record(const api::record& r, record_part part, const wanted* want);
  void elements(const api::type& pointee, const extent& inner, record_part part,
                const wanted* want);
  void scalars(const api::type& t, uint64_t count, const wanted* want);
  void chain(content_form form, record_part part, const wanted* want);
  void store(const wanted* want, uint64_t value);
  void store_bytes(const wanted* want, std::span<const std::byte> bytes);

  const api::model& model_;
  const argument_plan::blob_source& blobs_;
  api::api_name chain_api_;
  std::span<const std::byte> all_;
  untrusted_reader bytes_;
  call_view& call_;
  const wanted* chain_wanted_ = nullptr;  // what is wanted of the chain that is being read
  bool inputs_;
  bool ok_ = true;
  bool listing_ = false;  // inside an array: values are elements of a list
  uint32_t depth_ = 0;
};

uint64_t reader::number(uint32_t size_bytes) {
  // Nearly all of them are handles, pointers and counts.
  if (size_bytes == sizeof(uint64_t)) return bytes_.number<uint64_t>();
  if (size_bytes == sizeof(uint32_t)) return bytes_.number<uint32_t>();
  uint64_t out = 0;
  const auto taken = bytes_.take(size_bytes);
  if (!taken.empty()) std::memcpy(&out, taken.data(), std::min<size_t>(taken.size(), sizeof(out)));
  return out;
}

void reader::store(const wanted* want, uint64_t value) {
  if (want == nullptr || !ok()) return;
  if (want->into != argument::none) {
    if (listing_)
      call_.add_element(want->into, value);
    else
      call_.set(want->into, value);
  }
  if (want->before != argument::none && inputs_) call_.set(want->before, value);
}

void reader::store_bytes(const wanted* want, std::span<const std::byte> bytes) {
  if (want == nullptr || want->into == argument::none || listing_ || !ok()) return;
  call_.set_bytes(want->into, bytes);
}

void reader::variable(const api::variable& v, record_part part, bool with_content,
                      const wanted* want) {
  const api::type& t = model_.types[v.type_index];
  if (v.array_length == 0) {
    if (t.kind == type_kind::pointer)
      pointer(t, v.pointee, v.inner, part, with_content, want);
    else
      element(t, part, {}, want);
  } else if (t.kind != type_kind::record && t.kind != type_kind::pointer) {
    bytes_.take(uint64_t{v.array_length} * t.size_bytes);
  } else {
    for (uint32_t i = 0; i < v.array_length && ok(); ++i) {
      if (t.kind == type_kind::pointer)
        pointer(t, v.pointee, v.inner, part, with_content, nullptr);
      else
        element(t, part, {}, nullptr);
    }
  }
}

void reader::element(const api::type& t, record_part part, const extent& inner,
                     const wanted* want) {
  if (t.kind == type_kind::pointer) return pointer(t, inner, {}, part, true, want);
  if (t.kind != type_kind::record) return store(want, number(t.size_bytes));
  const api::record& r = model_.records[t.index];
  if (r.is_union) {
    bytes_.take(t.size_bytes);
    return;
  }
  const uint64_t remaining = bytes_.remaining();
  record(r, part, want);
  if (want != nullptr && want->fields.empty() && ok()) {
    // A struct as it is: an IPC handle.
    const uint64_t used = remaining - bytes_.remaining();
    store_bytes(want, all_.subspan(all_.size() - static_cast<size_t>(remaining),
                                   static_cast<size_t>(used)));
  }
}

void reader::record(const api::record& r, record_part part, const wanted* want) {
  if (++depth_ > max_depth) ok_ = false;
  const bool inside = want != nullptr && !want->fields.empty();
  for (size_t i = 0; i < r.fields.size() && ok(); ++i) {
    const auto& field = r.fields[i];
    if (!has_field(part, field.way)) continue;
    const wanted* below_it = inside && i < want->fields.size() ? want->fields[i].get() : nullptr;
    variable(field, below(part, field.way), true, below_it);
  }
  --depth_;
}

void reader::pointer(const api::type& t, const extent& e, const extent& inner, record_part part,
                     bool with_content, const wanted* want) {
  const uint64_t address = number(sizeof(uint64_t));
  if (!ok()) return;
  if (want != nullptr && want->into != argument::none && address == 0 && !listing_) {
    call_.set_null(want->into);
  } else {
    store(want, address);
  }
  if (address == 0 || !with_content || !is_followed(e)) return;
  if (++depth_ > max_depth) ok_ = false;
  if (ok()) content(e, inner, model_.types[t.index], part, want);
  --depth_;
}

void reader::content(const extent& e, const extent& inner, const api::type& pointee,
                     record_part part, const wanted* want) {
  const auto form = static_cast<content_form>(bytes_.number<uint8_t>());
  if (form == content_form::nothing || !ok()) return;
  const bool of_bytes = api::is_byte(pointee);
  if (e.kind == extent_kind::chain) {
    chain(form, part, want);
  } else if (form == content_form::blob && e.kind == extent_kind::elements && of_bytes) {
    bytes_.take(sizeof(uint64_t));
    const auto hash = bytes_.take(api::blob_hash_bytes);
    if (want != nullptr && blobs_ && ok()) store_bytes(want, blobs_(hash));
  } else if (form != content_form::here) {
    ok_ = false;
  } else if (e.kind == extent_kind::single) {
    // A pointer to a struct is itself the value of the argument, a pointer to a number is not.
    if (want != nullptr && pointee.kind == type_kind::record && !want->fields.empty()) {
      record(model_.records[pointee.index], part, want);
    } else {
      element(pointee, part, inner, want);
    }
  } else if (e.kind == extent_kind::external) {
    const auto count = bytes_.number<uint32_t>();
    for (uint32_t i = 0; i < count && ok(); ++i) bytes_.take(bytes_.number<uint32_t>());
  } else if (e.kind == extent_kind::string || of_bytes) {
    store_bytes(want, bytes_.take(bytes_.number<uint32_t>()));
  } else {
    elements(pointee, inner, part, want);
  }
}

void reader::elements(const api::type& pointee, const extent& inner, record_part part,
                      const wanted* want) {
  const auto count = bytes_.number<uint32_t>();
  const bool is_record = pointee.kind == type_kind::record;
  const bool is_union = is_record && model_.records[pointee.index].is_union;
  if (is_union) {
    bytes_.take(uint64_t{count} * pointee.size_bytes);
    return;
  }
  const bool outermost = !listing_;
  const argument leaf = want != nullptr ? want->leaf() : argument::none;
  if (leaf != argument::none && outermost) {
    call_.begin_list(leaf);
    listing_ = true;
  }
  if (is_record || pointee.kind == type_kind::pointer) {
    if (count > bytes_.remaining()) ok_ = false;
    for (uint32_t i = 0; i < count && ok(); ++i) element(pointee, part, inner, want);
  } else {
    scalars(pointee, count, want);
  }
  if (outermost) listing_ = false;
}

void reader::scalars(const api::type& t, uint64_t count, const wanted* want) {
  const auto run = bytes_.take(count * t.size_bytes);
  if (want == nullptr || !ok() || t.size_bytes == 0) return;
  for (size_t at = 0; at < run.size(); at += t.size_bytes) {
    uint64_t value = 0;
    std::memcpy(&value, run.data() + at, std::min<size_t>(t.size_bytes, sizeof(value)));
    store(want, value);
  }
}

void reader::chain(content_form form, record_part part, const wanted* want) {
  const auto stype = bytes_.number<uint32_t>();
  if (form == content_form::unknown) return;
  const api::record* r = model_.find_chained(chain_api_, stype);
  if (form != content_form::here || r == nullptr) {
    ok_ = false;
    return;
  }
  // The rest of the chain hangs in the first field after the stype, so that what is wanted of it
  // is the same all along.
  const wanted* outer = chain_wanted_;
  if (want != nullptr && !want->chain.empty()) chain_wanted_ = want;
  const wanted* here = nullptr;
  if (chain_wanted_ != nullptr) {
    for (const auto& each : chain_wanted_->chain) {
      if (each.structure == r) here = each.of.get();
    }
  }
  record(*r, part, here);
  chain_wanted_ = outer;
}

std::string_view cut(std::string_view& text, char at) {
  const auto place = text.find(at);
  const auto head = text.substr(0, place);
  text = place == std::string_view::npos ? std::string_view{} : text.substr(place + 1);
  return head;
}

// The record that a variable is, or points at; null when it is neither.
const api::record* record_of(const api::model& m, const api::variable& v) {
  const api::type* t = &m.types[v.type_index];
  if (t->kind == type_kind::pointer) t = &m.types[t->index];
  return t->kind == type_kind::record ? &m.records[t->index] : nullptr;
}

int field_named(const api::record& r, std::string_view name) {
  for (size_t i = 0; i < r.fields.size(); ++i) {
    if (r.fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// Goes down `path` from a record; makes what is on the way.
wanted* descend(const api::model& m, const api::record& r, std::string_view path, wanted& from) {
  const auto name = cut(path, '.');
  const int at = field_named(r, name);
  if (at < 0) return nullptr;
  const auto& field = r.fields[static_cast<size_t>(at)];
  const api::record* inside = path.empty() ? nullptr : record_of(m, field);
  if (!path.empty() && inside == nullptr) return nullptr;
  if (from.fields.empty()) from.fields.resize(r.fields.size());
  auto& place = from.fields[static_cast<size_t>(at)];
  if (!place) place = std::make_unique<wanted>();
  return path.empty() ? place.get() : descend(m, *inside, path, *place);
}

// The pNext field carries the chain of the struct behind the parameter.
wanted* chained(const api::model& m, const api::record& head, std::string_view structure,
                wanted& from) {
  const api::record* target = m.find_record(structure);
  wanted* next = target == nullptr ? nullptr : descend(m, head, "pNext", from);
  if (next == nullptr) return nullptr;
  for (auto& each : next->chain) {
    if (each.structure == target) return each.of.get();
  }
  next->chain.push_back({target, std::make_unique<wanted>()});
  return next->chain.back().of.get();
}

}  // namespace

argument_plan::argument_plan(const api::model& described, blob_source blobs)
    : model_(described), blobs_(std::move(blobs)) {
  functions_.resize(described.functions.size());
  for (size_t i = 0; i < functions_.size(); ++i)
    functions_[i].which = function_named(described.functions[i].name);
}

const argument_plan::planned_function& argument_plan::planned(uint32_t function_index) {
  auto& made = functions_[function_index];
  if (made.planned) return made;
  made.planned = true;
  const auto& described = model_.functions[function_index];
  made.parameters.resize(described.parameters.size());
  if (made.which == function::other || made.which == function::other_query) return made;
  for (size_t a = 0; a < argument_count; ++a) {
    auto paths = path_of(static_cast<argument>(a));
    while (!paths.empty()) plan(made, described, static_cast<argument>(a), cut(paths, '|'));
  }
  return made;
}

argument_plan::~argument_plan() = default;

void argument_plan::plan(planned_function& to, const api::function& described, argument which,
                         std::string_view path) {
  if (path == "returned") {
    if (model_.types[described.result_type].name == "ze_result_t") return;
    to.returned = which;
    to.wants_outputs = to.wants_anything = true;
    return;
  }
  const bool only_before = path.ends_with("@in");
  if (only_before) path.remove_suffix(3);
  const auto name = path.substr(0, path.find_first_of(".:"));
  path.remove_prefix(name.size());
  for (size_t i = 0; i < described.parameters.size(); ++i) {
    const auto& parameter = described.parameters[i];
    if (parameter.name != name) continue;
    auto made = to.parameters[i] ? nullptr : std::make_unique<wanted>();
    wanted* place = made ? made.get() : to.parameters[i].get();
    const api::record* head = path.empty() ? nullptr : record_of(model_, parameter);
    if (path.starts_with(":")) {
      path.remove_prefix(1);
      const auto structure = cut(path, '.');
      const api::record* target = model_.find_record(structure);
      place = head != nullptr ? chained(model_, *head, structure, *place) : nullptr;
      if (place != nullptr) place = descend(model_, *target, path, *place);
    } else if (path.starts_with(".")) {
      path.remove_prefix(1);
      place = head != nullptr ? descend(model_, *head, path, *place) : nullptr;
    }
    if (place == nullptr) return;
    (only_before ? place->before : place->into) = which;
    if (made) to.parameters[i] = std::move(made);
    to.wants_anything = true;
    if (parameter.way != direction::in) to.wants_outputs = true;
    return;
  }
}

bool argument_plan::read(uint32_t function_index, std::span<const std::byte> inputs,
                         std::span<const std::byte> outputs, call_view& into) {
  into.clear();
  const auto& planned = this->planned(function_index);
  into.which = planned.which;
  into.name = model_.functions[function_index].name;
  if (!planned.wants_anything) return true;
  const auto& f = model_.functions[function_index];
  reader in(model_, blobs_, f, inputs, into, true);
  for (size_t i = 0; i < f.parameters.size() && in.ok(); ++i) {
    const auto& v = f.parameters[i];
    const auto part = v.way == direction::inout ? record_part::inputs : record_part::all;
    in.variable(v, part, v.way != direction::out, planned.parameters[i].get());
  }
  if (!in.ok()) return false;
  if (!planned.wants_outputs || outputs.empty()) return true;

  reader out(model_, blobs_, f, outputs, into, false);
  const auto& result_type = model_.types[f.result_type];
  if (result_type.name != "ze_result_t") {
    const uint64_t value = out.number(result_type.size_bytes);
    if (planned.returned != argument::none && out.ok()) into.set(planned.returned, value);
  }
  for (size_t i = 0; i < f.parameters.size() && out.ok(); ++i) {
    const auto& v = f.parameters[i];
    const auto& t = model_.types[v.type_index];
    if (v.way == direction::in || t.kind != type_kind::pointer || !is_followed(v.pointee)) continue;
    const auto part = v.way == direction::inout ? record_part::outputs : record_part::all;
    out.content(v.pointee, v.inner, model_.types[t.index], part, planned.parameters[i].get());
  }
  return out.ok();
}

}  // namespace zevent::model
