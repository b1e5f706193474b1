#include "check/finding_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace zevent::check {
namespace {

using nlohmann::json;

class finding_report_test : public testing::Test {
 protected:
  finding_report_test() {
    finding made;
    made.rule = ev(25);
    made.level = severity::error;
    made.call = call_number{13};
    made.message = "#12 and #13 use the same memory, and nothing orders them.";
    made.calls = {{call_number{12}, "writes memory_1"}, {call_number{13}, "reads memory_1"}};
    made.more = 3;
    findings.push_back(made);
    made.rule = ev(72);
    made.level = severity::performance;
    made.call = call_number{20};
    made.message = "A name that is not UTF-8: \xff.";
    made.calls.clear();
    made.steps = {"first", "then"};
    made.more = 0;
    findings.push_back(made);
    input.trace = "t.zev";
    input.calls = 30;
    input.findings = findings;
    input.notes = {"2 blocks of calls are damaged"};
    input.call_text = [](call_number call) {
      return std::to_string(trace::number_of(call)) + " T1 zeSomething() → SUCCESS";
    };
    input.call_line = [](call_number call) { return trace::number_of(call) + 1; };
  }
  std::vector<finding> findings;
  report_input input;
};

TEST_F(finding_report_test, text_has_the_calls_the_reason_and_the_advice) {
  const auto text = as_text(input, {});
  for (const auto* part :
       {"error EV-25 Two commands touch", "12 T1 zeSomething()", "↑ writes memory_1",
        "and 3 more like it", "What to do: Append a barrier", "→ first",
        "note: 2 blocks of calls are damaged",
        "t.zev: 4 errors, 1 performance finding in 30 calls"})
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
}

TEST_F(finding_report_test, text_fits_the_width) {
  const auto text = as_text(input, {false, 60});
  size_t begin = 0;
  while (begin < text.size()) {
    const auto end = text.find('\n', begin);
    const auto line = text.substr(begin, end - begin);
    if (line.starts_with("  ") && !line.starts_with("    ")) {
      EXPECT_LE(line.size(), 64u) << line;  // a few bytes more than columns
    }
    begin = end + 1;
  }
}

TEST_F(finding_report_test, nothing_found_is_said) {
  input.findings = {};
  EXPECT_NE(as_text(input, {}).find("t.zev: nothing found in 30 calls"), std::string::npos);
}

TEST_F(finding_report_test, json_is_complete) {
  const auto document = json::parse(as_json(input));
  EXPECT_EQ(document["calls"], 30);
  ASSERT_EQ(document["findings"].size(), 2u);
  const auto& first = document["findings"][0];
  EXPECT_EQ(first["rule"], "EV-25");
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["call"], 13);
  EXPECT_EQ(first["calls"][0]["role"], "writes memory_1");
  EXPECT_EQ(first["more"], 3);
}

TEST_F(finding_report_test, sarif_has_what_its_schema_requires) {
  const auto document = json::parse(as_sarif(input, "1.2.3"));
  EXPECT_EQ(document["version"], "2.1.0");
  ASSERT_EQ(document["runs"].size(), 1u);
  const auto& run = document["runs"][0];
  const auto& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "zevent");
  ASSERT_EQ(driver["rules"].size(), rules().size());
  for (const auto& rule : driver["rules"]) EXPECT_TRUE(rule["id"].is_string());
  ASSERT_EQ(run["results"].size(), 2u);
  for (const auto& result : run["results"]) {
    EXPECT_TRUE(result["message"]["text"].is_string());
    EXPECT_EQ(driver["rules"][result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
    EXPECT_TRUE(result["level"] == "error" || result["level"] == "warning" ||
                result["level"] == "note");
    const auto& place = result["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], "t.zev.txt");
    EXPECT_GE(place["region"]["startLine"], 1);
  }
  EXPECT_EQ(run["results"][0]["occurrenceCount"], 4);
  EXPECT_EQ(run["results"][0]["relatedLocations"].size(), 2u);
  const auto& notes = run["invocations"][0]["toolExecutionNotifications"];
  EXPECT_EQ(notes[0]["message"]["text"], "2 blocks of calls are damaged");
}

}  // namespace
}  // namespace zevent::check
