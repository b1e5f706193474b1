#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "api/model.hpp"
#include "api/value.hpp"
#include "base/result.hpp"

// How a call becomes bytes: its inputs before the driver is entered, its outputs after it returned.
// A decoder needs the model that the call was encoded by, and nothing else. Numbers are
// little-endian, nothing is aligned.
//
//   inputs   ┌───────────┬───────────┬─ ─ ─┐   every parameter, in the order of the function
//            │ variable  │ variable  │     │
//            └───────────┴───────────┴─ ─ ─┘
//   outputs  ┌────────────────┬───────────┬───────────┬─ ─ ─┐
//            │ returned value │ content   │ content   │     │   of every pointer parameter that is
//            └────────────────┴───────────┴───────────┴─ ─ ─┘   out or inout and is followed
//            The returned value is there only for functions that do not return a ze_result_t. A
//            call whose outputs mean nothing (has_outputs in result_code.hpp) has no bytes here.
//
//   variable, by its type
//     number, enumeration, flags, handle    its bytes as in memory
//     fixed array                           its elements, one after the other
//     union                                 its bytes as in memory
//     struct                                its fields, each a variable: see "which fields"
//     pointer  ┌───────────┬─ ─ ─ ─ ─ ─ ─ ─┐
//              │ address 8 │ content       │   content only if the address is not 0, the model says
//              └───────────┴─ ─ ─ ─ ─ ─ ─ ─┘   it is followed (neither `address` nor a function),
//                                              and it belongs to this half: a pointer parameter
//                                              that is `out` has none in the inputs
//   content  ┌────────┬─ ─ ─ ─ ─ ─ ─┐
//            │ form 1 │             │
//            └────────┴─ ─ ─ ─ ─ ─ ─┘
//     form 0, nothing    not captured, or null (in outputs): nothing follows
//     form 1, here       by the extent:
//       single             ┌ the pointee, a variable
//       elements           ┌ count 4 │ elements, each a variable
//       elements of bytes  ┌ size 4  │ bytes         (void, char, uint8_t)
//       string             ┌ size 4  │ characters, without the null
//       chain              ┌ stype 4 │ the struct of that stype, which has its own pNext
//       external           ┌ count 4 │ count × (size 4 │ bytes)
//     form 2, blob       elements of bytes only: size 8 │ hash 16, where the trace keeps the bytes
//     form 3, unknown    chain only: stype 4 of a struct that the model does not know
//
//   which fields: all of them below a parameter that is only in or only out. Below one that is
//   inout, the inputs have the fields that are in or inout and the outputs those that are out or
//   inout; below such a field that is itself only in or only out, all again. A struct that has no
//   field for a half is not captured (form 0) behind a pointer.
//
//   Among outputs a chain is followed only below what is inout. The pNext of a struct that is put
//   out as a whole was never an input: nobody need have set it (form 0).
//
// What may never change: all of this. New needs get new forms.
namespace zevent::api {

enum class content_form : uint8_t { nothing = 0, here = 1, blob = 2, unknown = 3 };

inline constexpr size_t blob_hash_bytes = 16;
inline constexpr uint32_t max_chain_length = 32;
inline constexpr uint32_t max_string_bytes = 1u << 20;

// Which fields of a record one half of a call has.
enum class record_part : uint8_t { all, inputs, outputs };

constexpr bool has_field(record_part part, direction way) {
  return part == record_part::all || way == direction::inout ||
         way == (part == record_part::inputs ? direction::in : direction::out);
}

// Of what lies below a field: all, unless the field goes both ways.
constexpr record_part below(record_part part, direction way) {
  return way == direction::inout ? part : record_part::all;
}

bool has_any_field(const record& r, record_part part);

// Untyped memory: elements of these are written as one run of bytes.
constexpr bool is_byte(const type& t) {
  return t.kind == type_kind::nothing || t.kind == type_kind::character ||
         (t.kind == type_kind::unsigned_integer && t.size_bytes == 1);
}

// Whether the content behind a pointer is ever written.
constexpr bool is_followed(const extent& e) {
  return e.kind != extent_kind::none && e.kind != extent_kind::address;
}

// Bytes of unknown origin: a failure says what is wrong, nothing is allocated beyond a small
// multiple of their size, and they must outlive the values.
result<call_values> decode_inputs(const model& m, const function& f,
                                  std::span<const std::byte> bytes);
// No bytes: every parameter is absent.
result<call_values> decode_outputs(const model& m, const function& f,
                                   std::span<const std::byte> bytes);

// A record as `call_encoder::record_at` writes it.
result<value> decode_record(const model& m, const record& r, std::span<const std::byte> bytes);

}  // namespace zevent::api
