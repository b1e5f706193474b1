#include "check/rules.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace zevent::check {
namespace {

TEST(rules, the_document_is_what_the_table_gives) {
  std::ifstream file(ZEVENT_RULES_DOCUMENT);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), rules_as_markdown())
      << "run: zevent check --rules-markdown > docs/rules.md";
}

TEST(rules, every_rule_says_what_why_and_what_to_do) {
  for (const auto& each : rules()) {
    EXPECT_FALSE(each.title.empty()) << to_text(each.id);
    EXPECT_TRUE(each.text.ends_with('.')) << to_text(each.id);
    EXPECT_FALSE(each.source.empty()) << to_text(each.id);
    EXPECT_FALSE(each.source.ends_with('.')) << to_text(each.id);
    EXPECT_TRUE(each.advice.ends_with('.')) << to_text(each.id);
  }
}

TEST(rules, ids_are_read_as_people_write_them) {
  EXPECT_EQ(parse_rule_id("EV-48"), ev(48));
  EXPECT_EQ(parse_rule_id("ev-0"), ev(0));
  EXPECT_EQ(parse_rule_id("72"), ev(72));
  EXPECT_EQ(parse_rule_id("EV-200"), std::nullopt);
  EXPECT_EQ(parse_rule_id("EV-"), std::nullopt);
  EXPECT_EQ(parse_rule_id("EV-4x"), std::nullopt);
}

}  // namespace
}  // namespace zevent::check
