// What the driver does by the clock, with a clock that the test moves.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "driver/host_clock.hpp"
#include "driver/parking_lot.hpp"
#include "unit/driver/driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class stopped_clock : public driver_fixture {
 protected:
  void SetUp() override {
    host_clock::stop();
    driver_fixture::SetUp();
  }

  // So many streams wait for something.
  static void await_parked(size_t streams) {
    for (size_t parked = 0; parked < streams; std::this_thread::yield()) {
      parked = 0;
      parking_lot::instance().has_parked([&](const wait_point&) {
        ++parked;
        return false;
      });
    }
  }
};

TEST_F(stopped_clock, low_priority_gives_way_to_high) {
  struct race {
    std::atomic<uint32_t> arrived{0};
    uint32_t place_of_high = 0;
    static void low(void* self) { ++static_cast<race*>(self)->arrived; }
    static void high(void* self) {
      auto& here = *static_cast<race*>(self);
      here.place_of_high = here.arrived++;
    }
  };
  std::vector<ze_command_list_handle_t> lists;
  for (int i = 0; i < 5; ++i) {
    lists.push_back(in_order_list(i < 4 ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW
                                        : ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH));
  }
  auto gate = regular_event();
  for (int round = 0; round < 20; ++round) {
    race one;
    for (const auto list : lists) {
      ASSERT_EQ(zeCommandListAppendHostFunction(list, list == lists.back() ? race::high : race::low,
                                                &one, nullptr, nullptr, 1, &gate),
                ZE_RESULT_SUCCESS);
    }
    await_parked(lists.size());
    ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
    for (const auto list : lists) {
      ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
    }
    ASSERT_EQ(zeEventHostReset(gate), ZE_RESULT_SUCCESS);
    EXPECT_EQ(one.place_of_high, 0u) << "round " << round;
  }
}

TEST_F(stopped_clock, low_priority_gives_way_for_so_long_only) {
  std::atomic<bool> low_is_done{false};
  const auto high = in_order_list(ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
  const auto low = in_order_list(ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW);
  ASSERT_EQ(zeCommandListAppendHostFunction(
                high,
                [](void* flag) {
                  while (!*static_cast<std::atomic<bool>*>(flag)) host_clock::advance(1000);
                },
                &low_is_done, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendHostFunction(
                low, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; },
                &low_is_done, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(high, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(low, forever), ZE_RESULT_SUCCESS);
}

TEST_F(stopped_clock, a_timeout_is_not_cut_short) {
  const auto event = regular_event();
  for (const uint64_t timeout_ns : {500u, 1'000u, 100'000u, 3'000'000u}) {
    std::atomic<bool> has_returned{false};
    const uint64_t start_ns = host_clock::now_ns();
    std::thread waiter([&] {
      EXPECT_EQ(zeEventHostSynchronize(event, timeout_ns), ZE_RESULT_NOT_READY);
      EXPECT_GE(host_clock::now_ns() - start_ns, timeout_ns);
      has_returned = true;
    });
    while (!has_returned) {
      host_clock::advance(timeout_ns / 50);
      std::this_thread::yield();
    }
    waiter.join();
  }
}

}  // namespace
}  // namespace zevent::driver::test
