#include "check/selection.hpp"

#include <algorithm>

#include "trace/call_filter.hpp"

namespace zevent::check {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Whether a word of the text, such as the name of an object, fits the pattern.
bool any_word_matches(std::string_view text, std::string_view pattern) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end > at && trace::matches_glob(text.substr(at, end - at), pattern)) return true;
    at = end + 1;
  }
  return false;
}

bool applies(const suppression& each, const finding& to, std::string_view function) {
  if (each.rule != to.rule) return false;
  return each.pattern.empty() || trace::matches_glob(function, each.pattern) ||
         any_word_matches(to.message, each.pattern);
}

}  // namespace

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
      return fail("{}:{}: after the rule comes one function or one object, not '{}'", file_name,
                  number, pattern);
    found.push_back({*rule, std::string(pattern), number});
  }
  return found;
}

bool selects(const selection& wanted, const finding& each, std::string_view function) {
  if (each.level > wanted.least) return false;
  if (!wanted.only.empty() && !wanted.only.contains(each.rule)) return false;
  if (wanted.ignored.contains(each.rule)) return false;
  return std::none_of(wanted.suppressions.begin(), wanted.suppressions.end(),
                      [&](const suppression& s) { return applies(s, each, function); });
}

}  // namespace zevent::check
