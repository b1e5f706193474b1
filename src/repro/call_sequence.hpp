#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay/polls.hpp"
#include "replay/recorded_call.hpp"

namespace zevent::repro {

// A call without what differs from one run to the next: objects have names by kind, maker and
// order, addresses are those of the memory they point into, and what is put out is left out.
struct sequence_line {
  uint64_t number = 0;
  uint32_t thread = 0;  // of the run
  std::string text;
};

// How often a poll asked is a matter of time: of the asks that a thread makes between two other
// calls, each is there once, unless every ask is wanted (poll_mode::exact).
result<std::vector<sequence_line>> call_sequence(
    const trace::trace_file& trace, const replay::call_selection& selection,
    replay::poll_mode polls = replay::poll_mode::until_done);

// How the second sequence is not the first: "- " lines that it lacks, "+ " lines that it has
// besides, at most so many. Nothing when they are the same. Where there are several threads, each
// is compared with one of the other side's: which of two calls that overlap begins first is open.
std::vector<std::string> sequence_difference(const std::vector<sequence_line>& first,
                                             const std::vector<sequence_line>& second,
                                             size_t most_lines = 20);

// Brings the second sequences into the order of the first ones, as far as they are the same: which
// of two processes begins first is open.
void match_sequences(const std::vector<std::vector<sequence_line>>& first,
                     std::vector<std::vector<sequence_line>>& second);

// For each call of the first sequence the one of the second that is the same, by their numbers: the
// n-th that is made with these arguments.
std::map<uint64_t, uint64_t> counterparts(const std::vector<sequence_line>& first,
                                          const std::vector<sequence_line>& second);

// How many calls at the beginning the loader made by itself. It asks a driver for its devices once
// before the program's own zeInit reaches it.
uint64_t calls_of_the_loader(const trace::trace_file& trace, uint32_t process);

}  // namespace zevent::repro
