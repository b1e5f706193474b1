#include "api/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <iterator>
#include <limits>

#include "api/call_codec.hpp"
#include "api/call_encoder.hpp"

namespace zevent::api {
namespace {

constexpr std::string_view arrow = "→";

class printer {
 public:
  printer(const model& m, const print_options& options) : model_(m), options_(options) {}

  std::string take() { return std::move(text_); }
  void put(std::string_view text) { text_ += text; }

  void print(const value& v);
  void number(const type& t, uint64_t bits);
  // A parameter: what went in and what came out.
  void parameter(const value& in, const value* out);
  // What a function returns that returns no ze_result_t.
  void returned(const type& t, uint64_t bits);

 private:
  template <typename... Args>
  void format(fmt::format_string<Args...> f, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), f, std::forward<Args>(args)...);
  }

  // Calls print_one for the first elements and counts the rest.
  template <typename PrintOne>
  void items(size_t count, PrintOne print_one);

  void flags(const enumeration& e, uint64_t bits);
  void handle(const type& t, uint64_t bits);
  void address(uint64_t bits);
  void raw(const value& v);
  void record_fields(const value& v);
  void quoted(std::string_view text);
  void buffer(std::string_view text) { quoted(text.substr(0, text.find('\0'))); }
  void memory(std::span<const std::byte> bytes);
  void argument(const value& content);
  std::string name_of_word(std::span<const std::byte> bytes, size_t at) const;
  bool is_worth_printing(const record& r, const value& field) const;
  bool has_something(const value& content) const;

  const model& model_;
  const print_options& options_;
  call_side side_ = call_side::went_in;
  std::string text_;
};

template <typename PrintOne>
void printer::items(size_t count, PrintOne print_one) {
  put("[");
  const size_t shown = std::min(count, options_.max_items);
  for (size_t i = 0; i < shown; ++i) {
    if (i != 0) put(", ");
    print_one(i);
  }
  if (shown < count) format(", … {} more", count - shown);
  put("]");
}

void printer::print(const value& v) {
  switch (v.form) {
    case value_form::absent:
      return put("?");
    case value_form::scalar:
      return number(*v.declared, v.bits);
    case value_form::pointer:
      if (v.bits == 0 || v.items.empty()) return address(v.bits);
      if (v.origin != nullptr && points_at_arguments(*v.origin)) return argument(v.items.front());
      return print(v.items.front());
    case value_form::record:
      return record_fields(v);
    case value_form::raw:
      return raw(v);
    case value_form::list:
    case value_form::runs:
      return items(v.items.size(), [&](size_t i) { print(v.items[i]); });
    case value_form::bytes:
      return is_text_buffer(v) ? buffer(v.text()) : memory(v.bytes);
    case value_form::text:
      return quoted(v.text());
    case value_form::blob:
      if (is_text_buffer(v) && options_.blob_text)
        if (const auto content = options_.blob_text(v.bytes)) return buffer(*content);
      return format("<{} bytes>", v.bits);
    case value_form::unknown_chain:
      return format("(unknown struct, stype {:#x})", v.bits);
  }
}

void printer::number(const type& t, uint64_t bits) {
  switch (t.kind) {
    case type_kind::unsigned_integer:
      if (t.size_bytes == 8 && bits == UINT64_MAX) return put("UINT64_MAX");
      if (t.size_bytes == 4 && bits == UINT32_MAX) return put("UINT32_MAX");
      return format("{}", bits);
    case type_kind::signed_integer: {
      const unsigned unused = 64 - 8 * std::clamp(t.size_bytes, 1u, 8u);
      return format("{}", static_cast<int64_t>(bits << unused) >> unused);
    }
    case type_kind::floating:
      if (t.size_bytes == 4) return format("{}", std::bit_cast<float>(static_cast<uint32_t>(bits)));
      return format("{}", std::bit_cast<double>(bits));
    case type_kind::boolean:
      return bits > 1 ? format("{}", bits) : put(bits == 1 ? "true" : "false");
    case type_kind::enumeration: {
      const enumerator* found = model_.enumerations[t.index].find(static_cast<uint32_t>(bits));
      return found != nullptr ? put(found->short_name) : format("{:#x}", bits);
    }
    case type_kind::flags:
      return flags(model_.enumerations[t.index], bits);
    case type_kind::handle:
      return handle(t, bits);
    case type_kind::function:
      return bits == 0 ? put("null") : format("{:#x}", bits);
    case type_kind::character:
      return format("{}", bits);
    case type_kind::nothing:
    case type_kind::record:
    case type_kind::pointer:
      return format("{:#x}", bits);
  }
}

void printer::flags(const enumeration& e, uint64_t bits) {
  if (bits == 0) return put("0");
  std::string_view separator;
  for (const enumerator& each : e.values) {
    if (std::popcount(each.value) != 1 || (bits & each.value) == 0) continue;
    format("{}{}", separator, each.short_name);
    bits &= ~uint64_t{each.value};
    separator = "|";
  }
  if (bits != 0) format("{}{:#x}", separator, bits);
}

void printer::handle(const type& t, uint64_t bits) {
  if (bits == 0) return put("null");
  if (options_.handle_name) return put(options_.handle_name(model_.handles[t.index], bits, side_));
  format("{:#x}", bits);
}

void printer::address(uint64_t bits) {
  if (bits == 0) return put("null");
  const std::string name = options_.address_name ? options_.address_name(bits, side_) : "";
  return name.empty() ? format("{:#x}", bits) : put(name);
}

// Characters up to a null are text if they can be read; numbers are a list.
void printer::raw(const value& v) {
  if (v.declared->kind == type_kind::character) {
    const std::string_view text = v.text().substr(0, v.text().find('\0'));
    const bool readable =
        std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isprint(c) != 0; });
    const auto rest = v.text().substr(text.size());
    const bool ends = std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\0'; });
    if (readable && (ends || !text.empty())) return quoted(text);
    return memory(v.bytes);
  }
  if (is_byte(*v.declared) || v.declared->kind == type_kind::record) return memory(v.bytes);
  items(v.element_count(), [&](size_t i) { number(*v.declared, v.element(i)); });
}

// Says nothing that the reader knows: the stype of a struct that is what it is declared to be, the
// end of a chain.
bool printer::is_worth_printing(const record& r, const value& field) const {
  if (field.origin->name == "stype" && r.is_extensible())
    return !model_.names(r, static_cast<uint32_t>(field.bits));
  return field.origin->pointee.kind != extent_kind::chain || field.bits != 0;
}

bool printer::has_something(const value& content) const {
  if (content.form != value_form::record) return content.form != value_form::list;
  return std::any_of(content.items.begin(), content.items.end(), [&](const value& field) {
    return is_worth_printing(*content.structure, field);
  });
}

void printer::record_fields(const value& v) {
  put("{");
  std::string_view separator;
  for (const value& field : v.items) {
    if (!is_worth_printing(*v.structure, field)) continue;
    format("{}{}=", separator, field.origin->name);
    const bool is_link = field.origin->pointee.kind == extent_kind::chain;
    if (is_link && !field.items.empty() && field.items.front().structure != nullptr)
      put(field.items.front().structure->name);
    print(field);
    separator = ", ";
  }
  put("}");
}

void printer::quoted(std::string_view text) {
  put("\"");
  for (const char c : text.substr(0, options_.max_text)) {
    if (c == '\n') {
      put("\\n");
    } else if (c == '"' || c == '\\') {
      format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text_ += c;
    }
  }
  put("\"");
  if (text.size() > options_.max_text) format("… {} more", text.size() - options_.max_text);
}

void printer::memory(std::span<const std::byte> bytes) {
  format("<{} bytes", bytes.size());
  const size_t shown = std::min(bytes.size(), options_.max_bytes);
  for (size_t i = 0; i < shown; ++i)
    format("{}{:02x}", i == 0 ? ": " : " ", std::to_integer<unsigned>(bytes[i]));
  put(shown < bytes.size() ? " …>" : ">");
}

std::string printer::name_of_word(std::span<const std::byte> bytes, size_t at) const {
  uint64_t word = 0;
  if (at + sizeof(word) > bytes.size() || !options_.address_name) return {};
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word == 0 ? std::string() : options_.address_name(word, side_);
}

// memory_0+0x40, or the bytes and what memory they point into.
void printer::argument(const value& content) {
  if (content.form == value_form::runs)
    return items(content.items.size(), [&](size_t i) { argument(content.items[i]); });
  if (content.form != value_form::bytes) return print(content);
  if (content.bytes.size() == sizeof(uint64_t))
    if (const auto name = name_of_word(content.bytes, 0); !name.empty()) return put(name);
  memory(content.bytes);
  if (content.bytes.size() <= sizeof(uint64_t)) return;
  for (size_t at = 0; at < content.bytes.size(); at += sizeof(uint64_t))
    if (const auto name = name_of_word(content.bytes, at); !name.empty())
      format(" ({} at {})", name, at);
}

void printer::parameter(const value& in, const value* out) {
  const bool came_out = out != nullptr && !out->items.empty();
  if (!came_out) return print(in);
  if (!in.items.empty() && has_something(in.items.front())) print(in.items.front());
  put(arrow);
  side_ = call_side::came_out;
  print(out->items.front());
  side_ = call_side::went_in;
}

void printer::returned(const type& t, uint64_t bits) {
  side_ = call_side::came_out;
  number(t, bits);
}

}  // namespace

bool is_text_buffer(const value& v) {
  return (v.form == value_form::bytes || v.form == value_form::blob) && v.declared != nullptr &&
         v.declared->kind == type_kind::character;
}

bool points_at_arguments(const variable& v) {
  return v.name == "pArgValue" || v.name == "pArguments";
}

std::string print_call(const model& m, const call_values& inputs, const call_values* outputs,
                       std::optional<uint32_t> result, const print_options& options) {
  const function& f = *inputs.callee;
  printer out(m, options);
  out.put(f.name);
  out.put("(");
  for (size_t i = 0; i < inputs.parameters.size(); ++i) {
    if (i != 0) out.put(", ");
    out.put(f.parameters[i].name);
    out.put("=");
    const value* after =
        outputs != nullptr && i < outputs->parameters.size() ? &outputs->parameters[i] : nullptr;
    out.parameter(inputs.parameters[i], after);
  }
  out.put(") → ");
  const type& returns = m.types[f.result_type];
  if (returns.name == "ze_result_t") {
    out.put(result ? print_result(m, *result) : "(did not return)");
  } else if (outputs != nullptr) {
    out.returned(returns, outputs->returned);
  } else {
    out.put("(did not return)");
  }
  return out.take();
}

std::string print_value(const model& m, const value& v, const print_options& options) {
  printer out(m, options);
  out.print(v);
  return out.take();
}

std::string print_struct(const model& m, const record& r, const void* address,
                         const print_options& options) {
  byte_writer bytes;
  call_encoder(m).record_at(r, address, bytes);
  const auto decoded = decode_record(m, r, bytes.view());
  if (!decoded) return decoded.error().message;
  return print_value(m, *decoded, options);
}

std::string print_result(const model& m, uint32_t result) {
  const auto results = std::find_if(m.enumerations.begin(), m.enumerations.end(),
                                    [](const enumeration& e) { return e.name == "ze_result_t"; });
  const enumerator* found = results != m.enumerations.end() ? results->find(result) : nullptr;
  return found != nullptr ? std::string(found->short_name) : fmt::format("{:#x}", result);
}

}  // namespace zevent::api
