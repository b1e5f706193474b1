#pragma once

#include <string_view>

// The names that a description of the API may have. A trace brings its own description, and its
// names go into C code, so that nothing is a name that could be more than that: not a function of
// the C library, not a keyword, not a piece of an expression.
namespace zevent::api {

inline constexpr std::size_t max_name_bytes = 255;

bool is_identifier(std::string_view name);          // of C, and no keyword
bool is_function_name(std::string_view name);       // zeEventCreate, zexEventGetDeviceAddress
bool is_enumerator_name(std::string_view name);     // ZE_RESULT_SUCCESS
bool is_short_name(std::string_view name);          // SUCCESS, 3D, event
bool is_declared_type_name(std::string_view name);  // ze_event_desc_t
bool is_type_spelling(std::string_view name);       // ze_event_desc_t*, unsigned int
bool is_description(std::string_view name);         // specialization constant

}  // namespace zevent::api
