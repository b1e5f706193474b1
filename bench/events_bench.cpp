// The event library against the same work written by hand, on the software driver.
#include <level_zero/ze_api.h>

#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "ratio.hpp"
#include "zevent/append_strided_copy.hpp"
#include "zevent/counter_event.hpp"
#include "zevent/event_pool.hpp"
#include "zevent/ipc_event.hpp"

namespace {

using namespace zevent;

// Keeps a value, and what led to it, from being optimised away.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) throw error(result, call);
}

struct machine {
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_command_list_handle_t list = nullptr;

  machine() {
    ze_driver_handle_t driver = nullptr;
    uint32_t one = 1;
    check(zeInit(0), "zeInit");
    check(zeDriverGet(&one, &driver), "zeDriverGet");
    check(zeDeviceGet(driver, &(one = 1), &device), "zeDeviceGet");
    const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    check(zeContextCreate(driver, &context_desc, &context), "zeContextCreate");
    ze_command_queue_desc_t queue_desc{};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    check(zeCommandListCreateImmediate(context, device, &queue_desc, &list),
          "zeCommandListCreateImmediate");
  }
};

// A tile of `slices` x `rows` rows of `row_bytes` out of an array with twice the rows' length.
struct tile {
  uint32_t slices;
  uint32_t rows;
  uint32_t row_bytes;

  uint32_t source_pitch() const { return 2 * row_bytes; }
  uint32_t source_slice_pitch() const { return (rows + 3) * source_pitch(); }
  uint32_t slice_bytes() const { return rows * row_bytes; }
};

void compare_copies(const machine& m, const char* name, const tile& t) {
  std::vector<char> source(size_t{t.slices} * t.source_slice_pitch(), 1);
  std::vector<char> destination(size_t{t.slices} * t.slice_bytes());
  event_pool events(m.context, m.device);

  const std::array<uint64_t, 3> extents = {t.slices, t.rows, t.row_bytes};
  const std::array<int64_t, 3> from = {t.source_slice_pitch(), t.source_pitch(), 1};
  const std::array<int64_t, 3> to = {t.slice_bytes(), t.row_bytes, 1};
  const strided_shape shape{extents, from, to, 1};
  const copy_plan plan = plan_strided_copy(shape);
  const auto copy = [&](const auto& what) {
    const event done = events.acquire();
    append_strided_copy(m.list, destination.data(), source.data(), what, {.signal = done});
    done.wait();
  };
  const event own = event::create(m.context, m.device);
  const auto by_hand = [&] {
    const ze_copy_region_t region{0, 0, 0, t.row_bytes, t.rows, t.slices > 1 ? t.slices : 0};
    check(zeCommandListAppendMemoryCopyRegion(
              m.list, destination.data(), &region, t.row_bytes, t.slice_bytes(), source.data(),
              &region, t.source_pitch(), t.source_slice_pitch(), own.handle(), 0, nullptr),
          "zeCommandListAppendMemoryCopyRegion");
    check(zeEventHostSynchronize(own.handle(), UINT64_MAX), "zeEventHostSynchronize");
    check(zeEventHostReset(own.handle()), "zeEventHostReset");
  };
  const auto times = [](auto&& work) {
    return [&work] {
      for (int i = 0; i < 4; ++i) work();
    };
  };
  const auto planned_once = [&] { copy(plan); };
  const auto planned_anew = [&] { copy(shape); };
  const std::string tile_name = name;
  bench::print_row((tile_name + ", planned once").c_str(),
                   bench::compare(301, 4, times(planned_once), times(by_hand)), "<= 1.05");
  bench::print_row((tile_name + ", planned each time").c_str(),
                   bench::compare(301, 4, times(planned_anew), times(by_hand)), "<= 1.05");
}

// The peer copies what the planner reads: as fast as a function of these arguments can be.
void measure_planning(const char* name, std::span<const uint64_t> extents,
                      std::span<const int64_t> source, std::span<const int64_t> destination,
                      const char* target) {
  constexpr uint64_t repeats = 10'000;
  const auto plan = [&] {
    for (uint64_t i = 0; i < repeats; ++i) {
      keep(extents);
      keep(plan_strided_copy({extents, source, destination, 4}));
    }
  };
  const auto copy = [&] {
    for (uint64_t i = 0; i < repeats; ++i) {
      std::array<copy_dimension, 4> dimensions{};
      for (size_t d = 0; d < extents.size(); ++d) {
        dimensions[d] = {extents[d], source[d], destination[d]};
      }
      keep(dimensions);
    }
  };
  bench::print_row(name, bench::compare(51, repeats, plan, copy), target);
}

void compare_pools(const machine& m) {
  event_pool events(m.context, m.device);
  (void)events.acquire();
  ze_event_pool_desc_t pool_desc{};
  pool_desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  pool_desc.count = 1;
  ze_event_pool_handle_t pool = nullptr;
  check(zeEventPoolCreate(m.context, &pool_desc, 0, nullptr, &pool), "zeEventPoolCreate");
  const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  const auto repeat = [](auto&& work) {
    return [work] {
      for (int i = 0; i < 10'000; ++i) work();
    };
  };
  const auto recycle = [&] { keep(events.acquire()); };
  const auto create = [&] {
    ze_event_handle_t made = nullptr;
    check(zeEventCreate(pool, &event_desc, &made), "zeEventCreate");
    zeEventDestroy(made);
  };
  bench::print_row("take an event and give it back (peer: create, destroy)",
                   bench::compare(101, 10'000, repeat(recycle), repeat(create)), "<= 1");
  zeEventPoolDestroy(pool);

  const event e = events.acquire();
  const auto ready = [&] { keep(e.ready()); };
  const auto query = [&] { keep(zeEventQueryStatus(e.handle())); };
  bench::print_row("ready() (peer: zeEventQueryStatus)",
                   bench::compare(101, 10'000, repeat(ready), repeat(query)), "");
}

void compare_sharing(const machine& m) {
  const ipc_event producer = ipc_event::create(m.context, m.device);
  const ipc_handle handle = producer.export_handle();
  ze_ipc_event_counter_based_handle_t raw{};
  check(zeEventCounterBasedGetIpcHandle(producer.handle(), &raw),
        "zeEventCounterBasedGetIpcHandle");
  const auto by_library = [&] { keep(ipc_event::open(m.context, handle)); };
  const auto by_hand = [&] {
    ze_event_handle_t opened = nullptr;
    check(zeEventCounterBasedOpenIpcHandle(m.context, raw, &opened),
          "zeEventCounterBasedOpenIpcHandle");
    zeEventCounterBasedCloseIpcHandle(opened);
  };
  bench::print_row("open a shared event and close it (peer: by hand)",
                   bench::compare(1001, 1, by_library, by_hand), "");
}

}  // namespace

int main() try {
  const machine m;
  const std::array<uint64_t, 4> extents = {3, 7, 20, 30};
  const std::array<int64_t, 4> source = {90000, 8192, 256, 4};
  const std::array<int64_t, 4> destination = {60000, 4096, 128, 4};
  const auto last = [](const auto& all, size_t count) { return std::span(all).last(count); };
  bench::print_heading("Planning of strided copies");
  measure_planning("plan 1 dimension", last(extents, 1), last(source, 1), last(destination, 1), "");
  measure_planning("plan 2 dimensions", last(extents, 2), last(source, 2), last(destination, 2),
                   "");
  measure_planning("plan 3 dimensions", last(extents, 3), last(source, 3), last(destination, 3),
                   "<= 200 ns");
  measure_planning("plan 4 dimensions", last(extents, 4), last(source, 4), last(destination, 4),
                   "");
  bench::print_heading("Strided copies and waiting for them (peer: one region by hand)");
  compare_copies(m, "2-D tile of 64 KiB", {1, 64, 1024});
  compare_copies(m, "2-D tile of 4 MiB", {1, 1024, 4096});
  compare_copies(m, "3-D tile of 64 KiB", {8, 16, 512});
  compare_copies(m, "3-D tile of 4 MiB", {16, 64, 4096});
  bench::print_heading("Events");
  compare_pools(m);
  compare_sharing(m);
  return 0;
} catch (const error& failure) {
  std::fprintf(stderr, "events_bench: %s\n", failure.what());
  return 1;
}
