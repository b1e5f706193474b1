#pragma once

// What the C++ examples start with: a device, a context and lists.

#include <level_zero/ze_api.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "zevent/error.hpp"

namespace example {

#define CHECK(call) ::example::check((call), #call)

inline void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) throw zevent::error(result, call);
}

// A handle that is destroyed at the end of its scope.
template <typename Handle, ze_result_t (*Destroy)(Handle)>
class owned {
 public:
  owned() = default;
  owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned& operator=(owned&&) = delete;
  ~owned() {
    if (handle_ != nullptr) Destroy(handle_);
  }
  operator Handle() const { return handle_; }
  Handle* out() { return &handle_; }  // for the function that makes it

 private:
  Handle handle_ = nullptr;
};

using context_owner = owned<ze_context_handle_t, zeContextDestroy>;
using list_owner = owned<ze_command_list_handle_t, zeCommandListDestroy>;
using pool_owner = owned<ze_event_pool_handle_t, zeEventPoolDestroy>;
using event_owner = owned<ze_event_handle_t, zeEventDestroy>;

struct device_and_context {
  ze_device_handle_t device = nullptr;
  context_owner context;
};

inline device_and_context first_device() {
  device_and_context found;
  ze_driver_handle_t driver = nullptr;
  uint32_t one = 1;
  CHECK(zeInit(0));
  CHECK(zeDriverGet(&one, &driver));
  one = 1;
  CHECK(zeDeviceGet(driver, &one, &found.device));
  ze_context_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  CHECK(zeContextCreate(driver, &desc, found.context.out()));
  return found;
}

// Bytes of host memory that any command may use. A device need not let commands fill memory of
// malloc or of the stack (sharedSystemAllocCapabilities), and Intel's do not.
class host_memory {
 public:
  host_memory(const device_and_context& at, size_t size, char value)
      : context_(at.context), size_(size) {
    ze_host_mem_alloc_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    void* memory = nullptr;
    CHECK(zeMemAllocHost(context_, &desc, size, 0, &memory));
    first_ = static_cast<char*>(memory);
    std::fill(begin(), end(), value);
  }
  host_memory(const host_memory&) = delete;
  host_memory& operator=(const host_memory&) = delete;
  ~host_memory() { zeMemFree(context_, first_); }

  char* data() const { return first_; }
  size_t size() const { return size_; }
  char* begin() const { return first_; }
  char* end() const { return first_ + size_; }

 private:
  ze_context_handle_t context_;
  char* first_ = nullptr;
  size_t size_;
};

enum class order { in_order, unordered };

// An immediate list: commands start as they are appended.
inline list_owner immediate_list(const device_and_context& at, order wanted) {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  if (wanted == order::in_order) desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  list_owner list;
  CHECK(zeCommandListCreateImmediate(at.context, at.device, &desc, list.out()));
  return list;
}

}  // namespace example
