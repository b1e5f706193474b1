// The other process of the IPC tests: does what it is asked over the socket on descriptor 3.

#include <dirent.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ipc_message.hpp"

namespace zevent::driver::test {
namespace {

constexpr uint64_t patience_ns = 10'000'000'000;

void must(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::fprintf(stderr, "ipc_peer: %s: %#x\n", what, static_cast<unsigned>(result));
  std::exit(1);
}

class peer {
 public:
  peer() {
    must(zeInit(0), "zeInit");
    uint32_t count = 1;
    must(zeDriverGet(&count, &driver_), "zeDriverGet");
    must(zeDeviceGet(driver_, &count, &device_), "zeDeviceGet");
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    must(zeContextCreate(driver_, &desc, &context_), "zeContextCreate");
    ze_command_queue_desc_t queue = {};
    queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    must(zeCommandListCreateImmediate(context_, device_, &queue, &list_), "create list");
  }

  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  ~peer() {
    for (const auto each : events_) zeEventDestroy(each);
    if (gate_ != nullptr) zeEventDestroy(gate_);
    for (const auto each : gates_) zeEventPoolDestroy(each);
    if (pool_ != nullptr) zeEventPoolDestroy(pool_);
    if (counter_ != nullptr) zeEventDestroy(counter_);
    zeCommandListDestroy(list_);
    zeContextDestroy(context_);
  }

  void answer(message& m) {
    switch (m.what) {
      case ask::create_pool:
        m.result = create_pool(m);
        break;
      case ask::open_pool:
        m.result = open_pool(m);
        break;
      case ask::close_pool:
        m.result = close_pool();
        break;
      case ask::reopen_pool:
        m.result = reopen(m, [&] {
          const ze_result_t result = open_pool(m);
          return result == ZE_RESULT_SUCCESS ? close_pool() : result;
        });
        break;
      case ask::signal_event:
        m.result = zeEventHostSignal(events_.at(m.argument));
        break;
      case ask::wait_event:
        m.result = zeEventHostSynchronize(events_.at(m.argument), patience_ns);
        break;
      case ask::query_event:
        m.result = zeEventQueryStatus(events_.at(m.argument));
        break;
      case ask::device_wait:
        m.result = device_wait(events_.at(m.argument));
        break;
      case ask::create_counter:
        m.result = create_counter();
        break;
      case ask::append_signal:
        m.result = append_signal();
        break;
      case ask::open_gate:
        m.result = zeEventHostSignal(gate_);
        break;
      case ask::export_counter:
        m.result = export_counter(m);
        break;
      case ask::open_counter:
        m.result = open_counter(m);
        break;
      case ask::close_counter:
        m.result = zeEventCounterBasedCloseIpcHandle(std::exchange(counter_, nullptr));
        break;
      case ask::reopen_counter:
        m.result = reopen(m, [&] {
          const ze_result_t result = open_counter(m);
          if (result != ZE_RESULT_SUCCESS) return result;
          return zeEventCounterBasedCloseIpcHandle(std::exchange(counter_, nullptr));
        });
        break;
      case ask::wait_counter:
        m.result = zeEventHostSynchronize(counter_, patience_ns);
        break;
      case ask::query_counter:
        m.result = zeEventQueryStatus(counter_);
        break;
      case ask::create_memory:
        m.result = create_memory(m);
        break;
      case ask::open_memory:
        m.result = open_memory(m);
        break;
      case ask::close_memory:
        m.result = zeMemCloseIpcHandle(context_, memory_);
        break;
      case ask::reopen_memory:
        m.result = reopen(m, [&] {
          message copy = m;
          const ze_result_t result = open_memory(copy);
          if (result != ZE_RESULT_SUCCESS) return result;
          return zeMemCloseIpcHandle(context_, std::exchange(memory_, nullptr));
        });
        break;
      case ask::read_memory:
        m.argument = static_cast<unsigned char*>(memory_)[0];
        break;
      case ask::put_memory: {
        ze_ipc_mem_handle_t handle;
        std::memcpy(&handle, m.handle, sizeof handle);
        m.result = zeMemPutIpcHandle(context_, handle);
        break;
      }
      case ask::destroy_all:
        destroy_all();
        break;
      case ask::count_descriptors:
        m.argument = count_entries("/proc/self/fd");
        break;
      case ask::count_maps:
        m.argument = count_entries("/proc/self/map_files");
        break;
      case ask::count_shared_files:
        m.argument = count_entries("/dev/shm", "zevent");
        break;
    }
  }

 private:
  static uint64_t count_entries(const char* folder, const char* part_of_name = "") {
    uint64_t count = 0;
    DIR* open = opendir(folder);
    if (open == nullptr) return 0;
    while (const dirent* each = readdir(open)) {
      if (std::strstr(each->d_name, part_of_name) != nullptr) ++count;
    }
    closedir(open);
    return count;
  }

  template <typename Round>
  static ze_result_t reopen(const message& m, Round&& round) {
    for (uint64_t i = 0; i < m.argument; ++i) {
      const ze_result_t result = round();
      if (result != ZE_RESULT_SUCCESS) return result;
    }
    return ZE_RESULT_SUCCESS;
  }

  void create_events(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      ze_event_desc_t desc = {};
      desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
      desc.index = i;
      ze_event_handle_t made = nullptr;
      must(zeEventCreate(pool_, &desc, &made), "zeEventCreate");
      events_.push_back(made);
    }
  }

  ze_result_t create_pool(message& m) {
    const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC, 4};
    must(zeEventPoolCreate(context_, &desc, 0, nullptr, &pool_), "zeEventPoolCreate");
    create_events(4);
    ze_ipc_event_pool_handle_t handle = {};
    const ze_result_t result = zeEventPoolGetIpcHandle(pool_, &handle);
    std::memcpy(m.handle, handle.data, sizeof m.handle);
    return result;
  }

  ze_result_t open_pool(const message& m) {
    ze_ipc_event_pool_handle_t handle;
    std::memcpy(handle.data, m.handle, sizeof handle.data);
    const ze_result_t result = zeEventPoolOpenIpcHandle(context_, handle, &pool_);
    if (result == ZE_RESULT_SUCCESS) create_events(4);
    return result;
  }

  ze_result_t close_pool() {
    for (const auto each : events_) must(zeEventDestroy(each), "zeEventDestroy");
    events_.clear();
    return zeEventPoolCloseIpcHandle(std::exchange(pool_, nullptr));
  }

  ze_result_t device_wait(ze_event_handle_t event) {
    must(zeCommandListAppendWaitOnEvents(list_, 1, &event), "append wait");
    return zeCommandListHostSynchronize(list_, patience_ns);
  }

  ze_result_t create_counter() {
    ze_event_counter_based_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE |
                 ZE_EVENT_COUNTER_BASED_FLAG_IPC;
    return zeEventCounterBasedCreate(context_, device_, &desc, &counter_);
  }

  ze_result_t append_signal() {
    const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_pool_handle_t gates = nullptr;
    must(zeEventPoolCreate(context_, &desc, 0, nullptr, &gates), "zeEventPoolCreate");
    gates_.push_back(gates);
    if (gate_ != nullptr) must(zeEventDestroy(gate_), "zeEventDestroy");
    ze_event_desc_t gate = {};
    gate.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    must(zeEventCreate(gates, &gate, &gate_), "zeEventCreate");
    return zeCommandListAppendBarrier(list_, counter_, 1, &gate_);
  }

  ze_result_t export_counter(message& m) {
    ze_ipc_event_counter_based_handle_t handle = {};
    const ze_result_t result = zeEventCounterBasedGetIpcHandle(counter_, &handle);
    std::memcpy(m.handle, handle.data, sizeof m.handle);
    return result;
  }

  ze_result_t open_counter(const message& m) {
    ze_ipc_event_counter_based_handle_t handle;
    std::memcpy(handle.data, m.handle, sizeof handle.data);
    return zeEventCounterBasedOpenIpcHandle(context_, handle, &counter_);
  }

  ze_result_t create_memory(message& m) {
    const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    must(zeMemAllocDevice(context_, &desc, m.argument, 0, device_, &memory_), "zeMemAllocDevice");
    std::memset(memory_, 0x5a, m.argument);
    ze_ipc_mem_handle_t handle = {};
    const ze_result_t result = zeMemGetIpcHandle(context_, memory_, &handle);
    std::memcpy(m.handle, handle.data, sizeof m.handle);
    return result;
  }

  ze_result_t open_memory(message& m) {
    ze_ipc_mem_handle_t handle;
    std::memcpy(handle.data, m.handle, sizeof handle.data);
    const ze_result_t result = zeMemOpenIpcHandle(context_, device_, handle, 0, &memory_);
    if (result != ZE_RESULT_SUCCESS) return result;
    void* base = nullptr;
    size_t bytes = 0;
    must(zeMemGetAddressRange(context_, memory_, &base, &bytes), "zeMemGetAddressRange");
    m.argument = static_cast<unsigned char*>(memory_)[bytes - 1];
    std::memset(memory_, 0xa5, bytes);
    return result;
  }

  void destroy_all() {
    for (const auto each : events_) must(zeEventDestroy(each), "zeEventDestroy");
    events_.clear();
    if (pool_ != nullptr) must(zeEventPoolDestroy(pool_), "zeEventPoolDestroy");
    if (counter_ != nullptr) must(zeEventDestroy(counter_), "zeEventDestroy");
    if (memory_ != nullptr) must(zeMemFree(context_, memory_), "zeMemFree");
    pool_ = nullptr;
    counter_ = nullptr;
    memory_ = nullptr;
  }

  ze_driver_handle_t driver_ = nullptr;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  ze_event_pool_handle_t pool_ = nullptr;
  std::vector<ze_event_handle_t> events_;
  ze_event_handle_t counter_ = nullptr;
  ze_event_handle_t gate_ = nullptr;
  std::vector<ze_event_pool_handle_t> gates_;
  void* memory_ = nullptr;
};

}  // namespace
}  // namespace zevent::driver::test

int main() {
  using namespace zevent::driver::test;
  constexpr int socket = 3;
  if (const char* user = std::getenv("IPC_PEER_USER")) {
    if (setuid(static_cast<uid_t>(std::atoi(user))) != 0) return 1;
  }
  peer self;
  message m;
  int descriptor = -1;
  while (receive_message(socket, m, descriptor)) {
    self.answer(m);
    if (descriptor >= 0) close(descriptor);
    if (!send_message(socket, m)) return 1;
  }
  return 0;
}
