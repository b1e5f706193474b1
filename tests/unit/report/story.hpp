#pragma once

#include "packed.hpp"

namespace zevent::trace {

// A small program: a fill that signals an event, a copy that waits for it and signals another, a
// query that finds it not ready, a wait, an error, and a launch on an in-order list.
class story {
 public:
  // With usage, it is known that the thread of the wait had no processor for 1.5 ms.
  explicit story(bool has_usage = false) {
    create_objects();
    const uint32_t no_events = 0, one_event = 1;
    ze_event_handle_t* none = nullptr;
    ze_event_handle_t* wait_for_fill = &fill_done_;
    const uint8_t pattern = 42;
    const void* pattern_pointer = &pattern;
    const size_t pattern_bytes = 1, bytes = 4096;
    fill_ = program.call("zeCommandListAppendMemoryFill", {7000, 500}, list_, device_memory_,
                         pattern_pointer, pattern_bytes, bytes, fill_done_, no_events, none);
    copy_ = program.call("zeCommandListAppendMemoryCopy", {8000, 400}, list_, host_memory_,
                         device_memory_, bytes, copy_done_, one_event, wait_for_fill);
    program.call(
        "zeEventQueryStatus", {9000, 100}, ZE_RESULT_NOT_READY, [] {}, copy_done_);
    const uint64_t forever = UINT64_MAX;
    const auto wait =
        program.call("zeEventHostSynchronize", {10'000, 2'000'000}, copy_done_, forever);
    if (has_usage) add_usage(wait);
    program.call("zeEventQueryStatus", {2'020'000, 80}, copy_done_);
    program.call("zeEventDestroy", {2'030'000, 20}, fill_done_);
    program.call(
        "zeEventDestroy", {2'040'000, 30}, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, [] {}, copy_done_);
    program.on_thread(2, "poller");
    program.hang("zeEventHostSynchronize", 2'050'000, copy_done_, forever);
  }

  // The same, profiled: the device's clock is 1 s ahead of the host's. The copy's second time is
  // said to lie behind the moment at which the host knew that it was over.
  void add_device_times() {
    program.file.device_clock(900, 1'000'000'900);
    program.file.device_clock(2'045'000, 1'002'045'000);
    program.file.device_time(fill_, fill_, {1'000'008'000, 1'000'009'500, 7000, 2'010'000});
    program.file.device_time(copy_, copy_, {1'000'010'000, 1'001'990'000, 8000, 2'010'000});
    program.file.device_time(copy_, copy_, {1'900'000'000, 1'900'000'500, 8000, 2'010'000});
  }

  fake_program program;

 private:
  void add_usage(uint64_t wait) {
    recording::usage_record note{};
    note.header.flags = recording::usage_has_run_delay;
    note.from = 9500;
    note.until = 2'011'000;
    note.processor_ns = 20'000;
    note.run_delay_ns = 1'500'000;
    note.voluntary_switches = 2;
    note.involuntary_switches = 3;
    program.file.usage(wait, note);
  }

  uint64_t fill_ = 0, copy_ = 0;  // places of the calls

  void create_objects() {
    ze_command_queue_desc_t list_desc{};
    list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    list_desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    const auto* list_desc_pointer = &list_desc;
    auto* list_pointer = &list_;
    program.call(
        "zeCommandListCreateImmediate", {1000, 300}, ZE_RESULT_SUCCESS,
        [&] { list_ = fake_handle<ze_command_list_handle_t>(0x11); }, context_, device_,
        list_desc_pointer, list_pointer);
    make_memory("zeMemAllocHost", 2000, host_memory_, 0x100000);
    make_memory("zeMemAllocDevice", 3000, device_memory_, 0x200000);
    make_event(4000, fill_done_, 0xe0);
    make_event(5000, copy_done_, 0xe1);
  }

  void make_event(uint64_t start_ns, ze_event_handle_t& event, uint64_t handle) {
    const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
    const auto* desc_pointer = &desc;
    auto* event_pointer = &event;
    program.call(
        "zeEventCreate", {start_ns, 50}, ZE_RESULT_SUCCESS,
        [&] { event = fake_handle<ze_event_handle_t>(handle); }, pool_, desc_pointer,
        event_pointer);
  }

  void make_memory(std::string_view function, uint64_t start_ns, void*& memory, uint64_t address) {
    const ze_host_mem_alloc_desc_t host_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    const ze_device_mem_alloc_desc_t device_desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr,
                                                 0, 0};
    const auto* host_desc_pointer = &host_desc;
    const auto* device_desc_pointer = &device_desc;
    const size_t size = 8192, alignment = 64;
    auto* memory_pointer = &memory;
    const auto driver = [&] { memory = fake_handle<void*>(address); };
    if (function == "zeMemAllocHost")
      program.call(function, {start_ns, 200}, ZE_RESULT_SUCCESS, driver, context_,
                   host_desc_pointer, size, alignment, memory_pointer);
    else
      program.call(function, {start_ns, 200}, ZE_RESULT_SUCCESS, driver, context_,
                   device_desc_pointer, size, alignment, device_, memory_pointer);
  }

  ze_context_handle_t context_ = fake_handle<ze_context_handle_t>(0xc0);
  ze_device_handle_t device_ = fake_handle<ze_device_handle_t>(0xd0);
  ze_event_pool_handle_t pool_ = fake_handle<ze_event_pool_handle_t>(0x90);
  ze_command_list_handle_t list_ = nullptr;
  ze_event_handle_t fill_done_ = nullptr, copy_done_ = nullptr;
  void* host_memory_ = nullptr;
  void* device_memory_ = nullptr;
};

}  // namespace zevent::trace
