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
//   EV-36 zeCommandListReset   # at calls of this function
//   EV-25 memory_3             # about this object, as `zevent show` names it
//   EV-75 reverse_*            # about launches of such kernels
//
// In a pattern * stands for any characters and ? for one. Empty lines and what follows # are left
// out.
namespace zevent::check {

struct suppression {
  rule_id rule;
  std::string pattern;  // of a function, an object or a kernel; empty: everything
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

// What a finding is about, besides what its own words name.
struct finding_subjects {
  std::string function;           // of the call where it happened
  std::set<std::string> objects;  // in the arguments of its calls: "memory_3"
  std::set<std::string> kernels;  // that its calls launch
};

// Adds the names of objects in a text, such as a call as `zevent show` prints it.
void add_object_names(std::string_view text, std::set<std::string>& names);

// Objects in the arguments count where the finding itself names none of their kind: of a race on
// memory_0, the other buffers of the two copies are no part.
bool applies(const suppression& each, const finding& to, const finding_subjects& about);

// Whether the finding is to be shown.
bool selects(const selection& wanted, const finding& each, const finding_subjects& about);

}  // namespace zevent::check
