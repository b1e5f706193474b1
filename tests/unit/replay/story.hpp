#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "packed.hpp"

namespace zevent::trace {

// Calls of a program, with handles that a driver might have given out.
class story : public ::testing::Test {
 protected:
  fake_program::times when(uint64_t duration_ns = 10) {
    now_ += 100;
    return {now_, duration_ns};
  }

  ze_context_handle_t context() {
    if (context_ != nullptr) return context_;
    uint32_t one = 1;
    auto* count = &one;
    ze_driver_handle_t driver = nullptr;
    auto* drivers = &driver;
    app.call(
        "zeDriverGet", when(), ZE_RESULT_SUCCESS,
        [&] { driver = fake_handle<ze_driver_handle_t>(0xd000); }, count, drivers);
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    const auto* desc_pointer = &desc;
    auto* out = &context_;
    app.call(
        "zeContextCreate", when(), ZE_RESULT_SUCCESS,
        [&] { context_ = fake_handle<ze_context_handle_t>(0xc000); }, driver, desc_pointer, out);
    return context_;
  }

  ze_event_pool_handle_t pool(uint64_t handle, uint32_t count, const void* next = nullptr) {
    const auto owner = context();
    const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, next, 1, count};
    const auto* desc_pointer = &desc;
    const uint32_t devices = 0;
    ze_device_handle_t* const device_list = nullptr;
    ze_event_pool_handle_t made = nullptr;
    auto* out = &made;
    app.call(
        "zeEventPoolCreate", when(), ZE_RESULT_SUCCESS,
        [&] { made = fake_handle<ze_event_pool_handle_t>(handle); }, owner, desc_pointer, devices,
        device_list, out);
    return made;
  }

  ze_event_handle_t event(ze_event_pool_handle_t owner, uint64_t handle, uint32_t index = 0) {
    const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, 0, 0};
    const auto* desc_pointer = &desc;
    ze_event_handle_t made = nullptr;
    auto* out = &made;
    app.call(
        "zeEventCreate", when(), ZE_RESULT_SUCCESS,
        [&] { made = fake_handle<ze_event_handle_t>(handle); }, owner, desc_pointer, out);
    return made;
  }

  void* memory(uint64_t address, size_t bytes) {
    const auto owner = context();
    const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    const auto* desc_pointer = &desc;
    const size_t alignment = 8;
    void* made = nullptr;
    auto* out = &made;
    app.call(
        "zeMemAllocHost", when(), ZE_RESULT_SUCCESS,
        [&] { made = reinterpret_cast<void*>(address); }, owner, desc_pointer, bytes, alignment,
        out);
    return made;
  }

  ze_command_list_handle_t list() {
    const auto owner = context();
    ze_device_handle_t const device = nullptr;
    const ze_command_queue_desc_t desc{};
    const auto* desc_pointer = &desc;
    ze_command_list_handle_t made = nullptr;
    auto* out = &made;
    app.call(
        "zeCommandListCreateImmediate", when(), ZE_RESULT_SUCCESS,
        [&] { made = fake_handle<ze_command_list_handle_t>(0x1157); }, owner, device, desc_pointer,
        out);
    return made;
  }

  uint64_t copy(ze_command_list_handle_t where, uint64_t to, uint64_t from, size_t bytes,
                ze_event_handle_t signal = nullptr, std::vector<ze_event_handle_t> waits = {}) {
    auto* const destination = reinterpret_cast<void*>(to);
    const auto* source = reinterpret_cast<const void*>(from);
    const auto wait_count = static_cast<uint32_t>(waits.size());
    auto* const wait_list = waits.empty() ? nullptr : waits.data();
    return app.call("zeCommandListAppendMemoryCopy", when(), where, destination, source, bytes,
                    signal, wait_count, wait_list);
  }

  void held(uint64_t call, uint64_t address, std::string_view content,
            uint8_t flags = recording::memory_is_copy_source) {
    const auto hash = hash_of(std::as_bytes(std::span(content)));
    app.file.blob(hash, content);
    app.file.memory(call, address, content.size(), hash, flags);
  }

  fake_program app;

 private:
  uint64_t now_ = 1000;
  ze_context_handle_t context_ = nullptr;
};

}  // namespace zevent::trace
