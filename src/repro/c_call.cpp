#include "repro/c_call.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "replay/shared_handles.hpp"
#include "repro/escape.hpp"

namespace zevent::repro {
namespace {

using api::direction;
using api::extent_kind;
using api::type_kind;
using api::value;
using api::value_form;
using replay::bits_of;
using replay::element_at;
using replay::is_kernel_argument;
using replay::item_at;
using replay::pointee_of;
using replay::recorded_call;
using replay::recorded_length;
using replay::value_of;

// Larger outputs go where all of them go.
constexpr uint64_t largest_local_bytes = 4096;
// Longer contents are files.
constexpr size_t max_inline_argument_bytes = 64;

number_form form_of(const api::type& t) {
  const bool is_signed = t.kind == type_kind::signed_integer;
  switch (t.size_bytes) {
    case 1:
      return is_signed ? number_form::s1 : number_form::u1;
    case 2:
      return is_signed ? number_form::s2 : number_form::u2;
    case 4:
      return is_signed ? number_form::s4 : number_form::u4;
    default:
      return is_signed ? number_form::s8 : number_form::u8;
  }
}

// A constant that has the value to its last bit. What is no number has no constant in C99.
template <typename Float>
std::string floating(Float number, std::string_view suffix, std::string_view parser) {
  if (!std::isfinite(number)) return fmt::format("{}(\"{}\", NULL)", parser, number);
  std::string text = fmt::format("{:.{}g}", number, std::numeric_limits<Float>::max_digits10);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text + std::string(suffix);
}

std::string floating(uint64_t bits, uint32_t size_bytes) {
  if (size_bytes == sizeof(float)) {
    float number = 0;
    std::memcpy(&number, &bits, sizeof(number));
    return floating(number, "f", "strtof");
  }
  double number = 0;
  std::memcpy(&number, &bits, sizeof(number));
  return floating(number, "", "strtod");
}

// What follows a link of a chain: desc, desc_next, desc_next_2, desc_next_3.
std::string name_of_next(const std::string& name) {
  constexpr std::string_view next = "_next";
  if (name.ends_with(next)) return name + "_2";
  const size_t bar = name.rfind('_');
  if (bar == name.npos || bar + 1 == name.size() || bar + 1 + 9 < name.size() ||
      !name.substr(0, bar).ends_with(next) ||
      !std::all_of(name.begin() + static_cast<std::ptrdiff_t>(bar) + 1, name.end(),
                   [](unsigned char c) { return std::isdigit(c) != 0; }))
    return name + std::string(next);
  return fmt::format("{}_{}", name.substr(0, bar), std::stoul(name.substr(bar + 1)) + 1);
}

// Further lines of a text that is part of an initializer.
std::string indented(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const auto& each : parts) {
    if (!out.empty()) out += separator;
    out += each;
  }
  return out;
}

}  // namespace

result<shaped_text> c_call_writer::write(const recorded_call& call, const call_style& style) {
  call_ = &call;
  text_ = {};
  declarations_.clear();
  afterwards_.clear();
  locals_.clear();
  problem_.clear();
  need_function(*call.function);
  note_device_writes(call);
  const auto& parameters = call.function->parameters;
  parameters_ = {parameters, &call.inputs.parameters, &call.outputs.parameters};
  std::vector<std::string> arguments;
  for (const auto& parameter : parameters)
    arguments.push_back(argument(parameter, value_of(parameters_.in, parameter),
                                 value_of(parameters_.out, parameter)));
  if (!problem_.empty()) return fail("call {}: {}", call.number(), problem_);
  const std::string line = wrapped(call, style, call_expression(call, arguments));
  if (style.pass_turn)
    declare(fmt::format("pass_turn({});",
                        text_.number(*style.pass_turn, number_form::u8, "next_turn")));
  if (style.finished)
    afterwards_.insert(
        afterwards_.begin(),
        fmt::format("finished({});", text_.number(*style.finished, number_form::u8, "call")));
  if (declarations_.empty() && afterwards_.empty()) return text_.finish(line);
  std::string block = "{\n";
  const auto add = [&](const std::string& text) {
    block += "  ";
    for (const char c : text) {
      block += c;
      if (c == '\n') block += "  ";
    }
    block += "\n";
  };
  for (const auto& each : declarations_) add(each);
  add(line);
  for (const auto& each : afterwards_) add(each);
  return text_.finish(block + "}");
}

std::string c_call_writer::local(std::string_view wanted) {
  std::string name(wanted);
  for (int i = 2; !locals_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

std::string c_call_writer::object(replay::slot_id slot) {
  const auto reference = names_.of(slot);
  return text_.object(reference.object_class, reference.ordinal);
}

void c_call_writer::need_type(const api::type& t) {
  if (t.kind == type_kind::pointer) return need_type(model_.types[t.index]);
  if (t.kind != type_kind::record) return;
  const auto& r = model_.records[t.index];
  if (r.api != api::api_name::zex || !needs_.records.insert(t.index).second) return;
  for (const auto& field : r.fields) need_type(model_.types[field.type_index]);
}

void c_call_writer::need_function(const api::function& f) {
  for (const auto& parameter : f.parameters) need_type(model_.types[parameter.type_index]);
  if (f.api == api::api_name::zex || seen_.needs.by_name.contains(std::string(f.name)))
    needs_.functions.insert(model_.index_of(f));
  if (f.api == api::api_name::zes) needs_.headers.insert("zes_api.h");
  if (f.api == api::api_name::zet) needs_.headers.insert("zet_api.h");
  if (f.api == api::api_name::zer) needs_.headers.insert("zer_api.h");
  needs_.api_version = std::max(needs_.api_version, f.version);
}

std::string c_call_writer::call_expression(const recorded_call& call,
                                           const std::vector<std::string>& arguments) {
  const auto& f = *call.function;
  const bool by_name = needs_.functions.contains(model_.index_of(f)) && f.api != api::api_name::zex;
  return fmt::format("{}{}({})", f.name, by_name ? "_by_name" : "", joined(arguments, ", "));
}

std::string c_call_writer::wrapped(const recorded_call& call, const call_style& style,
                                   const std::string& expression) {
  const auto& type = model_.types[call.function->result_type];
  if (type.name != "ze_result_t") {
    if (type.kind == type_kind::handle) {
      const auto slot =
          seen_.book.find_handle(type.index, call.outputs.returned, call.call.end_ns());
      if (slot) return fmt::format("{} = {};", object(*slot), expression);
    }
    return fmt::format("(void){};", expression);
  }
  if (!call.call.returned()) {
    needs_.helpers.insert("HANGS");
    return fmt::format("HANGS({}, {});", call.number(), expression);
  }
  const std::string expected = scalar(type, call.call.result);
  if (style.until_done) needs_.helpers.insert("keep_polling");
  const auto macro = [&](std::string_view name) {
    std::string own = (style.until_done ? "POLL_" : "") + std::string(name);
    needs_.helpers.insert(own);
    return own;
  };
  if (style.watch == call_watch::timed)
    return fmt::format("{}({}, {}, {});", macro("TIMED"), style.timed_index, expected, expression);
  if (style.watch == call_watch::watched)
    return fmt::format("{}({}, {});", macro("WATCHED"), expected, expression);
  if (style.until_done) {
    needs_.helpers.insert("POLL");
    return fmt::format("POLL({});", expression);
  }
  if (call.call.result == 0) return fmt::format("{}({});", macro("CHECK"), expression);
  return fmt::format("{}({}, {});", macro("EXPECT"), expected, expression);
}

std::string c_call_writer::argument(const api::variable& v, const value* in, const value* out) {
  const auto& type = model_.types[v.type_index];
  const item it{type, v.pointee, v.inner, v, in, out, std::string(v.name)};
  if (type.kind != type_kind::record) return expression(it, parameters_);
  const auto& r = model_.records[type.index];
  if (replay::is_opaque(r)) return opaque(in, nullptr, r, std::string(v.name), true);
  return fmt::format("({}){}", type.name, initializer(r, in, nullptr, std::string(v.name)));
}

std::string c_call_writer::expression(const item& it, const replay::value_scope& s) {
  switch (it.type.kind) {
    case type_kind::pointer:
      return pointer(it, s);
    case type_kind::record: {
      const auto& r = model_.records[it.type.index];
      if (r.is_union) return "{0}";
      return initializer(r, it.in, it.out, it.name);
    }
    case type_kind::function:
      if (bits_of(it.in) == 0) return "NULL";
      needs_.helpers.insert("called_back");
      return "called_back";
    default:
      return scalar(it.type, bits_of(it.in), it.variable.name);
  }
}

std::string c_call_writer::scalar(const api::type& t, uint64_t bits, std::string_view name) {
  switch (t.kind) {
    case type_kind::enumeration: {
      const auto& e = model_.enumerations[t.index];
      const auto* known = e.find(static_cast<uint32_t>(bits));
      if (e.name.starts_with("zex_")) return fmt::format("{:#x}", bits);
      if (known == nullptr) return fmt::format("({}){:#x}", t.name, bits);
      return std::string(known->name);
    }
    case type_kind::flags:
      return flags(model_.enumerations[t.index], bits);
    case type_kind::handle:
      return handle(t, bits);
    case type_kind::floating:
      return floating(bits, t.size_bytes);
    default:
      return text_.number(bits, form_of(t), name);
  }
}

std::string c_call_writer::flags(const api::enumeration& e, uint64_t bits) {
  if (bits == 0) return "0";
  std::vector<std::string> parts;
  uint64_t rest = bits;
  for (const auto& each : e.values) {
    const bool is_one_bit = each.value != 0 && (each.value & (each.value - 1)) == 0;
    if (!is_one_bit || (rest & each.value) == 0 || each.name.starts_with("ZEX_")) continue;
    parts.emplace_back(each.name);
    rest &= ~uint64_t{each.value};
  }
  if (rest != 0) parts.push_back(fmt::format("{:#x}", rest));
  return joined(parts, " | ");
}

std::string c_call_writer::handle(const api::type& t, uint64_t bits) {
  if (bits == 0) return "NULL";
  if (const auto slot = seen_.book.find_handle(t.index, bits, call_->call.start_ns)) {
    const auto* known = seen_.book.object_of(*slot);
    const bool same_type = known != nullptr && known->handle.handle_class == t.index;
    return same_type ? object(*slot) : fmt::format("({}){}", t.name, object(*slot));
  }
  if (call_->call.returned() && !call_->call.failed())
    fail_with(fmt::format("it uses the {} {:#x}, {}", model_.handles[t.index].short_name, bits,
                          replay::describe_maker(seen_.book.objects(), t.index, bits)));
  return fmt::format("({}){:#x}", t.name, bits);
}

std::string c_call_writer::host_name(const replay::host_ranges::place& where) {
  const uint32_t number = place_.first_range + where.range;
  needs_.host_ranges.emplace(number, seen_.book.host().all()[where.range].bytes);
  return fmt::format("host_{}", number);
}

std::string c_call_writer::place_text(const std::string& base, uint64_t offset) {
  if (offset == 0) return base;
  needs_.helpers.insert("at");
  return fmt::format("at({}, {})", base, text_.number(offset, number_form::u8, "offset"));
}

std::string c_call_writer::target_text(const replay::embedded_pointer& pointer) {
  return pointer.host ? place_text(host_name(*pointer.host), pointer.host->offset)
                      : place_text(object(pointer.target.slot), pointer.target.offset);
}

std::string c_call_writer::address(uint64_t bits, uint64_t time_ns) {
  if (const auto place = seen_.book.find_memory(bits, time_ns))
    return place_text(object(place->slot), place->offset);
  if (const auto host = seen_.book.find_host(bits))
    return place_text(host_name(*host), host->offset);
  return fmt::format("(void*){:#x}", bits);
}

std::string c_call_writer::pointer(const item& it, const replay::value_scope& s) {
  const uint64_t in = bits_of(it.in);
  if (!api::is_followed(it.pointee)) {
    if (in == 0 || it.variable.name == "pUserData") return "NULL";
    if (it.variable.name == "pStart") return fmt::format("(void*){:#x}", in);
    const std::string place = address(in, call_->call.start_ns);
    // Memory of the program's own is an array of bytes.
    const bool is_typed = model_.types[it.type.index].kind != type_kind::nothing;
    return is_typed && place.starts_with("host_") ? "(void*)" + place : place;
  }
  if (in == 0 && pointee_of(it.out) == nullptr) return "NULL";
  const auto& pointee = model_.types[it.type.index];
  switch (it.pointee.kind) {
    case extent_kind::single:
      return single(it, pointee, s);
    case extent_kind::elements:
      return api::is_byte(pointee) ? bytes(it, s) : elements(it, pointee, s);
    case extent_kind::string: {
      const value* text = pointee_of(it.in);
      if (text != nullptr) return c_string(text->text());
      return output_room(local(it.name), pointee, recorded_length(pointee_of(it.out)) + 1);
    }
    case extent_kind::chain:
      return chain(it);
    case extent_kind::external:
      return runs(it);
    case extent_kind::none:
    case extent_kind::address:
      break;
  }
  return "NULL";
}

std::string c_call_writer::single(const item& it, const api::type& pointee,
                                  const replay::value_scope& s) {
  const value* in = pointee_of(it.in);
  const value* out = pointee_of(it.out);
  const uint64_t end = call_->call.end_ns();
  if (pointee.kind == type_kind::record && replay::is_opaque(model_.records[pointee.index]))
    return opaque(in, out, model_.records[pointee.index], it.name, false);
  if (pointee.kind == type_kind::handle && it.variable.way != direction::in) {
    const auto slot = seen_.book.find_handle(pointee.index, bits_of(out), end);
    const auto* known = slot ? seen_.book.object_of(*slot) : nullptr;
    if (known != nullptr && known->first_call == call_->call.number) return "&" + object(*slot);
    const std::string name = local(it.name);
    declare(fmt::format("{} {} = {};", pointee.name, name, scalar(pointee, bits_of(in))));
    return "&" + name;
  }
  if (pointee.kind == type_kind::pointer && it.variable.way != direction::in &&
      !api::is_followed(it.inner)) {
    const auto place = seen_.book.find_memory(bits_of(out), end);
    const bool is_object = place && place->offset == 0 &&
                           (seen_.book.object_of(place->slot) == nullptr ||
                            seen_.book.object_of(place->slot)->first_call == call_->call.number);
    if (is_object && call_->function->name != "zeDriverGetExtensionFunctionAddress")
      return "&" + object(place->slot);
    const std::string name = local(it.name);
    declare(fmt::format("void* {} = NULL;", name));
    if (call_->function->name == "zeDriverGetExtensionFunctionAddress" && bits_of(out) != 0)
      if (const value* wanted = pointee_of(call_->inputs.find("name")))
        if (const auto* f = model_.find_function(wanted->text());
            f != nullptr && seen_.functions.contains(model_.index_of(*f))) {
          need_function(*f);
          afterwards_.push_back(fmt::format("memcpy(&{}{}, &{}, sizeof({}));", f->name,
                                            f->api == api::api_name::zex ? "" : "_by_name", name,
                                            name));
        }
    return fmt::format("(void*)&{}", name);
  }
  if (pointee.kind == type_kind::pointer) {
    const std::string inner =
        pointer({pointee, it.inner, {}, it.variable, in, out, it.name + "_data"}, s);
    const std::string name = local(it.name);
    declare(fmt::format("void* {} = {};", name, inner));
    return fmt::format("(void*)&{}", name);
  }
  need_type(pointee);
  const std::string name = local(it.name);
  const std::string initial =
      pointee.kind == type_kind::record && in == nullptr && out == nullptr
          ? std::string("{0}")
          : expression({pointee, it.inner, {}, it.variable, in, out, it.name}, s);
  const std::string type =
      pointee.kind == type_kind::nothing ? "uint64_t" : std::string(pointee.name);
  declare(fmt::format("{} {} = {};", type, name, initial));
  if (bits_of(out) != 0 && replay::is_address_as_number(it.variable, pointee)) {
    const auto place = seen_.book.find_memory(bits_of(out), end);
    if (place && place->offset == 0 && seen_.book.object_of(place->slot) == nullptr)
      afterwards_.push_back(fmt::format("{} = (void*)(uintptr_t){};", object(place->slot), name));
  }
  return "&" + name;
}

std::string c_call_writer::opaque(const value* in, const value* out, const api::record& r,
                                  const std::string& wanted, bool by_value) {
  const value* known_value = in != nullptr ? in : out;
  // The handle that other processes open is that of the one whose call it was.
  const bool is_copy = in == nullptr && call_->is_inherited && place_.handle_owners != nullptr;
  if (known_value != nullptr && !known_value->items.empty() && !is_copy) {
    if (const auto known = seen_.book.find_opaque(known_value->items.front().bytes)) {
      const auto reference = names_.of(*known);
      const std::string name = text_.object(reference.object_class, reference.ordinal);
      if (place_.handle_owners != nullptr && in == nullptr)
        place_.handle_owners->insert_or_assign(*known, place_.process);
      const bool is_sent = in != nullptr && place_.handle_owners != nullptr &&
                           !seen_.book.knows_opaque(known_value->items.front().bytes);
      const std::string own = is_sent ? sent_handle(*known, name, r, wanted) : name;
      return by_value ? own : "&" + own;
    }
  }
  const std::string name = local(wanted);
  declare(fmt::format("{} {} = {{{{0}}}};", r.name, name));
  return by_value ? name : "&" + name;
}

// The program had sent the handle's file descriptor along.
std::string c_call_writer::sent_handle(replay::opaque_id handle, const std::string& name,
                                       const api::record& r, const std::string& wanted) {
  const auto owner = place_.handle_owners->find(handle);
  if (owner == place_.handle_owners->end() || owner->second == place_.process) return name;
  needs_.helpers.insert("fetch_descriptor");
  std::string own = local(wanted);
  declare(fmt::format("{} {} = {};", r.name, own, name));
  declare(fmt::format("fetch_descriptor(&{}, shared->process_ids[{}]);", own, owner->second));
  return own;
}

std::string c_call_writer::elements(const item& it, const api::type& pointee,
                                    const replay::value_scope& s) {
  const value* in = pointee_of(it.in);
  const value* out = pointee_of(it.out);
  const bool is_input = it.variable.way == direction::in;
  const uint64_t recorded = std::max(recorded_length(in), recorded_length(out));
  const uint64_t length =
      is_input ? recorded
               : std::max(recorded, replay::length_of(it.pointee, s, parameters_, it.position));
  need_type(pointee);
  if (pointee.kind == type_kind::handle) return handles(it, pointee, length);
  const bool has_input = in != nullptr && recorded_length(in) != 0;
  if (!has_input) return output_room(local(it.name), pointee, length);

  std::vector<std::string> parts;
  const uint64_t count = recorded_length(in);
  for (uint64_t i = 0; i < count; ++i) {
    if (in->form == value_form::raw) {
      const bool is_union = pointee.kind == type_kind::record;
      parts.push_back(is_union ? "{0}" : scalar(pointee, in->element(i), it.variable.name));
    } else {
      parts.push_back(expression({pointee,
                                  it.inner,
                                  {},
                                  it.variable,
                                  item_at(in, i),
                                  item_at(out, i),
                                  fmt::format("{}_{}", it.name, i),
                                  i},
                                 s));
    }
  }
  const std::string name = local(it.name);
  const bool pointers = pointee.kind == type_kind::pointer;
  declare(fmt::format("{} {}[{}] = {{{}}};", pointers ? "const void*" : pointee.name, name,
                      length > count ? std::to_string(length) : "", joined(parts, ", ")));
  return pointers ? fmt::format("(void*){}", name) : name;
}

std::string c_call_writer::handles(const item& it, const api::type& pointee, uint64_t length) {
  const value* in = pointee_of(it.in);
  const value* out = pointee_of(it.out);
  if (it.variable.way == direction::in) {
    if (length == 1 && element_at(in, 0) != 0) {
      const std::string only = handle(pointee, element_at(in, 0));
      if (!only.starts_with("(")) return "&" + only;
    }
    std::vector<std::string> parts;
    for (uint64_t i = 0; i < length; ++i) parts.push_back(handle(pointee, element_at(in, i)));
    return fmt::format("({}[]){{{}}}", pointee.name, parts.empty() ? "NULL" : joined(parts, ", "));
  }
  const auto made = [&](uint64_t i) -> std::optional<replay::slot_id> {
    const auto slot =
        seen_.book.find_handle(pointee.index, element_at(out, i), call_->call.end_ns());
    const auto* known = slot ? seen_.book.object_of(*slot) : nullptr;
    const bool is_new = known != nullptr && known->first_call == call_->call.number;
    return is_new ? slot : std::nullopt;
  };
  if (length == 1)
    if (const auto only = made(0)) return "&" + object(*only);
  const std::string name = local(it.name);
  const std::string expression = output_room(name, pointee, length);
  for (uint64_t i = 0; i < recorded_length(out); ++i)
    if (const auto slot = made(i))
      afterwards_.push_back(fmt::format("{} = (({}*){})[{}];", object(*slot), pointee.name,
                                        expression, text_.number(i, number_form::u4, "index")));
  return expression;
}

std::string c_call_writer::output_room(const std::string& name, const api::type& element,
                                       uint64_t count) {
  const uint64_t size = std::max<uint64_t>(element.size_bytes, 1);
  if (count > (uint64_t{1} << 36) / size) {
    fail_with(fmt::format("{} has room for {} elements", name, count));
    return "NULL";
  }
  if (count * size > largest_local_bytes) {
    needs_.helpers.insert("scratch");
    needs_.scratch_bytes = std::max(needs_.scratch_bytes, count * size);
    return "scratch";
  }
  const bool is_pointer = element.kind == type_kind::pointer;
  const std::string type = is_pointer              ? "void*"
                           : api::is_byte(element) ? "char"
                                                   : std::string(element.name);
  declare(fmt::format("{} {}[{}] = {{0}};", type, name, std::max<uint64_t>(count, 1)));
  return is_pointer || api::is_byte(element) ? fmt::format("(void*){}", name) : name;
}

result<std::vector<std::byte>> c_call_writer::content_of(const value& v) {
  if (v.form != value_form::blob) return std::vector<std::byte>(v.bytes.begin(), v.bytes.end());
  trace::blob_hash hash{};
  std::memcpy(hash.bytes, v.bytes.data(), std::min(v.bytes.size(), sizeof(hash.bytes)));
  return trace_.read_blob(hash);
}

std::string c_call_writer::bytes(const item& it, const replay::value_scope& s) {
  const value* in = pointee_of(it.in);
  if (in == nullptr) {
    const uint64_t recorded = recorded_length(pointee_of(it.out));
    return output_room(
        local(it.name), model_.types[it.type.index],
        std::max(recorded, replay::length_of(it.pointee, s, parameters_, it.position)));
  }
  const auto content = content_of(*in);
  if (!content) {
    fail_with(content.error().message);
    return "NULL";
  }
  return input_bytes(it, *content, is_kernel_argument(it.variable));
}

std::string c_call_writer::input_bytes(const item& it, std::span<const std::byte> content,
                                       bool has_pointers) {
  const std::string name = local(it.name);
  const auto pointers = has_pointers
                            ? seen_.book.find_argument_pointers(content, call_->call.start_ns)
                            : std::vector<replay::embedded_pointer>{};
  if (pointers.size() == 1 && content.size() == sizeof(void*)) {
    const std::string only = target_text(pointers.front());
    if (!pointers.front().host && pointers.front().target.offset == 0) return "&" + only;
    declare(fmt::format("void* {} = {};", name, only));
    return "&" + name;
  }
  if (content.size() > max_inline_argument_bytes && pointers.empty()) {
    const bool is_module = it.variable.name.find("InputModule") != std::string_view::npos;
    const bool is_spirv = content.size() >= 4 && static_cast<uint8_t>(content[0]) == 0x03 &&
                          static_cast<uint8_t>(content[1]) == 0x02;
    const std::string file =
        is_module ? files_.add("kernels", "module", is_spirv ? ".spv" : ".bin", content)
                  : files_.add("data", c_identifier(it.variable.name), ".bin", content);
    needs_.helpers.insert("load");
    return fmt::format("load({}, {})", c_string(file), content.size());
  }
  if (content.size() % 8 == 0 && !pointers.empty()) {
    std::vector<std::string> words;
    auto next = pointers.begin();
    for (size_t offset = 0; offset < content.size(); offset += 8) {
      uint64_t word = 0;
      std::memcpy(&word, content.data() + offset, sizeof(word));
      if (next != pointers.end() && next->offset == offset) {
        words.push_back(fmt::format("(uint64_t)(uintptr_t){}", target_text(*next++)));
      } else {
        words.push_back(text_.number(word, number_form::u8, "word"));
      }
    }
    declare(fmt::format("uint64_t {}[] = {{{}}};", name, joined(words, ", ")));
    return name;
  }
  const size_t size = content.size();
  if (pointers.empty() && (size == 1 || size == 2 || size == 4 || size == 8)) {
    uint64_t word = 0;
    std::memcpy(&word, content.data(), size);
    const auto form = size == 1   ? number_form::u1
                      : size == 2 ? number_form::u2
                      : size == 4 ? number_form::u4
                                  : number_form::u8;
    declare(fmt::format("uint{}_t {} = {};", 8 * size, name, text_.number(word, form, "value")));
    return "&" + name;
  }
  std::vector<std::string> parts;
  for (const auto each : replay::without_pointers(content, pointers))
    parts.push_back(fmt::format("{:#04x}", static_cast<uint8_t>(each)));
  declare(fmt::format("uint8_t {}[] = {{{}}};", name, parts.empty() ? "0" : joined(parts, ", ")));
  for (const auto& each : pointers) {
    needs_.helpers.insert("store_pointer");
    declare(fmt::format("store_pointer({} + {}, {});", name, each.offset, target_text(each)));
  }
  return name;
}

// Pieces whose sizes another object knows: behind an array of pointers, or one behind a pointer.
std::string c_call_writer::runs(const item& it) {
  const value* in = pointee_of(it.in);
  if (in == nullptr || in->form != value_form::runs) return "NULL";
  const bool is_array = model_.types[it.type.index].kind == type_kind::pointer;
  std::vector<std::string> parts;
  for (size_t i = 0; i < in->items.size(); ++i) {
    item piece = it;
    piece.name = is_array ? fmt::format("argument_{}", i) : it.name;
    parts.push_back(input_bytes(piece, in->items[i].bytes, is_kernel_argument(it.variable)));
  }
  if (!is_array) return parts.empty() ? "NULL" : parts.front();
  const std::string name = local(it.name);
  declare(fmt::format("void* {}[] = {{{}}};", name, parts.empty() ? "NULL" : joined(parts, ", ")));
  return name;
}

std::string c_call_writer::chain(const item& it) {
  const value* in = pointee_of(it.in);
  if (in == nullptr) in = pointee_of(it.out);
  if (in == nullptr || in->form != value_form::record) return "NULL";
  const auto& r = *in->structure;
  const auto index = static_cast<uint16_t>(&r - model_.records.data());
  if (r.api == api::api_name::zex) needs_.records.insert(index);
  const std::string text = initializer(r, in, pointee_of(it.out), it.name);
  const std::string name = local(it.name == "pNext" ? "next" : it.name);
  declare(fmt::format("{} {} = {};", r.name, name, text));
  return "&" + name;
}

std::string c_call_writer::initializer(const api::record& r, const value* in, const value* out,
                                       const std::string& name) {
  const replay::value_scope fields{r.fields, in != nullptr ? &in->items : nullptr,
                                   out != nullptr && out->structure == &r ? &out->items : nullptr};
  std::vector<std::string> parts;
  for (const auto& field : r.fields) {
    const value* given = value_of(fields.in, field);
    const value* put_out = value_of(fields.out, field);
    const auto& type = model_.types[field.type_index];
    if (given == nullptr && (put_out == nullptr || type.kind != type_kind::pointer)) continue;
    const std::string local_name =
        field.name == "pNext" ? name_of_next(name) : fmt::format("{}_{}", name, field.name);
    const std::string text =
        field.array_length != 0
            ? array_field(field, given, fields)
            : expression({type, field.pointee, field.inner, field, given, put_out, local_name},
                         fields);
    parts.push_back(fmt::format(".{} = {}", field.name, indented(text)));
  }
  if (parts.empty()) return "{0}";
  size_t length = 0;
  for (const auto& each : parts) length += each.size() + 2;
  const bool several_lines = r.is_extensible() || length > 70;
  if (!several_lines) return fmt::format("{{{}}}", joined(parts, ", "));
  return fmt::format("{{\n    {},\n}}", joined(parts, ",\n    "));
}

std::string c_call_writer::array_field(const api::variable& field, const value* in,
                                       const replay::value_scope& s) {
  const auto& type = model_.types[field.type_index];
  if (in == nullptr) return "{0}";
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < field.array_length; ++i) {
    if (in->form == value_form::raw) {
      parts.push_back(scalar(type, element_at(in, i), field.name));
    } else {
      parts.push_back(expression({type, field.pointee, field.inner, field, item_at(in, i), nullptr,
                                  fmt::format("{}_{}", field.name, i), i},
                                 s));
    }
  }
  // Zeros at the end go without saying.
  if (in->form == value_form::raw) {
    size_t last = 0;
    for (uint32_t i = 0; i < field.array_length; ++i)
      if (element_at(in, i) != 0) last = i;
    parts.resize(std::max<size_t>(last + 1, 1));
  }
  return fmt::format("{{{}}}", joined(parts, ", "));
}

}  // namespace zevent::repro
