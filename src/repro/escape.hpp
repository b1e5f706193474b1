#pragma once

#include <string>
#include <string_view>

// How text of a trace is written into the files of a reproducer, one function for each language.
// A trace may be anyone's: whatever it says, the text stays a text.
namespace zevent::repro {

// "a \"quoted\" word", on one line, without trigraphs.
std::string c_string(std::string_view text);

// The inside of a comment that begins with /* and ends with */, on one line.
std::string c_comment(std::string_view text);

// A word as a shell takes it, on one line.
std::string shell_word(std::string_view text);

// Code in a Markdown text or in a cell of a table, on one line.
std::string markdown_code(std::string_view text);

}  // namespace zevent::repro
