#include "check/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace zevent::check {
namespace {

constexpr std::array<std::string_view, 4> severity_names = {"error", "hazard", "performance",
                                                            "note"};

}  // namespace

std::string to_text(rule_id id) {
  return fmt::format("EV-{}", static_cast<unsigned>(id));
}

std::optional<rule_id> parse_rule_id(std::string_view text) {
  if (text.starts_with("EV-") || text.starts_with("ev-")) text.remove_prefix(3);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > UINT8_MAX ||
      find_rule(ev(number)) == nullptr)
    return std::nullopt;
  return ev(number);
}

std::string_view to_text(severity level) {
  return severity_names[static_cast<size_t>(level)];
}

std::optional<severity> parse_severity(std::string_view text) {
  for (size_t i = 0; i < severity_names.size(); ++i) {
    if (severity_names[i] == text) return static_cast<severity>(i);
  }
  return std::nullopt;
}

const rule* find_rule(rule_id id) {
  const auto found =
      std::lower_bound(rules().begin(), rules().end(), id,
                       [](const rule& each, rule_id wanted) { return each.id < wanted; });
  return found != rules().end() && found->id == id ? &*found : nullptr;
}

std::string rules_as_text() {
  std::string text;
  for (const auto& each : rules())
    text += fmt::format("{:<6} {:<12} {}\n", to_text(each.id), to_text(each.level), each.title);
  return text;
}

std::string rules_as_markdown() {
  std::string text =
      "# Rules\n\n"
      "What `zevent check` looks for. Made from `src/check/rule_table.cpp` by\n"
      "`zevent check --rules-markdown`; a test keeps the two the same.\n\n"
      "| severity | means |\n|---|---|\n"
      "| error | the specification forbids it, or what follows is undefined |\n"
      "| hazard | allowed, but known to break programs |\n"
      "| performance | costs time |\n"
      "| note | worth knowing; shown with `--severity note` |\n\n"
      "A finding may be less severe than its rule where the checker cannot be certain, e.g. a "
      "race\n"
      "of kernels that were given the same pointer.\n";
  for (const auto& group : rule_groups()) {
    text += fmt::format("\n## {}\n", group.title);
    for (const rule& each : rules()) {
      if (each.id < ev(group.first) || each.id > ev(group.last)) continue;
      text += fmt::format("\n### {}: {}\n\n*{}.* {}\n\n", to_text(each.id), each.title,
                          to_text(each.level), each.text);
      if (each.permission)
        text += "Nothing breaks this rule: it allows something, and the checker relies on it.\n\n";
      else
        text += fmt::format("What to do: {}\n\n", each.advice);
      text += fmt::format("Source: {}.\n", each.source);
    }
  }
  return text;
}

}  // namespace zevent::check
