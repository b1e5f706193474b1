#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Every rule that the checker knows, declared in one place. `zevent check --list-rules` and
// docs/rules.md are made from it.
namespace zevent::check {

// EV-48 is rule_id{48}.
enum class rule_id : uint8_t {};

constexpr rule_id ev(unsigned number) {
  return static_cast<rule_id>(number);
}

// "EV-48".
std::string to_text(rule_id id);
// Understands "EV-48", "ev-48", "48".
std::optional<rule_id> parse_rule_id(std::string_view text);

enum class severity : uint8_t {
  error,        // the specification forbids it, or what follows is undefined
  hazard,       // allowed, but known to break programs
  performance,  // costs time
  note,         // worth knowing
};

std::string_view to_text(severity level);
std::optional<severity> parse_severity(std::string_view text);

struct rule {
  rule_id id;
  severity level;  // of a finding, unless the finding says otherwise
  std::string_view title;
  std::string_view text;    // what holds
  std::string_view source;  // where the specification says so
  std::string_view advice;  // what to do instead
  // Nothing can break it: it allows something, and the checker relies on that.
  bool permission = false;
};

struct rule_group {
  std::string_view title;
  unsigned first;
  unsigned last;
};

std::span<const rule> rules();
std::span<const rule_group> rule_groups();
// Null when there is no such rule.
const rule* find_rule(rule_id id);

// docs/rules.md.
std::string rules_as_markdown();
// One line a rule.
std::string rules_as_text();

}  // namespace zevent::check
