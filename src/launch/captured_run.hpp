#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/interruption.hpp"
#include "launch/way_in.hpp"

namespace zevent::launch {

// A program to run many times over and compare: its standard input is empty, its output is kept and
// not shown, and what it leaves running is ended with it.
struct captured_run_request {
  std::vector<std::string> command;
  environment_changes environment;
  uint64_t timeout_ms = 60'000;
  const interruption* ends_early = nullptr;  // null: requests to end are not looked for
};

struct run_end {
  int exit_status = 0;
  int signal = 0;          // 0: it ended by itself, or hung
  bool hung = false;       // ended by us, after the time limit
  int interrupted_by = 0;  // not 0: ended by us, because this signal asked us to end
  std::string output;
};

// Runs the program once, with `more` in its environment too; it wins over the request's.
result<run_end> run_captured(const captured_run_request& request, const environment_changes& more);

// The run that says what is right. An error when it is not: the program cannot be started, does not
// end, or fails already without what it is to be tried under (`unless`, as "the fault").
result<run_end> run_as_example(const captured_run_request& request, std::string_view unless);

// What to say of a program that does not end even without that.
tl::unexpected<failure> hung_already(const captured_run_request& request, std::string_view unless);

}  // namespace zevent::launch
