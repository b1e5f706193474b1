#include "replay/comparison.hpp"

#include "api/print.hpp"

namespace zevent::replay {
namespace {

constexpr uint32_t success = 0, not_ready = 1;

bool is_poll_outcome(uint32_t result) {
  return result == success || result == not_ready;
}

// Whether a replay that ended in a call ended as the recording did, which ended in it too.
bool ended_alike(const program& what, const run_outcome& outcome) {
  const auto& recorded = what.end;
  if (recorded.kind == trace::end_kind::unknown) return true;
  if (outcome.ending == run_ending::hung) return !recorded.is_crash();
  if (outcome.ending != run_ending::crashed) return true;
  if (outcome.signal == 0) return recorded.is_orderly();
  return recorded.is_crash() && recorded.status == static_cast<uint32_t>(outcome.signal);
}

std::string outcome_text(const program& what, const difference& each) {
  const auto& outcome = each.replayed;
  switch (outcome.state) {
    case call_state::not_made:
      return "it was not made";
    case call_state::under_way:
      return each.hangs ? "it hangs" : "it did not return";
    case call_state::returned:
      return api::print_result(api::builtin_model(), outcome.result);
    case call_state::impossible:
      if (outcome.missing == journal_entry::no_function)
        return "it could not be made, the driver has no such function";
      return fmt::format(
          "it could not be made, there is no {}",
          outcome.missing < what.slot_names.size() ? what.slot_names[outcome.missing] : "object");
  }
  return "";
}

}  // namespace

std::string_view function_name(const compiled_call& call) {
  return api::builtin_model().functions[call.function].name;
}

comparison compare(const program& what, const run_outcome& outcome) {
  comparison out;
  const bool alike = ended_alike(what, outcome);
  const bool hung = outcome.ending == run_ending::hung;
  for (uint32_t i = 0; i < what.calls.size(); ++i) {
    const auto& recorded = what.calls[i];
    const auto replayed = outcome.call(i);
    const bool returned = replayed.state == call_state::returned;
    if (replayed.state == call_state::not_made) {
      ++out.not_made;
    } else if (replayed.state == call_state::under_way && !recorded.returned && !alike) {
      out.results.push_back({i, replayed, hung});
    } else if (returned == recorded.returned && (!returned || replayed.result == recorded.result)) {
      ++out.equal;
    } else if (returned && recorded.returned && is_poll_outcome(replayed.result) &&
               is_poll_outcome(recorded.result)) {
      out.polls.push_back({i, replayed, false});
    } else {
      out.results.push_back({i, replayed, hung});
    }
  }
  return out;
}

std::string how_it_ended(const program& what) {
  return what.end.is_crash()
             ? fmt::format("the program was {} before it returned", to_text(what.end))
             : std::string("it did not return");
}

std::string describe(const program& what, const difference& each) {
  const auto& call = what.calls[each.index];
  const std::string recorded =
      call.returned ? api::print_result(api::builtin_model(), call.result) : how_it_ended(what);
  return fmt::format("call {} {}: {} in the recording; in the replay {}", call.number,
                     function_name(call), recorded, outcome_text(what, each));
}

}  // namespace zevent::replay
