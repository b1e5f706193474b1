#pragma once

#include <string_view>

namespace zevent::recorder {

class call_writer;

// Content behind a pointer whose size the call does not know (extent_kind::external); `who` says
// which object knows it.
void write_external(call_writer& out, std::string_view who, const void* address);

}  // namespace zevent::recorder
