#include "model/unfinished_writes.hpp"

#include <gtest/gtest.h>

#include "hand_made_program.hpp"

namespace zevent::model {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t first_memory = 0x10'0100'0000;  // as hand_made_program gives it out

// Looks at a page of memory after every call.
class unfinished_writes_test : public testing::Test {
 protected:
  static std::vector<memory_look> looks_after_all() {
    std::vector<memory_look> all;
    for (uint64_t call = 0; call < 64; ++call)
      all.push_back({call_number{call}, {first_memory, page}});
    return all;
  }
  bool unfinished_after(call_number call) {
    program.finish();
    if (seen.empty()) seen = search.take();
    return !seen[number_of(call)].empty();
  }

  std::vector<memory_look> looks = looks_after_all();
  unfinished_writes search{looks};
  hand_made_program<unfinished_writes> program{search};
  uint64_t device = program.device();
  uint64_t context = program.context();
  uint64_t memory = program.memory(context, device, 2 * page);
  uint64_t list = program.in_order_immediate_list(context, device);
  uint64_t other = program.in_order_immediate_list(context, device);
  std::vector<unfinished_of_look> seen;
};

TEST_F(unfinished_writes_test, what_the_host_waited_for_is_finished) {
  ASSERT_EQ(memory, first_memory);
  const auto fill = program.fill(list, memory, page);
  const auto waited = program.synchronise_list(list);
  EXPECT_TRUE(unfinished_after(fill));
  EXPECT_FALSE(unfinished_after(waited));
}

TEST_F(unfinished_writes_test, a_wait_for_another_list_finishes_nothing) {
  program.fill(list, memory, page);
  EXPECT_TRUE(unfinished_after(program.synchronise_list(other)));
}

TEST_F(unfinished_writes_test, commands_that_write_elsewhere_do_not_matter) {
  program.fill(list, memory + page, page);
  EXPECT_FALSE(unfinished_after(program.synchronise_list(other)));
}

TEST_F(unfinished_writes_test, another_thread_may_submit_before_the_look_is_over) {
  const auto waited = program.synchronise_list(list);
  program.on_thread(1).fill(other, memory, page);
  EXPECT_TRUE(unfinished_after(waited));
}

TEST_F(unfinished_writes_test, another_thread_may_wait_before_the_call_that_looks_returns) {
  program.fill(other, memory, page);
  const auto waited = program.takes_ns(10'000).synchronise_list(list);
  program.on_thread(1).synchronise_list(other);
  EXPECT_TRUE(unfinished_after(waited));
}

TEST_F(unfinished_writes_test, another_thread_may_submit_and_wait_before_the_call_returns) {
  const auto waited = program.takes_ns(10'000).synchronise_list(list);
  program.on_thread(1).fill(other, memory, page);
  program.on_thread(1).synchronise_list(other);
  EXPECT_TRUE(unfinished_after(waited));
}

TEST_F(unfinished_writes_test, the_look_is_over_when_the_thread_goes_on) {
  const auto waited = program.synchronise_list(list);
  program.synchronise_list(list);
  program.on_thread(1).fill(other, memory, page);
  EXPECT_FALSE(unfinished_after(waited));
}

TEST(unfinished_writes, before_a_call_are_those_of_the_calls_before_it) {
  std::vector<memory_look> looks;
  for (uint64_t call = 0; call < 64; ++call)
    looks.push_back({call_number{call}, {first_memory, page}, true});
  unfinished_writes search{looks};
  hand_made_program<unfinished_writes> program{search};
  const uint64_t device = program.device(), context = program.context();
  const uint64_t memory = program.memory(context, device, page);
  const uint64_t list = program.in_order_immediate_list(context, device);
  const auto first = program.fill(list, memory + 16, 32);
  const auto second = program.fill(list, memory + 1024, 64);
  const auto waited = program.synchronise_list(list);
  const auto third = program.fill(list, memory, 8);
  program.finish();
  const auto seen = search.take();
  EXPECT_TRUE(seen[number_of(first)].empty());
  ASSERT_EQ(seen[number_of(second)].size(), 1u);
  EXPECT_EQ(seen[number_of(second)][0].where, (byte_range{memory + 16, 32}));
  EXPECT_EQ(seen[number_of(waited)].size(), 2u);
  EXPECT_TRUE(seen[number_of(third)].empty());
}

}  // namespace
}  // namespace zevent::model
