#pragma once

#include <cstdint>
#include <span>
#include <vector>

// Finds the loops in a sequence, as a person would who has to write it down.
//
// A step is a shape and some numbers. Steps of one shape differ in their numbers only: calls of the
// same function with the same flags, say, and other events. Steps that repeat become a loop when
// each of their numbers goes up by the same amount from one iteration to the next; the amount may
// be 0. Loops hold loops.
namespace zevent::repro {

// Steps of one shape have equally many numbers.
struct sequence_step {
  uint32_t shape = 0;
  std::span<const int64_t> numbers;
};

// A number inside loops: first + sum of increments[l] * (iteration of loop l). The innermost loop
// comes first. Arithmetic wraps.
struct progression {
  int64_t first = 0;
  std::vector<int64_t> increments;

  bool constant() const;
  friend bool operator==(const progression&, const progression&) = default;
};

struct folded_step {
  // A loop: how often, over what.
  uint64_t iterations = 0;  // 0: a single step
  std::vector<folded_step> body;
  // A single step. As many increments in each number as there are loops around it.
  uint32_t shape = 0;
  std::vector<progression> numbers;

  bool is_loop() const { return iterations != 0; }
};

struct folding_limits {
  // Fewer iterations are not worth a loop.
  uint64_t least_equal_iterations = 3;
  uint64_t least_changing_iterations = 4;  // where some number changes
  uint64_t longest_body = 4096;            // steps
};

std::vector<folded_step> fold_loops(std::span<const sequence_step> steps,
                                    const folding_limits& limits = {});

// How many single steps it takes to write it down.
uint64_t written_steps(std::span<const folded_step> folded);

}  // namespace zevent::repro
