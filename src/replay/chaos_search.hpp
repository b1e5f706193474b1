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
//
// What is right is what comes out with all pairs in order, if that is always the same: a race may
// go wrong in every run, with and without chaos. Where there are no pairs it is what the first run
// without chaos gave. Times of the device are known from the model and are not compared.
namespace zevent::replay {

struct chaos_options {
  call_selection selection;
  run_options running;
  uint64_t seeds = 100;  // 1 to N
};

// How many runs were not as they should be.
struct bad_runs {
  uint64_t memory_differs = 0;  // something else was in memory
  uint64_t results_differ = 0;  // calls had other results than in the recording
  uint64_t timed_out = 0;       // a wait of the host that succeeds with the pairs in order
  uint64_t hung = 0, crashed = 0;

  bool any() const { return memory_differs + results_differ + timed_out + hung + crashed != 0; }
};

struct chaos_report {
  uint64_t seeds = 0, plain_runs = 0;  // that were tried
  bad_runs under_chaos, without_chaos;
  std::optional<uint64_t> first_bad_seed;
  std::string first_result;  // where results differ: the first one
  std::string first_wait;    // where a wait timed out: "call 12 zeCommandListHostSynchronize"

  std::vector<std::string> memory;       // what differs: "memory_2 from byte 0 to 4096"
  std::vector<model::open_pair> pairs;   // the order of each of them matters
  std::vector<model::early_wait> waits;  // the host did not wait for these commands
  bool is_explained = false;             // with the pairs in order, all runs are the same

  bool bad() const { return under_chaos.any() || without_chaos.any() || !waits.empty(); }
};

// `progress` is told how many runs are done, of how many; there may be more to come.
result<chaos_report> replay_under_chaos(const trace::trace_file& trace,
                                        const chaos_options& options,
                                        const std::function<void(uint64_t, uint64_t)>& progress);

// What a rule of the checker is called, and what it advises.
struct rule_words {
  std::string id, title, advice;
};

struct chaos_rules {
  rule_words race;   // two commands that nothing orders
  rule_words early;  // a wait that does not cover all that it seems to
  rule_words reset;  // an event is reset while it is in use
};

// For people.
std::vector<std::string> describe(const chaos_report& report, const trace::trace_file& trace,
                                  const chaos_rules& rules);

}  // namespace zevent::replay
