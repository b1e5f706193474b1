#include "replay/chaos_search.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "replay/comparison.hpp"

namespace zevent::replay {
namespace {

// Runs without chaos: what differs even there says nothing.
constexpr uint64_t plain_runs = 3;
// Bad seeds that are tried again to find out which order matters.
constexpr size_t most_tried_seeds = 5;
constexpr uint64_t trial_timeout_ns = 10'000'000'000;

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

class chaos_search {
 public:
  chaos_search(const trace::trace_file& trace, const chaos_options& options,
               const std::function<void(uint64_t, uint64_t)>& progress)
      : trace_(trace), options_(options), progress_(progress) {}

  result<chaos_report> run_all() {
    open_ = model::find_open_order(trace_, options_.selection.process);
    auto compiled = compile_with({});
    if (!compiled) return tl::unexpected(compiled.error());
    if (auto done = learn_what_is_right(*compiled); !done) return tl::unexpected(done.error());
    out_.seeds = options_.seeds;
    for (uint64_t seed = 1; seed <= options_.seeds; ++seed)
      if (auto done = try_seed(*compiled, seed); !done) return tl::unexpected(done.error());
    note_memory(*compiled);
    note_waits();
    if (!bad_seeds_.empty())
      if (auto done = find_pairs(); !done) return tl::unexpected(done.error());
    return std::move(out_);
  }

 private:
  result<program> compile_with(const std::vector<open_pair>& in_order) const {
    compile_options compiling{.selection = options_.selection, .look_at_memory = true};
    for (const auto& each : open_.waits)
      compiling.questions.push_back(
          {number_of(each.waited), each.written.first, each.written.bytes});
    compiling.orders = orders_of(in_order);
    return compile(trace_, compiling);
  }

  result<run_outcome> run_once(const program& what, std::optional<uint64_t> seed,
                               uint64_t timeout_ns) const {
    run_options running = options_.running;
    running.timeout_ns = timeout_ns;
    running.play.restore_after_waits = false;
    std::erase_if(running.environment,
                  [](const auto& each) { return each.first == "ZEVENT_CHAOS"; });
    if (seed) running.environment.emplace_back("ZEVENT_CHAOS", std::to_string(*seed));
    return run(what, running);
  }

  result<void> learn_what_is_right(const program& what) {
    for (uint64_t i = 0; i < plain_runs; ++i) {
      const auto outcome = run_once(what, std::nullopt, options_.running.timeout_ns);
      if (!outcome) return tl::unexpected(outcome.error());
      if (outcome->ending == run_ending::could_not_start) return fail("{}", outcome->message);
      if (outcome->ending != run_ending::finished)
        return fail("without chaos the replay {} already",
                    outcome->ending == run_ending::hung ? "hangs" : "crashes");
      const auto hashes = outcome->hashes();
      if (i == 0) right_.assign(hashes.begin(), hashes.end());
      unsteady_.resize(hashes.size());
      for (size_t k = 0; k < hashes.size(); ++k)
        if (hashes[k] != right_[k]) unsteady_[k] = true;
      see_waits(what, *outcome);
      tell_progress();
    }
    return {};
  }

  // The first looks are those at what the host waited for: two for each.
  size_t question_looks() const { return 2 * open_.waits.size(); }

  // Places of pieces that are not what they should be.
  std::vector<size_t> differences(const program& what, const run_outcome& outcome) const {
    std::vector<size_t> out;
    const auto hashes = outcome.hashes();
    const size_t first = question_looks() < what.looks.size()
                             ? what.looks[question_looks()].first_hash
                             : hashes.size();
    for (size_t k = first; k < hashes.size(); ++k)
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

  result<void> try_seed(const program& what, uint64_t seed) {
    const auto outcome = run_once(what, seed, options_.running.timeout_ns);
    if (!outcome) return tl::unexpected(outcome.error());
    const size_t early_before = early_.size();
    bool bad = true;
    if (outcome->ending == run_ending::hung) {
      ++out_.hung;
    } else if (outcome->ending == run_ending::crashed) {
      ++out_.crashed;
    } else {
      const auto compared = compare(what, *outcome);
      const auto differs = differences(what, *outcome);
      see_waits(what, *outcome);
      if (!compared.same()) {
        if (out_.results_differ++ == 0 && !compared.results.empty())
          out_.first_result = describe(what, compared.results.front());
      }
      if (!differs.empty()) {
        ++out_.memory_differs;
        bad_seeds_.push_back(seed);
        different_.insert(differs.begin(), differs.end());
      }
      bad = !compared.same() || !differs.empty() || early_.size() > early_before;
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

  // Whether memory is as it should be under the bad seeds with these pairs in order.
  result<bool> helps(const std::vector<open_pair>& in_order) {
    const auto what = compile_with(in_order);
    if (!what) return tl::unexpected(what.error());
    for (size_t i = 0; i < std::min(bad_seeds_.size(), most_tried_seeds); ++i) {
      const auto outcome = run_once(*what, bad_seeds_[i], trial_timeout_ns);
      if (!outcome) return tl::unexpected(outcome.error());
      tell_progress();
      if (outcome->ending != run_ending::finished || !differences(*what, *outcome).empty())
        return false;
    }
    return true;
  }

  // Takes pairs away, many at once first, as long as those that are left still help.
  result<void> find_pairs() {
    std::vector<open_pair> kept = open_.pairs;
    const auto all_help = helps(kept);
    if (!all_help) return tl::unexpected(all_help.error());
    out_.is_explained = *all_help;
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
  std::vector<uint64_t> right_;  // hashes
  std::vector<bool> unsteady_;   // by hash: not always the same, even without chaos
  std::set<size_t> different_;   // hashes that were not right under some seed
  std::set<size_t> early_;       // waits, by index, after which memory still changed
  std::vector<uint64_t> bad_seeds_;
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
