#pragma once

#include <memory>
#include <vector>

#include "events/counter_based_calls.hpp"
#include "zevent/event.hpp"

namespace zevent {

// Where a store gets new events from. Not called from two threads at once.
class event_source {
 public:
  virtual ~event_source() = default;

  // `index` counts up from 0, one for each event made. Throws zevent::error.
  virtual ze_event_handle_t create(uint32_t index) = 0;

  // Destroys the event that was made with this index and makes another one in its place; null where
  // that fails.
  virtual ze_event_handle_t renew(uint32_t index, ze_event_handle_t old) noexcept = 0;
};

// A Level Zero pool and what its events are like.
struct pool_traits {
  ze_context_handle_t context;
  ze_device_handle_t device;
  bool timestamps = false;
  uint32_t counter_flags = 0;  // of the pool extension; 0 for regular events
  event_scopes scopes = {};
};

// Owns a pool; its events are destroyed first.
struct destroy_pool {
  void operator()(ze_event_pool_handle_t pool) const noexcept { zeEventPoolDestroy(pool); }
};
using owned_pool = std::unique_ptr<std::remove_pointer_t<ze_event_pool_handle_t>, destroy_pool>;

owned_pool create_pool(const pool_traits& traits, uint32_t count);
ze_event_handle_t create_pool_event(ze_event_pool_handle_t pool, uint32_t index,
                                    event_scopes scopes);

// Events from Level Zero pools, each twice as large as the one before: there are few pools however
// many events there are.
class pooled_event_source final : public event_source {
 public:
  explicit pooled_event_source(const pool_traits& traits) : traits_(traits) {}
  ze_event_handle_t create(uint32_t index) override;
  ze_event_handle_t renew(uint32_t index, ze_event_handle_t old) noexcept override;

 private:
  static constexpr uint32_t first_pool_events = 32;

  struct pool_part {
    owned_pool pool;
    uint32_t begin = 0;  // index of its first event
    uint32_t count = 0;
  };

  pool_traits traits_;
  std::vector<pool_part> pools_;
};

// Counter-based events, which need no pool.
class counter_event_source final : public event_source {
 public:
  counter_event_source(const counter_based_calls& calls, ze_context_handle_t context,
                       ze_device_handle_t device, uint32_t flags, event_scopes scopes)
      : calls_(calls), context_(context), device_(device), flags_(flags), scopes_(scopes) {}
  ze_event_handle_t create(uint32_t index) override;
  ze_event_handle_t renew(uint32_t index, ze_event_handle_t old) noexcept override;

 private:
  const counter_based_calls& calls_;
  ze_context_handle_t context_;
  ze_device_handle_t device_;
  uint32_t flags_;
  event_scopes scopes_;
};

}  // namespace zevent
