#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"
#include "trace/call.hpp"

// The symptom: what a reproducer must show again. One small language for check, replay, repro and
// reduce.
//
//   CALL>DURATION      a call that took longer:    zeEventQueryStatus>100us, 1234>1ms
//   CALL result=NAME   a call that returned this:  zeMemAlloc* result=ERROR_OUT_OF_HOST_MEMORY
//   hang               a call that did not return in time
//   crash[=SIGNAL]     the program was ended by a signal: crash=SIGSEGV
//   exit=N             the program ended with that status
//   memory             memory has other contents at the end than in the recording
//   [CALL ]EV-NN       a finding of that rule of the checker: EV-25, 52 EV-11
//   none               nothing is amiss: the calls are what counts
//
// CALL is a call number or a function name, in which * stands for any characters.
namespace zevent::model {

struct call_pattern {
  std::optional<uint64_t> number;
  std::string function;  // a glob; empty where a number is given
  friend bool operator==(const call_pattern&, const call_pattern&) = default;
};

struct slow_call {
  call_pattern call;
  uint64_t longer_than_ns;
  friend bool operator==(const slow_call&, const slow_call&) = default;
};

struct call_with_result {
  call_pattern call;
  std::string result;  // without "ZE_RESULT_"; "0x7ffffff0" of one that has no name
  friend bool operator==(const call_with_result&, const call_with_result&) = default;
};

struct hang {
  friend bool operator==(const hang&, const hang&) = default;
};

struct crash {
  std::optional<int> signal;  // any when absent
  friend bool operator==(const crash&, const crash&) = default;
};

struct exit_status {
  int status;
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

struct memory_differs {
  friend bool operator==(const memory_differs&, const memory_differs&) = default;
};

struct rule_finding {
  std::optional<call_pattern> call;  // where it is found; anywhere when absent
  uint32_t rule;                     // 25 of EV-25
  friend bool operator==(const rule_finding&, const rule_finding&) = default;
};

struct no_symptom {
  friend bool operator==(const no_symptom&, const no_symptom&) = default;
};

using symptom = std::variant<slow_call, call_with_result, hang, crash, exit_status, memory_differs,
                             rule_finding, no_symptom>;

// The error says what was not understood and lists the forms.
result<symptom> parse_symptom(std::string_view text);

// As parse_symptom reads it.
std::string to_text(const symptom& shown);

// "1.3 ms"
std::string time_text(uint64_t ns);

// What a call has to say for itself; names are looked up by whoever has the trace.
struct call_facts {
  uint64_t number;
  std::string_view function;
  uint64_t duration_ns;
  bool returned;
  std::string_view result_name;  // "ERROR_UNSUPPORTED_FEATURE"; "" when it did not return
};

// Whether this call is one of those that the pattern means.
bool is_meant(const call_pattern& pattern, uint64_t number, std::string_view function);

// Whether this call shows the symptom. hang: a call that did not return. crash, exit and memory are
// about the whole run, never about a call; findings of rules are the checker's.
bool shows(const symptom& wanted, const call_facts& call);

// Whether this call is of those that the symptom is about, whatever it showed.
bool is_about(const symptom& wanted, const call_facts& call);

// Whether a run that ended so shows the symptom.
bool shows_at_end(const symptom& wanted, int exit_code, int signal);

}  // namespace zevent::model
