#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "check/finding.hpp"

// Which findings a user wants to see.
//
// A suppression file has one suppression a line:
//
//   EV-70                      # this rule nowhere
//   EV-36 zeCommandListReset   # at calls of this function (* stands for any characters)
//   EV-25 memory_3             # about this object
//
// Empty lines and what follows # are left out.
namespace zevent::check {

struct suppression {
  rule_id rule;
  std::string pattern;  // of a function or an object; empty: everything
  unsigned line = 0;    // in its file
};

result<std::vector<suppression>> parse_suppressions(std::string_view text,
                                                    std::string_view file_name);

struct selection {
  std::set<rule_id> only;  // empty: all
  std::set<rule_id> ignored;
  severity least = severity::performance;  // and what is more severe
  std::vector<suppression> suppressions;
};

// Whether the finding is to be shown. `function`: of the call where it happened.
bool selects(const selection& wanted, const finding& each, std::string_view function);

}  // namespace zevent::check
