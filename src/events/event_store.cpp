#include "events/event_store.hpp"

#include "events/check.hpp"

namespace zevent {
namespace {

constexpr uint64_t head_of(uint64_t tag, uint32_t slot) {
  return tag << 32 | slot;
}

}  // namespace

event_store::event_store(std::unique_ptr<event_source> source, bool reset)
    : source_(std::move(source)), reset_(reset) {}

event_store::~event_store() {
  for (uint32_t i = 0; i < capacity(); ++i)
    if (slot_at(i).event != nullptr) zeEventDestroy(slot_at(i).event);
  for (auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
}

event_store::place event_store::place_of(uint32_t index) noexcept {
  // Block b starts at first_block_slots * (2^b - 1) and is first_block_slots * 2^b long.
  const uint32_t power = std::bit_floor(index / first_block_slots + 1);
  return {static_cast<uint32_t>(std::countr_zero(power)), first_block_slots * power,
          index - first_block_slots * (power - 1)};
}

event_store::slot& event_store::slot_at(uint32_t index) const noexcept {
  const place at = place_of(index);
  return blocks_[at.block].load(std::memory_order_relaxed)[at.offset];
}

borrowed_event event_store::acquire(const std::shared_ptr<event_store>& self) {
  uint32_t number = self->take_free();
  if (number == 0) number = self->create();
  const uint32_t index = number - 1;
  return borrowed_event(self->slot_at(index).event, return_event{self, index});
}

uint32_t event_store::take_free() noexcept {
  uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    const auto first = static_cast<uint32_t>(head);
    const uint32_t next = slot_at(first - 1).next.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, head_of((head >> 32) + 1, next),
                                    std::memory_order_acquire)) {
      return first;
    }
  }
  return 0;
}

void event_store::give_back(uint32_t index) noexcept {
  slot& given = slot_at(index);
  if (reset_ && zeEventHostReset(given.event) != ZE_RESULT_SUCCESS) return;
  if (reset_ && !is_reset(given) && !replace(index, given)) return;
  uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    given.next.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(head, head_of(head >> 32, index + 1),
                                        std::memory_order_release, std::memory_order_relaxed));
}

// A query reads memory and makes no system call.
bool event_store::is_reset(slot& given) const noexcept {
  return zeEventQueryStatus(given.event) == ZE_RESULT_NOT_READY;
}

bool event_store::replace(uint32_t index, slot& given) noexcept {
  const std::lock_guard lock(growth_);
  const ze_event_handle_t renewed = source_->renew(index, given.event);
  // A slot without an event stays taken.
  given.event = renewed;
  return renewed != nullptr && is_reset(given);
}

uint32_t event_store::create() {
  const std::lock_guard lock(growth_);
  const uint32_t index = created_.load(std::memory_order_relaxed);
  const place at = place_of(index);
  if (at.block >= block_count) {
    throw error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "event_store", "too many events");
  }
  if (blocks_[at.block].load(std::memory_order_relaxed) == nullptr) {
    blocks_[at.block].store(new slot[at.block_slots], std::memory_order_relaxed);
  }
  slot_at(index).event = source_->create(index);
  created_.store(index + 1, std::memory_order_relaxed);
  return index + 1;
}

void return_event::operator()(ze_event_handle_t) const noexcept {
  store->give_back(slot);
}

}  // namespace zevent
