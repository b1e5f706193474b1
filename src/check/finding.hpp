#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "check/rules.hpp"
#include "model/object.hpp"

namespace zevent::check {

using model::call_number;

// One thing that the program did wrong, or that went badly for it.
struct finding {
  struct involved {
    involved(call_number which, std::string part);  // not inline: there are hundreds of these

    call_number call;
    std::string role;  // "signals event_3", in words that follow the call
  };

  rule_id rule;
  severity level;
  uint32_t process = 0;
  call_number call;                // where it happened
  std::string message;             // what happened, with the names of the objects
  std::vector<involved> calls;     // those to look at, in order
  std::vector<std::string> steps;  // a chain of reasons, one line each
  uint64_t more = 0;               // others of the same kind that are not listed one by one
  std::string_view kind;           // tells apart findings of one rule
  std::string_view advice = {};    // instead of the rule's; the same for all notes of a rule
  // What is missing: findings of one process with the same cause go away with one correction.
  // Empty where a finding stands for itself.
  std::string cause;

  // Filled in by group_findings.
  struct consequence {
    rule_id rule;
    severity level;
    uint64_t count = 0;
  };
  std::vector<call_number> more_calls;    // of the first of those that `more` counts
  std::vector<consequence> consequences;  // findings of other kinds that have the same cause
};

// How an object is called: "event_3". `time_ns`: when the handle was used.
using object_namer = std::function<std::string(uint32_t process, model::object_kind kind,
                                               uint64_t handle, uint64_t time_ns)>;

// Collects findings. Of findings of one kind (the same rule, severity and form of words) so many
// are kept one by one; the rest are counted, so that a fault in a loop costs no more than the loop.
class finding_list {
 public:
  static constexpr size_t max_of_a_kind = 1000;

  explicit finding_list(size_t max = max_of_a_kind) : max_(max) {}

  // A place to describe the finding in, or null when it was only counted. `kind` tells apart
  // findings of one rule. The pointer is valid until the next call.
  finding* add(rule_id rule, uint32_t process, call_number call, const char* kind,
               std::optional<severity> level = std::nullopt);

  // In the order of their calls.
  std::vector<finding> take();

 private:
  struct kind_count {
    size_t kept = 0;
    size_t last = 0;  // index into findings_
  };
  size_t max_;
  std::vector<finding> findings_;
  std::map<std::tuple<rule_id, severity, uint32_t, std::string_view>, kind_count> kinds_;
};

// Leaves so many of each kind, and counts the rest, as a list that keeps no more would have done.
inline constexpr size_t max_reported_of_a_kind = 8;
void keep_few_of_a_kind(std::vector<finding>& findings, size_t max = max_reported_of_a_kind);

}  // namespace zevent::check
