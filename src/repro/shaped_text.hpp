#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/loop_folding.hpp"

namespace zevent::repro {

// How a number is written: so many bytes, signed or not.
enum class number_form : char { u1 = 'a', u2, u4, u8, s1, s2, s4, s8 };

// Text with places for numbers and for objects. Two texts of the same shape differ in these only,
// and steps of one shape may become a loop.
//
// In `shape` a place is a mark, then 'n' and the form of a number, or 'o' and the class of an
// object in decimal, then the end mark.
struct shaped_text {
  std::string shape;
  std::vector<int64_t> numbers;  // one for each place, in the order of the text
};

// Builds a shaped text out of pieces, which may be put together in any order.
class text_builder {
 public:
  // A piece to be put into a text.
  std::string number(uint64_t value, number_form form, std::string_view name = "");
  std::string object(uint32_t object_class, uint32_t ordinal);

  // The finished text. Pieces that do not appear in it are forgotten.
  shaped_text finish(std::string_view text) const;

 private:
  std::string place(std::string_view description, int64_t value);

  std::vector<int64_t> values_;
};

// What a place is for.
struct text_place {
  bool is_object = false;
  number_form form = number_form::u8;
  std::string name;  // of a number; may be empty
  uint32_t object_class = 0;
};

// A shape taken apart: literal, place, literal, …, literal.
struct shape_pieces {
  std::vector<std::string> literals;  // one more than places
  std::vector<text_place> places;
};
shape_pieces split_shape(std::string_view shape);

// The places of a shape, in order.
std::vector<text_place> places_of(std::string_view shape);

// Replaces the places of a shape by what `write` makes of each; the number says which it is.
std::string fill_places(std::string_view shape,
                        const std::function<std::string(const text_place&, size_t)>& write);

// 12, UINT64_MAX, -3.
std::string number_text(int64_t value, number_form form);

}  // namespace zevent::repro
