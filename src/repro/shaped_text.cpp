#include "repro/shaped_text.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/invariant.hpp"

namespace zevent::repro {
namespace {

constexpr char begin_mark = '\x01', id_mark = '\x02', end_mark = '\x03';

uint64_t mask_of(number_form form) {
  switch (form) {
    case number_form::u1:
    case number_form::s1:
      return UINT8_MAX;
    case number_form::u2:
    case number_form::s2:
      return UINT16_MAX;
    case number_form::u4:
    case number_form::s4:
      return UINT32_MAX;
    case number_form::u8:
    case number_form::s8:
      break;
  }
  return UINT64_MAX;
}

bool is_signed(number_form form) {
  return form >= number_form::s1;
}

int64_t extended(uint64_t value, number_form form) {
  const uint64_t mask = mask_of(form);
  value &= mask;
  const uint64_t sign = mask ^ (mask >> 1);
  if (is_signed(form) && (value & sign) != 0) value |= ~mask;
  return static_cast<int64_t>(value);
}

uint32_t parse(std::string_view digits) {
  uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

text_place place_from(std::string_view description) {
  if (description[0] == 'o')
    return {.is_object = true, .name = {}, .object_class = parse(description.substr(1))};
  return {.form = static_cast<number_form>(description[1]),
          .name = std::string(description.substr(2))};
}

}  // namespace

std::string text_builder::place(std::string_view description, int64_t value) {
  values_.push_back(value);
  return fmt::format("{}{}{}{}{}", begin_mark, description, id_mark, values_.size() - 1, end_mark);
}

std::string text_builder::number(uint64_t value, number_form form, std::string_view name) {
  return place(fmt::format("n{}{}", static_cast<char>(form), name), extended(value, form));
}

std::string text_builder::object(uint32_t object_class, uint32_t ordinal) {
  return place(fmt::format("o{}", object_class), ordinal);
}

shaped_text text_builder::finish(std::string_view text) const {
  shaped_text out;
  while (!text.empty()) {
    const size_t begin = std::min(text.find(begin_mark), text.size());
    out.shape += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) break;
    const size_t id = text.find(id_mark), end = text.find(end_mark);
    ZEVENT_INVARIANT(id < end && end != text.npos);
    out.shape += text.substr(0, id);
    out.shape += end_mark;
    out.numbers.push_back(values_[parse(text.substr(id + 1, end - id - 1))]);
    text.remove_prefix(end + 1);
  }
  return out;
}

shape_pieces split_shape(std::string_view shape) {
  shape_pieces out;
  for (;;) {
    const size_t begin = std::min(shape.find(begin_mark), shape.size());
    out.literals.emplace_back(shape.substr(0, begin));
    if (begin == shape.size()) return out;
    const size_t end = shape.find(end_mark);
    out.places.push_back(place_from(shape.substr(begin + 1, end - begin - 1)));
    shape.remove_prefix(end + 1);
  }
}

std::vector<text_place> places_of(std::string_view shape) {
  return split_shape(shape).places;
}

std::string fill_places(std::string_view shape,
                        const std::function<std::string(const text_place&, size_t)>& write) {
  const auto pieces = split_shape(shape);
  std::string out = pieces.literals.front();
  for (size_t i = 0; i < pieces.places.size(); ++i)
    out += write(pieces.places[i], i) + pieces.literals[i + 1];
  return out;
}

std::string number_text(int64_t value, number_form form) {
  if (is_signed(form)) return value == INT64_MIN ? "INT64_MIN" : fmt::format("{}", value);
  const uint64_t bits = static_cast<uint64_t>(value) & mask_of(form);
  if (form == number_form::u8 && bits == UINT64_MAX) return "UINT64_MAX";
  if (form == number_form::u4 && bits == UINT32_MAX) return "UINT32_MAX";
  if (bits > INT64_MAX) return fmt::format("{:#x}u", bits);
  return fmt::format("{}", bits);
}

}  // namespace zevent::repro
