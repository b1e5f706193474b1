#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/model.hpp"

namespace zevent::api {

enum class value_form : uint8_t {
  absent,         // not part of this half of the call, or not captured
  scalar,         // number, enumerator, flags or handle: `bits`
  pointer,        // address in `bits`; what it points at, if captured, is items[0]
  record,         // items: the fields that this half has
  raw,            // a union, or an array of scalars in a record or behind a pointer: `bytes`
  list,           // items: the elements of an array of records or of pointers
  bytes,          // untyped memory: `bytes`
  text,           // characters without the null: `bytes`
  blob,           // untyped memory kept elsewhere: `bits` its size, `bytes` its hash of 16 bytes
  runs,           // items: pieces of untyped memory, of sizes that another object knows
  unknown_chain,  // a struct of a chain that the model does not know: `bits` its stype
};

// What a call passed or put out, taken from its encoded bytes. Names and types point into the model
// and `bytes` into the encoded call: both must outlive the value.
struct value {
  value_form form = value_form::absent;
  const variable* origin = nullptr;  // the parameter or field; null for elements
  const type* declared = nullptr;    // of scalar, pointer, raw; of a byte of bytes or blob; or null
  const record* structure = nullptr;  // of record
  uint64_t bits = 0;
  std::span<const std::byte> bytes;
  std::vector<value> items;

  // The field of a record by name, or what a pointer to a record has there; null if it is absent.
  const value* find(std::string_view name) const;
  // Element `index` of `raw`, zero-extended.
  uint64_t element(size_t index) const;
  size_t element_count() const;
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// One half of a call: what went in, or what came out.
struct call_values {
  const function* callee = nullptr;
  uint64_t returned = 0;          // what came out of a function that returns no ze_result_t
  std::vector<value> parameters;  // as many as the function has

  const value* find(std::string_view name) const;
};

}  // namespace zevent::api
