#pragma once

#include <level_zero/ze_api.h>

#include "driver/object.hpp"
#include "driver/stream.hpp"
#include "driver/sync_cell.hpp"

namespace zevent::driver {

class command_queue;

class fence final : public object_of<fence, object_kind::fence>, public abandonment {
 public:
  fence(command_queue& queue, context& owner, bool signalled);

  // The queue that the fence was created for; only compared.
  const command_queue* queue() const { return queue_; }

  ze_result_t query() const noexcept;
  ze_result_t host_synchronize(uint64_t timeout_ns);
  void reset() { cell_.value.store(0, std::memory_order_release); }
  void signal() { cell_.raise(1, futex_scope::process); }
  const std::atomic<uint64_t>* raised() const { return &cell_.value; }

  bool is_abandoned() override { return context_->is_lost(); }

 private:
  const command_queue* const queue_;
  const ref<context> context_;
  sync_cell cell_;
};

}  // namespace zevent::driver
