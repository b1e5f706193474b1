#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace zevent::report {

// Shows on standard error how far long work has come, if that is a terminal. Appears only when the
// work takes a while, and leaves no trace.
class progress_bar {
 public:
  explicit progress_bar(std::string what,
                        std::chrono::milliseconds appears_after = std::chrono::milliseconds(500));
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  void update(uint64_t done, uint64_t total);

 private:
  using clock = std::chrono::steady_clock;

  std::string what_;
  bool enabled_;
  bool drawn_ = false;
  clock::time_point next_draw_;
};

// "packing  [#####.....]  52 %", of that many columns in all.
std::string progress_line(const std::string& what, uint64_t done, uint64_t total, unsigned columns);

}  // namespace zevent::report
