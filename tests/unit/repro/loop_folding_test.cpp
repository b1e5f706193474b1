#include "repro/loop_folding.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace zevent::repro {
namespace {

// Steps that own their numbers.
struct step {
  uint32_t shape;
  std::vector<int64_t> numbers;
  friend bool operator==(const step&, const step&) = default;
};

std::vector<folded_step> fold(const std::vector<step>& steps) {
  std::vector<sequence_step> views;
  for (const auto& each : steps) views.push_back({each.shape, each.numbers});
  return fold_loops(views);
}

int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t times(int64_t a, uint64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * b);
}

// Does what the folded sequence says.
void run(const std::vector<folded_step>& folded, std::vector<uint64_t>& iterations,
         std::vector<step>& out) {
  for (const auto& each : folded) {
    if (each.is_loop()) {
      iterations.push_back(0);
      for (uint64_t i = 0; i < each.iterations; ++i) {
        iterations.back() = i;
        run(each.body, iterations, out);
      }
      iterations.pop_back();
      continue;
    }
    step done{each.shape, {}};
    for (const auto& number : each.numbers) {
      ASSERT_EQ(number.increments.size(), iterations.size());
      int64_t value = number.first;
      for (size_t l = 0; l < iterations.size(); ++l)
        value = add(value, times(number.increments[l], iterations[iterations.size() - 1 - l]));
      done.numbers.push_back(value);
    }
    out.push_back(std::move(done));
  }
}

std::vector<step> unfold(const std::vector<folded_step>& folded) {
  std::vector<step> out;
  std::vector<uint64_t> iterations;
  run(folded, iterations, out);
  return out;
}

TEST(LoopFolding, LeavesASequenceWithoutRepetitionAsItIs) {
  const std::vector<step> steps = {{1, {5}}, {2, {}}, {3, {7, 8}}, {1, {9}}};
  const auto folded = fold(steps);
  EXPECT_EQ(folded.size(), steps.size());
  EXPECT_EQ(unfold(folded), steps);
}

TEST(LoopFolding, MakesEqualStepsALoop) {
  const std::vector<step> steps(100, step{7, {3}});
  const auto folded = fold(steps);
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(folded[0].iterations, 100u);
  EXPECT_EQ(folded[0].body[0].numbers[0], (progression{3, {0}}));
}

TEST(LoopFolding, FollowsNumbersThatGoUpOrDown) {
  std::vector<step> steps;
  for (int64_t i = 0; i < 20; ++i) steps.push_back({1, {4 * i, 100 - i, 6}});
  const auto folded = fold(steps);
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(folded[0].iterations, 20u);
  EXPECT_EQ(folded[0].body[0].numbers, (std::vector<progression>{{0, {4}}, {100, {-1}}, {6, {0}}}));
}

TEST(LoopFolding, FindsALoopInALoop) {
  std::vector<step> steps = {{9, {}}};
  for (int64_t i = 0; i < 10; ++i) {
    steps.push_back({1, {i}});
    for (int64_t k = 0; k < 5; ++k) steps.push_back({2, {10 * i + k}});
    steps.push_back({3, {}});
  }
  const auto folded = fold(steps);
  ASSERT_EQ(folded.size(), 2u);
  EXPECT_EQ(folded[1].iterations, 10u);
  ASSERT_EQ(folded[1].body.size(), 3u);
  EXPECT_EQ(folded[1].body[1].iterations, 5u);
  EXPECT_EQ(folded[1].body[1].body[0].numbers[0], (progression{0, {1, 10}}));
  EXPECT_EQ(unfold(folded), steps);
}

TEST(LoopFolding, FindsABodyThatHasTheSameStepsSeveralTimes) {
  std::vector<step> steps;
  for (int64_t i = 0; i < 30; ++i)
    for (const uint32_t shape : {1U, 2U, 1U, 3U, 2U, 1U, 3U, 3U, 1U, 2U, 2U})
      steps.push_back({shape, {i}});
  const auto folded = fold(steps);
  EXPECT_LE(written_steps(folded), 11u);
  EXPECT_EQ(unfold(folded), steps);
}

TEST(LoopFolding, DoesNotMakeALoopOfTwo) {
  const std::vector<step> steps = {{1, {0}}, {2, {0}}, {1, {1}}, {2, {1}}};
  EXPECT_EQ(fold(steps).size(), 4u);
}

TEST(LoopFolding, KeepsNumbersThatWrapAround) {
  std::vector<step> steps;
  for (int64_t i = 0; i < 8; ++i)
    steps.push_back({1, {add(INT64_MAX - 3, i), times(INT64_MIN, static_cast<uint64_t>(i))}});
  EXPECT_EQ(unfold(fold(steps)), steps);
}

TEST(LoopFolding, WritesALongRunDownInFewSteps) {
  std::vector<step> steps;
  for (int64_t i = 0; i < 20'000; ++i)
    for (uint32_t shape = 0; shape < 10; ++shape) steps.push_back({shape, {i, 1}});
  const auto folded = fold(steps);
  EXPECT_EQ(written_steps(folded), 10u);
  EXPECT_EQ(folded[0].iterations, 20'000u);
}

// Programs of random nested loops with some noise between them.
class random_program {
 public:
  explicit random_program(uint64_t seed) : random_(seed) {}

  std::vector<step> take() {
    std::vector<step> out;
    block(0, out);
    return out;
  }

 private:
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  void block(int depth, std::vector<step>& out) {
    const int64_t statements = pick(1, 4);
    for (int64_t s = 0; s < statements; ++s) {
      if (depth < 3 && pick(0, 2) == 0) {
        loop(depth, out);
      } else {
        out.push_back({static_cast<uint32_t>(pick(0, 4)), {pick(0, 3), pick(0, 1)}});
      }
    }
  }

  // Every iteration is made from the same random numbers.
  void loop(int depth, std::vector<step>& out) {
    const auto body_seed = random_();
    const int64_t iterations = pick(0, 9);
    const int64_t increment = pick(-2, 2);
    const bool noisy = pick(0, 5) == 0;
    for (int64_t i = 0; i < iterations; ++i) {
      const auto saved = std::exchange(random_, std::mt19937_64(body_seed));
      const size_t begin = out.size();
      block(depth + 1, out);
      for (size_t k = begin; k < out.size(); ++k) out[k].numbers[0] += i * increment;
      random_ = saved;
      if (noisy && pick(0, 3) == 0) out.push_back({5, {pick(0, 9), 0}});
    }
  }

  std::mt19937_64 random_;
};

TEST(LoopFoldingProperty, UnfoldingGivesBackTheSequence) {
  size_t steps_before = 0, steps_after = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const auto steps = random_program(seed).take();
    const auto folded = fold(steps);
    ASSERT_EQ(unfold(folded), steps) << "seed " << seed;
    ASSERT_LE(written_steps(folded), steps.size()) << "seed " << seed;
    steps_before += steps.size();
    steps_after += written_steps(folded);
  }
  EXPECT_LT(steps_after * 2, steps_before) << "loops are hardly ever found";
}

TEST(LoopFoldingProperty, UnfoldingNoiseGivesBackTheNoise) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    std::vector<step> steps(random() % 200);
    for (auto& each : steps) {
      each.shape = static_cast<uint32_t>(random() % 3);
      each.numbers.assign(each.shape, static_cast<int64_t>(random() % 3));
    }
    ASSERT_EQ(unfold(fold(steps)), steps) << "round " << round;
  }
}

}  // namespace
}  // namespace zevent::repro
