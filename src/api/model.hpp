#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "api/ddi_table.hpp"

// One description of the whole API: functions, types, and what every pointer points at. Recording,
// printing, replaying and writing C all walk it.
//
// builtin_model() is generated from the headers this build was made with. A trace carries the model
// it was written with (model_file.hpp), so nothing here may assume that a model was generated:
// cross references are indices into the model's own lists, names are views.

namespace zevent::api {

enum class api_name : uint8_t { ze, zer, zet, zes, zex };

inline constexpr uint16_t no_index = UINT16_MAX;

enum class type_kind : uint8_t {
  nothing,           // void; only behind pointers
  unsigned_integer,  //
  signed_integer,    //
  floating,          //
  boolean,           //
  character,         //
  enumeration,       // index: into model::enumerations
  flags,             // a combination of enumerators; index: into model::enumerations
  handle,            // index: into model::handles
  record,            // struct or union; index: into model::records
  pointer,           // index: of the type pointed to, into model::types
  function,          // a pointer to a function
};

struct type {
  type_kind kind;
  uint16_t index;  // meaning depends on the kind; no_index where it has none
  uint32_t size_bytes;
  std::string_view name;  // as in C, without const: "ze_event_desc_t*"
};

// What a pointer points at.
enum class extent_kind : uint8_t {
  none,      // not a pointer
  address,   // a value never followed: device memory, user data, a function
  single,    // one element
  elements,  // as many elements (bytes, if the element has no type) as the length says
  string,    // characters up to a null
  chain,     // a struct whose stype says which, and so on through its pNext
  external,  // a size that another object knows; index: into model::externals
};

// Where the number of elements stands. Siblings are the other parameters of the function, or the
// other fields of the struct.
enum class length_source : uint8_t {
  none,
  sibling,          // the sibling's value
  sibling_pointee,  // what the sibling points at
  sibling_element,  // the sibling's element of the same position
  call_pointee,     // what that parameter of the call points at; for fields
};

struct extent {
  extent_kind kind = extent_kind::none;
  length_source source = length_source::none;
  uint16_t index = no_index;  // of the sibling or parameter, or into model::externals

  friend bool operator==(const extent&, const extent&) = default;
};

enum class direction : uint8_t { in, out, inout };

// What the call does with the objects that a handle (or an address) names.
enum class role : uint8_t {
  used,
  created,   // a new object, which somebody must release
  returned,  // an object that exists already
  released,  // its life ends here
};

// A parameter of a function or a field of a record.
struct variable {
  std::string_view name;
  uint16_t type_index;  // into model::types; of the element for fixed arrays
  direction way;
  bool optional;
  role object_role;
  extent pointee;             // what it points at
  extent inner;               // what the elements behind it point at, if they are pointers
  uint32_t offset_bytes = 0;  // of a field
  uint32_t array_length = 0;  // of a fixed array; 0 for anything else
};

struct function {
  std::string_view name;
  api_name api;
  uint16_t result_type;       // into model::types
  uint16_t table = no_index;  // into model::tables; no_index for what is found by name only
  uint16_t slot = 0;          // in that table
  uint32_t version = 0;       // API version it came in, major << 16 | minor; 0 without a table
  std::span<const variable> parameters;
};

struct record {
  std::string_view name;
  api_name api;
  bool is_union;
  uint32_t size_bytes;
  std::span<const variable> fields;

  // Begins with stype and pNext.
  bool is_extensible() const { return !fields.empty() && fields.front().name == "stype"; }
};

struct enumerator {
  std::string_view name;        // ZE_EVENT_POOL_FLAG_HOST_VISIBLE
  std::string_view short_name;  // HOST_VISIBLE
  uint32_t value;
};

struct enumeration {
  std::string_view name;
  bool is_flags;
  std::span<const enumerator> values;

  const enumerator* find(uint32_t value) const;
};

struct handle_class {
  std::string_view name;        // ze_event_handle_t
  std::string_view short_name;  // event
};

struct dispatch_table {
  std::string_view name;                // ze_event_dditable_t
  std::string_view getter;              // zeGetEventProcAddrTable
  std::span<const uint16_t> functions;  // in the order of the slots
  std::span<const table_size> sizes;    // by version
};

// The struct that a stype means. zes and zet count on their own; ze, zer and zex share one space.
struct stype_meaning {
  api_name space;  // ze, zet or zes
  uint32_t stype;
  uint16_t record;
};

constexpr api_name stype_space(api_name api) {
  return api == api_name::zet || api == api_name::zes ? api : api_name::ze;
}

struct model {
  uint32_t version;  // API version of the headers, major << 16 | minor
  std::span<const type> types;
  std::span<const enumeration> enumerations;
  std::span<const handle_class> handles;
  std::span<const record> records;
  std::span<const function> functions;
  std::span<const dispatch_table> tables;
  std::span<const std::string_view> externals;
  std::span<const uint16_t> functions_by_name;  // sorted
  std::span<const stype_meaning> stypes;        // sorted by space and stype

  const function* find_function(std::string_view name) const;
  const record* find_record(std::string_view name) const;
  // The struct with that stype in a chain of that API; null when it is not known.
  const record* find_chained(api_name api, uint32_t stype) const;
  // Whether the stype at the head of a record is one of those that name it.
  bool names(const record& r, uint32_t stype) const { return find_chained(r.api, stype) == &r; }
  uint16_t index_of(const function& f) const;
};

const model& builtin_model();

// What the headers of this build have and the generator does not understand, one line each; empty
// for headers that it was tested with.
std::span<const std::string_view> not_understood();

}  // namespace zevent::api
