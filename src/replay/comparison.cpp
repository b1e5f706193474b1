#include "replay/comparison.hpp"

#include "api/print.hpp"

namespace zevent::replay {
namespace {

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
      if (what.calls[each.index].until_done && outcome.asks > 1)
        return fmt::format("NOT_READY {} times", outcome.asks);
      return each.hangs ? "it hangs" : "it did not return";
    case call_state::returned:
      return api::print_result(api::builtin_model(),
                               each.is_first_answer ? outcome.first_answer : outcome.result);
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

namespace {

// Polls are no difference: a program cannot rely on when the device is done.
void compare_asks(const compiled_call& recorded, uint32_t index, const call_outcome& replayed,
                  comparison& out) {
  if (replayed.state != call_state::returned || !recorded.returned) return;
  if (recorded.asks != replayed.asks) {
    out.asks_recorded += recorded.asks;
    out.asks_replayed += replayed.asks;
  }
  if (replayed.first_answer != recorded.first_answer && is_answer(replayed.first_answer) &&
      is_answer(recorded.first_answer))
    out.polls.push_back({index, replayed, false, true});
}

}  // namespace

comparison compare(const program& what, const run_outcome& outcome) {
  comparison out;
  const bool alike = ended_alike(what, outcome);
  const bool hung = outcome.ending == run_ending::hung;
  for (uint32_t i = 0; i < what.calls.size(); ++i) {
    const auto& recorded = what.calls[i];
    const auto replayed = outcome.call(i);
    const bool returned = replayed.state == call_state::returned;
    compare_asks(recorded, i, replayed, out);
    if (replayed.state == call_state::not_made) {
      ++out.not_made;
    } else if (replayed.state == call_state::under_way && !recorded.returned && !alike) {
      out.results.push_back({i, replayed, hung});
    } else if (returned == recorded.returned && (!returned || replayed.result == recorded.result)) {
      ++out.equal;
    } else if (!returned || !recorded.returned || !is_answer(replayed.result) ||
               !is_answer(recorded.result)) {
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
  const uint32_t result = each.is_first_answer ? call.first_answer : call.result;
  const std::string recorded =
      call.returned ? api::print_result(api::builtin_model(), result) : how_it_ended(what);
  return fmt::format("call {} {}: {} in the recording; in the replay {}", call.number,
                     function_name(call), recorded, outcome_text(what, each));
}

}  // namespace zevent::replay
