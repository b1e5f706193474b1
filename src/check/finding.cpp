#include "check/finding.hpp"

#include <algorithm>

namespace zevent::check {

finding* finding_list::add(rule_id rule, uint32_t process, call_number call, const char* kind,
                           std::optional<severity> level) {
  auto& count = kinds_[{rule, process, kind}];
  if (count.kept.size() >= most_of_a_kind) {
    ++findings_[count.kept.back()].more;
    return nullptr;
  }
  count.kept.push_back(findings_.size());
  finding made;
  made.rule = rule;
  made.level = level.value_or(find_rule(rule)->level);
  made.process = process;
  made.call = call;
  findings_.push_back(std::move(made));
  return &findings_.back();
}

std::vector<finding> finding_list::take() {
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const finding& a, const finding& b) { return a.call < b.call; });
  kinds_.clear();
  return std::move(findings_);
}

}  // namespace zevent::check
