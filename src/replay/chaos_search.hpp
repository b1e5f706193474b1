#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/open_order.hpp"
#include "replay/supervisor.hpp"

// A recording under chaos: the software driver completes commands in the worst order that the
// specification allows, and what memory holds in the end is compared. Where that is not always the
// same, the program leaves an order open that it needs; the pairs of commands that nothing orders
// are known from the model, and which of them matter is found by trying: with an order added
// between them, the difference goes away.
namespace zevent::replay {

struct chaos_options {
  call_selection selection;
  run_options running;
  uint64_t seeds = 100;  // 1 to N
};

struct chaos_report {
  uint64_t seeds = 0;
  uint64_t memory_differs = 0;  // seeds under which something else was in memory
  uint64_t results_differ = 0, hung = 0, crashed = 0;
  std::optional<uint64_t> first_bad_seed;
  std::string first_result;  // where results differ: the first one

  std::vector<std::string> memory;       // what differs: "memory_2 from byte 0 to 4096"
  std::vector<model::open_pair> pairs;   // the order of each of them matters
  std::vector<model::early_wait> waits;  // the host did not wait for these commands
  bool is_explained = false;             // with the pairs in order, memory is always the same

  bool bad() const {
    return memory_differs + results_differ + hung + crashed != 0 || !waits.empty();
  }
};

// `progress` is told how many runs are done, of how many; there may be more to come.
result<chaos_report> replay_under_chaos(const trace::trace_file& trace,
                                        const chaos_options& options,
                                        const std::function<void(uint64_t, uint64_t)>& progress);

// What a rule of the checker is called, and what it advises.
struct rule_words {
  std::string id, title, advice;
};

// For people. `race` is the rule about two commands that nothing orders, `early` the one about a
// wait that does not cover all that it seems to.
std::vector<std::string> describe(const chaos_report& report, const trace::trace_file& trace,
                                  const rule_words& race, const rule_words& early);

}  // namespace zevent::replay
