#include "repro/loop_folding.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/checked_cast.hpp"
#include "base/invariant.hpp"

namespace zevent::repro {
namespace {

int64_t difference(int64_t from, int64_t to) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

// What nodes of one kind have in common: all but their first numbers.
struct node_kind {
  uint32_t shape = 0;               // of a single step
  uint64_t iterations = 0;          // of a loop, as are the next
  std::vector<uint32_t> body;       // kinds
  std::vector<int64_t> increments;  // of each number of the body
  size_t numbers = 0;
};

// A single step or a loop that has been found; its numbers are those of the first iteration.
struct node {
  uint32_t kind = 0;
  size_t first_number = 0;  // in folder::numbers_
};

class folder {
 public:
  folder(std::span<const sequence_step> steps, const folding_limits& limits);

  void fold();
  std::vector<folded_step> take() const;

 private:
  bool fold_period(size_t period);
  std::vector<size_t> likely_periods() const;
  void count_distances(size_t gram, std::unordered_map<size_t, size_t>& counts) const;
  // How many iterations of [begin, begin + period) there are, of at most `most`.
  size_t iterations_at(size_t begin, size_t period, size_t most,
                       std::vector<int64_t>& increments) const;
  bool worth_it(size_t iterations, std::span<const int64_t> increments) const;
  node make_loop(size_t begin, size_t period, size_t iterations, std::vector<int64_t> increments);
  uint32_t kind_of_loop(node_kind kind);
  folded_step expand(uint32_t kind, const int64_t*& numbers,
                     std::vector<const int64_t*>& increments) const;

  const folding_limits& limits_;
  std::vector<node> nodes_;
  std::vector<int64_t> numbers_;
  std::vector<node_kind> kinds_;
  std::map<std::vector<int64_t>, uint32_t> loop_kinds_;
};

folder::folder(std::span<const sequence_step> steps, const folding_limits& limits)
    : limits_(limits) {
  std::unordered_map<uint32_t, uint32_t> kind_of_shape;
  for (const auto& step : steps) {
    const auto [found, is_new] =
        kind_of_shape.try_emplace(step.shape, checked_cast<uint32_t>(kinds_.size()));
    if (is_new)
      kinds_.push_back(
          {.shape = step.shape, .body = {}, .increments = {}, .numbers = step.numbers.size()});
    ZEVENT_INVARIANT(kinds_[found->second].numbers == step.numbers.size());
    nodes_.push_back({found->second, numbers_.size()});
    numbers_.insert(numbers_.end(), step.numbers.begin(), step.numbers.end());
  }
}

// Short bodies first, so that inner loops are found before those around them.
void folder::fold() {
  bool found = true;
  while (found) {
    found = false;
    for (const size_t period : likely_periods()) found |= fold_period(period);
  }
}

// A body of n steps that repeats puts the same things at a distance of n: single steps, or, where
// the body has each of them several times, runs of them.
std::vector<size_t> folder::likely_periods() const {
  std::unordered_map<size_t, size_t> counts;
  for (const size_t gram : {1U, 2U, 4U, 8U, 16U}) count_distances(gram, counts);
  std::vector<size_t> periods;
  for (const auto& [distance, count] : counts) {
    // Of a long body most runs of steps are found again, not just one.
    const size_t least_count = std::max(limits_.least_equal_iterations - 1, distance / 2);
    if (count >= least_count && distance <= limits_.longest_body) periods.push_back(distance);
  }
  std::sort(periods.begin(), periods.end());
  return periods;
}

void folder::count_distances(size_t gram, std::unordered_map<size_t, size_t>& counts) const {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15;
  uint64_t leaving = 1;  // weight of the step that falls out of the run
  for (size_t i = 0; i < gram; ++i) leaving *= multiplier;
  std::unordered_map<uint64_t, size_t> last_seen;
  uint64_t hash = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    hash = hash * multiplier + nodes_[i].kind + 1;
    if (i >= gram) hash -= leaving * (nodes_[i - gram].kind + 1);
    if (i + 1 < gram) continue;
    const auto [place, is_new] = last_seen.try_emplace(hash, i);
    if (!is_new) ++counts[i - place->second];
    place->second = i;
  }
}

bool folder::fold_period(size_t period) {
  std::vector<node> next;
  std::vector<int64_t> increments;
  size_t differs = 0;  // first position from i on that differs from the one a period later
  bool found = false;
  for (size_t i = 0; i < nodes_.size();) {
    differs = std::max(differs, i);
    while (differs + period < nodes_.size() &&
           nodes_[differs].kind == nodes_[differs + period].kind)
      ++differs;
    const size_t most = (differs - i) / period + 1;
    const size_t iterations = iterations_at(i, period, most, increments);
    if (worth_it(iterations, increments)) {
      next.push_back(make_loop(i, period, iterations, increments));
      i += iterations * period;
      found = true;
    } else {
      next.push_back(nodes_[i++]);
    }
  }
  if (found) nodes_ = std::move(next);
  return found;
}

size_t folder::iterations_at(size_t begin, size_t period, size_t most,
                             std::vector<int64_t>& increments) const {
  increments.clear();
  if (most < 2) return most;
  for (size_t i = begin; i < begin + period; ++i)
    for (size_t n = 0; n < kinds_[nodes_[i].kind].numbers; ++n)
      increments.push_back(difference(numbers_[nodes_[i].first_number + n],
                                      numbers_[nodes_[i + period].first_number + n]));
  for (size_t iteration = 2; iteration < most; ++iteration) {
    auto increment = increments.begin();
    const size_t start = begin + iteration * period;
    for (size_t i = start; i < start + period; ++i)
      for (size_t n = 0; n < kinds_[nodes_[i].kind].numbers; ++n)
        if (difference(numbers_[nodes_[i - period].first_number + n],
                       numbers_[nodes_[i].first_number + n]) != *increment++)
          return iteration;
  }
  return most;
}

bool folder::worth_it(size_t iterations, std::span<const int64_t> increments) const {
  const bool equal =
      std::all_of(increments.begin(), increments.end(), [](int64_t each) { return each == 0; });
  return iterations >= (equal ? limits_.least_equal_iterations : limits_.least_changing_iterations);
}

node folder::make_loop(size_t begin, size_t period, size_t iterations,
                       std::vector<int64_t> increments) {
  node_kind kind{.iterations = iterations, .body = {}, .increments = std::move(increments)};
  kind.numbers = kind.increments.size();
  const size_t first_number = numbers_.size();
  for (size_t i = begin; i < begin + period; ++i) {
    kind.body.push_back(nodes_[i].kind);
    for (size_t n = 0; n < kinds_[nodes_[i].kind].numbers; ++n)
      numbers_.push_back(numbers_[nodes_[i].first_number + n]);
  }
  return {kind_of_loop(std::move(kind)), first_number};
}

uint32_t folder::kind_of_loop(node_kind kind) {
  std::vector<int64_t> key{static_cast<int64_t>(kind.iterations)};
  key.insert(key.end(), kind.body.begin(), kind.body.end());
  key.insert(key.end(), kind.increments.begin(), kind.increments.end());
  const auto [found, is_new] =
      loop_kinds_.try_emplace(std::move(key), checked_cast<uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(std::move(kind));
  return found->second;
}

// `increments` has, for each loop around, where the increments of the next number are.
folded_step folder::expand(uint32_t which, const int64_t*& numbers,
                           std::vector<const int64_t*>& increments) const {
  const node_kind& kind = kinds_[which];
  folded_step out;
  if (kind.iterations != 0) {
    out.iterations = kind.iterations;
    increments.push_back(kind.increments.data());
    for (const uint32_t each : kind.body) out.body.push_back(expand(each, numbers, increments));
    increments.pop_back();
    return out;
  }
  out.shape = kind.shape;
  for (size_t n = 0; n < kind.numbers; ++n) {
    progression number{*numbers++, {}};
    for (auto loop = increments.rbegin(); loop != increments.rend(); ++loop)
      number.increments.push_back(*(*loop)++);
    out.numbers.push_back(std::move(number));
  }
  return out;
}

std::vector<folded_step> folder::take() const {
  std::vector<folded_step> out;
  for (const auto& each : nodes_) {
    const int64_t* numbers = numbers_.data() + each.first_number;
    std::vector<const int64_t*> increments;
    out.push_back(expand(each.kind, numbers, increments));
  }
  return out;
}

}  // namespace

bool progression::constant() const {
  return std::all_of(increments.begin(), increments.end(), [](int64_t each) { return each == 0; });
}

std::vector<folded_step> fold_loops(std::span<const sequence_step> steps,
                                    const folding_limits& limits) {
  folder work(steps, limits);
  work.fold();
  return work.take();
}

uint64_t written_steps(std::span<const folded_step> folded) {
  uint64_t count = 0;
  for (const auto& each : folded) count += each.is_loop() ? written_steps(each.body) : 1;
  return count;
}

}  // namespace zevent::repro
