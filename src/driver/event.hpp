#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <utility>

#include "driver/command.hpp"
#include "driver/context.hpp"
#include "driver/event_binding.hpp"
#include "driver/event_pool.hpp"
#include "driver/event_slot.hpp"
#include "driver/ipc.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// How a counter-based event is made, whichever of the functions made it.
struct counter_event_desc {
  ze_event_counter_based_flags_t flags = 0;
  ze_event_scope_flags_t signal_scope = 0;
  ze_event_scope_flags_t wait_scope = 0;

  // Complete when memory of the user reaches a value: written by the user (external), or added to
  // by every signal (aggregate).
  enum class storage { own, external, aggregate } where = storage::own;
  uint64_t* device_address = nullptr;
  uint64_t* host_address = nullptr;
  uint64_t increment = 0;
  uint64_t completion_value = 0;
};

// An event, of any of these kinds:
//
//   regular         a slot of a pool, 0 or 1
//   counter-based   bound to the counter of the list that signals it (event_binding)
//   shared          counter-based with the IPC flag: counts in memory that processes share
//   aggregate       counter-based, adds to memory of the user
class event final : public object_of<event, object_kind::event>, public abandonment {
 public:
  event(event_pool& pool, uint32_t index, const ze_event_desc_t& desc);
  static ze_result_t create(context& owner, const counter_event_desc& desc, event** out);
  static ze_result_t open(context& owner, ipc_handle handle, event** out);
  ~event();

  // Addresses are given out again as the fault handle-reuse says.
  static void* operator new(size_t bytes);
  static void operator delete(void* memory);

  // What an event shares with one that may take its place in a mutable command list (EV-43).
  struct likeness {
    bool counter_based = false;
    ze_event_pool_flags_t pool_flags = 0;
    ze_event_counter_based_flags_t counter_flags = 0;
    ze_event_scope_flags_t signal_scope = 0;
    ze_event_scope_flags_t wait_scope = 0;
    bool operator==(const likeness&) const = default;
  };
  likeness kind_of_event() const;

  bool is_counter_based() const { return counter_based_; }
  ze_event_counter_based_flags_t counter_flags() const { return counter_flags_; }
  bool is_imported() const { return import_ != nullptr; }

  // Never blocks, takes no lock.
  ze_result_t query() const noexcept {
    // Acquire: what the signalling command wrote is seen after the query.
    const uint64_t value = queried_->load(std::memory_order_acquire) | context::any_lost();
    static_assert(ZE_RESULT_SUCCESS == 0 && ZE_RESULT_NOT_READY == 1);
    if (value <= 1) [[likely]]
      return static_cast<ze_result_t>(value ^ 1);
    return query_slowly();
  }

  ze_result_t host_synchronize(uint64_t timeout_ns);
  ze_result_t host_signal() noexcept;
  ze_result_t host_reset() noexcept;

  // An append has made this kind of command the event's last signaller.
  void note_signaller(command::order ordering) {
    barrier_signals_.store(ordering == command::order::barrier, std::memory_order_relaxed);
  }

  // For the fault and the quirk reset-keeps-counter-mode: an in-order immediate list signals a
  // regular event.
  void enter_counter_mode() noexcept;
  // Whether no append may wait for the event: its counter mode outlived a reset by the host.
  bool has_lost_counter() const {
    return counter_mode_.load(std::memory_order_relaxed) == counter_mode::without_counter;
  }

  // Whether it is counter-based, counts in storage of its own, and no append has signalled it.
  bool is_unsignalled_counter() const;
  // For the quirk counter-event-stays-complete: the host has seen the last signal that an append
  // gave the event, so that it is complete until the next such append, whatever runs again.
  bool stays_complete() const { return completion_seen_.load(std::memory_order_acquire); }

  // Resets a regular event from a command.
  void reset() noexcept;

  // What an append binds that waits for the event now.
  command_wait bind_wait();

  // Whether a list of that kind may signal the event; INVALID_ARGUMENT when not.
  ze_result_t check_signal(bool in_order, bool immediate) const;
  // What an append does to signal the event; for events bound to a counter `bind_signal` follows.
  command_signal begin_signal();
  // Binds to the `number`th command of the list that has this counter.
  void bind_signal(const ref<in_order_counter>& counter, uint64_t number, bool regular_list);
  // A run of the list begins: where the event is bound to a clone of the list, it changes over.
  void follow_signal(const ref<in_order_counter>& counter, uint64_t number);
  // The command will signal the event no more; its list has had so many runs.
  void withdraw_signal(const command_links& links, const in_order_counter* counter, uint64_t runs);
  void complete_signal(command_signal::action act, uint64_t value) noexcept;
  // What that raises; null where it is nothing, or more than streams of this process look at.
  const std::atomic<uint64_t>* raised() const {
    return slot_ != nullptr ? &slot_->cell.value : nullptr;
  }
  // Events that processes share: the number of one more signal, which makes the event incomplete.
  uint64_t issue_number();

  bool has_timestamps() const { return times_ != nullptr && wants_times_; }
  bool has_mapped_timestamps() const { return mapped_times_; }
  void set_timestamps(uint64_t start_ns, uint64_t end_ns) noexcept;
  // The times of the last signal by CLOCK_MONOTONIC.
  std::pair<uint64_t, uint64_t> timestamps_ns() const;

  ze_result_t device_address(uint64_t* completion_value, uint64_t* address);
  ze_result_t export_handle(ipc_handle* out);

  event_pool* pool() const { return pool_.get(); }
  context& owner() const { return *context_; }
  ze_event_scope_flags_t signal_scope() const { return signal_scope_; }
  ze_event_scope_flags_t wait_scope() const { return wait_scope_; }

  // No signal can come any more: the context is lost, or the process that shares the event is gone.
  bool is_abandoned() override { return is_hopeless(); }

 private:
  uint64_t shared_number() const noexcept;  // the signal that a shared event stands for
  event(context& owner, const counter_event_desc& desc);
  ze_result_t query_slowly() const noexcept;
  ze_result_t status() const noexcept;
  // What a query looks at, null where any stream may bring it about.
  const std::atomic<uint64_t>* asked_for() const noexcept;
  ze_result_t query_counter() const noexcept;
  // The host has seen the event complete.
  void note_completion_seen() const noexcept;
  void suffer_query_faults() const;
  bool waits_for_host_memory() const;
  bool has_host_address() const;
  bool is_hopeless() const;
  bool will_never_come() const noexcept;
  wait_point host_memory_point() const;

  const ref<context> context_;
  const ref<event_pool> pool_;  // null: not of a pool
  const ze_event_scope_flags_t signal_scope_;
  const ze_event_scope_flags_t wait_scope_;
  const bool counter_based_;
  const ze_event_counter_based_flags_t counter_flags_;
  bool wants_times_ = false;
  bool mapped_times_ = false;

  std::atomic<bool> barrier_signals_{false};  // relaxed: only faults ask
  std::atomic<bool> was_reset_{false};        // likewise
  enum class counter_mode : uint8_t { off, bound, without_counter };
  std::atomic<counter_mode> counter_mode_{counter_mode::off};  // likewise

  // What a query looks at: 0 not signalled, 1 signalled, anything else: there is more to look at.
  const std::atomic<uint64_t>* queried_ = &more_to_look_at;
  static constinit const std::atomic<uint64_t> more_to_look_at;
  const bool queries_misbehave_;  // by a fault or a quirk
  // When a query looks again whether the process that the event is of lives. Relaxed: it is a
  // limit.
  mutable std::atomic<uint64_t> next_look_ns_{0};
  event_slot* slot_ = nullptr;

  // Counter-based events.
  event_binding binding_;
  counter_event_desc desc_;
  std::atomic<bool> signalled_{false};  // an append has signalled it; external storage is left then
  // Acquire and release: what the signalling command wrote is seen by all who find it set.
  mutable std::atomic<bool> completion_seen_{false};
  shared_counter* shared_ = nullptr;  // set where processes share the event
  uint64_t shared_name_ = 0;          // of the event in shared_
  uint64_t imported_number_ = 0;      // one-way import: the signal that was exported; else 0
  ipc_export export_;
  std::unique_ptr<ipc_import> import_;

  event_times own_times_;
  event_times* times_ = nullptr;
};

}  // namespace zevent::driver
