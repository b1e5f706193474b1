#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "command.hpp"

// What `--help` prints, in lines that fit the terminal.
namespace zevent::tool {

// Columns of a line of help: those of the terminal, within reason.
size_t help_width();

// `text` in lines of at most `width` columns, broken at spaces; a word that is longer stays whole.
// The first line goes on behind `used` columns, the others begin with `indent` spaces.
std::string wrapped(std::string_view text, size_t width, size_t indent = 0, size_t used = 0);

// Paragraphs, each wrapped anew. A line that begins with a space is a row of two columns, between
// them two spaces or more, and stays one.
std::string wrapped_paragraphs(std::string_view text, size_t width);

// The help of a verb: its usage line from the table of verbs; options with the values they take.
class help_formatter : public CLI::Formatter {
 public:
  help_formatter(const verb& described, size_t width) : described_(described), width_(width) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;

 private:
  const verb& described_;
  size_t width_;
};

}  // namespace zevent::tool
