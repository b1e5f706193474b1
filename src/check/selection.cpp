#include "check/selection.hpp"

#include <algorithm>
#include <cctype>

#include "trace/call_filter.hpp"

namespace zevent::check {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "memory_3": letters and underscores, then a number.
bool names_an_object(std::string_view word) {
  const auto number = word.find_last_not_of("0123456789");
  return number != word.npos && number > 0 && number + 1 < word.size() && word[number] == '_' &&
         std::isalpha(static_cast<unsigned char>(word.front())) != 0;
}

// "memory" of "memory_3".
std::string_view kind_in(std::string_view object) {
  return object.substr(0, object.rfind('_'));
}

bool any_matches(const std::set<std::string>& names, std::string_view pattern) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return trace::matches_glob(each, pattern); });
}

}  // namespace

void add_object_names(std::string_view text, std::set<std::string>& names) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    const auto word = text.substr(at, end - at);
    if (names_an_object(word)) names.emplace(word);
    at = end + 1;
  }
}

bool applies(const suppression& each, const finding& to, const finding_subjects& about) {
  if (each.rule != to.rule) return false;
  if (each.pattern.empty() || trace::matches_glob(about.function, each.pattern) ||
      any_matches(about.kernels, each.pattern))
    return true;
  std::set<std::string> named;
  add_object_names(to.message, named);
  for (const auto& step : to.steps) add_object_names(step, named);
  for (const auto& involved : to.calls) add_object_names(involved.role, named);
  std::set<std::string_view> kinds;
  for (const auto& object : named) kinds.insert(kind_in(object));
  return any_matches(named, each.pattern) ||
         std::any_of(about.objects.begin(), about.objects.end(), [&](const std::string& object) {
           return !kinds.contains(kind_in(object)) && trace::matches_glob(object, each.pattern);
         });
}

result<std::vector<suppression>> parse_suppressions(std::string_view text,
                                                    std::string_view file_name) {
  std::vector<suppression> found;
  unsigned number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto gap = std::min(line.find_first_of(" \t"), line.size());
    const auto rule = parse_rule_id(line.substr(0, gap));
    if (!rule)
      return fail("{}:{}: '{}' is no rule; 'zevent check --list-rules' lists them", file_name,
                  number, line.substr(0, gap));
    const auto pattern = trimmed(line.substr(gap));
    if (pattern.find_first_of(" \t") != std::string_view::npos)
      return fail("{}:{}: after the rule comes one function, object or kernel, not '{}'", file_name,
                  number, pattern);
    found.push_back({*rule, std::string(pattern), number});
  }
  return found;
}

bool selects(const selection& wanted, const finding& each, const finding_subjects& about) {
  if (each.level > wanted.least) return false;
  if (!wanted.only.empty() && !wanted.only.contains(each.rule)) return false;
  if (wanted.ignored.contains(each.rule)) return false;
  return std::none_of(wanted.suppressions.begin(), wanted.suppressions.end(),
                      [&](const suppression& s) { return applies(s, each, about); });
}

}  // namespace zevent::check
