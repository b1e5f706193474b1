#pragma once

#include <level_zero/ze_api.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "driver/shared_heap.hpp"

namespace zevent::driver {

// What the 64 bytes of an IPC handle hold. Clients send them in two ways: with the descriptor in
// the first four bytes passed through a socket (and replaced by the receiver's number), or just as
// bytes. The rest of the handle serves the second way, and makes sure in both that the descriptor
// is the one that was meant. Some send the descriptor and nothing else; so the whole handle is also
// written into the memory's file, and the descriptor's file position says where.
struct ipc_handle {
  int32_t descriptor;         // of the memory, in the process that reads this
  uint32_t kind;              // ipc_kind, and flags of that kind above
  int32_t exporter;           // process id
  int32_t export_descriptor;  // of the memory, in the exporter
  uint64_t inode;             // of the memory
  uint64_t exporter_start;    // when the exporter started: process ids are used again
  uint64_t offset;            // where the object begins in the memory
  uint64_t bytes;             // how long it is
  uint64_t detail;            // depends on the kind
  uint64_t checksum;          // of everything but `descriptor`
};
static_assert(sizeof(ipc_handle) == ZE_MAX_IPC_HANDLE_SIZE);

enum class ipc_kind : uint32_t { memory = 0x5a, event_pool, counter_event };

inline constexpr uint32_t ipc_flags_shift = 8;

// Writes the handle of an object for the caller's structure, and back.
template <typename Handle>
void store_ipc_handle(const ipc_handle& handle, Handle* out) {
  static_assert(sizeof(Handle) == sizeof(ipc_handle));
  __builtin_memcpy(out, &handle, sizeof handle);
}

template <typename Handle>
ipc_handle load_ipc_handle(const Handle& from) {
  static_assert(sizeof(Handle) == sizeof(ipc_handle));
  ipc_handle handle;
  __builtin_memcpy(&handle, &from, sizeof handle);
  return handle;
}

class context;
struct loss_mark;

struct ipc_object {
  ipc_kind kind;
  uint32_t flags;  // 24 bits
  uint64_t offset;
  uint64_t bytes;
  uint64_t detail;
  const context* owner = nullptr;  // with `lost`: whose loss importers are told of
  loss_mark* lost = nullptr;       // in the memory that is shared
};

// The descriptor that the handles of one object carry: made for the first handle, closed with the
// last one that is put back, or with the object.
class ipc_export {
 public:
  ipc_export() = default;
  ipc_export(const ipc_export&) = delete;
  ipc_export& operator=(const ipc_export&) = delete;
  ~ipc_export();
  // The object's memory goes: nobody opens it any more, and nobody is told anything by it.
  void withdraw();

  // `memory` is where the heap has the object.
  ze_result_t make_handle(const shared_heap::location& memory, const ipc_object& object,
                          ipc_handle* out);

  // The descriptor by itself, which then stays open as long as the object does.
  ze_result_t give_descriptor(const shared_heap::location& memory, const ipc_object& object,
                              int* out);
  // A handle of whichever object gave out this descriptor. False when none of this process did.
  static bool make_handle_of(int descriptor, ipc_handle* out);

  // Gives a handle of this process back, whichever object's it is; one that has been given back
  // before, or whose object is gone, is none the worse. False for what is no handle of this
  // process.
  static bool put(const ipc_handle& handle);

  // Tells the processes that opened objects of contexts that are lost.
  static void tell_losses();

 private:
  ze_result_t open_descriptor(const shared_heap::location& memory);
  void close_descriptor();
  void write_note(const ipc_handle& handle) const;
  ipc_handle describe() const;

  // Guarded by the mutex of the table of all exports.
  int descriptor_ = -1;
  uint64_t inode_ = 0;
  uint64_t handles_ = 0;  // and descriptors given out by themselves
  uint64_t note_offset_ = 0;
  bool has_own_position_ = false;  // the descriptor; then there is a note
  ipc_object object_{};
};

// An object of another process, mapped.
class ipc_import {
 public:
  // INVALID_ARGUMENT for what is not a handle of that kind, or whose process or memory is not to be
  // had any more. A handle of which only the descriptor arrived is completed.
  static ze_result_t open(ipc_handle& handle, ipc_kind kind, std::unique_ptr<ipc_import>* out);
  ~ipc_import();
  ipc_import(const ipc_import&) = delete;
  ipc_import& operator=(const ipc_import&) = delete;

  void* address() const { return static_cast<char*>(mapping_) + lead_; }

  // The exporting process has ended. Where it cannot be seen from here (another process id
  // namespace) it counts as alive.
  bool is_orphaned() const;

 private:
  ipc_import() = default;

  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  size_t lead_ = 0;  // bytes between the page and the object
  pid_t exporter_ = 0;
  uint64_t exporter_start_ = 0;
  bool watched_ = false;
};

}  // namespace zevent::driver
