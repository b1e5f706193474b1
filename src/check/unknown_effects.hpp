#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check/rules.hpp"
#include "model/call_view.hpp"
#include "trace/run_info.hpp"

// What calls whose effect is not known may have changed: those that were passed through to the
// driver and are not in the trace, and those that are there but whose meaning the model does not
// have. A rule that would need to know says nothing.
namespace zevent::check {

// Bits: what the model concludes from the calls that it sees.
enum state_kind : uint32_t {
  state_of_order = 1,   // which commands run, in what order, and which events are signalled
  state_of_lists = 2,   // open, closed, executed, with which commands
  state_of_graphs = 4,  // captured, capturing
  state_of_memory = 8,  // what is allocated where
  state_of_kernels = 16,
  state_of_handles = 32,  // which objects exist
};
using state_kinds = uint32_t;

// What has to be known for a finding of the rule.
state_kinds state_needed_by(rule_id rule);

// What a function that is not in the trace's model may change; by its name, or, for the entry of a
// dispatch table, by that of the table ("slot 12 of ze_command_list_exp_dditable_t").
state_kinds state_changed_by(std::string_view function);
// The same for a call that is in the trace.
state_kinds state_changed_by(const model::call_view& call);

// Of all calls that were passed through.
state_kinds state_changed_by(const std::vector<trace::passed_through>& functions);

// "EV-12, EV-13": the rules that say nothing then.
std::string rules_silenced_by(state_kinds unknown);

}  // namespace zevent::check
