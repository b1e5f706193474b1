#include "check/finding.hpp"

#include <algorithm>
#include <utility>

namespace zevent::check {

finding::involved::involved(call_number which, std::string part)
    : call(which), role(std::move(part)) {}

finding* finding_list::add(rule_id rule, uint32_t process, call_number call, const char* kind,
                           std::optional<severity> level) {
  const severity how_bad = level.value_or(find_rule(rule)->level);
  auto& count = kinds_[{rule, how_bad, process, kind}];
  if (count.kept >= max_) {
    ++findings_[count.last].more;
    return nullptr;
  }
  ++count.kept;
  count.last = findings_.size();
  finding made;
  made.rule = rule;
  made.kind = kind;
  made.level = how_bad;
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

void keep_few_of_a_kind(std::vector<finding>& findings, size_t max) {
  struct kind_count {
    size_t kept = 0;
    size_t last = 0;
  };
  std::map<std::tuple<rule_id, severity, uint32_t, std::string_view>, kind_count> kinds;
  std::vector<finding> few;
  for (auto& each : findings) {
    auto& count = kinds[{each.rule, each.level, each.process, each.kind}];
    if (count.kept >= max) {
      few[count.last].more += 1 + each.more;
      continue;
    }
    ++count.kept;
    count.last = few.size();
    few.push_back(std::move(each));
  }
  findings = std::move(few);
}

}  // namespace zevent::check
