#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/terminal.hpp"
#include "check/finding_report.hpp"

namespace zevent::check {
namespace {

colour colour_of(severity level) {
  switch (level) {
    case severity::error:
      return colour::red;
    case severity::hazard:
      return colour::yellow;
    case severity::performance:
      return colour::cyan;
    case severity::note:
      return colour::blue;
  }
  return colour::plain;
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Breaks the text into lines of that many columns, each behind the indentation.
std::string wrapped(std::string_view text, size_t indentation, unsigned width) {
  std::string out;
  std::string line(indentation, ' ');
  bool empty = true;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (!empty && columns(line) + 1 + columns(word) > width) {
      out += line + '\n';
      line.assign(indentation, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + line + '\n';
}

class text_writer {
 public:
  text_writer(const report_input& input, const text_options& options)
      : input_(input), options_(options) {}

  std::string write() {
    // The worst first; of each severity, rule by rule.
    std::map<std::pair<severity, rule_id>, std::vector<const finding*>> groups;
    for (const auto& each : input_.findings) groups[{each.level, each.rule}].push_back(&each);
    for (const auto& [key, findings] : groups) write_group(key.first, key.second, findings);
    for (const auto& note : input_.notes)
      out_ += paint(fmt::format("note: {}\n", note), colour::dim, options_.coloured);
    out_ += summary(input_) + '\n';
    return std::move(out_);
  }

 private:
  void write_group(severity level, rule_id id, const std::vector<const finding*>& findings) {
    const rule& broken = *find_rule(id);
    out_ += paint(fmt::format("{} {}", to_text(level), to_text(id)), colour_of(level),
                  options_.coloured);
    out_ += ' ' + paint(broken.title, colour::bold, options_.coloured) + "\n\n";
    for (const auto* each : findings) write_finding(*each);
    const auto own = findings.front()->advice;
    const auto advice = own.empty() ? broken.advice : own;
    out_ += wrapped(fmt::format("What to do: {}", advice), 2, options_.width) + '\n';
  }

  void write_finding(const finding& each) {
    out_ += wrapped(each.message, 2, options_.width);
    for (const auto& step : each.steps) out_ += wrapped("→ " + step, 4, options_.width);
    auto calls = each.calls;
    if (calls.empty()) calls.push_back({each.call, ""});
    for (const auto& involved : calls) {
      out_ += fmt::format("    {}\n", input_.call_text(involved.call));
      if (!involved.role.empty())
        out_ += paint(fmt::format("        ↑ {}\n", involved.role), colour::dim, options_.coloured);
    }
    if (each.more > 0) out_ += wrapped(more_text(each), 2, options_.width);
    if (!each.consequences.empty()) out_ += wrapped(consequences_text(each), 2, options_.width);
    out_ += '\n';
  }

  // Which of the others it is worth looking at, and how to see them all.
  static std::string more_text(const finding& each) {
    std::string text = fmt::format("… and {} more like it", each.more);
    for (size_t i = 0; i < each.more_calls.size(); ++i)
      text += fmt::format("{} #{}", i == 0 ? ":" : ",", trace::number_of(each.more_calls[i]));
    if (!each.more_calls.empty() && each.more > each.more_calls.size()) text += ", …";
    return text + ".";
  }

  static std::string consequences_text(const finding& each) {
    std::string text = "Of the same cause:";
    for (size_t i = 0; i < each.consequences.size(); ++i) {
      const auto& one = each.consequences[i];
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", to_text(one.level), to_text(one.rule));
      if (one.count > 1) text += fmt::format(" ({} times)", one.count);
    }
    return text + ".";
  }

  const report_input& input_;
  const text_options& options_;
  std::string out_;
};

}  // namespace

std::string summary(const report_input& input) {
  std::array<uint64_t, 4> counts{};
  uint64_t listed = 0, all = 0;
  for (const auto& each : input.findings) {
    // Those of one cause are one finding; of one kind that are merely too many, each counts.
    const bool is_group = !each.more_calls.empty() || !each.consequences.empty();
    counts[static_cast<size_t>(each.level)] += is_group ? 1 : 1 + each.more;
    listed += is_group ? 1 : 1 + each.more;
    all += 1 + each.more;
    for (const auto& other : each.consequences) all += other.count;
  }
  constexpr std::array<std::pair<const char*, const char*>, 4> words = {
      {{"error", "errors"},
       {"hazard", "hazards"},
       {"performance finding", "performance findings"},
       {"note", "notes"}}};
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", counts[i], counts[i] == 1 ? words[i].first : words[i].second);
  }
  if (text.empty()) text = "nothing found";
  if (all > listed) text += fmt::format(" ({} in all, see --all)", all);
  return fmt::format("{}: {} in {} calls", input.trace, text, input.calls);
}

std::string as_text(const report_input& input, const text_options& options) {
  return text_writer(input, options).write();
}

}  // namespace zevent::check
