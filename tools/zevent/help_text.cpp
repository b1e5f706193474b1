#include "help_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/terminal.hpp"

namespace zevent::tool {
namespace {

constexpr size_t narrowest = 40, widest = 100;

// What an option takes: a choice as a|b|c, else the name of a type or what stands for the value.
std::string value_of(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return option.get_option_text();
  if (option.get_type_size() == 0) return "";
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.rfind('}');
  if (begin != type.npos && end != type.npos && begin < end) {
    std::string choice = type.substr(begin + 1, end - begin - 1);
    std::replace(choice.begin(), choice.end(), ',', '|');
    return choice;
  }
  const std::string name = type.substr(0, type.find(':'));
  return name == "UINT" ? "N" : name;
}

std::string names_of(const CLI::Option& option, bool is_positional) {
  if (is_positional) return option.get_name(true, false);
  std::string out;
  for (const auto& each : option.get_snames()) out += (out.empty() ? "-" : ", -") + each;
  for (const auto& each : option.get_lnames()) out += (out.empty() ? "--" : ", --") + each;
  const std::string value = value_of(option);
  if (value.empty()) return out;
  // A value that may be left out is bound to its option.
  return out + (option.get_expected_min() == 0 ? "[=" + value + "]" : " " + value);
}

std::string meaning_of(const CLI::Option& option) {
  std::string out = option.get_description();
  if (!option.get_default_str().empty())
    out += fmt::format(" (default: {})", option.get_default_str());
  std::vector<std::string> others;
  for (const auto* each : option.get_excludes()) others.push_back(each->get_name());
  std::sort(others.begin(), others.end());
  if (!others.empty()) out += fmt::format("; not with {}", fmt::join(others, ", "));
  return out;
}

// "  left   right" where `right` begins at a column that all rows share, or on a line of its own.
std::string row(std::string_view left, std::string_view right, size_t column, size_t width) {
  std::string out = fmt::format("  {}", left);
  if (out.size() + 2 > column) {
    out += "\n" + std::string(column, ' ');
  } else {
    out.resize(column, ' ');
  }
  return out + wrapped(right, width, column, column) + "\n";
}

std::string wrapped_row(std::string_view line, size_t width) {
  const size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return "\n";
  const size_t gap = line.find("  ", begin);
  const size_t right = gap == line.npos ? gap : line.find_first_not_of(' ', gap);
  if (right == line.npos)
    return std::string(begin, ' ') + wrapped(line.substr(begin), width, begin, begin) + "\n";
  return std::string(line.substr(0, right)) + wrapped(line.substr(right), width, right, right) +
         "\n";
}

}  // namespace

size_t help_width() {
  return std::clamp<size_t>(terminal_width(stdout), narrowest, widest);
}

std::string wrapped(std::string_view text, size_t width, size_t indent, size_t used) {
  std::string out;
  size_t column = used;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const bool begins_line = out.empty() || out.back() == ' ';
    if (!begins_line && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!begins_line) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string wrapped_paragraphs(std::string_view text, size_t width) {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += wrapped(paragraph, width) + "\n";
    paragraph.clear();
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with(' ')) {
      end_paragraph();
      out += line.empty() ? "\n" : wrapped_row(line, width);
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
  }
  end_paragraph();
  return out;
}

std::string help_formatter::make_group(std::string /*group*/, bool is_positional,
                                       std::vector<const CLI::Option*> options) const {
  std::string out = is_positional ? "\narguments:\n" : "\noptions:\n";
  for (const auto* each : options) out += make_option(each, is_positional);
  return out;
}

std::string help_formatter::make_option(const CLI::Option* option, bool is_positional) const {
  const size_t column = width_ < 72 ? 20 : 26;
  return row(names_of(*option, is_positional), meaning_of(*option), column, width_);
}

std::string help_formatter::make_help(const CLI::App* app, std::string /*name*/,
                                      CLI::AppFormatMode mode) const {
  std::string usage = fmt::format("usage: zevent {}", described_.name);
  if (!described_.arguments.empty()) usage += fmt::format(" {}", described_.arguments);
  std::string out = wrapped(usage, width_, 4) + "\n\n" + wrapped(described_.summary, width_) + "\n";
  out += make_positionals(app) + make_groups(app, mode);
  if (!app->get_footer().empty()) out += "\n" + wrapped_paragraphs(app->get_footer(), width_);
  return out;
}

}  // namespace zevent::tool
