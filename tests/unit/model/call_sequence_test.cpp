#include "model/call_sequence.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zevent::model {
namespace {

// What comes in, in the order in which it comes: "b1" when call 1 begins, "e1" when it ends.
struct story {
  std::string told;
  std::vector<std::byte> last_bytes;

  void begin(const call_view& call) { tell('b', call); }
  void end(const call_view& call) {
    tell('e', call);
    const auto bytes = call.bytes(argument::module_bytes);
    last_bytes.assign(bytes.begin(), bytes.end());
  }
  void tell(char what, const call_view& call) {
    told += (told.empty() ? "" : " ") + (what + std::to_string(trace::number_of(call.number)));
  }
};

call_view call_at(uint64_t number, uint64_t start_ns, uint64_t end_ns) {
  call_view call;
  call.number = trace::call_number{number};
  call.start_ns = start_ns;
  call.end_ns = end_ns;
  return call;
}

TEST(call_sequence, passes_an_end_on_before_what_starts_after_it) {
  story told;
  call_sequence<story> calls(told);
  calls.add(call_at(1, 10, 50), 20);
  calls.add(call_at(2, 20, 30), 40);
  calls.add(call_at(3, 40, 50), 60);
  calls.add(call_at(4, 60, 70), UINT64_MAX);
  calls.finish();
  EXPECT_EQ(told.told, "b1 b2 e2 b3 e1 e3 b4 e4");
}

TEST(call_sequence, a_call_that_did_not_return_has_no_end) {
  story told;
  call_sequence<story> calls(told);
  call_view stuck = call_at(1, 10, UINT64_MAX);
  stuck.did_return = false;
  calls.add(stuck, 20);
  calls.add(call_at(2, 20, 30), UINT64_MAX);
  calls.finish();
  EXPECT_EQ(told.told, "b1 b2 e2");
}

TEST(call_sequence, keeps_the_arguments_of_a_call_that_ends_later) {
  story told;
  call_sequence<story> calls(told);
  std::vector<std::byte> module(100, std::byte{7});
  call_view creates = call_at(1, 10, 100);
  creates.set_bytes(argument::module_bytes, module);
  creates.set(argument::hContext, 3);
  calls.add(creates, 20);
  // The reader of a trace uses the room again.
  module.assign(100, std::byte{9});
  creates.clear();
  calls.add(call_at(2, 20, 30), UINT64_MAX);
  calls.finish();
  EXPECT_EQ(told.last_bytes, std::vector<std::byte>(100, std::byte{7}));
}

TEST(call_view, a_copy_has_what_was_given_and_nothing_else) {
  call_view one, other;
  other.set(argument::hEvent, 5);
  one.set(argument::hCommandList, 7);
  one.set_null(argument::phWaitEvents);
  one.set_list(argument::phEvents, std::vector<uint64_t>{1, 2, 3});
  other = one;
  EXPECT_EQ(other[argument::hCommandList], 7u);
  EXPECT_FALSE(other.has(argument::hEvent));
  EXPECT_TRUE(other.is_null(argument::phWaitEvents));
  ASSERT_EQ(other.list(argument::phEvents).size(), 3u);
  EXPECT_EQ(other.list(argument::phEvents)[2], 3u);
}

}  // namespace
}  // namespace zevent::model
