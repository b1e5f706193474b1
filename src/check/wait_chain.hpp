#pragma once

#include <set>
#include <string>
#include <vector>

#include "check/rule_set.hpp"

// Why something waits: from the event that is missing to the command that would signal it, to what
// holds up that command, and so on.
namespace zevent::check {

struct wait_chain {
  // EV-12: it ends at an event that nothing signals. EV-13: it is a cycle. EV-21: it ends at a
  // command that waits for its own event.
  rule_id rule = ev(12);
  std::vector<std::string> steps;
  std::vector<finding::involved> calls;
  std::set<const run*> held_up;
  // EV-13: the commands of the cycle, without those that lead to it.
  std::vector<model::ref<const run>> cycle;
};

// What a command that has not started still waits for; null when it is nothing any more.
const model::event_wait* missing_wait(const run& which);

// `waiter`: null when it is the host that waits.
wait_chain follow_waits(const inspection& look, const model::event_wait& first, const run* waiter);

// Whether the recording is over, or only the wait, after which a signal may still come.
enum class moment : uint8_t { end_of_recording, end_of_wait };

// Why nothing signals the event: adds it to the chain.
void explain_absence(const inspection& look, const model::event_wait& wait, moment when,
                     wait_chain& to);

}  // namespace zevent::check
