#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "model/call_sequence.hpp"
#include "model/call_view.hpp"

namespace zevent::model {

// Writes calls as a recorded program would have made them, one per microsecond, and hands them to a
// sink that has begin() and end(). Handles are made up.
template <typename Sink>
class hand_made_program {
 public:
  using handle = uint64_t;
  using number = trace::call_number;

  struct events {
    handle signal = 0;
    std::vector<handle> waits = {};
  };

  explicit hand_made_program(Sink& sink) : sequence_(sink) {}

  // Of the next call only.
  hand_made_program& on_thread(uint32_t thread) {
    next_.thread = thread;
    return *this;
  }
  hand_made_program& returns(ze_result_t result) {
    next_.result = static_cast<uint32_t>(result);
    return *this;
  }
  hand_made_program& never_returns() {
    next_.did_return = false;
    return *this;
  }
  hand_made_program& takes_ns(uint64_t duration) {
    duration_ns_ = duration;
    return *this;
  }
  hand_made_program& at_ns(uint64_t start) {
    time_ns_ = start;
    return *this;
  }

  template <typename Fill>
  number call(function which, Fill&& fill) {
    next_.clear();
    next_.number = number{calls_++};
    next_.which = which;
    next_.name = name_of(which);
    fill(next_);
    next_.start_ns = time_ns_;
    next_.end_ns = next_.did_return ? time_ns_ + duration_ns_ : UINT64_MAX;
    time_ns_ += 1000;
    // What comes next may start at once: only finish() and later calls bring out the end.
    sequence_.add(next_, duration_ns_ <= 1000 ? time_ns_ : 0);
    const number made = next_.number;
    next_.thread = 0;
    next_.result = 0;
    next_.did_return = true;
    duration_ns_ = 100;
    return made;
  }
  number call(function which, std::initializer_list<std::pair<argument, uint64_t>> arguments = {}) {
    return call(which, [&](call_view& c) {
      for (const auto& [a, value] : arguments) c.set(a, value);
    });
  }
  void finish() { sequence_.finish(); }

  handle new_handle() { return handles_ += 0x100; }

  handle device() {
    const handle made = new_handle();
    call(function::zeDeviceGet,
         [&](call_view& c) { c.set_list(argument::phDevices, std::vector{made}); });
    return made;
  }
  handle context() {
    const handle made = new_handle();
    call(function::zeContextCreate, {{argument::phContext, made}});
    return made;
  }
  handle pool(handle in, uint32_t count = 16, uint32_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE) {
    const handle made = new_handle();
    call(function::zeEventPoolCreate, {{argument::hContext, in},
                                       {argument::desc, 1},
                                       {argument::flags, flags},
                                       {argument::count, count},
                                       {argument::numDevices, 0},
                                       {argument::phEventPool, made}});
    return made;
  }
  handle event(handle of, uint32_t index = 0, uint32_t signal = ZE_EVENT_SCOPE_FLAG_HOST,
               uint32_t wait = 0) {
    const handle made = new_handle();
    call(function::zeEventCreate, {{argument::hEventPool, of},
                                   {argument::desc, 1},
                                   {argument::index, index},
                                   {argument::signal_scope, signal},
                                   {argument::wait_scope, wait},
                                   {argument::phEvent, made}});
    return made;
  }
  handle counter_event(handle in, handle device,
                       uint32_t flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                        ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                                        ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE) {
    const handle made = new_handle();
    call(function::zeEventCounterBasedCreate, {{argument::hContext, in},
                                               {argument::hDevice, device},
                                               {argument::desc, 1},
                                               {argument::flags, flags},
                                               {argument::signal_scope, ZE_EVENT_SCOPE_FLAG_HOST},
                                               {argument::phEvent, made}});
    return made;
  }
  handle immediate_list(handle in, handle device, uint32_t flags = 0,
                        ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) {
    const handle made = new_handle();
    call(function::zeCommandListCreateImmediate, {{argument::hContext, in},
                                                  {argument::hDevice, device},
                                                  {argument::desc, 1},
                                                  {argument::flags, flags},
                                                  {argument::ordinal, 0},
                                                  {argument::mode, mode},
                                                  {argument::phCommandList, made}});
    return made;
  }
  handle in_order_immediate_list(handle in, handle device) {
    return immediate_list(in, device, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  }
  handle list(handle in, handle device, uint32_t flags = 0) {
    const handle made = new_handle();
    call(function::zeCommandListCreate, {{argument::hContext, in},
                                         {argument::hDevice, device},
                                         {argument::desc, 1},
                                         {argument::flags, flags},
                                         {argument::ordinal, 0},
                                         {argument::phCommandList, made}});
    return made;
  }
  handle queue(handle in, handle device, uint32_t flags = 0,
               ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) {
    const handle made = new_handle();
    call(function::zeCommandQueueCreate, {{argument::hContext, in},
                                          {argument::hDevice, device},
                                          {argument::desc, 1},
                                          {argument::flags, flags},
                                          {argument::ordinal, 0},
                                          {argument::mode, mode},
                                          {argument::phCommandQueue, made}});
    return made;
  }
  handle fence(handle of) {
    const handle made = new_handle();
    call(function::zeFenceCreate,
         {{argument::hCommandQueue, of}, {argument::desc, 1}, {argument::phFence, made}});
    return made;
  }
  handle memory(handle in, handle device, uint64_t bytes,
                function how = function::zeMemAllocDevice) {
    const handle made = memory_ += 0x100'0000;
    call(how, {{argument::hContext, in},
               {argument::hDevice, device},
               {argument::size, bytes},
               {argument::pptr, made}});
    return made;
  }

  number copy(handle on, uint64_t to, uint64_t from, uint64_t bytes, const events& e = {}) {
    return append(function::zeCommandListAppendMemoryCopy, on, e,
                  {{argument::dstptr, to}, {argument::srcptr, from}, {argument::size, bytes}});
  }
  number fill(handle on, uint64_t to, uint64_t bytes, const events& e = {},
              uint64_t pattern_bytes = 1) {
    return append(
        function::zeCommandListAppendMemoryFill, on, e,
        {{argument::ptr, to}, {argument::size, bytes}, {argument::pattern_size, pattern_bytes}});
  }
  number barrier(handle on, const events& e = {}) {
    return append(function::zeCommandListAppendBarrier, on, e);
  }
  number launch(handle on, handle kernel, const events& e = {}) {
    return append(function::zeCommandListAppendLaunchKernel, on, e, {{argument::hKernel, kernel}});
  }
  number append(function which, handle on, const events& e,
                std::initializer_list<std::pair<argument, uint64_t>> more = {}) {
    return call(which, [&](call_view& c) {
      c.set(argument::hCommandList, on);
      c.set(argument::hSignalEvent, e.signal);
      c.set(argument::numWaitEvents, e.waits.size());
      if (e.waits.empty())
        c.set_null(argument::phWaitEvents);
      else
        c.set_list(argument::phWaitEvents, e.waits);
      for (const auto& [a, value] : more) c.set(a, value);
    });
  }
  number signal(handle on, handle event) {
    return call(function::zeCommandListAppendSignalEvent,
                {{argument::hCommandList, on}, {argument::hEvent, event}});
  }
  number reset(handle on, handle event) {
    return call(function::zeCommandListAppendEventReset,
                {{argument::hCommandList, on}, {argument::hEvent, event}});
  }
  number wait(handle on, const std::vector<handle>& waits) {
    return call(function::zeCommandListAppendWaitOnEvents, [&](call_view& c) {
      c.set(argument::hCommandList, on);
      c.set(argument::numEvents, waits.size());
      c.set_list(argument::phEvents, waits);
    });
  }
  number close(handle list) {
    return call(function::zeCommandListClose, {{argument::hCommandList, list}});
  }
  number reset_list(handle list) {
    return call(function::zeCommandListReset, {{argument::hCommandList, list}});
  }
  number execute(handle queue, const std::vector<handle>& lists, handle fence = 0) {
    return call(function::zeCommandQueueExecuteCommandLists, [&](call_view& c) {
      c.set(argument::hCommandQueue, queue);
      c.set(argument::numCommandLists, lists.size());
      c.set_list(argument::phCommandLists, lists);
      c.set(argument::hFence, fence);
    });
  }
  number synchronise(handle event, uint64_t timeout = UINT64_MAX) {
    return call(function::zeEventHostSynchronize,
                {{argument::hEvent, event}, {argument::timeout, timeout}});
  }
  number query(handle event) {
    return call(function::zeEventQueryStatus, {{argument::hEvent, event}});
  }
  number host_signal(handle event) {
    return call(function::zeEventHostSignal, {{argument::hEvent, event}});
  }
  number host_reset(handle event) {
    return call(function::zeEventHostReset, {{argument::hEvent, event}});
  }
  number synchronise_queue(handle queue) {
    return call(function::zeCommandQueueSynchronize,
                {{argument::hCommandQueue, queue}, {argument::timeout, UINT64_MAX}});
  }
  number synchronise_list(handle list) {
    return call(function::zeCommandListHostSynchronize,
                {{argument::hCommandList, list}, {argument::timeout, UINT64_MAX}});
  }
  number free(handle in, uint64_t memory) {
    return call(function::zeMemFree, {{argument::hContext, in}, {argument::ptr, memory}});
  }
  number destroy_event(handle event) {
    return call(function::zeEventDestroy, {{argument::hEvent, event}});
  }

 private:
  call_sequence<Sink> sequence_;
  call_view next_;
  uint64_t calls_ = 0;
  uint64_t time_ns_ = 1000;
  uint64_t duration_ns_ = 100;
  handle handles_ = 0x1000;
  uint64_t memory_ = 0x10'0000'0000;
};

}  // namespace zevent::model
