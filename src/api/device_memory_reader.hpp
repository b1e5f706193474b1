#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace zevent::api {

// The driver's functions that a device_memory_reader calls. A null one counts as unsupported.
struct memory_copy_calls {
#define ZEVENT_MEMORY_COPY_CALLS(X)         \
  X(zeDeviceGetCommandQueueGroupProperties) \
  X(zeCommandListCreateImmediate)           \
  X(zeCommandListDestroy)                   \
  X(zeCommandListAppendMemoryCopy)          \
  X(zeCommandListHostSynchronize)           \
  X(zeMemAllocHost)                         \
  X(zeMemFree)

// NOLINTNEXTLINE(bugprone-macro-parentheses): it is declared
#define ZEVENT_DECLARE_CALL(name) decltype(&::name) name = nullptr;
  ZEVENT_MEMORY_COPY_CALLS(ZEVENT_DECLARE_CALL)
#undef ZEVENT_DECLARE_CALL

  bool complete() const;
};

// Reads memory that the host cannot, or of which it has another copy than the device: by copies on
// an immediate list of its own, which is created when it is first needed. The program that the
// memory belongs to has no part in them, and neither a trace nor a hook sees them.
//
// The program's own commands may keep the engine busy for as long as they like, and may wait for
// something that the calling thread has yet to do: a copy that is not done in time is given up, and
// there is no other one on its list until it is.
//
// Not for several threads at once.
class device_memory_reader {
 public:
  // The calls may be found later, and are there as long as the reader.
  explicit device_memory_reader(const memory_copy_calls& calls) : calls_(calls) {}
  device_memory_reader(const device_memory_reader&) = delete;
  device_memory_reader& operator=(const device_memory_reader&) = delete;

  // Fills `target` with what the device has at `address`. False where the driver does not copy it,
  // or not in time.
  bool read(ze_context_handle_t context, ze_device_handle_t device, uint64_t address,
            std::span<std::byte> target);

  // The context is about to be destroyed: releases what the reader has in it.
  void release(ze_context_handle_t context);

 private:
  // A list, and host memory of the same context that it copies to.
  struct copier {
    ze_command_list_handle_t list = nullptr;
    void* staging = nullptr;
    bool is_busy = false;    // with a copy that was given up
    bool is_broken = false;  // the driver refused something
  };

  copier& copier_for(ze_context_handle_t context, ze_device_handle_t device);
  void create(copier& made, ze_context_handle_t context, ze_device_handle_t device);
  bool copy(copier& with, uint64_t address, std::span<std::byte> target);
  bool wait_for(copier& with, uint64_t timeout_ns);

  const memory_copy_calls& calls_;
  std::map<std::pair<ze_context_handle_t, ze_device_handle_t>, copier> copiers_;
};

}  // namespace zevent::api
