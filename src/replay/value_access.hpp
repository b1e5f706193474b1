#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "api/value.hpp"

// Looking things up in decoded values, where everything may be absent.
namespace zevent::replay {

inline const api::value* value_of(const std::vector<api::value>* values, const api::variable& v) {
  if (values == nullptr) return nullptr;
  const auto found = std::find_if(values->begin(), values->end(), [&](const api::value& each) {
    return each.origin == &v && each.form != api::value_form::absent;
  });
  return found == values->end() ? nullptr : &*found;
}

inline const api::value* pointee_of(const api::value* pointer) {
  return pointer == nullptr || pointer->items.empty() ? nullptr : &pointer->items.front();
}

inline uint64_t bits_of(const api::value* v) {
  return v == nullptr ? 0 : v->bits;
}

// 0 of what is no scalar.
inline uint64_t scalar_bits(const api::value* v) {
  return v != nullptr && v->form == api::value_form::scalar ? v->bits : 0;
}

inline const api::value* item_at(const api::value* content, size_t i) {
  return content != nullptr && i < content->items.size() ? &content->items[i] : nullptr;
}

inline uint64_t element_at(const api::value* content, size_t i) {
  const bool has_it =
      content != nullptr && content->form == api::value_form::raw && i < content->element_count();
  return has_it ? content->element(i) : 0;
}

// The number of elements, or of bytes, that were recorded behind a pointer.
inline uint64_t recorded_length(const api::value* content) {
  if (content == nullptr) return 0;
  switch (content->form) {
    case api::value_form::raw:
    case api::value_form::list:
      return content->element_count();
    case api::value_form::bytes:
    case api::value_form::text:
      return content->bytes.size();
    case api::value_form::blob:
      return content->bits;
    default:
      return 0;
  }
}

// The variables among which lengths are looked up, and their values on both sides of a call.
struct value_scope {
  std::span<const api::variable> variables;
  const std::vector<api::value>* in = nullptr;
  const std::vector<api::value>* out = nullptr;
};

// What the extent of a pointer says its length is; `parameters` are those of the call.
inline uint64_t length_of(const api::extent& e, const value_scope& siblings,
                          const value_scope& parameters, size_t position) {
  const auto& where = e.source == api::length_source::call_pointee ? parameters : siblings;
  if (e.source == api::length_source::none || e.index >= where.variables.size()) return 0;
  const auto& sibling = where.variables[e.index];
  const api::value* given = value_of(where.in, sibling);
  if (given == nullptr) given = value_of(where.out, sibling);
  if (given == nullptr) return 0;
  if (e.source == api::length_source::sibling) return given->bits;
  const api::value* behind = pointee_of(given);
  if (behind == nullptr) return 0;
  return e.source == api::length_source::sibling_element ? element_at(behind, position)
                                                         : behind->bits;
}

// Kernels take pointers inside of what looks like plain bytes.
inline bool is_kernel_argument(const api::variable& v) {
  return v.name == "pArgValue" || v.name == "pArguments";
}

// Some functions put an address out as a number: where the counter of an event is.
inline bool is_address_as_number(const api::variable& v, const api::type& pointee) {
  return v.name == "deviceAddress" && v.way != api::direction::in &&
         pointee.kind == api::type_kind::unsigned_integer && pointee.size_bytes == sizeof(uint64_t);
}

}  // namespace zevent::replay
