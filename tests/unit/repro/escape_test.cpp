#include "repro/escape.hpp"

#include <gtest/gtest.h>
#include <stdio.h>

#include <string>
#include <string_view>

namespace zevent::repro {
namespace {

using namespace std::string_view_literals;

// What somebody may have written into a trace to get out of the text that it becomes.
constexpr std::string_view hostile[] = {"\x1b[2J"sv,
                                        "a\nb"sv,
                                        "`id`"sv,
                                        "$(id)"sv,
                                        "*/ int x; /*"sv,
                                        "/*/"sv,
                                        "?"
                                        "?/"sv,
                                        "\xe2\x80\xae"sv,
                                        "\"; system(\"id\"); //"sv,
                                        "'; id; '"sv,
                                        "a\\"sv,
                                        "|"sv,
                                        "%s%n\r"sv,
                                        "a\0b"sv,
                                        "-n"sv};

std::string printed_by_shell(const std::string& word) {
  FILE* shell = popen(("printf %s. " + word).c_str(), "r");
  std::string out;
  for (int c = fgetc(shell); c != EOF; c = fgetc(shell)) out += static_cast<char>(c);
  EXPECT_EQ(pclose(shell), 0) << word;
  return out;
}

TEST(escape, text_stays_on_one_line_of_printable_characters) {
  for (const auto each : hostile)
    for (const auto& text :
         {c_string(each), c_comment(each), shell_word(each), markdown_code(each)})
      for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << text;
}

TEST(escape, words_reach_a_program_through_a_shell_as_they_are) {
  for (const auto each : hostile) {
    if (each.find('\0') != each.npos) continue;  // no word of a shell has one
    EXPECT_EQ(printed_by_shell(shell_word(each)), std::string(each) + ".");
  }
  EXPECT_EQ(shell_word("device-lost:after=2"), "device-lost:after=2");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("0.1"), "0.1");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(escape, comments_end_where_they_should) {
  for (const auto each : hostile) {
    const std::string comment = "/* " + c_comment(each) + " */";
    EXPECT_EQ(comment.find("*/"), comment.size() - 2) << comment;
    EXPECT_EQ(comment.find("/*", 1), std::string::npos) << comment;
    EXPECT_EQ(comment.find("?"
                           "?"),
              std::string::npos)
        << comment;
  }
  EXPECT_EQ(c_comment("an ordinary text"), "an ordinary text");
}

TEST(escape, string_literals_have_no_quotes_and_trigraphs_of_their_own) {
  EXPECT_EQ(c_string("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
  EXPECT_EQ(c_string("?"
                     "?/"),
            "\"\\077\\077/\"");
  EXPECT_EQ(c_string("\x01"), "\"\\001\"");
}

TEST(escape, code_in_a_table_cell_stays_in_its_cell) {
  EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown_code("`id`"), "`\\140id\\140`");
}

}  // namespace
}  // namespace zevent::repro
