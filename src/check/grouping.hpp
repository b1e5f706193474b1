#pragma once

#include <vector>

#include "check/finding.hpp"

namespace zevent::check {

// Makes one finding of those that go away with one correction:
//   - of the same shape: the same rule and words, where the same objects are concerned or the calls
//     lie at the same distances from each other, as in the iterations of a loop. The first of them
//     stays, and counts the others.
//   - of the same cause (finding::cause), whatever their rules: the worst stays, of these the
//   first,
//     and counts the others by rule.
// Findings are in the order of their calls, and stay so.
void group_findings(std::vector<finding>& findings);

}  // namespace zevent::check
