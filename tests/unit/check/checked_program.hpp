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
    // Most programs are a part of one: work is pending and objects exist at their end.
    if (!is_whole) std::erase_if(findings, [](const finding& each) { return each.rule == ev(76); });
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

  bool is_whole = false;  // what is left at its end is judged
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
