#include "check/grouping.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace zevent::check {
namespace {

constexpr size_t max_more_calls = 8;

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The text with one 0 for each number: "#0 waits for event_0".
std::string without_numbers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      out += text[i];
      continue;
    }
    while (i + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0) ++i;
    out += '0';
  }
  return out;
}

// The objects that the text names: words such as event_3.
std::set<std::string_view> objects_in(std::string_view text) {
  std::set<std::string_view> found;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && is_name_part(text[end])) ++end;
    const auto word = text.substr(begin, end - begin);
    if (word.find('_') != std::string_view::npos && is_digit(word.back())) found.insert(word);
    begin = end + 1;
  }
  return found;
}

// How far each involved call lies from the place of the finding.
std::vector<int64_t> distances(const finding& of) {
  std::vector<int64_t> out;
  for (const auto& each : of.calls)
    out.push_back(static_cast<int64_t>(trace::number_of(each.call)) -
                  static_cast<int64_t>(trace::number_of(of.call)));
  return out;
}

bool have_common_object(const finding& a, const finding& b) {
  const auto of_a = objects_in(a.message), of_b = objects_in(b.message);
  return std::any_of(of_a.begin(), of_a.end(),
                     [&](const auto& each) { return of_b.contains(each); });
}

using shape = std::tuple<uint32_t, rule_id, severity, std::string_view, std::string>;

shape shape_of(const finding& each) {
  return {each.process, each.rule, each.level, each.kind, without_numbers(each.message)};
}

void count_as_more(finding& kept, const finding& other) {
  kept.more += 1 + other.more;
  if (kept.more_calls.size() < max_more_calls) kept.more_calls.push_back(other.call);
}

void group_by_shape(std::vector<finding>& findings) {
  std::vector<finding> kept;
  std::map<shape, std::vector<size_t>> groups;  // indices into kept
  for (auto& each : findings) {
    auto& alike = groups[shape_of(each)];
    const auto group = std::find_if(alike.begin(), alike.end(), [&](size_t index) {
      const finding& first = kept[index];
      return first.calls.size() == each.calls.size() &&
             (distances(first) == distances(each) || have_common_object(first, each));
    });
    if (group != alike.end()) {
      count_as_more(kept[*group], each);
      continue;
    }
    if (alike.size() < max_reported_of_a_kind) alike.push_back(kept.size());
    kept.push_back(std::move(each));
  }
  findings = std::move(kept);
}

void add_consequence(finding& root, rule_id rule, severity level, uint64_t count) {
  const auto known =
      std::find_if(root.consequences.begin(), root.consequences.end(),
                   [&](const auto& each) { return each.rule == rule && each.level == level; });
  if (known != root.consequences.end())
    known->count += count;
  else
    root.consequences.push_back({rule, level, count});
}

void group_by_cause(std::vector<finding>& findings) {
  std::map<std::pair<uint32_t, std::string>, size_t> roots;  // index of the worst, then first
  for (size_t i = 0; i < findings.size(); ++i) {
    const finding& each = findings[i];
    if (each.cause.empty()) continue;
    const auto [root, is_new] = roots.try_emplace({each.process, each.cause}, i);
    if (!is_new && each.level < findings[root->second].level) root->second = i;
  }
  std::vector<bool> is_merged(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    const finding& each = findings[i];
    if (each.cause.empty()) continue;
    const size_t root = roots[{each.process, each.cause}];
    // What may not be so is no consequence of what is.
    if (root == i || each.level == severity::note) continue;
    add_consequence(findings[root], each.rule, each.level, 1 + each.more);
    is_merged[i] = true;
  }
  size_t index = 0;
  std::erase_if(findings, [&](const finding&) { return is_merged[index++]; });
}

}  // namespace

void group_findings(std::vector<finding>& findings) {
  group_by_shape(findings);
  group_by_cause(findings);
}

}  // namespace zevent::check
