#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <vector>

#include "driver/context.hpp"
#include "driver/event_slot.hpp"
#include "driver/ipc.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

class event_pool : public object_of<event_pool, object_kind::event_pool> {
 public:
  static ze_result_t create(context& owner, const ze_event_pool_desc_t& desc,
                            std::vector<device*> devices, event_pool** out);
  static ze_result_t open(context& owner, ipc_handle handle, event_pool** out);
  ~event_pool();

  ze_result_t create_event(const ze_event_desc_t& desc, ze_event_handle_t* out);

  ze_result_t export_handle(ipc_handle* out);

  event_slot& slot(uint32_t index) const { return slots_[index]; }
  uint32_t count() const { return count_; }
  ze_event_pool_flags_t flags() const { return flags_; }
  bool has_flag(ze_event_pool_flag_t flag) const { return (flags_ & flag) != 0; }
  context& owner() const { return *context_; }

  // Counter-based flags of the pool's events; 0 where they are regular.
  ze_event_counter_based_flags_t counter_flags() const { return counter_flags_; }

  // Processes sleep on the events of a shared pool, threads of one process on those of another.
  futex_scope wake_scope() const {
    return has_flag(ZE_EVENT_POOL_FLAG_IPC) ? futex_scope::shared : futex_scope::process;
  }

  bool is_imported() const { return import_ != nullptr; }
  // The process that exported the pool has ended, or has lost its device.
  bool is_orphaned() const {
    return import_ != nullptr && (import_->is_orphaned() || slots_->lost.is_set());
  }

 private:
  event_pool(context& owner, ze_event_pool_flags_t flags, uint32_t count);

  const ref<context> context_;
  const ze_event_pool_flags_t flags_;
  const uint32_t count_;
  ze_event_counter_based_flags_t counter_flags_ = 0;
  std::vector<device*> devices_;
  event_slot* slots_ = nullptr;
  ipc_export export_;                   // the handles given out for the pool
  std::unique_ptr<ipc_import> import_;  // set when the slots are another process's
};

}  // namespace zevent::driver
