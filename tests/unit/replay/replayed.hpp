#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"
#include "packed.hpp"
#include "replay/comparison.hpp"
#include "replay/supervisor.hpp"

namespace zevent::replay {

// A recording of a program that never ran, replayed on the driver that tells what it was told.
struct replayed {
  program what;
  run_outcome outcome;
  comparison compared;
  std::vector<std::string> told;
};

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline replayed replay_trace(const trace::trace_file& trace, const compile_options& compiling = {},
                             run_options running = {}) {
  auto what = compile(trace, compiling);
  if (!what) throw std::runtime_error(what.error().message);
  const temporary_folder folder("zevent-replay");
  const std::string log = (folder.path() / "log").string();
  running.driver = TELLING_DRIVER;
  running.environment.emplace_back("ZEVENT_TEST_LOG", log);
  auto outcome = run(*what, running);
  if (!outcome) throw std::runtime_error(outcome.error().message);
  auto compared = compare(*what, *outcome);
  auto told = lines_of(log);
  return {std::move(*what), std::move(*outcome), std::move(compared), std::move(told)};
}

}  // namespace zevent::replay
