#pragma once

#include <gtest/gtest.h>

#include <string>

#include "check/checker.hpp"
#include "hand_made_program.hpp"

namespace zevent::check {

// A program written call by call, and what the checker says of it.
class checked_program : public testing::Test {
 protected:
  using handle = uint64_t;

  // The rules that were broken, each once: "EV-7 EV-25". Notes are left out.
  std::string broken() {
    findings = judge.finish();
    std::string text;
    for (const auto& rule : rules()) {
      for (const auto& each : findings) {
        if (each.rule != rule.id || each.level == severity::note) continue;
        text += (text.empty() ? "" : " ") + to_text(each.rule);
        break;
      }
    }
    return text;
  }

  checker judge;
  model::hand_made_program<checker> program{judge};
  std::vector<finding> findings;
  handle device = program.device();
  handle context = program.context();
  handle pool = program.pool(context);
  handle a = program.memory(context, device, 4096);
  handle b = program.memory(context, device, 4096);
  handle c = program.memory(context, device, 4096);
};

}  // namespace zevent::check
