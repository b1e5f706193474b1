#include "device_fixture.hpp"
#include "zevent/event_pool.hpp"

namespace zevent {
namespace {

class event_recycling : public device_test, public testing::WithParamInterface<list_kind> {};

// Also where the driver makes a regular event a counter-based one behind the program's back.
TEST_P(event_recycling, never_hands_out_an_event_that_is_ready) {
  event_pool pool(context, device);
  for (int round = 0; round < 50; ++round) {
    test_list list(context, device, GetParam());
    const event first = pool.acquire();
    const event second = pool.acquire();
    ASSERT_FALSE(first.ready()) << "round " << round;
    ASSERT_FALSE(second.ready()) << "round " << round;
    ze_event_handle_t wait = first.handle();
    ASSERT_EQ(zeCommandListAppendBarrier(list, first.handle(), 0, nullptr), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeCommandListAppendBarrier(list, second.handle(), 1, &wait), ZE_RESULT_SUCCESS);
    list.start();
    second.wait();
    first.wait();
    list.finish();
  }
  EXPECT_EQ(pool.capacity(), 2u) << "events are not used again";
}

INSTANTIATE_TEST_SUITE_P(on_every_kind_of_list, event_recycling, testing::ValuesIn(all_list_kinds),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace zevent
