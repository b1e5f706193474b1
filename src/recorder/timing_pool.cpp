#include "recorder/timing_pool.hpp"

#include <algorithm>

#include "recorder/profile_driver.hpp"

namespace zevent::recorder {
namespace {

constexpr size_t largest_pool = 4096;
constexpr size_t rooms_per_block = 512;

}  // namespace

bool timing_pool::take(size_t count, std::vector<ze_event_handle_t>& to) {
  do {
    const std::lock_guard lock(mutex_);
    if (free_.size() >= count) {
      to.insert(to.end(), free_.end() - static_cast<std::ptrdiff_t>(count), free_.end());
      free_.resize(free_.size() - count);
      return true;
    }
  } while (grow());
  return false;
}

// Each thread that finds none left makes a pool of its own, all of whose events it makes at once:
// events of one pool may not be made by several threads.
bool timing_pool::grow() {
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    count = next_pool_size_;
    next_pool_size_ = std::min(2 * next_pool_size_, largest_pool);
  }
  const auto& driver = next_driver_calls();
  const ze_event_pool_desc_t pool_desc{
      ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
      ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
      static_cast<uint32_t>(count)};
  ze_event_pool_handle_t pool = nullptr;
  ze_device_handle_t device = device_;
  if (driver.zeEventPoolCreate(context_, &pool_desc, 1, &device, &pool) != ZE_RESULT_SUCCESS)
    return false;
  std::vector<ze_event_handle_t> made;
  for (uint32_t i = 0; i < count; ++i) {
    const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, ZE_EVENT_SCOPE_FLAG_HOST,
                               ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = nullptr;
    if (driver.zeEventCreate(pool, &desc, &event) != ZE_RESULT_SUCCESS) break;
    made.push_back(event);
  }
  if (made.empty()) {
    driver.zeEventPoolDestroy(pool);
    return false;
  }
  const std::lock_guard lock(mutex_);
  pools_.push_back(pool);
  all_.insert(all_.end(), made.begin(), made.end());
  free_.insert(free_.end(), made.begin(), made.end());
  return true;
}

void timing_pool::give_back(std::span<const ze_event_handle_t> events) {
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), events.begin(), events.end());
}

ze_kernel_timestamp_result_t* timing_pool::take_room() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_rooms_.empty()) {
      auto* room = free_rooms_.back();
      free_rooms_.pop_back();
      return room;
    }
  }
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* memory = nullptr;
  if (next_driver_calls().zeMemAllocHost(
          context_, &desc, rooms_per_block * sizeof(ze_kernel_timestamp_result_t),
          alignof(ze_kernel_timestamp_result_t), &memory) != ZE_RESULT_SUCCESS)
    return nullptr;
  auto* rooms = static_cast<ze_kernel_timestamp_result_t*>(memory);
  const std::lock_guard lock(mutex_);
  memory_.push_back(memory);
  for (size_t i = 1; i < rooms_per_block; ++i) free_rooms_.push_back(rooms + i);
  return rooms;
}

void timing_pool::give_back_room(ze_kernel_timestamp_result_t* room) {
  const std::lock_guard lock(mutex_);
  free_rooms_.push_back(room);
}

void timing_pool::add(const std::shared_ptr<timed_batch>& batch) {
  const std::lock_guard lock(mutex_);
  batches_.insert(batch);
}

void timing_pool::remove(const std::shared_ptr<timed_batch>& batch) {
  const std::lock_guard lock(mutex_);
  batches_.erase(batch);
}

std::vector<std::shared_ptr<timed_batch>> timing_pool::batches() {
  const std::lock_guard lock(mutex_);
  return {batches_.begin(), batches_.end()};
}

void timing_pool::destroy() {
  std::vector<ze_event_handle_t> events;
  std::vector<ze_event_pool_handle_t> pools;
  std::vector<void*> memory;
  {
    const std::lock_guard lock(mutex_);
    events.swap(all_);
    pools.swap(pools_);
    memory.swap(memory_);
    free_.clear();
    free_rooms_.clear();
    batches_.clear();
  }
  const auto& driver = next_driver_calls();
  for (auto* each : events) driver.zeEventDestroy(each);
  for (auto* each : pools) driver.zeEventPoolDestroy(each);
  for (auto* each : memory) driver.zeMemFree(context_, each);
}

}  // namespace zevent::recorder
