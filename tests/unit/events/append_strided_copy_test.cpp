#include "zevent/append_strided_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fake_level_zero.hpp"
#include "zevent/counter_event.hpp"

namespace zevent {
namespace {

using handles = std::vector<ze_event_handle_t>;

class append_strided_copy_test : public testing::Test {
 protected:
  fake::level_zero& ze = fake::install();
  fake::list unordered{.immediate = true};
  fake::list in_order{.immediate = true, .queue_flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER};

  const ze_event_handle_t a = fake::named_event(1);
  const ze_event_handle_t b = fake::named_event(2);
  const ze_event_handle_t done = fake::named_event(3);
  const ze_event_handle_t begun = fake::named_event(4);
  const handles waits = {a, b};

  // Three mirrored rows: three operations whatever the limits.
  const std::array<uint64_t, 2> extents = {3, 16};
  const std::array<int64_t, 2> source_strides = {-16, 1};
  const std::array<int64_t, 2> destination_strides = {16, 1};
  const copy_plan three = plan_strided_copy({extents, source_strides, destination_strides, 1});
  const copy_plan one = plan_strided_copy({{}, {}, {}, 64});
  const copy_plan none = plan_strided_copy({std::span(&zero, 1), std::span(source_strides).first(1),
                                            std::span(source_strides).first(1), 1});
  static constexpr uint64_t zero = 0;

  char source[64] = {};
  char destination[64] = {};
  char* const last_row = source + 32;

  // The refusal's result; nothing may have been appended.
  ze_result_t refusal(fake::list& list, void* to, const void* from, const copy_plan& plan,
                      const copy_events& events) {
    try {
      append_strided_copy(list.handle(), to, from, plan, events);
    } catch (const error& e) {
      EXPECT_TRUE(ze.commands.empty()) << "refused too late";
      EXPECT_EQ(e.appended(), 0u);
      return e.result();
    }
    return ZE_RESULT_SUCCESS;
  }
};

TEST_F(append_strided_copy_test, one_operation_has_the_waits_and_the_signal_on_any_list) {
  for (fake::list* list : {&unordered, &in_order}) {
    ze.commands.clear();
    EXPECT_EQ(append_strided_copy(list->handle(), destination, source, one,
                                  {.waits = waits, .signal = done}),
              1u);
    ASSERT_EQ(ze.commands.size(), 1u);
    EXPECT_EQ(ze.commands[0].what, "copy");
    EXPECT_EQ(ze.commands[0].bytes, 64u);
    EXPECT_EQ(ze.commands[0].waits, waits);
    EXPECT_EQ(ze.commands[0].signal, done);
  }
}

TEST_F(append_strided_copy_test, an_in_order_list_waits_first_and_signals_last) {
  append_strided_copy(in_order.handle(), destination, last_row, three,
                      {.waits = waits, .signal = done});
  ASSERT_EQ(ze.commands.size(), 3u);
  EXPECT_EQ(ze.commands[0].waits, waits);
  EXPECT_EQ(ze.commands[0].signal, nullptr);
  EXPECT_EQ(ze.commands[1].waits, handles());
  EXPECT_EQ(ze.commands[1].signal, nullptr);
  EXPECT_EQ(ze.commands[2].waits, handles());
  EXPECT_EQ(ze.commands[2].signal, done);
}

TEST_F(append_strided_copy_test, any_other_list_waits_everywhere_and_signals_by_a_barrier) {
  EXPECT_EQ(append_strided_copy(unordered.handle(), destination, last_row, three,
                                {.waits = waits, .signal = done}),
            4u);
  ASSERT_EQ(ze.commands.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ze.commands[i].what, "copy");
    EXPECT_EQ(ze.commands[i].waits, waits);
    EXPECT_EQ(ze.commands[i].signal, nullptr);
  }
  EXPECT_EQ(ze.commands[3].what, "barrier");
  EXPECT_EQ(ze.commands[3].waits, handles()) << "it would wait only for these";
  EXPECT_EQ(ze.commands[3].signal, done);
}

TEST_F(append_strided_copy_test, no_signal_needs_no_barrier) {
  append_strided_copy(unordered.handle(), destination, last_row, three, {.waits = waits});
  EXPECT_EQ(ze.commands.size(), 3u);
}

TEST_F(append_strided_copy_test, regular_lists_are_asked_for_their_own_flags) {
  fake::list regular{.flags = ZE_COMMAND_LIST_FLAG_IN_ORDER};
  append_strided_copy(regular.handle(), destination, last_row, three, {.signal = done});
  EXPECT_EQ(ze.commands.size(), 3u);
  ze.commands.clear();
  regular.flags = ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
  append_strided_copy(regular.handle(), destination, last_row, three, {.signal = done});
  EXPECT_EQ(ze.commands.size(), 4u);
}

TEST_F(append_strided_copy_test, a_list_that_cannot_be_asked_is_treated_as_unordered) {
  ze.lists_answer = false;
  append_strided_copy(in_order.handle(), destination, last_row, three, {.signal = done});
  ASSERT_EQ(ze.commands.size(), 4u);
  EXPECT_EQ(ze.commands[3].what, "barrier");
}

TEST_F(append_strided_copy_test, a_caller_who_knows_the_order_is_believed) {
  ze.lists_answer = false;
  append_strided_copy(in_order.handle(), destination, last_row, three, {.signal = done},
                      list_order::in_order);
  EXPECT_EQ(ze.commands.size(), 3u);
}

TEST_F(append_strided_copy_test, nothing_to_copy_still_signals_after_its_waits) {
  append_strided_copy(unordered.handle(), nullptr, nullptr, none, {.waits = waits, .signal = done});
  ASSERT_EQ(ze.commands.size(), 1u);
  EXPECT_EQ(ze.commands[0].what, "barrier");
  EXPECT_EQ(ze.commands[0].waits, waits);
  EXPECT_EQ(ze.commands[0].signal, done);
}

TEST_F(append_strided_copy_test, nothing_to_copy_and_to_signal_keeps_the_waits_only_in_order) {
  EXPECT_EQ(append_strided_copy(unordered.handle(), nullptr, nullptr, none, {.waits = waits}), 0u);
  EXPECT_EQ(append_strided_copy(in_order.handle(), nullptr, nullptr, none, {.waits = waits}), 1u);
  EXPECT_EQ(ze.commands[0].waits, waits);
  EXPECT_EQ(append_strided_copy(in_order.handle(), nullptr, nullptr, none), 0u);
}

TEST_F(append_strided_copy_test, a_pair_of_events_spans_the_whole_copy) {
  const copy_events timed = {.waits = waits, .signal = done, .first = begun};
  append_strided_copy(in_order.handle(), destination, last_row, three, timed);
  ASSERT_EQ(ze.commands.size(), 3u);
  EXPECT_EQ(ze.commands[0].signal, begun);
  EXPECT_EQ(ze.commands[2].signal, done);

  ze.commands.clear();
  append_strided_copy(unordered.handle(), destination, last_row, three, timed);
  ASSERT_EQ(ze.commands.size(), 4u);
  EXPECT_EQ(ze.commands[0].signal, begun);
  EXPECT_EQ(ze.commands[3].signal, done);

  // One command signals one event: the second takes a barrier.
  ze.commands.clear();
  append_strided_copy(in_order.handle(), destination, source, one, timed);
  ASSERT_EQ(ze.commands.size(), 2u);
  EXPECT_EQ(ze.commands[0].signal, begun);
  EXPECT_EQ(ze.commands[0].waits, waits);
  EXPECT_EQ(ze.commands[1].signal, done);
  EXPECT_EQ(ze.commands[1].waits, handles());

  ze.commands.clear();
  append_strided_copy(unordered.handle(), nullptr, nullptr, none, timed);
  ASSERT_EQ(ze.commands.size(), 2u);
  EXPECT_EQ(ze.commands[0].signal, begun);
  EXPECT_EQ(ze.commands[0].waits, waits);
  EXPECT_EQ(ze.commands[1].signal, done);
  EXPECT_EQ(ze.commands[1].waits, handles());
}

TEST_F(append_strided_copy_test, regions_are_2d_with_depth_0_and_3d_with_slices) {
  const uint64_t cube[] = {2, 4, 8};
  const int64_t strides[] = {128, 16, 1};
  static char from[512];
  static char to[512];
  append_strided_copy(in_order.handle(), to, from, strided_shape{cube, strides, strides, 1});
  ASSERT_EQ(ze.commands.size(), 1u);
  EXPECT_EQ(ze.commands[0].what, "region");
  EXPECT_EQ(ze.commands[0].region.width, 8u);
  EXPECT_EQ(ze.commands[0].region.height, 4u);
  EXPECT_EQ(ze.commands[0].region.depth, 2u);
  append_strided_copy(in_order.handle(), to, from,
                      strided_shape{std::span(cube).last(2), std::span(strides).last(2),
                                    std::span(strides).last(2), 1});
  EXPECT_EQ(ze.commands[1].region.depth, 0u);
}

TEST_F(append_strided_copy_test, refuses_an_event_that_is_both_waited_for_and_signalled) {
  EXPECT_EQ(refusal(unordered, destination, source, one, {.waits = waits, .signal = b}),
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(
      refusal(in_order, destination, source, one, {.waits = waits, .signal = done, .first = a}),
      ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(refusal(in_order, destination, source, one, {.signal = done, .first = done}),
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
}

TEST_F(append_strided_copy_test, refuses_a_counter_based_signal_unless_the_list_is_in_order) {
  const copy_events events = {.signal = {done, event_kind::counter_based}};
  EXPECT_EQ(refusal(unordered, destination, last_row, three, events),
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(append_strided_copy(in_order.handle(), destination, last_row, three, events), 3u);
  // Where the list cannot be asked, the driver decides; the barrier is right if it agrees.
  ze.lists_answer = false;
  EXPECT_EQ(append_strided_copy(unordered.handle(), destination, last_row, three, events), 4u);
}

TEST_F(append_strided_copy_test, refuses_null_where_something_is_needed) {
  EXPECT_EQ(refusal(unordered, nullptr, source, one, {}), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(refusal(unordered, destination, nullptr, one, {}),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const handles bad = {a, nullptr};
  EXPECT_EQ(refusal(unordered, destination, source, one, {.waits = bad}),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_THROW(append_strided_copy(nullptr, destination, source, one), error);
}

TEST_F(append_strided_copy_test, refuses_a_copy_onto_its_own_source) {
  EXPECT_EQ(refusal(unordered, source + 8, source, plan_strided_copy({{}, {}, {}, 32}), {}),
            ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
}

TEST_F(append_strided_copy_test, an_append_that_fails_half_way_says_how_many_went_before) {
  ze.failing_append = 2;
  try {
    append_strided_copy(unordered.handle(), destination, last_row, three, {.signal = done});
    FAIL() << "the failure was swallowed";
  } catch (const error& e) {
    EXPECT_EQ(e.result(), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    EXPECT_STREQ(e.call(), "zeCommandListAppendMemoryCopy");
    EXPECT_EQ(e.appended(), 2u);
  }
  ze.commands.clear();
  ze.failing_append = 3;
  try {
    append_strided_copy(unordered.handle(), destination, last_row, three, {.signal = done});
    FAIL() << "the failure was swallowed";
  } catch (const error& e) {
    EXPECT_STREQ(e.call(), "zeCommandListAppendBarrier");
    EXPECT_EQ(e.appended(), 3u);
  }
}

}  // namespace
}  // namespace zevent
