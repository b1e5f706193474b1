#include "events/event_source.hpp"

#include <algorithm>
#include <iterator>

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
  if (pools_.empty() || index == pools_.back().begin + pools_.back().count) {
    const uint32_t count = pools_.empty() ? first_pool_events : pools_.back().count * 2;
    pools_.push_back({create_pool(traits_, count), index, count});
  }
  const auto& newest = pools_.back();
  return create_pool_event(newest.pool.get(), index - newest.begin, traits_.scopes);
}

ze_event_handle_t pooled_event_source::renew(uint32_t index, ze_event_handle_t old) noexcept {
  zeEventDestroy(old);
  const auto behind = std::upper_bound(pools_.begin(), pools_.end(), index,
                                       [](uint32_t i, const auto& each) { return i < each.begin; });
  const auto& part = *std::prev(behind);
  try {
    return create_pool_event(part.pool.get(), index - part.begin, traits_.scopes);
  } catch (const error&) {
    return nullptr;
  }
}

ze_event_handle_t counter_event_source::create(uint32_t) {
  ze_event_handle_t event = nullptr;
  check(calls_.create_event(context_, device_, flags_, scopes_, &event), calls_.create_name);
  return event;
}

ze_event_handle_t counter_event_source::renew(uint32_t index, ze_event_handle_t old) noexcept {
  zeEventDestroy(old);
  try {
    return create(index);
  } catch (const error&) {
    return nullptr;
  }
}

}  // namespace zevent
