#include "trace/lineage.hpp"

#include <gtest/gtest.h>

namespace zevent::trace {
namespace {

// 0 forks 1 at 100, which forks 2 at 300; 0 forks 3 at 200.
run_info family() {
  run_info run;
  run.processes.resize(4);
  run.processes[1].fork = process_fork{0, 100};
  run.processes[2].fork = process_fork{1, 300};
  run.processes[3].fork = process_fork{0, 200};
  return run;
}

TEST(lineage, process_without_parent_has_its_own_calls) {
  const lineage line(family(), 0);
  EXPECT_EQ(line.members().size(), 1u);
  EXPECT_TRUE(line.includes(0, UINT64_MAX)) << "a call that never returned, too";
  EXPECT_FALSE(line.includes(1, 50));
}

TEST(lineage, child_has_what_had_returned_in_its_ancestors_when_they_forked) {
  const lineage line(family(), 2);
  EXPECT_TRUE(line.includes(2, UINT64_MAX));
  EXPECT_TRUE(line.includes(1, 300));
  EXPECT_FALSE(line.includes(1, 301));
  EXPECT_TRUE(line.includes(0, 100));
  EXPECT_FALSE(line.includes(0, 101)) << "process 1 did not have it either";
  EXPECT_FALSE(line.includes(3, 250)) << "another child";
}

TEST(lineage, parent_that_forked_after_a_later_fork_counts_by_the_earlier_one) {
  auto run = family();
  run.processes[1].fork->at_ns = 500;
  const lineage line(run, 2);
  EXPECT_TRUE(line.includes(0, 300));
  EXPECT_FALSE(line.includes(0, 301));
}

}  // namespace
}  // namespace zevent::trace
