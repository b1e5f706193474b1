#include "api/model_file.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "api/c_names.hpp"
#include "base/byte_writer.hpp"
#include "base/untrusted_reader.hpp"

namespace zevent::api {
namespace {

// --- writing ---

template <typename T>
void write_enumerator(byte_writer& out, T value) {
  out.number(static_cast<uint8_t>(value));
}

template <typename T, typename WriteItem>
void write_list(byte_writer& out, std::span<const T> items, WriteItem write_item) {
  out.varint(items.size());
  for (const T& item : items) write_item(item);
}

void write_extent(byte_writer& out, const extent& e) {
  write_enumerator(out, e.kind);
  write_enumerator(out, e.source);
  out.number(e.index);
}

void write_variables(byte_writer& out, std::span<const variable> variables) {
  write_list(out, variables, [&](const variable& v) {
    out.text(v.name);
    out.number(v.type_index);
    write_enumerator(out, v.way);
    out.number(static_cast<uint8_t>(v.optional));
    write_enumerator(out, v.object_role);
    write_extent(out, v.pointee);
    write_extent(out, v.inner);
    out.varint(v.offset_bytes);
    out.varint(v.array_length);
  });
}

// --- reading ---

constexpr uint32_t max_size_bytes = 1u << 20;

// The lists of a model that was read, and the bytes that its names are views of.
struct model_storage {
  std::vector<std::byte> bytes;
  std::vector<type> types;
  std::vector<enumerator> enumerators;
  std::vector<enumeration> enumerations;
  std::vector<handle_class> handles;
  std::vector<variable> variables;
  std::vector<record> records;
  std::vector<function> functions;
  std::vector<uint16_t> slots;
  std::vector<table_size> sizes;
  std::vector<dispatch_table> tables;
  std::vector<std::string_view> externals;
  std::vector<uint16_t> functions_by_name;
  std::vector<stype_meaning> stypes;
  model view{};
};

class model_reader {
 public:
  explicit model_reader(model_storage& storage) : storage_(storage), in_(storage.bytes) {}

  bool read();

 private:
  // A span of items that lie in one of the storage's vectors, which may still move.
  struct range {
    size_t first, count;
  };

  template <typename T>
  T enumerator_up_to(T last);
  template <typename ReadItem>
  void list(ReadItem read_item);
  template <typename T, typename ReadItem>
  range range_of(std::vector<T>& all, ReadItem read_item);
  uint32_t size();
  extent read_extent();
  range variables();
  void read_types();
  void read_enumerations();
  void read_records();
  void read_functions();
  void read_tables();
  void read_stypes();
  void fix_spans();
  void make_indices();

  model_storage& storage_;
  untrusted_reader in_;
  bool ok_ = true;
  std::vector<range> of_enumeration_, of_record_, of_function_, slots_of_table_, sizes_of_table_;
};

template <typename T>
T model_reader::enumerator_up_to(T last) {
  const auto number = in_.number<uint8_t>();
  if (number > static_cast<uint8_t>(last)) ok_ = false;
  return ok_ ? static_cast<T>(number) : T{};
}

template <typename ReadItem>
void model_reader::list(ReadItem read_item) {
  const uint64_t count = in_.varint();
  // Every item takes a byte at least, and no index reaches further.
  if (count > in_.remaining() || count >= no_index) ok_ = false;
  for (uint64_t i = 0; i < count && ok_ && in_.ok(); ++i) read_item();
}

template <typename T, typename ReadItem>
model_reader::range model_reader::range_of(std::vector<T>& all, ReadItem read_item) {
  const size_t first = all.size();
  list([&] { all.push_back(read_item()); });
  return {first, all.size() - first};
}

uint32_t model_reader::size() {
  const uint64_t bytes = in_.varint();
  if (bytes > max_size_bytes) ok_ = false;
  return ok_ ? static_cast<uint32_t>(bytes) : 0;
}

extent model_reader::read_extent() {
  extent out;
  out.kind = enumerator_up_to(extent_kind::external);
  out.source = enumerator_up_to(length_source::call_pointee);
  out.index = in_.number<uint16_t>();
  return out;
}

model_reader::range model_reader::variables() {
  return range_of(storage_.variables, [&] {
    variable v{};
    v.name = in_.text();
    v.type_index = in_.number<uint16_t>();
    v.way = enumerator_up_to(direction::inout);
    v.optional = in_.number<uint8_t>() != 0;
    v.object_role = enumerator_up_to(role::released);
    v.pointee = read_extent();
    v.inner = read_extent();
    v.offset_bytes = size();
    v.array_length = size();
    return v;
  });
}

void model_reader::read_types() {
  list([&] {
    type t{};
    t.kind = enumerator_up_to(type_kind::function);
    t.index = in_.number<uint16_t>();
    t.size_bytes = size();
    t.name = in_.text();
    storage_.types.push_back(t);
  });
}

void model_reader::read_enumerations() {
  list([&] {
    enumeration e{};
    e.name = in_.text();
    e.is_flags = in_.number<uint8_t>() != 0;
    of_enumeration_.push_back(range_of(storage_.enumerators, [&] {
      enumerator each{};
      each.name = in_.text();
      each.short_name = in_.text();
      each.value = in_.number<uint32_t>();
      return each;
    }));
    storage_.enumerations.push_back(e);
  });
}

void model_reader::read_records() {
  list([&] {
    record r{};
    r.name = in_.text();
    r.api = enumerator_up_to(api_name::zex);
    r.is_union = in_.number<uint8_t>() != 0;
    r.size_bytes = size();
    of_record_.push_back(variables());
    storage_.records.push_back(r);
  });
}

void model_reader::read_functions() {
  list([&] {
    function f{};
    f.name = in_.text();
    f.api = enumerator_up_to(api_name::zex);
    f.result_type = in_.number<uint16_t>();
    f.table = in_.number<uint16_t>();
    f.slot = in_.number<uint16_t>();
    f.version = in_.number<uint32_t>();
    of_function_.push_back(variables());
    storage_.functions.push_back(f);
  });
}

void model_reader::read_tables() {
  list([&] {
    dispatch_table t{};
    t.name = in_.text();
    t.getter = in_.text();
    slots_of_table_.push_back(range_of(storage_.slots, [&] { return in_.number<uint16_t>(); }));
    sizes_of_table_.push_back(range_of(storage_.sizes, [&] {
      const auto version = in_.number<uint32_t>();
      return table_size{version, in_.number<uint32_t>()};
    }));
    storage_.tables.push_back(t);
  });
}

void model_reader::read_stypes() {
  list([&] {
    stype_meaning meaning{};
    meaning.space = enumerator_up_to(api_name::zex);
    meaning.stype = in_.number<uint32_t>();
    meaning.record = in_.number<uint16_t>();
    storage_.stypes.push_back(meaning);
  });
}

bool model_reader::read() {
  in_.take(sizeof(model_magic) + sizeof(model_format_version));
  storage_.view.version = in_.number<uint32_t>();
  read_types();
  read_enumerations();
  list([&] {
    const auto name = in_.text();
    storage_.handles.push_back({name, in_.text()});
  });
  read_records();
  read_functions();
  read_tables();
  list([&] { storage_.externals.push_back(in_.text()); });
  read_stypes();
  if (!ok_ || !in_.ok() || !in_.at_end()) return false;
  fix_spans();
  make_indices();
  return true;
}

void model_reader::fix_spans() {
  const auto span_in = [](const auto& all, const range& r) {
    return std::span(all).subspan(r.first, r.count);
  };
  for (size_t i = 0; i < storage_.enumerations.size(); ++i)
    storage_.enumerations[i].values = span_in(storage_.enumerators, of_enumeration_[i]);
  for (size_t i = 0; i < storage_.records.size(); ++i)
    storage_.records[i].fields = span_in(storage_.variables, of_record_[i]);
  for (size_t i = 0; i < storage_.functions.size(); ++i)
    storage_.functions[i].parameters = span_in(storage_.variables, of_function_[i]);
  for (size_t i = 0; i < storage_.tables.size(); ++i) {
    storage_.tables[i].functions = span_in(storage_.slots, slots_of_table_[i]);
    storage_.tables[i].sizes = span_in(storage_.sizes, sizes_of_table_[i]);
  }
}

void model_reader::make_indices() {
  storage_.functions_by_name.resize(storage_.functions.size());
  std::iota(storage_.functions_by_name.begin(), storage_.functions_by_name.end(), uint16_t{0});
  std::sort(storage_.functions_by_name.begin(), storage_.functions_by_name.end(),
            [&](uint16_t a, uint16_t b) {
              return storage_.functions[a].name < storage_.functions[b].name;
            });
  std::sort(storage_.stypes.begin(), storage_.stypes.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.space, a.stype) < std::tuple(b.space, b.stype);
  });
  storage_.view = {storage_.view.version, storage_.types,     storage_.enumerations,
                   storage_.handles,      storage_.records,   storage_.functions,
                   storage_.tables,       storage_.externals, storage_.functions_by_name,
                   storage_.stypes};
}

// --- checking what was read ---

// Whether every index of the model leads somewhere and layouts are possible, so that whoever walks
// it need not ask again.
class model_checker {
 public:
  explicit model_checker(const model& m) : m_(m) {}

  // Names go into C code, messages and file names: they are what Level Zero's are, and nothing
  // else.
  bool has_sound_names() const {
    const auto are_identifiers = [](std::span<const variable> variables) {
      return all(variables, [](const variable& v) { return is_identifier(v.name); });
    };
    return all(m_.types, [](const type& t) { return is_type_spelling(t.name); }) &&
           all(m_.enumerations,
               [](const enumeration& e) {
                 return is_declared_type_name(e.name) && all(e.values, [](const enumerator& each) {
                          return is_enumerator_name(each.name) && is_short_name(each.short_name);
                        });
               }) &&
           all(m_.handles,
               [](const handle_class& h) {
                 return is_declared_type_name(h.name) && is_identifier(h.short_name);
               }) &&
           all(m_.records,
               [&](const record& r) {
                 return is_declared_type_name(r.name) && are_identifiers(r.fields);
               }) &&
           all(m_.functions,
               [&](const function& f) {
                 return is_function_name(f.name) && are_identifiers(f.parameters);
               }) &&
           all(m_.tables,
               [](const dispatch_table& t) {
                 return is_declared_type_name(t.name) &&
                        (t.getter.empty() || is_function_name(t.getter));
               }) &&
           all(m_.externals, [](std::string_view each) { return is_description(each); });
  }

  bool is_consistent() const {
    return all(m_.types, [&](const type& t) { return is_sound(t); }) &&
           all(m_.records, [&](const record& r) { return is_sound(r); }) &&
           all(m_.functions, [&](const function& f) { return is_sound(f); }) &&
           all(m_.tables, [&](const dispatch_table& t) { return is_sound(t); }) &&
           all(m_.stypes, [&](const stype_meaning& s) { return s.record < m_.records.size(); });
  }

 private:
  template <typename T, typename Check>
  static bool all(std::span<const T> items, Check check) {
    return std::all_of(items.begin(), items.end(), check);
  }

  bool is_sound(const type& t) const {
    switch (t.kind) {
      case type_kind::nothing:
        return t.size_bytes == 0;
      case type_kind::enumeration:
      case type_kind::flags:
        return t.index < m_.enumerations.size() && is_scalar_size(t);
      case type_kind::handle:
        return t.index < m_.handles.size() && t.size_bytes == 8;
      case type_kind::record:
        return t.index < m_.records.size() && t.size_bytes == m_.records[t.index].size_bytes;
      case type_kind::pointer:
        return t.index < m_.types.size() && t.size_bytes == 8 && ends(t);
      case type_kind::function:
        return t.size_bytes == 8;
      default:
        return is_scalar_size(t);
    }
  }

  // Whether pointers to pointers come to something in the end.
  bool ends(const type& pointer) const {
    constexpr int max_depth = 8;
    const type* at = &pointer;
    for (int depth = 0; depth < max_depth; ++depth) {
      if (at->kind != type_kind::pointer) return true;
      if (at->index >= m_.types.size()) return false;
      at = &m_.types[at->index];
    }
    return false;
  }

  static bool is_scalar_size(const type& t) {
    return t.size_bytes == 1 || t.size_bytes == 2 || t.size_bytes == 4 || t.size_bytes == 8;
  }

  // Structs hold only structs declared before them, and their fields do not overlap: no nesting can
  // grow beyond the bytes it takes.
  bool is_sound(const record& r) const {
    uint64_t end = 0;
    return all(r.fields, [&](const variable& field) {
      if (!is_sound(field, r.fields)) return false;
      const type& t = m_.types[field.type_index];
      if (t.kind == type_kind::record && &m_.records[t.index] >= &r) return false;
      if (!r.is_union && field.offset_bytes < end) return false;
      end = field.offset_bytes + uint64_t{t.size_bytes} * std::max<uint32_t>(field.array_length, 1);
      return end <= r.size_bytes;
    });
  }

  bool is_sound(const function& f) const {
    const bool is_placed = f.table == no_index || (f.table < m_.tables.size() &&
                                                   f.slot < m_.tables[f.table].functions.size());
    return is_placed && f.result_type < m_.types.size() &&
           m_.types[f.result_type].kind != type_kind::record &&
           all(f.parameters,
               [&](const variable& v) { return v.array_length == 0 && is_sound(v, f.parameters); });
  }

  bool is_sound(const dispatch_table& t) const {
    return all(t.functions,
               [&](uint16_t index) { return index < m_.functions.size() || index == no_index; });
  }

  bool is_sound(const variable& v, std::span<const variable> siblings) const {
    return v.type_index < m_.types.size() && m_.types[v.type_index].kind != type_kind::nothing &&
           is_sound(v.pointee, siblings) && is_sound(v.inner, siblings);
  }

  bool is_sound(const extent& e, std::span<const variable> siblings) const {
    if (e.kind == extent_kind::external) return e.index < m_.externals.size();
    if (e.kind != extent_kind::elements || e.source == length_source::call_pointee) return true;
    if (e.source == length_source::none || e.index >= siblings.size()) return false;
    const uint16_t type_index = siblings[e.index].type_index;
    if (type_index >= m_.types.size()) return false;
    const bool is_pointer = m_.types[type_index].kind == type_kind::pointer;
    return is_pointer == (e.source != length_source::sibling);
  }

  const model& m_;
};

}  // namespace

std::vector<std::byte> write_model(const model& m) {
  byte_writer out;
  out.bytes(std::as_bytes(std::span(model_magic)));
  out.number(model_format_version);
  out.number(m.version);
  write_list(out, m.types, [&](const type& t) {
    write_enumerator(out, t.kind);
    out.number(t.index);
    out.varint(t.size_bytes);
    out.text(t.name);
  });
  write_list(out, m.enumerations, [&](const enumeration& e) {
    out.text(e.name);
    out.number(static_cast<uint8_t>(e.is_flags));
    write_list(out, e.values, [&](const enumerator& each) {
      out.text(each.name);
      out.text(each.short_name);
      out.number(each.value);
    });
  });
  write_list(out, m.handles, [&](const handle_class& h) {
    out.text(h.name);
    out.text(h.short_name);
  });
  write_list(out, m.records, [&](const record& r) {
    out.text(r.name);
    write_enumerator(out, r.api);
    out.number(static_cast<uint8_t>(r.is_union));
    out.varint(r.size_bytes);
    write_variables(out, r.fields);
  });
  write_list(out, m.functions, [&](const function& f) {
    out.text(f.name);
    write_enumerator(out, f.api);
    out.number(f.result_type);
    out.number(f.table);
    out.number(f.slot);
    out.number(f.version);
    write_variables(out, f.parameters);
  });
  write_list(out, m.tables, [&](const dispatch_table& t) {
    out.text(t.name);
    out.text(t.getter);
    write_list(out, t.functions, [&](uint16_t index) { out.number(index); });
    write_list(out, t.sizes, [&](const table_size& s) {
      out.number(s.version);
      out.number(s.slots);
    });
  });
  write_list(out, m.externals, [&](std::string_view name) { out.text(name); });
  write_list(out, m.stypes, [&](const stype_meaning& s) {
    write_enumerator(out, s.space);
    out.number(s.stype);
    out.number(s.record);
  });
  return out.take();
}

result<std::shared_ptr<const model>> read_model(std::span<const std::byte> bytes) {
  untrusted_reader head(bytes);
  const auto magic = head.take(sizeof(model_magic));
  if (!std::ranges::equal(magic, std::as_bytes(std::span(model_magic))))
    return fail("this is not an API description");
  const auto version = head.number<uint32_t>();
  if (version != model_format_version)
    return fail("the API description has format {}, this build reads format {}: use a newer zevent",
                version, model_format_version);
  auto storage = std::make_shared<model_storage>();
  storage->bytes.assign(bytes.begin(), bytes.end());
  if (!model_reader(*storage).read()) return fail("the API description is damaged");
  const model_checker checker(storage->view);
  if (!checker.is_consistent()) return fail("the API description is damaged");
  if (!checker.has_sound_names())
    return fail("the API description has names that are not of Level Zero");
  return std::shared_ptr<const model>(storage, &storage->view);
}

}  // namespace zevent::api
