#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "check/finding_report.hpp"

namespace zevent::check {
namespace {

using json = nlohmann::ordered_json;
using trace::number_of;

// Names in a trace may hold any bytes.
std::string dumped(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

json calls_of(const finding& each, const report_input& input) {
  json calls = json::array();
  for (const auto& involved : each.calls) {
    calls.push_back({{"call", number_of(involved.call)},
                     {"role", involved.role},
                     {"text", input.call_text(involved.call)}});
  }
  return calls;
}

json numbers_of(const std::vector<call_number>& calls) {
  json numbers = json::array();
  for (const auto each : calls) numbers.push_back(number_of(each));
  return numbers;
}

json consequences_of(const finding& each) {
  json found = json::array();
  for (const auto& one : each.consequences)
    found.push_back(
        {{"rule", to_text(one.rule)}, {"severity", to_text(one.level)}, {"count", one.count}});
  return found;
}

// The text that `zevent show` makes of the trace, as a relative URI.
std::string artifact_uri(const report_input& input) {
  std::string uri;
  for (const char c : input.trace + ".txt") {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 0x80 && std::isalnum(byte) != 0) ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

const char* sarif_level(severity level) {
  switch (level) {
    case severity::error:
      return "error";
    case severity::hazard:
    case severity::performance:
      return "warning";
    case severity::note:
      return "note";
  }
  return "none";
}

json sarif_rules() {
  json described = json::array();
  for (const auto& each : rules()) {
    described.push_back(
        {{"id", to_text(each.id)},
         {"shortDescription", {{"text", each.title}}},
         {"fullDescription", {{"text", each.text}}},
         {"help", {{"text", each.advice}}},
         {"defaultConfiguration", {{"level", sarif_level(each.level)}}},
         {"properties", {{"severity", to_text(each.level)}, {"source", each.source}}}});
  }
  return described;
}

json sarif_location(call_number call, const report_input& input, std::string_view role) {
  json location = {
      {"physicalLocation",
       {{"artifactLocation", {{"uri", artifact_uri(input)}, {"index", 0}}},
        {"region",
         {{"startLine", input.call_line(call)}, {"snippet", {{"text", input.call_text(call)}}}}}}}};
  if (!role.empty()) location["message"] = {{"text", role}};
  return location;
}

json sarif_result(const finding& each, const report_input& input) {
  std::string message = each.message;
  for (const auto& step : each.steps) message += '\n' + step;
  json result = {{"ruleId", to_text(each.rule)},
                 {"ruleIndex", find_rule(each.rule) - rules().data()},
                 {"level", sarif_level(each.level)},
                 {"message", {{"text", message}}},
                 {"locations", json::array({sarif_location(each.call, input, "")})}};
  json related = json::array();
  for (const auto& involved : each.calls) {
    json location = sarif_location(involved.call, input, involved.role);
    location["id"] = related.size();
    related.push_back(std::move(location));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  if (each.more > 0) result["occurrenceCount"] = each.more + 1;
  return result;
}

}  // namespace

std::string as_json(const report_input& input) {
  json findings = json::array();
  for (const auto& each : input.findings) {
    const rule& broken = *find_rule(each.rule);
    findings.push_back({{"rule", to_text(each.rule)},
                        {"severity", to_text(each.level)},
                        {"title", broken.title},
                        {"process", each.process + 1},
                        {"call", number_of(each.call)},
                        {"message", each.message},
                        {"steps", each.steps},
                        {"calls", calls_of(each, input)},
                        {"more", each.more},
                        {"more_calls", numbers_of(each.more_calls)},
                        {"same_cause", consequences_of(each)},
                        {"advice", each.advice.empty() ? broken.advice : each.advice}});
  }
  return dumped({{"trace", input.trace},
                 {"calls", input.calls},
                 {"findings", std::move(findings)},
                 {"notes", input.notes}});
}

std::string as_sarif(const report_input& input, std::string_view version) {
  json results = json::array();
  for (const auto& each : input.findings) results.push_back(sarif_result(each, input));
  json notes = json::array();
  for (const auto& note : input.notes)
    notes.push_back({{"level", "note"}, {"message", {{"text", note}}}});
  json run = {
      {"tool", {{"driver", {{"name", "zevent"}, {"version", version}, {"rules", sarif_rules()}}}}},
      {"artifacts",
       json::array(
           {{{"location", {{"uri", artifact_uri(input)}}},
             {"description", {{"text", "The output of 'zevent show " + input.trace + "'"}}}}})},
      {"invocations", json::array({{{"executionSuccessful", true},
                                    {"toolExecutionNotifications", std::move(notes)}}})},
      {"columnKind", "unicodeCodePoints"},
      {"results", std::move(results)}};
  return dumped({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", json::array({std::move(run)})}});
}

}  // namespace zevent::check
