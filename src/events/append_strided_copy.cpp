#include "zevent/append_strided_copy.hpp"

#include <algorithm>

namespace zevent {
namespace {

constexpr const char* append_call = "append_strided_copy";

[[noreturn, gnu::cold]] void refuse(ze_result_t result, const char* reason) {
  throw error(result, append_call, reason);
}

// Appends commands and counts them, so that an error can say how far it got.
class counting_appender {
 public:
  counting_appender(ze_command_list_handle_t list, void* destination, const void* source)
      : list_(list),
        destination_(static_cast<std::byte*>(destination)),
        source_(static_cast<const std::byte*>(source)) {}

  uint64_t appended() const { return appended_; }

  void barrier(ze_event_handle_t signal, std::span<const ze_event_handle_t> waits) {
    count(zeCommandListAppendBarrier(list_, signal, size(waits), data(waits)),
          "zeCommandListAppendBarrier");
  }

  void copy(const copy_operation& operation, ze_event_handle_t signal,
            std::span<const ze_event_handle_t> waits) {
    std::byte* destination = destination_ + operation.destination_offset_bytes;
    const std::byte* source = source_ + operation.source_offset_bytes;
    if (operation.plain()) {
      count(zeCommandListAppendMemoryCopy(list_, destination, source, operation.width_bytes, signal,
                                          size(waits), data(waits)),
            "zeCommandListAppendMemoryCopy");
      return;
    }
    const ze_copy_region_t region = {.originX = 0,
                                     .originY = 0,
                                     .originZ = 0,
                                     .width = static_cast<uint32_t>(operation.width_bytes),
                                     .height = operation.height,
                                     .depth = operation.depth > 1 ? operation.depth : 0};
    count(
        zeCommandListAppendMemoryCopyRegion(
            list_, destination, &region, operation.destination_pitch_bytes,
            operation.destination_slice_pitch_bytes, source, &region, operation.source_pitch_bytes,
            operation.source_slice_pitch_bytes, signal, size(waits), data(waits)),
        "zeCommandListAppendMemoryCopyRegion");
  }

 private:
  static uint32_t size(std::span<const ze_event_handle_t> waits) {
    return static_cast<uint32_t>(waits.size());
  }

  // Level Zero takes wait lists by pointer to non-const and leaves them alone.
  static ze_event_handle_t* data(std::span<const ze_event_handle_t> waits) {
    return waits.empty() ? nullptr : const_cast<ze_event_handle_t*>(waits.data());
  }

  void count(ze_result_t result, const char* call) {
    if (result != ZE_RESULT_SUCCESS) throw error(result, call, {}, appended_);
    ++appended_;
  }

  ze_command_list_handle_t list_;
  std::byte* destination_;
  const std::byte* source_;
  uint64_t appended_ = 0;
};

bool contains(std::span<const ze_event_handle_t> waits, ze_event_handle_t event) {
  return event != nullptr && std::find(waits.begin(), waits.end(), event) != waits.end();
}

void refuse_bad_events(const copy_events& events, std::optional<list_order> order) {
  if (events.waits.size() > UINT32_MAX) {
    refuse(ZE_RESULT_ERROR_INVALID_SIZE, "more than 2^32 - 1 events to wait for");
  }
  if (std::find(events.waits.begin(), events.waits.end(), nullptr) != events.waits.end()) {
    refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "an event to wait for is null");
  }
  const ze_event_handle_t signal = events.signal.handle();
  const ze_event_handle_t first = events.first.handle();
  if (contains(events.waits, signal) || contains(events.waits, first)) {
    refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
           "the copy would wait for an event that it signals itself");
  }
  if (signal != nullptr && signal == first) {
    refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
           "the first operation and the whole copy cannot signal the same event");
  }
  const auto needs_order = [](const signal_event& event) {
    return event.handle() != nullptr && event.kind() == event_kind::counter_based;
  };
  if (order == list_order::unordered && (needs_order(events.signal) || needs_order(events.first))) {
    refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
           "a counter-based event is signalled only from an in-order list");
  }
}

void refuse_bad_memory(const void* destination, const void* source, const copy_plan& plan) {
  if (plan.empty()) return;
  if (destination == nullptr || source == nullptr) {
    refuse(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
           destination == nullptr ? "the destination is null" : "the source is null");
  }
  const auto distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(destination) -
                                             reinterpret_cast<uintptr_t>(source));
  if (plan.overlaps_itself(distance)) {
    refuse(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "the copy would read bytes that it also writes");
  }
}

}  // namespace

uint64_t append_strided_copy(ze_command_list_handle_t list, void* destination, const void* source,
                             const copy_plan& plan, const copy_events& events,
                             std::optional<list_order> order) {
  if (list == nullptr) refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "the list is null");
  if (!order) order = order_of(list);
  refuse_bad_events(events, order);
  refuse_bad_memory(destination, source, plan);

  const bool in_order = order == list_order::in_order;
  const ze_event_handle_t signal = events.signal.handle();
  const ze_event_handle_t first = events.first.handle();
  const uint64_t count = plan.operation_count();
  // A command signals one event only: where the first operation is also the last, `first` has it.
  const bool last_signals = (count == 1 && first == nullptr) || (count > 1 && in_order);
  constexpr std::span<const ze_event_handle_t> no_waits;

  counting_appender appender(list, destination, source);
  for (uint64_t i = 0; i < count; ++i) {
    const bool is_first = i == 0;
    const bool is_last = i + 1 == count;
    appender.copy(plan.operation(i),
                  is_last && last_signals ? signal
                  : is_first              ? first
                                          : nullptr,
                  is_first || !in_order ? events.waits : no_waits);
  }
  if (count == 0 && first != nullptr) appender.barrier(first, events.waits);

  // Commands after this one on an in-order list count on the waits, even if nothing is copied.
  const bool waits_left = appender.appended() == 0;
  const bool keep_waits = waits_left && !events.waits.empty() && order != list_order::unordered;
  if ((signal != nullptr && !last_signals) || keep_waits) {
    appender.barrier(signal, waits_left ? events.waits : no_waits);
  }
  return appender.appended();
}

uint64_t append_strided_copy(ze_command_list_handle_t list, void* destination, const void* source,
                             const strided_shape& shape, const copy_events& events,
                             std::optional<list_order> order) {
  return append_strided_copy(list, destination, source, plan_strided_copy(shape), events, order);
}

}  // namespace zevent
