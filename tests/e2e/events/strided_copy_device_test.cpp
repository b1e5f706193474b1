// Strided copies on the software driver, on every kind of list: the data, and the moment at which
// the signal says that it is there.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <ostream>
#include <vector>

#include "device_fixture.hpp"
#include "zevent/append_strided_copy.hpp"
#include "zevent/counter_event.hpp"
#include "zevent/event_pool.hpp"

namespace zevent {
namespace {

using namespace std::chrono_literals;

struct shape_case {
  const char* name;
  std::vector<uint64_t> extents;
  std::vector<int64_t> source_strides_bytes;
  std::vector<int64_t> destination_strides_bytes;

  strided_shape shape() const {
    return {extents, source_strides_bytes, destination_strides_bytes, 4};
  }
};

void PrintTo(const shape_case& shape, std::ostream* out) {
  *out << shape.name;
}

const shape_case shapes[] = {
    {"1d_contiguous", {300}, {4}, {4}},
    {"1d_column", {300}, {64}, {12}},
    {"1d_mirrored", {30}, {-4}, {4}},
    {"2d_tile", {40, 30}, {512, 4}, {160, 4}},
    {"2d_transposed", {40, 30}, {4, 160}, {120, 4}},
    {"3d_tile", {7, 20, 30}, {8192, 256, 4}, {4096, 128, 4}},
    {"3d_permuted", {7, 20, 30}, {4, 4096, 64}, {4096, 128, 4}},
    {"4d_tile", {3, 4, 5, 6}, {20000, 4000, 400, 4}, {12000, 2000, 200, 4}},
    {"4d_broadcast", {3, 4, 5, 6}, {0, 4000, 400, 4}, {12000, 2000, 200, 4}},
    {"5d_mixed", {2, 3, 2, 3, 8}, {-9000, 2000, 0, 64, 4}, {9000, -2000, 600, 64, 4}},
    {"empty", {40, 0, 30}, {512, 64, 4}, {160, 64, 4}},
};

// A byte array with the element of all indices 0 somewhere in its middle.
class buffer {
 public:
  buffer(byte_range range, unsigned char first)
      : bytes_(static_cast<size_t>(range.end - range.begin)), origin_(bytes_.data() - range.begin) {
    std::iota(bytes_.begin(), bytes_.end(), first);
  }
  unsigned char* origin() { return origin_; }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
  unsigned char* origin_;
};

void copy_element_by_element(const strided_shape& shape, unsigned char* to,
                             const unsigned char* from, size_t dimension = 0) {
  if (dimension == shape.extents.size()) {
    std::copy(from, from + shape.element_bytes, to);
    return;
  }
  for (uint64_t i = 0; i < shape.extents[dimension]; ++i) {
    const auto step = static_cast<int64_t>(i);
    copy_element_by_element(shape, to + step * shape.destination_strides_bytes[dimension],
                            from + step * shape.source_strides_bytes[dimension], dimension + 1);
  }
}

class strided_copy_device_test
    : public device_test,
      public testing::WithParamInterface<std::tuple<list_kind, shape_case>> {
 protected:
  list_kind kind() const { return std::get<0>(GetParam()); }
  strided_shape shape() const { return std::get<1>(GetParam()).shape(); }
};

TEST_P(strided_copy_device_test, signals_when_every_byte_is_there_and_starts_after_its_waits) {
  const copy_plan plan = plan_strided_copy(shape());
  buffer source(plan.source_range(), 1);
  buffer destination(plan.destination_range(), 100);
  buffer expected = buffer(plan.destination_range(), 100);
  const std::vector<unsigned char> untouched = destination.bytes();
  if (!plan.empty()) copy_element_by_element(shape(), expected.origin(), source.origin());

  event_pool pool(context, device);
  const event go = pool.acquire();
  const event done = pool.acquire();
  const ze_event_handle_t waits[] = {go.handle()};
  test_list list(context, device, kind());
  // A synchronous list returns from an append only when it is done.
  if (kind() == list_kind::immediate_synchronous) go.signal();
  append_strided_copy(list, destination.origin(), source.origin(), plan,
                      {.waits = waits, .signal = done});
  list.start();
  if (kind() != list_kind::immediate_synchronous) {
    EXPECT_FALSE(done.wait(1ms)) << "signalled before its waits";
    EXPECT_EQ(destination.bytes(), untouched);
    go.signal();
  }
  ASSERT_TRUE(done.wait(24h)) << "never signalled";
  EXPECT_EQ(destination.bytes(), expected.bytes());
  list.finish();
}

INSTANTIATE_TEST_SUITE_P(lists_and_shapes, strided_copy_device_test,
                         testing::Combine(testing::ValuesIn(all_list_kinds),
                                          testing::ValuesIn(shapes)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "_" +
                                  std::get<1>(test.param).name;
                         });

class copy_events_device_test : public device_test {
 protected:
  // Four mirrored rows: four operations.
  static constexpr std::array<uint64_t, 2> extents = {4, 4096};
  static constexpr std::array<int64_t, 2> source_strides = {-4096, 1};
  static constexpr std::array<int64_t, 2> destination_strides = {4096, 1};
  const copy_plan plan = plan_strided_copy({extents, source_strides, destination_strides, 1});
  std::vector<char> source = std::vector<char>(4 * 4096, 'x');
  std::vector<char> destination = std::vector<char>(4 * 4096);
  const char* last_row() const { return source.data() + 3 * 4096; }
};

TEST_F(copy_events_device_test, the_library_knows_every_kind_of_list) {
  for (const list_kind kind : all_list_kinds) {
    const test_list list(context, device, kind);
    EXPECT_EQ(order_of(list), is_in_order(kind) ? list_order::in_order : list_order::unordered)
        << name_of(kind);
  }
}

TEST_F(copy_events_device_test, a_counter_based_event_is_signalled_by_in_order_lists) {
  counter_event_pool pool(context, device);
  for (const list_kind kind : {list_kind::immediate_in_order, list_kind::regular_in_order}) {
    test_list list(context, device, kind);
    const counter_event done = pool.acquire();
    EXPECT_EQ(append_strided_copy(list, destination.data(), last_row(), plan, {.signal = done}),
              4u);
    list.start();
    EXPECT_TRUE(done.wait(24h));
    EXPECT_EQ(destination, source);
    list.finish();
  }
}

TEST_F(copy_events_device_test, a_counter_based_event_is_refused_by_any_other_list) {
  counter_event_pool pool(context, device);
  test_list list(context, device, list_kind::immediate);
  const counter_event done = pool.acquire();
  EXPECT_THROW(append_strided_copy(list, destination.data(), last_row(), plan, {.signal = done}),
               error);
  list.finish();
  EXPECT_EQ(destination, std::vector<char>(4 * 4096)) << "refused after it began";
}

TEST_F(copy_events_device_test, a_driver_that_refuses_an_append_is_quoted_with_what_went_before) {
  counter_event_pool pool(context, device);
  test_list list(context, device, list_kind::immediate);
  const counter_event done = pool.acquire();
  try {
    // Passed off as a regular event, so that only the driver can tell.
    append_strided_copy(list, destination.data(), last_row(), plan,
                        {.signal = {done.handle(), event_kind::regular}});
    FAIL() << "the driver's refusal was swallowed";
  } catch (const error& refusal) {
    EXPECT_EQ(refusal.result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_STREQ(refusal.call(), "zeCommandListAppendBarrier");
    EXPECT_EQ(refusal.appended(), 4u);
  }
  list.finish();
}

TEST_F(copy_events_device_test, a_pair_of_timestamp_events_times_the_whole_copy) {
  timestamp_event_pool pool(context, device);
  for (const list_kind kind : all_list_kinds) {
    test_list list(context, device, kind);
    const timestamp_event first = pool.acquire();
    const timestamp_event last = pool.acquire();
    append_strided_copy(list, destination.data(), last_row(), plan,
                        {.signal = last, .first = first});
    list.start();
    ASSERT_TRUE(last.wait(24h));
    ASSERT_TRUE(first.ready());
    EXPECT_GE(elapsed(first, last), first.duration()) << name_of(kind);
    EXPECT_GE(elapsed(first, last), last.duration()) << name_of(kind);
    list.finish();
  }
}

}  // namespace
}  // namespace zevent
