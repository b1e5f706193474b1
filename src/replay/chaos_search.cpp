#include "replay/chaos_search.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "api/model.hpp"
#include "model/timestamp_memory.hpp"
#include "replay/comparison.hpp"

namespace zevent::replay {
namespace {

// Runs without chaos: of the calls as they are, and with all pairs in order.
constexpr uint64_t plain_runs = 3, ordered_runs = 2;
// Bad runs that are tried again to find out which order matters.
constexpr size_t most_tried_runs = 5;
// How often a bad run without chaos, which nothing makes come again, is tried again.
constexpr uint64_t plain_trials = 3;
// A wait with a shorter time limit asks how far the device is; one that times out after so long,
// and else succeeds, lacks a signal.
constexpr uint64_t long_wait_ns = 100'000'000;
// A call that takes longer, and longer than twice its recorded time, hangs.
constexpr uint64_t most_timeout_ns = 5'000'000'000;
// A run that hangs takes its time: none follows it without chaos, and no further seed after these.
constexpr uint64_t most_hangs = 3;

using model::open_pair;
using trace::number_of;

std::vector<added_order> orders_of(const std::vector<open_pair>& pairs) {
  using kind = added_order::kind;
  std::vector<added_order> out;
  for (const auto& each : pairs) {
    if (each.in_one_list) {
      out.push_back({kind::barrier_in_list, number_of(each.second), each.second_list});
      continue;
    }
    // The host waits for whichever was submitted first before it submits the other.
    const bool in_turn = each.first_submitted < each.second_submitted;
    out.push_back({(in_turn ? each.first_is_on_queue : each.second_is_on_queue)
                       ? kind::wait_for_queue
                       : kind::wait_for_list,
                   number_of(std::max(each.first_submitted, each.second_submitted)),
                   in_turn ? each.first_stream : each.second_stream});
  }
  return out;
}

// Waits of the host with a time limit that is long: indices of the calls.
std::vector<uint32_t> long_waits(const program& what) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < what.calls.size(); ++i) {
    const auto& function = api::builtin_model().functions[what.calls[i].function];
    if (function.name.find("Synchronize") == std::string_view::npos) continue;
    for (size_t k = 0; k < function.parameters.size(); ++k) {
      const uint64_t timeout_ns = what.calls[i].slots[k];
      if (function.parameters[k].name == "timeout" && timeout_ns >= long_wait_ns &&
          timeout_ns != UINT64_MAX)
        out.push_back(i);
    }
  }
  return out;
}

class chaos_search {
 public:
  chaos_search(const trace::trace_file& trace, const chaos_options& options,
               const std::function<void(uint64_t, uint64_t)>& progress)
      : trace_(trace), options_(options), progress_(progress) {}

  result<chaos_report> run_all() {
    open_ = model::find_open_order(trace_, options_.selection.process);
    times_ = model::find_timestamp_memory(trace_, options_.selection.process);
    auto compiled = compile_with({});
    if (!compiled) return tl::unexpected(compiled.error());
    long_waits_ = long_waits(*compiled);
    if (auto done = run_plainly(*compiled); !done) return tl::unexpected(done.error());
    if (auto done = run_in_order(); !done) return tl::unexpected(done.error());
    if (plain_.empty() && !finishes_in_order_)
      return fail("without chaos the replay hangs already{}",
                  open_.pairs.empty() ? "" : ", and with the commands in order, too");
    judge_plain_runs(*compiled);
    while (out_.seeds < options_.seeds && out_.under_chaos.hung < most_hangs)
      if (auto done = try_seed(*compiled, ++out_.seeds); !done) return tl::unexpected(done.error());
    note_memory(*compiled);
    note_waits();
    if (!bad_runs_.empty())
      if (auto done = find_pairs(); !done) return tl::unexpected(done.error());
    return std::move(out_);
  }

 private:
  using run_seed = std::optional<uint64_t>;  // nothing: without chaos

  result<program> compile_with(const std::vector<open_pair>& in_order) const {
    compile_options compiling{.selection = options_.selection, .look_at_memory = true};
    for (const auto& each : open_.waits)
      compiling.questions.push_back(
          {number_of(each.waited), each.written.first, each.written.bytes});
    compiling.times = times_;
    compiling.orders = orders_of(in_order);
    auto compiled = compile(trace_, compiling);
    if (!compiled) return compiled;
    // A long wait that succeeded at once is no poll: that it times out is what is looked for.
    for (const uint32_t each : long_waits(*compiled))
      if (auto& wait = compiled->calls[each]; wait.asks == 1) wait.until_done = false;
    return compiled;
  }

  result<run_outcome> run_once(const program& what, run_seed seed) const {
    run_options running = options_.running;
    running.timeout_ns = std::min(running.timeout_ns, most_timeout_ns);
    running.play.restore_after_waits = false;
    std::erase_if(running.environment,
                  [](const auto& each) { return each.first == "ZEVENT_CHAOS"; });
    if (seed) running.environment.emplace_back("ZEVENT_CHAOS", std::to_string(*seed));
    return run(what, running);
  }

  result<void> run_plainly(const program& what) {
    while (out_.plain_runs < plain_runs && out_.without_chaos.hung == 0) {
      auto outcome = run_once(what, std::nullopt);
      if (!outcome) return tl::unexpected(outcome.error());
      if (outcome->ending == run_ending::could_not_start) return fail("{}", outcome->message);
      if (outcome->ending == run_ending::crashed)
        return fail("without chaos the replay crashes already");
      tell_progress();
      ++out_.plain_runs;
      if (outcome->ending == run_ending::hung) {
        ++out_.without_chaos.hung;
        bad_runs_.push_back(std::nullopt);
        continue;
      }
      see_waits(what, *outcome);
      plain_.push_back(std::move(*outcome));
    }
    if (plain_.empty()) return {};
    const auto first = plain_.front().hashes();
    right_.assign(first.begin(), first.end());
    unsteady_.resize(right_.size());
    for (const auto& each : plain_)
      for (size_t k = 0; k < right_.size(); ++k)
        if (each.hashes()[k] != right_[k]) unsteady_[k] = true;
    return {};
  }

  // Where the order that is open is given, and the outcome is always the same then, that is right.
  result<void> run_in_order() {
    if (open_.pairs.empty()) return {};
    const auto what = compile_with(open_.pairs);
    if (!what) return tl::unexpected(what.error());
    std::vector<uint64_t> right;
    std::vector<bool> unsteady(what->hashes);
    std::set<uint32_t> timed_out;
    for (uint64_t i = 0; i < ordered_runs; ++i) {
      const auto outcome = run_once(*what, std::nullopt);
      if (!outcome) return tl::unexpected(outcome.error());
      tell_progress();
      if (outcome->ending != run_ending::finished) return {};
      const auto hashes = outcome->hashes();
      if (i == 0) right.assign(hashes.begin(), hashes.end());
      for (size_t k = 0; k < right.size(); ++k)
        if (hashes[k] != right[k]) unsteady[k] = true;
      for (const uint32_t each : long_waits_)
        if (times_out(*outcome, each)) timed_out.insert(each);
    }
    finishes_in_order_ = true;
    if (plain_.empty()) {
      right_ = right;
      unsteady_ = unsteady;
    }
    for (size_t k = 0; k < right_.size(); ++k)
      if (!unsteady[k]) {
        right_[k] = right[k];
        unsteady_[k] = false;
      }
    for (const uint32_t each : long_waits_)
      if (!timed_out.contains(each)) succeeding_waits_.push_back(each);
    return {};
  }

  static bool times_out(const run_outcome& outcome, uint32_t call) {
    constexpr uint32_t not_ready = 1;  // ZE_RESULT_NOT_READY
    const auto how = outcome.call(call);
    return how.state == call_state::returned && how.result == not_ready;
  }

  // Waits that succeed with the pairs in order, and not in this run.
  std::optional<uint32_t> lost_wait(const run_outcome& outcome) const {
    for (const uint32_t each : succeeding_waits_)
      if (times_out(outcome, each)) return each;
    return std::nullopt;
  }

  // The first looks are those at what the host waited for: two for each.
  size_t question_looks() const { return 2 * open_.waits.size(); }

  size_t first_look_at_end(const program& what) const {
    return question_looks() < what.looks.size() ? what.looks[question_looks()].first_hash
                                                : right_.size();
  }

  // Places of pieces that are not what they should be.
  std::vector<size_t> differences(const program& what, const run_outcome& outcome) const {
    std::vector<size_t> out;
    const auto hashes = outcome.hashes();
    for (size_t k = first_look_at_end(what); k < hashes.size(); ++k)
      if (hashes[k] != right_[k] && !unsteady_[k]) out.push_back(k);
    return out;
  }

  // What was there right after the wait is what is there in the end, if the host waited for it.
  void see_waits(const program& what, const run_outcome& outcome) {
    const auto hashes = outcome.hashes();
    for (size_t i = 0; i < open_.waits.size(); ++i) {
      const auto& then = what.looks[2 * i];
      const auto& in_the_end = what.looks[2 * i + 1];
      for (uint64_t k = 0; k < then.pieces(); ++k) {
        const uint64_t before = hashes[then.first_hash + k];
        const uint64_t after = hashes[in_the_end.first_hash + k];
        if (before != 0 && after != 0 && before != after) early_.insert(i);
      }
    }
  }

  void judge_plain_runs(const program& what) {
    for (const auto& each : plain_) judge(what, each, std::nullopt, out_.without_chaos);
    // What differs from run to run is not as it should be in one of them at least.
    bool is_unsteady = false;
    for (size_t k = first_look_at_end(what); k < unsteady_.size(); ++k) {
      if (!unsteady_[k]) continue;
      is_unsteady = true;
      different_.insert(k);
    }
    if (!is_unsteady) return;
    out_.without_chaos.memory_differs = plain_.size();
    unexplained_ = true;
  }

  // Whether the run, which has finished, is not as it should be.
  bool judge(const program& what, const run_outcome& outcome, run_seed seed, bad_runs& counts) {
    const auto compared = compare(what, outcome);
    const auto differs = differences(what, outcome);
    const auto lost = lost_wait(outcome);
    if (!compared.same() && counts.results_differ++ == 0 && out_.first_result.empty() &&
        !compared.results.empty())
      out_.first_result = describe(what, compared.results.front());
    if (!differs.empty()) {
      ++counts.memory_differs;
      different_.insert(differs.begin(), differs.end());
    }
    if (lost) {
      ++counts.timed_out;
      if (out_.first_wait.empty())
        out_.first_wait =
            fmt::format("call {} {}", what.calls[*lost].number, function_name(what.calls[*lost]));
    }
    if (!differs.empty() || lost) bad_runs_.push_back(seed);
    return !compared.same() || !differs.empty() || lost;
  }

  result<void> try_seed(const program& what, uint64_t seed) {
    const auto outcome = run_once(what, seed);
    if (!outcome) return tl::unexpected(outcome.error());
    const size_t early_before = early_.size();
    bool bad = true;
    if (outcome->ending == run_ending::hung) {
      ++out_.under_chaos.hung;
      bad_runs_.push_back(seed);
    } else if (outcome->ending == run_ending::crashed) {
      ++out_.under_chaos.crashed;
    } else {
      see_waits(what, *outcome);
      bad = judge(what, *outcome, seed, out_.under_chaos) || early_.size() > early_before;
    }
    if (bad && !out_.first_bad_seed) out_.first_bad_seed = seed;
    tell_progress();
    return {};
  }

  void note_memory(const program& what) {
    for (const auto& look : what.looks) {
      std::optional<uint64_t> first, last;
      for (uint64_t k = 0; k < look.pieces(); ++k) {
        if (!different_.contains(look.first_hash + k)) continue;
        if (!first) first = k;
        last = k;
      }
      if (first)
        out_.memory.push_back(
            fmt::format("{} from byte {} to {}", look.name, *first * memory_look::piece_bytes,
                        std::min(look.bytes, (*last + 1) * memory_look::piece_bytes)));
    }
  }

  void note_waits() {
    for (const size_t each : early_) out_.waits.push_back(open_.waits[each]);
  }

  // Whether the runs that were bad are as they should be with these pairs in order. Those under
  // seeds come first: they make the same choices again.
  result<bool> helps(const std::vector<open_pair>& in_order) {
    const auto what = compile_with(in_order);
    if (!what) return tl::unexpected(what.error());
    std::vector<run_seed> trials;
    for (const auto& each : bad_runs_)
      if (each && trials.size() < most_tried_runs) trials.push_back(each);
    if (trials.size() < bad_runs_.size() && !bad_runs_.front())
      trials.insert(trials.end(), plain_trials, std::nullopt);
    for (const auto& each : trials) {
      const auto outcome = run_once(*what, each);
      if (!outcome) return tl::unexpected(outcome.error());
      tell_progress();
      if (outcome->ending != run_ending::finished || !differences(*what, *outcome).empty() ||
          lost_wait(*outcome))
        return false;
    }
    return true;
  }

  // Takes pairs away, many at once first, as long as those that are left still help.
  result<void> find_pairs() {
    std::vector<open_pair> kept = open_.pairs;
    const auto all_help = helps(kept);
    if (!all_help) return tl::unexpected(all_help.error());
    out_.is_explained = *all_help && !unexplained_;
    if (!*all_help) return {};
    for (size_t size = kept.size() / 2 + kept.size() % 2; size > 0 && kept.size() > 1;
         size = size == 1 ? 0 : size / 2 + size % 2) {
      for (size_t begin = 0; begin < kept.size() && kept.size() > 1;) {
        auto fewer = kept;
        const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(begin);
        fewer.erase(from, from + static_cast<std::ptrdiff_t>(std::min(size, kept.size() - begin)));
        const auto still = fewer.empty() ? result<bool>(false) : helps(fewer);
        if (!still) return tl::unexpected(still.error());
        if (*still) {
          kept = std::move(fewer);
        } else {
          begin += size;
        }
      }
    }
    out_.pairs = std::move(kept);
    return {};
  }

  void tell_progress() {
    if (progress_) progress_(++done_, plain_runs + options_.seeds);
  }

  const trace::trace_file& trace_;
  const chaos_options& options_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  model::open_order open_;
  std::vector<model::timestamp_memory> times_;
  std::vector<uint32_t> long_waits_;        // indices of calls
  std::vector<uint32_t> succeeding_waits_;  // of those: that succeed with the pairs in order
  std::vector<run_outcome> plain_;
  std::vector<uint64_t> right_;     // hashes
  std::vector<bool> unsteady_;      // by hash: not always the same, whatever the order
  std::set<size_t> different_;      // hashes that were not right in some run
  std::set<size_t> early_;          // waits, by index, after which memory still changed
  std::vector<run_seed> bad_runs_;  // in memory or in waits, or hung; those without chaos first
  bool unexplained_ = false;        // something is unsteady
  bool finishes_in_order_ = false;  // with all pairs in order, it comes to its end
  uint64_t done_ = 0;
  chaos_report out_;
};

}  // namespace

result<chaos_report> replay_under_chaos(const trace::trace_file& trace,
                                        const chaos_options& options,
                                        const std::function<void(uint64_t, uint64_t)>& progress) {
  return chaos_search(trace, options, progress).run_all();
}

}  // namespace zevent::replay
