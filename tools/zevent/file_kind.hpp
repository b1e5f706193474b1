#pragma once

#include <string>

namespace zevent::tool {

// What a word on the command line names, told by the file's first bytes: whoever gives a trace
// where a program is wanted, or the other way round, is told so.
enum class file_kind { trace, program, other };

file_kind kind_of(const std::string& path);

}  // namespace zevent::tool
