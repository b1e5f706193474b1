#pragma once

#include <level_zero/ze_api.h>

#include "driver/context.hpp"
#include "driver/ipc.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// Memory without an address: a block of the memory heap that is mapped where the program wants it.
class physical_memory : public object_of<physical_memory, object_kind::physical_memory> {
 public:
  static ze_result_t create(context& owner, device& on, const ze_physical_mem_desc_t& desc,
                            physical_memory** out);
  ~physical_memory();

  device& owner_device() const { return device_; }
  bool is_on_host() const { return on_host_; }
  size_t bytes() const { return bytes_; }
  uint64_t id() const { return id_; }
  char* block() const { return static_cast<char*>(block_); }

  // The memory whose handle this is; null when there is none. Any address may be asked for.
  static ref<physical_memory> find(const void* handle);
  ze_result_t make_ipc_handle(ipc_handle* out);

  // Puts `length` bytes from `offset` on at the address, in place of what is mapped there.
  bool map_at(void* address, size_t length, size_t offset, int protection) const;

 private:
  physical_memory(context& owner, device& on, bool on_host, size_t bytes);

  const ref<context> context_;
  device& device_;
  const bool on_host_;
  const size_t bytes_;
  const uint64_t id_;
  void* block_ = nullptr;
  ipc_export exported_;
};

}  // namespace zevent::driver
