#include "model/process_model.hpp"

#include <level_zero/ze_api.h>

#include <algorithm>

namespace zevent::model {
namespace {

using enum argument;

bool is_synchronous(uint64_t mode) {
  return mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
}

uint32_t as_32_bits(uint64_t value) {
  return static_cast<uint32_t>(value);
}

}  // namespace

process_model::~process_model() {
  // Objects, commands and runs refer to one another.
  executor_.clear();
  lists.for_each_alive([](command_list& each) {
    each.commands.clear();
    each.own = {};
    each.executed_on = {};
  });
  queues.for_each_alive([](command_queue& each) { each.own = {}; });
  events.for_each_alive([](event& each) {
    each.signals.clear();
    each.uses.clear();
    each.parked.clear();
    each.aggregated.clear();
    each.last_signal = {};
  });
  kernels.for_each_alive([](kernel& each) { each.uses.clear(); });
  images.for_each_alive([](image& each) { each.uses.clear(); });
}

void process_model::begin(const call_view& call) {
  // What failed did nothing. What did not return may have.
  if (call.did_return && call.result != ZE_RESULT_SUCCESS) return;
  using enum function;
  if (is_append(call.which)) {
    if (call.which == zeCommandListImmediateAppendCommandListsExp ||
        call.which == zeCommandListImmediateAppendCommandListsWithParameters)
      return append_lists(call);
    return append(call);
  }
  switch (call.which) {
    case zeEventHostSignal:
      if (event* which = events.find_alive(call[hEvent]); which != nullptr && !which->counter_based)
        executor_.host_signals(*which, call.number);
      return;
    case zeEventHostReset:
      if (event* which = events.find_alive(call[hEvent]); which != nullptr && !which->counter_based)
        executor_.host_resets(*which, call.number);
      return;
    case zeCommandQueueExecuteCommandLists:
      return execute(call);
    case zeCommandListClose:
      if (command_list* list = lists.find_alive(call[hCommandList])) {
        list->closed = true;
        list->updated = no_call;
      }
      return;
    case zeCommandListReset:
      return reset_list(call);
    case zeKernelSetArgumentValue:
      return set_kernel_argument(call);
    case zeFenceReset:
      if (fence* which = fences.find_alive(call[hFence])) which->pending = 0;
      return;
    case zeCommandListUpdateMutableCommandsExp:
    case zeCommandListUpdateMutableCommandSignalEventExp:
    case zeCommandListUpdateMutableCommandWaitEventsExp:
    case zeCommandListUpdateMutableCommandKernelsExp:
      return update_mutable(call);
    case zeCommandListBeginGraphCaptureExt:
    case zeCommandListBeginCaptureIntoGraphExt:
      return begin_capture(call);
    default:
      return destroy(call);
  }
}

namespace {

// What a call that succeeded tells when it returns.
enum class news : uint8_t {
  none,
  of_event,
  of_everything_waited_for,
  of_queue,
  of_list,
  of_objects
};

news news_at_end(function which) {
  using enum function;
  if (is_append(which)) return news::of_list;
  switch (which) {
    case zeEventHostSynchronize:
    case zeEventQueryStatus:
    case zeEventQueryKernelTimestamp:
      return news::of_event;
    case zeCommandQueueSynchronize:
    case zeCommandListHostSynchronize:
    case zeFenceHostSynchronize:
    case zeFenceQueryStatus:
    case zeDeviceSynchronize:
      return news::of_everything_waited_for;
    case zeCommandQueueExecuteCommandLists:
      return news::of_queue;
    case zeCommandListClose:
    case zeCommandListReset:
    case zeEventDestroy:
    case zeEventHostReset:
    case zeEventHostSignal:
    case zeFenceReset:
    case zeKernelSetArgumentValue:
    case zeMemFree:
      return news::none;
    default:
      return news::of_objects;
  }
}

}  // namespace

void process_model::end(const call_view& call) {
  if (!learns_at_end(call)) return;
  switch (news_at_end(call.which)) {
    case news::none:
      return;
    case news::of_event:
      if (event* which = events.find_alive(call[hEvent])) executor_.learn(*which);
      return;
    case news::of_everything_waited_for:
      return synchronise(call);
    case news::of_queue: {
      const command_queue& queue = *queues.find_alive(call[hCommandQueue]);
      return executor_.learn(*queue.own, queue.own->line->last);
    }
    case news::of_list: {
      const command_list& list = *lists.find_alive(call[hCommandList]);
      return executor_.learn(*list.own, list.own->line->last);
    }
    case news::of_objects:
      return create(call);
  }
}

bool process_model::learns_at_end(const call_view& call) const {
  if (!call.did_return || call.result != ZE_RESULT_SUCCESS) return false;
  switch (news_at_end(call.which)) {
    case news::none:
      return false;
    case news::of_queue: {
      const command_queue* queue = queues.find_alive(call[hCommandQueue]);
      return queue != nullptr && queue->synchronous;
    }
    case news::of_list: {
      const command_list* list = lists.find_alive(call[hCommandList]);
      return list != nullptr && list->synchronous && list->own;
    }
    default:
      return true;
  }
}

void process_model::create(const call_view& call) {
  using enum function;
  switch (call.which) {
    case zeDeviceGet:
    case zeDeviceGetSubDevices:
      return note_devices(call);
    case zeDeviceGetRootDevice:
    case zeDeviceGetProperties:
    case zeDeviceGetCommandQueueGroupProperties:
    case zeDeviceGetMemoryAccessProperties:
    case zeDeviceCanAccessPeer:
    case zeDeviceGetCounterBasedEventMaxValue:
      return note_device_facts(call);
    case zeDriverGetProperties:
      driver_version = as_32_bits(call[argument::driver_version]);
      return;
    case zeContextCreate:
    case zeContextCreateEx:
      contexts.add(call[phContext], call);
      return;
    case zeDriverGetDefaultContext:
      if (contexts.find_alive(call[returned]) == nullptr) contexts.add(call[returned], call);
      return;
    case zeEventPoolCreate:
    case zeEventPoolOpenIpcHandle:
      return create_pool(call);
    case zeEventPoolGetIpcHandle:
      if (event_pool* pool = pools.find_alive(call[hEventPool])) pool->exported = true;
      return;
    case zeEventCreate:
      return create_event(call);
    case zeEventCounterBasedCreate:
    case zexCounterBasedEventCreate2:
    case zexCounterBasedEventCreate:
      return create_counter_event(call);
    case zeEventCounterBasedOpenIpcHandle:
    case zexCounterBasedEventOpenIpcHandle:
      return open_counter_event(call);
    case zeEventCounterBasedGetIpcHandle:
    case zexCounterBasedEventGetIpcHandle:
      if (event* which = events.find_alive(call[hEvent])) which->exported = true;
      return;
    case zeCommandListCreate:
    case zeCommandListCreateImmediate:
    case zeCommandListCreateCloneExp:
      return create_list(call);
    case zeCommandListGetNextCommandIdExp:
    case zeCommandListGetNextCommandIdWithKernelsExp:
      if (command_list* list = lists.find_alive(call[hCommandList]))
        list->next_ids.push_back(call[commandId]);
      return;
    case zeCommandQueueCreate:
      return create_queue(call);
    case zeFenceCreate:
      if (fence* made = fences.add(call[phFence], call)) {
        made->queue = ref<command_queue>(queues.find_alive(call[hCommandQueue]));
        if (made->queue) ++made->queue->live_fences;
      }
      return;
    case zeMemAllocHost:
      return create_memory(call, memory_kind::host);
    case zeMemAllocDevice:
      return create_memory(call, memory_kind::device);
    case zeMemAllocShared:
      return create_memory(call, memory_kind::shared);
    case zeMemOpenIpcHandle:
    case zeVirtualMemReserve:
    case zexDriverImportExternalPointer:
      return open_address_range(call);
    case zeModuleCreate:
      return create_module(call);
    case zeKernelCreate:
      return create_kernel(call);
    case zeKernelGetProperties:
      if (kernel* which = kernels.find_alive(call[hKernel]))
        which->parameter_count = as_32_bits(call[kernel_argument_count]);
      return;
    case zeImageCreate:
    case zeImageViewCreateExt:
    case zeImageViewCreateExp:
      if (image* made = images.add(call[phImage], call))
        made->owner = ref<context>(contexts.find_alive(call[hContext]));
      return;
    case zeSamplerCreate:
      if (sampler* made = samplers.add(call[phSampler], call))
        made->owner = ref<context>(contexts.find_alive(call[hContext]));
      return;
    case zeGraphCreateExt:
      graphs.add(call[phGraph], call);
      return;
    case zeCommandListEndGraphCaptureExt:
      return end_capture(call);
    case zeCommandListGetGraphExt:
      if (const command_list* list = lists.find_alive(call[hCommandList]);
          list != nullptr && list->capture && call[phGraph] != 0)
        captured_graphs_[call[phGraph]] = list->capture;
      return;
    case zeGraphPauseCaptureExt:
      return pause_capture(call, true);
    case zeGraphResumeCaptureExt:
      return pause_capture(call, false);
    case zexKernelSetArgumentVariable:
      if (kernel* which = kernels.find_alive(call[hKernel])) which->all_set = true;
      return;
    case zeGraphInstantiateExt:
      if (executable_graph* made = executable_graphs.add(call[phExecutableGraph], call))
        made->source = ref<graph>(graphs.find_alive(call[hGraph]));
      return;
    default:
      return;
  }
}

void process_model::destroy(const call_view& call) {
  using enum function;
  const auto bury = [&](auto& table, argument which) {
    if (auto* dead = table.find_alive(call[which])) table.bury(*dead, call.number);
  };
  switch (call.which) {
    case zeEventDestroy:
    case zeEventCounterBasedCloseIpcHandle:
    case zexCounterBasedEventCloseIpcHandle:
      if (event* dead = events.find_alive(call[hEvent])) destroy_event(*dead, call.number);
      return;
    case zeEventPoolDestroy:
    case zeEventPoolCloseIpcHandle:
      return destroy_pool(call);
    case zeCommandListDestroy:
      return destroy_list(call);
    case zeCommandQueueDestroy:
      return destroy_queue(call);
    case zeFenceDestroy:
      if (fence* dead = fences.find_alive(call[hFence]); dead != nullptr && dead->queue)
        --dead->queue->live_fences;
      return bury(fences, hFence);
    case zeMemFree:
    case zeMemFreeExt:
    case zeMemCloseIpcHandle:
      return free_memory(call);
    case zeModuleDestroy:
      return bury(modules, hModule);
    case zeKernelDestroy:
      if (kernel* dead = kernels.find_alive(call[hKernel])) {
        dead->uses.clear();
        if (dead->owner) --dead->owner->live_kernels;
      }
      return bury(kernels, hKernel);
    case zeImageDestroy:
      if (image* dead = images.find_alive(call[hImage])) dead->uses.clear();
      return bury(images, hImage);
    case zeSamplerDestroy:
      return bury(samplers, hSampler);
    case zeContextDestroy:
      if (const context* dead = contexts.find_alive(call[hContext])) forget_memory_of(*dead);
      return bury(contexts, hContext);
    case zeGraphDestroyExt:
      return bury(graphs, hGraph);
    case zeExecutableGraphDestroyExt:
      return bury(executable_graphs, hGraph);
    default:
      return;
  }
}

void process_model::create_pool(const call_view& call) {
  event_pool* made = pools.add(call[phEventPool], call);
  if (made == nullptr) return;
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  made->imported = call.which == function::zeEventPoolOpenIpcHandle;
  if (made->imported) {
    // Its flags are the exporter's; one that could be exported is visible to the host as a rule.
    made->flags = ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    made->count = UINT32_MAX;
    return;
  }
  made->flags = as_32_bits(call[flags]);
  made->count = as_32_bits(call[count]);
  const auto listed = call.list(phDevices);
  made->devices.assign(listed.begin(), listed.end());
  made->counter_based = call.has(pool_counter_flags);
  made->counter_flags = as_32_bits(call[pool_counter_flags]);
}

void process_model::create_event(const call_view& call) {
  event* made = events.add(call[phEvent], call);
  if (made == nullptr) return;
  made->index = as_32_bits(call[index]);
  made->signal_scope = as_32_bits(call[signal_scope]);
  made->wait_scope = as_32_bits(call[wait_scope]);
  event_pool* pool = pools.find_alive(call[hEventPool]);
  if (pool == nullptr) return;
  made->pool = ref<event_pool>(pool);
  made->owner = pool->owner;
  made->counter_based = pool->counter_based;
  if (pool->counter_based) {
    made->counter_flags = pool->counter_flags;
    if (made->counter_flags == 0) made->counter_flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
  }
  made->imported = pool->imported;
  made->foreign = pool->imported;
  made->host_visible = (pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) != 0;
  made->timestamps = (pool->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                                     ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)) != 0;
  made->mapped_timestamps = (pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP) != 0;
  pool->slots[made->index] = made;
}

void process_model::create_counter_event(const call_view& call) {
  event* made = events.add(call[phEvent], call);
  if (made == nullptr) return;
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  made->device = call[hDevice];
  made->counter_based = true;
  made->signal_scope = as_32_bits(call[signal_scope]);
  made->wait_scope = as_32_bits(call[wait_scope]);
  const bool described = call.which != function::zexCounterBasedEventCreate && call.has(desc);
  if (described) {
    made->counter_flags = as_32_bits(call[flags]);
  } else {
    made->counter_flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                          ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                          ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
  }
  if (!described && call.which == function::zexCounterBasedEventCreate2)
    made->signal_scope = ZE_EVENT_SCOPE_FLAG_HOST;
  const uint32_t kinds =
      ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
  if ((made->counter_flags & kinds) == 0)
    made->counter_flags |= ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
  made->host_visible = (made->counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE) != 0;
  made->timestamps = (made->counter_flags & (ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP |
                                             ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP)) != 0;
  made->mapped_timestamps = (made->counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP) != 0;
  if (call[aggregate_address] != 0) {
    made->storage = counter_storage::aggregate;
    made->storage_address = call[aggregate_address];
    made->storage_increment = call[aggregate_increment];
    made->storage_value = call[aggregate_value];
  } else if (call[external_device_address] != 0) {
    made->storage = counter_storage::external;
    made->storage_address = call[external_device_address];
    made->storage_value = call[external_value];
    made->foreign = true;  // until an append takes it over
  }
}

void process_model::open_counter_event(const call_view& call) {
  event* made = events.add(call[phEvent], call);
  if (made == nullptr) return;
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  made->counter_based = true;
  made->imported = true;
  made->foreign = true;
  made->counter_flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                        ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                        ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE | ZE_EVENT_COUNTER_BASED_FLAG_IPC;
  made->signal_scope = ZE_EVENT_SCOPE_FLAG_HOST;
}

void process_model::create_list(const call_view& call) {
  command_list* made = lists.add(call[phCommandList], call);
  if (made == nullptr) return;
  if (call.which == function::zeCommandListCreateCloneExp) {
    const command_list* source = lists.find_alive(call[hCommandList]);
    if (source != nullptr) clone_list(*source, *made);
    return;
  }
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  made->device = call[hDevice];
  made->ordinal = as_32_bits(call[ordinal]);
  made->flags = as_32_bits(call[flags]);
  made->modifiable = call.has(mutable_flags);
  made->immediate = call.which == function::zeCommandListCreateImmediate;
  if (!made->immediate) {
    made->in_order = (made->flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0;
    made->relaxed = (made->flags & ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING) != 0;
    return;
  }
  made->in_order = (made->flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0;
  made->synchronous = is_synchronous(call[mode]);
  made->own = executor_.open_stream(made->in_order);
  made->own->handle = made->handle;
  made->own->device = made->device;
  made->own->owner = made->owner;
}

void process_model::create_queue(const call_view& call) {
  command_queue* made = queues.add(call[phCommandQueue], call);
  if (made == nullptr) return;
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  made->device = call[hDevice];
  made->ordinal = as_32_bits(call[ordinal]);
  made->index = as_32_bits(call[index]);
  made->flags = as_32_bits(call[flags]);
  made->synchronous = is_synchronous(call[mode]);
  made->own = executor_.open_stream(false);
  made->own->is_queue = true;
  made->own->handle = made->handle;
  made->own->device = made->device;
  made->own->owner = made->owner;
}

void process_model::create_memory(const call_view& call, memory_kind where) {
  allocation* made = memory_.add(call[pptr], call);
  if (made == nullptr) return;
  // Nothing reaches past the end of the address space, whatever the file says.
  made->bytes = std::min(call[size], UINT64_MAX - made->handle);
  made->where = where;
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  made->device = call[hDevice];
  // What the driver gives out is not in use by anything else, even where no free was seen.
  freed_.claim(made->handle, made->end());
  auto each = live_memory_.upper_bound(made->handle);
  if (each != live_memory_.begin() && std::prev(each)->second->end() > made->handle) --each;
  while (each != live_memory_.end() && each->first < made->end()) each = live_memory_.erase(each);
  live_memory_[made->handle] = ref<allocation>(made);
}

// Memory whose lifetime and extent are not followed, in addresses that may have been an
// allocation's before.
void process_model::open_address_range(const call_view& call) {
  using enum function;
  const uint64_t first = call.which == zexDriverImportExternalPointer ? call[ptr] : call[pptr];
  if (first == 0) return;
  uint64_t end = 0;
  if (call.which == zeMemOpenIpcHandle) {
    // How large it is, only the exporter knows: no further than to the next allocation.
    const allocation* next = find_memory_after(first);
    end = next != nullptr ? next->handle : UINT64_MAX;
  } else if (__builtin_add_overflow(first, call[size], &end)) {
    end = UINT64_MAX;
  }
  freed_.claim(first, end);
}

// Whether a driver frees the memory of a context with it is open, and so is what its addresses are
// from then on.
void process_model::forget_memory_of(const context& destroyed) {
  std::erase_if(live_memory_,
                [&](const auto& each) { return each.second->owner.get() == &destroyed; });
}

void process_model::create_module(const call_view& call) {
  module* made = modules.add(call[phModule], call);
  if (made == nullptr) return;
  made->owner = ref<context>(contexts.find_alive(call[hContext]));
  if (call[module_format] == ZE_MODULE_FORMAT_IL_SPIRV)
    made->kernels = spirv_kernels(call.bytes(module_bytes));
}

void process_model::create_kernel(const call_view& call) {
  kernel* made = kernels.add(call[phKernel], call);
  if (made == nullptr) return;
  const auto name = call.bytes(kernel_name);
  made->name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  made->owner = ref<module>(modules.find_alive(call[hModule]));
  if (!made->owner) return;
  ++made->owner->live_kernels;
  if (const auto found = made->owner->kernels.find(made->name); found != made->owner->kernels.end())
    made->parameters = found->second;
}

void process_model::destroy_event(event& dead, call_number call) {
  if (dead.pool) {
    const auto slot = dead.pool->slots.find(dead.index);
    if (slot != dead.pool->slots.end() && slot->second == &dead) dead.pool->slots.erase(slot);
  }
  events.bury(dead, call);
  executor_.abandon(dead);
}

void process_model::destroy_pool(const call_view& call) {
  event_pool* dead = pools.find_alive(call[hEventPool]);
  if (dead == nullptr) return;
  const auto orphans = std::exchange(dead->slots, {});
  for (const auto& [slot, each] : orphans) {
    if (each->alive()) destroy_event(*each, call.number);
  }
  pools.bury(*dead, call.number);
}

void process_model::destroy_list(const call_view& call) {
  command_list* dead = lists.find_alive(call[hCommandList]);
  if (dead == nullptr) return;
  if (dead->own) executor_.close_stream(*dead->own);
  dead->own = {};
  dead->executed_on = {};
  dead->commands.clear();
  lists.bury(*dead, call.number);
}

void process_model::destroy_queue(const call_view& call) {
  command_queue* dead = queues.find_alive(call[hCommandQueue]);
  if (dead == nullptr) return;
  executor_.close_stream(*dead->own);
  dead->own = {};
  queues.bury(*dead, call.number);
}

void process_model::free_memory(const call_view& call) {
  allocation* dead = memory_.find_alive(call[ptr]);
  if (dead == nullptr) return;
  executor_.memory().forget(dead->handle, dead->end());
  live_memory_.erase(dead->handle);
  const ref<allocation> freed(dead);
  memory_.bury(*dead, call.number);
  freed_.add(freed);
}

allocation* process_model::find_memory(uint64_t address) const {
  auto after = live_memory_.upper_bound(address);
  if (after == live_memory_.begin()) return nullptr;
  allocation* found = std::prev(after)->second.get();
  return address < found->end() ? found : nullptr;
}

const allocation* process_model::find_memory_after(uint64_t address) const {
  const auto after = live_memory_.upper_bound(address);
  return after != live_memory_.end() ? after->second.get() : nullptr;
}

void process_model::set_kernel_argument(const call_view& call) {
  kernel* which = kernels.find_alive(call[hKernel]);
  const auto at = call[argIndex];
  if (which == nullptr || at >= 4096) return;
  if (which->arguments.size() <= at) which->arguments.resize(static_cast<size_t>(at) + 1);
  auto& place = which->arguments[static_cast<size_t>(at)];
  place = {};
  place.is_set = true;
  if (call[argSize] != sizeof(uint64_t)) return;
  place.value = call[pArgValue];
  place.target = ref<allocation>(find_memory(place.value));
  if (!place.target) place.image = ref<image>(images.find_alive(place.value));
}

void process_model::note_devices(const call_view& call) {
  for (const auto handle : call.list(phDevices)) {
    if (handle == 0) continue;
    device& each = devices[handle];
    each.handle = handle;
    if (call.which == function::zeDeviceGetSubDevices && handle != call[hDevice])
      each.root = call[hDevice];
  }
}

void process_model::note_device_facts(const call_view& call) {
  if (call[hDevice] == 0) return;
  device& which = devices[call[hDevice]];
  which.handle = call[hDevice];
  using enum function;
  switch (call.which) {
    case zeDeviceGetRootDevice:
      if (call[phRootDevice] != 0 && call[phRootDevice] != which.handle)
        which.root = call[phRootDevice];
      return;
    case zeDeviceGetProperties:
      which.kernel_timestamp_valid_bits = as_32_bits(call[kernel_timestamp_valid_bits]);
      which.device_id = as_32_bits(call[device_id]);
      return;
    case zeDeviceGetMemoryAccessProperties:
      if (!call.has(shared_system_access)) return;
      which.shared_access = as_32_bits(call[shared_access]);
      which.shared_system_access = as_32_bits(call[shared_system_access]);
      return;
    case zeDeviceGetCommandQueueGroupProperties: {
      const auto sizes = call.list(max_fill_pattern);
      if (!sizes.empty()) which.max_fill_pattern.assign(sizes.begin(), sizes.end());
      return;
    }
    case zeDeviceCanAccessPeer: {
      auto& answers = (call[value] & 0xff) != 0 ? which.peers : which.not_peers;
      if (std::find(answers.begin(), answers.end(), call[hPeerDevice]) == answers.end())
        answers.push_back(call[hPeerDevice]);
      return;
    }
    case zeDeviceGetCounterBasedEventMaxValue:
      which.max_counter_value = call[maxValue];
      return;
    default:
      return;
  }
}

bool process_model::same_device(uint64_t a, uint64_t b) const {
  if (a == b) return true;
  const device* first = devices.find(a);
  const device* second = devices.find(b);
  return (first != nullptr && first->root == b) || (second != nullptr && second->root == a);
}

void process_model::synchronise(const call_view& call) {
  using enum function;
  switch (call.which) {
    case zeCommandQueueSynchronize:
      if (command_queue* queue = queues.find_alive(call[hCommandQueue]))
        executor_.learn(*queue->own, queue->own->line->last);
      return;
    case zeCommandListHostSynchronize:
      if (command_list* list = lists.find_alive(call[hCommandList]); list != nullptr && list->own)
        executor_.learn(*list->own, list->own->line->last);
      return;
    case zeFenceHostSynchronize:
    case zeFenceQueryStatus:
      // "All previous commands must complete prior to the fence being signaled."
      if (fence* which = fences.find_alive(call[hFence]);
          which != nullptr && which->pending > 0 && which->queue && which->queue->own)
        executor_.learn(*which->queue->own, which->pending);
      return;
    case zeDeviceSynchronize:
      return synchronise_device(call[hDevice]);
    default:
      return;
  }
}

void process_model::synchronise_device(uint64_t which) {
  const auto streams = executor_.streams();
  for (const auto& each : streams) {
    if (same_device(each->device, which)) executor_.learn(*each, each->line->last);
  }
}

}  // namespace zevent::model
