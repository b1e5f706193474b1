#include "api/c_names.hpp"

#include <algorithm>
#include <array>

namespace zevent::api {
namespace {

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_word_character(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || c == '_';
}

bool is_word(std::string_view name) {
  return !name.empty() && name.size() <= max_name_bytes &&
         std::all_of(name.begin(), name.end(), is_word_character);
}

// C17's, and the words that compilers have made ones.
constexpr auto keywords = std::to_array<std::string_view>({"_Alignas",
                                                           "_Alignof",
                                                           "_Atomic",
                                                           "_Bool",
                                                           "_Complex",
                                                           "_Generic",
                                                           "_Imaginary",
                                                           "_Noreturn",
                                                           "_Pragma",
                                                           "_Static_assert",
                                                           "_Thread_local",
                                                           "__asm__",
                                                           "__attribute__",
                                                           "asm",
                                                           "auto",
                                                           "break",
                                                           "case",
                                                           "char",
                                                           "const",
                                                           "continue",
                                                           "default",
                                                           "defined",
                                                           "do",
                                                           "double",
                                                           "else",
                                                           "enum",
                                                           "extern",
                                                           "float",
                                                           "for",
                                                           "fortran",
                                                           "goto",
                                                           "if",
                                                           "inline",
                                                           "int",
                                                           "long",
                                                           "register",
                                                           "restrict",
                                                           "return",
                                                           "short",
                                                           "signed",
                                                           "sizeof",
                                                           "static",
                                                           "struct",
                                                           "switch",
                                                           "typedef",
                                                           "typeof",
                                                           "union",
                                                           "unsigned",
                                                           "void",
                                                           "volatile",
                                                           "while",
                                                           "_Decimal32",
                                                           "_Decimal64",
                                                           "_Decimal128"});

constexpr auto basic_types = std::to_array<std::string_view>(
    {"void",    "char",         "signed char", "unsigned char", "short",     "unsigned short",
     "int",     "unsigned int", "long",        "unsigned long", "long long", "unsigned long long",
     "float",   "double",       "bool",        "size_t",        "int8_t",    "uint8_t",
     "int16_t", "uint16_t",     "int32_t",     "uint32_t",      "int64_t",   "uint64_t"});

// What follows "ze" and the letter of an extension of the API: ze, zer, zes, zet, zex.
std::string_view after_prefix(std::string_view name, std::string_view prefix,
                              bool (*is_letter)(char)) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  if (!name.empty() && is_letter(name.front())) name.remove_prefix(1);
  return name;
}

}  // namespace

bool is_identifier(std::string_view name) {
  return is_word(name) && !is_digit(name.front()) &&
         std::find(keywords.begin(), keywords.end(), name) == keywords.end();
}

bool is_function_name(std::string_view name) {
  const auto rest = after_prefix(name, "ze", is_lower);
  return is_word(name) && !rest.empty() && is_upper(rest.front());
}

bool is_enumerator_name(std::string_view name) {
  const auto rest = after_prefix(name, "ZE", is_upper);
  return is_word(name) && rest.size() > 1 && rest.front() == '_';
}

bool is_short_name(std::string_view name) {
  return is_word(name);
}

bool is_declared_type_name(std::string_view name) {
  const auto rest = after_prefix(name, "ze", is_lower);
  return is_word(name) && rest.size() > 1 && rest.front() == '_';
}

bool is_type_spelling(std::string_view name) {
  while (name.ends_with('*')) name.remove_suffix(1);
  return is_declared_type_name(name) ||
         std::find(basic_types.begin(), basic_types.end(), name) != basic_types.end();
}

bool is_description(std::string_view name) {
  return name.size() <= max_name_bytes && std::all_of(name.begin(), name.end(), [](char c) {
           return is_word_character(c) || c == ' ';
         });
}

}  // namespace zevent::api
