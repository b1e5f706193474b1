#pragma once

#include <signal.h>

#include <array>
#include <string>

#include "base/result.hpp"

namespace zevent::report {

// A file that is written under another name and gets its own when it is complete. Whatever ends the
// writing before that, a failure or Ctrl-C, leaves nothing behind, and an older file as it was.
// There is one at a time.
class unfinished_file {
 public:
  explicit unfinished_file(std::string final_path);
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file();

  const std::string& path() const { return path_; }  // where to write

  result<void> finish();

 private:
  static constexpr std::array signals = {SIGHUP, SIGINT, SIGTERM};

  std::string final_path_, path_;
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace zevent::report
