#include "driver/physical_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <set>

#include "base/checked_cast.hpp"
#include "driver/allocation.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/virtual_memory.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

uint64_t next_memory_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Handles that have not been destroyed.
struct physical_memories {
  fork_safe_mutex mutex{fork_safe_mutex::rank::inner};  // guards handles
  std::set<const void*> handles;

  static physical_memories& instance() {
    static auto* memories = new physical_memories;
    return *memories;
  }
};

const made_with_driver all_physical([] { physical_memories::instance(); });

}  // namespace

physical_memory::physical_memory(context& owner, device& on, bool on_host, size_t bytes)
    : context_(&owner), device_(on), on_host_(on_host), bytes_(bytes), id_(next_memory_id()) {}

ze_result_t physical_memory::create(context& owner, device& on, const ze_physical_mem_desc_t& desc,
                                    physical_memory** out) {
  if (desc.size % virtual_page_bytes != 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  const bool on_host = (desc.flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
  auto made = ref<physical_memory>::adopt(new physical_memory(owner, on, on_host, desc.size));
  made->block_ = memory_heap().allocate(desc.size, virtual_page_bytes);
  if (made->block_ == nullptr) {
    return on_host ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  physical_memories& known = physical_memories::instance();
  const std::lock_guard lock(known.mutex);
  known.handles.insert(made.get());
  made->add_reference();
  *out = made.get();
  return ZE_RESULT_SUCCESS;
}

physical_memory::~physical_memory() {
  if (block_ != nullptr) memory_heap().free(block_, bytes_);
}

ref<physical_memory> physical_memory::find(const void* handle) {
  physical_memories& known = physical_memories::instance();
  const std::lock_guard lock(known.mutex);
  if (!known.handles.contains(handle)) return nullptr;
  return ref<physical_memory>(try_from_handle<physical_memory>(handle));
}

ze_result_t physical_memory::make_ipc_handle(ipc_handle* out) {
  const auto location = memory_heap().locate(block_);
  if (!location) return ZE_RESULT_ERROR_UNKNOWN;
  const auto type = on_host_ ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
  return exported_.make_handle(*location,
                               {.kind = ipc_kind::memory,
                                .flags = static_cast<uint32_t>(type),
                                .offset = location->offset,
                                .bytes = bytes_,
                                .detail = 0},
                               out);
}

bool physical_memory::map_at(void* address, size_t length, size_t offset, int protection) const {
  const auto location = memory_heap().locate(block_);
  if (!location) return false;
  return mmap(address, length, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
              location->descriptor, checked_cast<off_t>(location->offset + offset)) != MAP_FAILED;
}

namespace entry {

ze_result_t zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                ze_physical_mem_desc_t* desc,
                                ze_physical_mem_handle_t* phPhysicalMemory) {
  return with<context>(hContext, [&](context& owner) {
    const auto create_on = [&](device& on) {
      physical_memory* made = nullptr;
      const ze_result_t result = physical_memory::create(owner, on, *desc, &made);
      if (result == ZE_RESULT_SUCCESS) {
        *phPhysicalMemory = to_handle<ze_physical_mem_handle_t>(made);
      }
      return result;
    };
    if (hDevice != nullptr) return with<device>(hDevice, create_on);
    const bool on_host = (desc->flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
    return on_host ? create_on(*owner.devices().front()) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  });
}

ze_result_t zePhysicalMemDestroy(ze_context_handle_t hContext,
                                 ze_physical_mem_handle_t hPhysicalMemory) {
  return with<context>(hContext, [&](context&) {
    return with<physical_memory>(hPhysicalMemory, [](physical_memory& memory) {
      {
        physical_memories& known = physical_memories::instance();
        const std::lock_guard lock(known.mutex);
        known.handles.erase(&memory);
      }
      memory.destroy_handle();
      return ZE_RESULT_SUCCESS;
    });
  });
}

ze_result_t zePhysicalMemGetProperties(ze_context_handle_t hContext,
                                       ze_physical_mem_handle_t hPhysicalMem,
                                       ze_physical_mem_properties_t* pMemProperties) {
  return with<context>(hContext, [&](context&) {
    return with<physical_memory>(hPhysicalMem, [&](physical_memory& memory) {
      pMemProperties->id = memory.id();
      pMemProperties->size = memory.bytes();
      return ZE_RESULT_SUCCESS;
    });
  });
}

}  // namespace entry
}  // namespace zevent::driver
