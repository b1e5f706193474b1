#include "zevent/counter_event.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "events/check.hpp"
#include "events/event_store.hpp"
#include "events/timestamps.hpp"

namespace zevent {
namespace {

struct backed_store {
  std::shared_ptr<event_store> store;
  counter_backing backing;
};

class counter_store_maker {
 public:
  counter_store_maker(ze_context_handle_t context, ze_device_handle_t device,
                      const counter_event_options& options, bool timestamps)
      : context_(context),
        device_(device),
        options_(options),
        timestamps_(timestamps),
        driver_(driver_of(device)) {}

  backed_store make() const {
    if (list_flags() == 0) {
      throw error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "counter_event_pool",
                  "the options allow no kind of list to signal the events");
    }
    if (auto found = pool_free_events()) return *found;
    if (driver_ != nullptr && has_pool_extension()) {
      return {store_of(std::make_unique<pooled_event_source>(traits(list_flags())), false),
              counter_backing::pool_extension};
    }
    if (!options_.allow_regular_events) {
      throw error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "counter_event_pool",
                  "the driver has no counter-based events");
    }
    return {store_of(std::make_unique<pooled_event_source>(traits(0)), true),
            counter_backing::regular_events};
  }

 private:
  static std::shared_ptr<event_store> store_of(std::unique_ptr<event_source> source, bool reset) {
    return std::make_shared<event_store>(std::move(source), reset);
  }

  // The bits of ze_event_counter_based_flag_t and, the same, of the pool extension's flags.
  uint32_t list_flags() const {
    uint32_t flags = 0;
    if (options_.immediate_lists) flags |= ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
    if (options_.regular_lists) flags |= ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
    return flags;
  }

  uint32_t event_flags() const {
    uint32_t flags = list_flags() | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
    if (timestamps_) flags |= ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP;
    return flags;
  }

  pool_traits traits(uint32_t counter_flags) const {
    return {.context = context_,
            .device = device_,
            .timestamps = timestamps_,
            .counter_flags = counter_flags,
            .scopes = options_.scopes};
  }

  // A loader may have functions that the driver has not: what counts is that an event can be made.
  // It is the first one of the store.
  std::optional<backed_store> pool_free_events() const {
    std::optional<backed_store> found;
    any_counter_based_calls_of(driver_, [&](const counter_based_calls& calls) {
      auto store = store_of(std::make_unique<counter_event_source>(calls, context_, device_,
                                                                   event_flags(), options_.scopes),
                            false);
      try {
        event_store::acquire(store);
      } catch (const error& refusal) {
        if (means_unsupported(refusal.result())) return false;
        throw;
      }
      found = backed_store{std::move(store), calls.extension ? counter_backing::extension
                                                             : counter_backing::standard};
      return true;
    });
    return found;
  }

  // A driver without the extension would ignore its descriptor and make regular events, so its
  // list of extensions has to tell.
  bool has_pool_extension() const {
    uint32_t count = 0;
    if (zeDriverGetExtensionProperties(driver_, &count, nullptr) != ZE_RESULT_SUCCESS) return false;
    std::vector<ze_driver_extension_properties_t> extensions(count);
    if (zeDriverGetExtensionProperties(driver_, &count, extensions.data()) != ZE_RESULT_SUCCESS) {
      return false;
    }
    return std::any_of(extensions.begin(), extensions.end(), [](const auto& extension) {
      return std::strcmp(extension.name, ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME) == 0;
    });
  }

  ze_context_handle_t context_;
  ze_device_handle_t device_;
  const counter_event_options& options_;
  bool timestamps_;
  ze_driver_handle_t driver_;
};

event_kind kind_of(counter_backing backing) {
  return backing == counter_backing::regular_events ? event_kind::regular
                                                    : event_kind::counter_based;
}

}  // namespace

const char* to_string(counter_backing backing) noexcept {
  switch (backing) {
    case counter_backing::standard:
      return "standard";
    case counter_backing::extension:
      return "extension";
    case counter_backing::pool_extension:
      return "pool extension";
    case counter_backing::regular_events:
      return "regular events";
  }
  return "unknown";
}

ze_kernel_timestamp_result_t counter_timestamp_event::timestamps() const {
  return query_timestamps(live_handle("zeEventQueryKernelTimestamp"));
}

std::chrono::nanoseconds counter_timestamp_event::duration() const {
  return duration_of(timestamps(), clock_);
}

counter_event_pool::counter_event_pool(ze_context_handle_t context, ze_device_handle_t device,
                                       const counter_event_options& options) {
  auto made = counter_store_maker(context, device, options, false).make();
  store_ = std::move(made.store);
  backing_ = made.backing;
}

counter_event counter_event_pool::acquire() {
  return {event_store::acquire(store_), kind_of(backing_)};
}

uint32_t counter_event_pool::capacity() const noexcept {
  return store_->capacity();
}

counter_timestamp_event_pool::counter_timestamp_event_pool(ze_context_handle_t context,
                                                           ze_device_handle_t device,
                                                           const counter_event_options& options)
    : clock_(timestamp_clock::of(device)) {
  auto made = counter_store_maker(context, device, options, true).make();
  store_ = std::move(made.store);
  backing_ = made.backing;
}

counter_timestamp_event counter_timestamp_event_pool::acquire() {
  return {event_store::acquire(store_), kind_of(backing_), clock_};
}

uint32_t counter_timestamp_event_pool::capacity() const noexcept {
  return store_->capacity();
}

}  // namespace zevent
