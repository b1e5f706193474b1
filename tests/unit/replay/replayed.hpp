#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
  char folder[] = "/tmp/zevent-replay-XXXXXX";
  if (mkdtemp(folder) == nullptr) throw std::runtime_error("no temporary folder");
  const std::string log = std::string(folder) + "/log";
  running.driver = TELLING_DRIVER;
  running.environment.emplace_back("ZEVENT_TEST_LOG", log);
  auto outcome = run(*what, running);
  if (!outcome) throw std::runtime_error(outcome.error().message);
  auto compared = compare(*what, *outcome);
  auto told = lines_of(log);
  std::filesystem::remove_all(folder);
  return {std::move(*what), std::move(*outcome), std::move(compared), std::move(told)};
}

}  // namespace zevent::replay
