#include "model/symptom.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/model.hpp"
#include "api/print.hpp"
#include "base/signal_name.hpp"
#include "trace/call_filter.hpp"

namespace zevent::model {
namespace {

constexpr std::string_view forms =
    "CALL>DURATION, CALL result=NAME, hang, crash[=SIGNAL], exit=N, memory, [CALL ]EV-NN or none";

constexpr std::string_view result_prefix = "ZE_RESULT_";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

result<call_pattern> parse_call(std::string_view text) {
  if (const auto number = parse_whole<uint64_t>(text)) return call_pattern{*number, ""};
  const bool starts_as_name = !text.empty() && (text[0] < '0' || text[0] > '9');
  const bool is_glob = starts_as_name && std::all_of(text.begin(), text.end(), [](char c) {
                         return is_name_character(c) || c == '*' || c == '?';
                       });
  if (!is_glob) return fail("'{}' is neither a call number nor a function name", text);
  const auto& functions = api::builtin_model().functions;
  const bool is_known = std::any_of(functions.begin(), functions.end(), [&](const auto& each) {
    return trace::matches_glob(each.name, text);
  });
  if (!is_known) return fail("Level Zero has no function '{}'", text);
  return call_pattern{std::nullopt, std::string(text)};
}

result<symptom> parse_slow_call(std::string_view call_text, std::string_view duration_text) {
  const auto call = parse_call(call_text);
  if (!call) return tl::unexpected(call.error());
  const auto duration = trace::parse_duration_ns(duration_text);
  if (!duration) return fail("'{}' is not a duration; write 100us, 1.5ms or 2s", duration_text);
  return slow_call{*call, *duration};
}

// The name that a recording has for a result, which may be given by its number; nothing where there
// is no such result.
std::optional<std::string> name_of_result(std::string_view text) {
  if (text.starts_with("0x")) {
    uint32_t number = 0;
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return api::print_result(api::builtin_model(), number);
  }
  for (const auto& each : api::builtin_model().enumerations)
    if (each.name == "ze_result_t")
      for (const auto& value : each.values)
        if (value.short_name == text) return std::string(text);
  return std::nullopt;
}

result<symptom> parse_call_with_result(std::string_view call_text, std::string_view name) {
  const auto call = parse_call(call_text);
  if (!call) return tl::unexpected(call.error());
  if (name.starts_with(result_prefix)) name.remove_prefix(result_prefix.size());
  auto known = name_of_result(name);
  if (!known)
    return fail("'{}' is not the name of a result; write NOT_READY or ERROR_DEVICE_LOST", name);
  return call_with_result{*call, std::move(*known)};
}

result<symptom> parse_crash(std::string_view text) {
  if (const auto number = parse_signal(text)) return crash{*number};
  return fail("'{}' is not a signal; write SIGSEGV or 11", text);
}

constexpr std::string_view rule_prefix = "EV-";

// "EV-25", with the call before it or without one. Nothing where the last word is no rule.
std::optional<result<symptom>> parse_rule_finding(std::string_view text) {
  const auto space = text.find_last_of(" \t");
  const auto last = space == std::string_view::npos ? text : text.substr(space + 1);
  if (!last.starts_with(rule_prefix)) return std::nullopt;
  const auto rule = parse_whole<uint32_t>(last.substr(rule_prefix.size()));
  if (!rule) return result<symptom>(fail("'{}' is not a rule; write EV-25", last));
  if (space == std::string_view::npos) return rule_finding{std::nullopt, *rule};
  auto call = parse_call(trimmed(text.substr(0, space)));
  if (!call) return result<symptom>(tl::unexpected(call.error()));
  return rule_finding{std::move(*call), *rule};
}

std::string text_of(const call_pattern& call) {
  return call.number ? std::to_string(*call.number) : call.function;
}

std::string duration_text(uint64_t ns) {
  if (ns % 1'000'000'000 == 0) return fmt::format("{}s", ns / 1'000'000'000);
  if (ns % 1'000'000 == 0) return fmt::format("{}ms", ns / 1'000'000);
  if (ns % 1'000 == 0) return fmt::format("{}us", ns / 1'000);
  return fmt::format("{}ns", ns);
}

bool is_meant(const call_pattern& pattern, const call_facts& call) {
  return model::is_meant(pattern, call.number, call.function);
}

template <typename... Functions>
struct overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}  // namespace

result<symptom> parse_symptom(std::string_view whole) {
  const auto text = trimmed(whole);
  if (text == "hang") return hang{};
  if (text == "memory") return memory_differs{};
  if (text == "none") return no_symptom{};
  if (text == "crash") return crash{};
  if (text.starts_with("crash=")) return parse_crash(text.substr(6));
  if (text.starts_with("exit=")) {
    const auto status = parse_whole<int>(text.substr(5));
    if (!status || *status < 0 || *status > 255)
      return fail("'{}' is not an exit status from 0 to 255", text.substr(5));
    return exit_status{*status};
  }
  if (const auto greater = text.find('>'); greater != std::string_view::npos)
    return parse_slow_call(trimmed(text.substr(0, greater)), trimmed(text.substr(greater + 1)));
  if (const auto word = text.find(" result="); word != std::string_view::npos)
    return parse_call_with_result(trimmed(text.substr(0, word)), trimmed(text.substr(word + 8)));
  if (text.starts_with("result=")) return parse_call_with_result("*", trimmed(text.substr(7)));
  if (auto found = parse_rule_finding(text)) return std::move(*found);
  return fail("'{}' is not a symptom; write {}", text, forms);
}

std::string to_text(const symptom& shown) {
  return std::visit(overloaded{
                        [](const slow_call& s) {
                          return fmt::format("{}>{}", text_of(s.call),
                                             duration_text(s.longer_than_ns));
                        },
                        [](const call_with_result& s) {
                          return fmt::format("{} result={}", text_of(s.call), s.result);
                        },
                        [](const hang&) { return std::string("hang"); },
                        [](const crash& s) {
                          if (!s.signal) return std::string("crash");
                          const auto name = signal_name(*s.signal);
                          return parse_signal(name) ? fmt::format("crash={}", name)
                                                    : fmt::format("crash={}", *s.signal);
                        },
                        [](const exit_status& s) { return fmt::format("exit={}", s.status); },
                        [](const memory_differs&) { return std::string("memory"); },
                        [](const rule_finding& s) {
                          return fmt::format("{}{}{}{}", s.call ? text_of(*s.call) : "",
                                             s.call ? " " : "", rule_prefix, s.rule);
                        },
                        [](const no_symptom&) { return std::string("none"); },
                    },
                    shown);
}

std::string time_text(uint64_t ns) {
  if (ns < 1'000) return fmt::format("{} ns", ns);
  const auto value = static_cast<double>(ns);
  if (ns < 1'000'000) return fmt::format("{:.1f} us", value / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.1f} ms", value / 1e6);
  return fmt::format("{:.2f} s", value / 1e9);
}

bool is_meant(const call_pattern& pattern, uint64_t number, std::string_view function) {
  return pattern.number ? *pattern.number == number
                        : trace::matches_glob(function, pattern.function);
}

bool shows(const symptom& wanted, const call_facts& call) {
  return std::visit(
      overloaded{
          [&](const slow_call& s) {
            return call.returned && call.duration_ns > s.longer_than_ns && is_meant(s.call, call);
          },
          [&](const call_with_result& s) {
            return call.returned && call.result_name == s.result && is_meant(s.call, call);
          },
          [&](const hang&) { return !call.returned; },
          [](const crash&) { return false; },
          [](const exit_status&) { return false; },
          [](const memory_differs&) { return false; },
          [](const rule_finding&) { return false; },
          [](const no_symptom&) { return false; },
      },
      wanted);
}

bool is_about(const symptom& wanted, const call_facts& call) {
  if (const auto* slow = std::get_if<slow_call>(&wanted)) return is_meant(slow->call, call);
  if (const auto* ended = std::get_if<call_with_result>(&wanted))
    return is_meant(ended->call, call);
  return false;
}

bool shows_at_end(const symptom& wanted, int exit_code, int signal) {
  if (const auto* crashed = std::get_if<crash>(&wanted))
    return signal != 0 && (!crashed->signal || *crashed->signal == signal);
  if (const auto* ended = std::get_if<exit_status>(&wanted))
    return signal == 0 && exit_code == ended->status;
  return false;
}

}  // namespace zevent::model
