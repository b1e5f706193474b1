#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "api/model.hpp"
#include "api/value.hpp"

namespace zevent::api {

// The same handle may stand for one object when the call begins and for another when it ends.
enum class call_side : uint8_t { went_in, came_out };

struct print_options {
  size_t max_items = 8;   // elements of an array; the rest are counted
  size_t max_bytes = 16;  // of untyped memory
  size_t max_text = 80;   // characters of a string
  // How an object is called; 0 is always "null". Unset: its value, 0x7f….
  std::function<std::string(const handle_class&, uint64_t, call_side)> handle_name;
  // How memory is called that an address points to, or the argument of a kernel that looks like
  // one; empty, or unset: the address.
  std::function<std::string(uint64_t, call_side)> address_name;
  // The bytes that are kept elsewhere under this hash; unset, or nothing: only their number is
  // printed. Asked for text only.
  std::function<std::optional<std::string>(std::span<const std::byte>)> blob_text;
};

// Whether it points at the values of a kernel's arguments: bytes that may be addresses.
bool points_at_arguments(const variable& v);

// Characters that the driver writes into a buffer, up to a null: names, logs.
bool is_text_buffer(const value& v);

// zeEventPoolCreate(hContext=0x…, desc={flags=HOST_VISIBLE|KERNEL_TIMESTAMP, count=2},
//   numDevices=0, phDevices=null, phEventPool=→0x…) → SUCCESS
//
// What came out stands behind an arrow. `outputs` is null and `result` unset for a call that did
// not return; `result` is not looked at for functions that return no ze_result_t.
std::string print_call(const model& m, const call_values& inputs, const call_values* outputs,
                       std::optional<uint32_t> result, const print_options& options = {});

// {flags=HOST_VISIBLE, count=2}
std::string print_value(const model& m, const value& v, const print_options& options = {});

// A record in live memory, with everything it points at.
std::string print_struct(const model& m, const record& r, const void* address,
                         const print_options& options = {});

// SUCCESS, or the number of a result that the model does not know.
std::string print_result(const model& m, uint32_t result);

}  // namespace zevent::api
