#include "events/event_source.hpp"

#include "events/check.hpp"

namespace zevent {

owned_pool create_pool(const pool_traits& traits, uint32_t count) {
  ze_event_pool_counter_based_exp_desc_t counter_desc{};
  counter_desc.stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC;
  counter_desc.flags = traits.counter_flags;
  ze_event_pool_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  desc.pNext = traits.counter_flags != 0 ? &counter_desc : nullptr;
  desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  if (traits.timestamps) desc.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  desc.count = count;
  ze_device_handle_t device = traits.device;
  ze_event_pool_handle_t pool = nullptr;
  check(zeEventPoolCreate(traits.context, &desc, 1, &device, &pool), "zeEventPoolCreate");
  return owned_pool(pool);
}

ze_event_handle_t create_pool_event(ze_event_pool_handle_t pool, uint32_t index,
                                    event_scopes scopes) {
  ze_event_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = index;
  desc.signal = scopes.signal;
  desc.wait = scopes.wait;
  ze_event_handle_t event = nullptr;
  check(zeEventCreate(pool, &desc, &event), "zeEventCreate");
  return event;
}

ze_event_handle_t pooled_event_source::create(uint32_t index) {
  if (index == newest_begin_ + newest_count_) {
    const uint32_t count = pools_.empty() ? first_pool_events : newest_count_ * 2;
    pools_.push_back(create_pool(traits_, count));
    newest_begin_ = index;
    newest_count_ = count;
  }
  return create_pool_event(pools_.back().get(), index - newest_begin_, traits_.scopes);
}

ze_event_handle_t counter_event_source::create(uint32_t) {
  ze_event_handle_t event = nullptr;
  check(calls_.create_event(context_, device_, flags_, scopes_, &event), calls_.create_name);
  return event;
}

}  // namespace zevent
