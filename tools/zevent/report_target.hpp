#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/text_output.hpp"

namespace zevent::tool {

// Where a report goes: to the file that the user names, "-" for standard output; else to a stream
// of the verb's choosing. A verb that runs a program chooses stderr: stdout is the program's own.
class report_target {
 public:
  report_target(std::string path, std::FILE* otherwise);

  // Fails where the file cannot be written; asked before a program runs for the report.
  result<void> check() const;

  // Lets `print` write to it. A pipe that nobody reads any more is no failure.
  result<void> write(const std::function<void(report::text_output&)>& print) const;
  result<void> write(std::string_view text) const;

  // Of a terminal; else none, and the fallback.
  bool wants_colour() const;
  unsigned columns(unsigned fallback) const;

 private:
  bool is_terminal() const;

  std::string path_;  // "": the stream
  std::FILE* stream_;
};

}  // namespace zevent::tool
