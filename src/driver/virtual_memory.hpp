#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "driver/fork_safety.hpp"
#include "driver/physical_memory.hpp"

namespace zevent::driver {

inline constexpr size_t virtual_page_bytes = 4096;

// Address ranges that the program has reserved, and what it has mapped in them.
class virtual_memory {
 public:
  static virtual_memory& instance();

  ze_result_t reserve(const void* wish, size_t bytes, void** out);
  ze_result_t release(const void* address, size_t bytes);
  ze_result_t map(context& owner, const void* address, size_t bytes, physical_memory& memory,
                  size_t offset, ze_memory_access_attribute_t access);
  ze_result_t unmap(const void* address, size_t bytes);
  ze_result_t set_access(const void* address, size_t bytes, ze_memory_access_attribute_t access);
  ze_result_t get_access(const void* address, size_t bytes, ze_memory_access_attribute_t* access,
                         size_t* out_bytes);

 private:
  struct mapping {
    size_t bytes;
    ref<physical_memory> memory;
    ze_memory_access_attribute_t access;
  };
  struct reservation {
    size_t bytes;
    std::map<uintptr_t, mapping> mappings;
  };

  // The reservation that holds the whole range; null when there is none.
  reservation* find(uintptr_t address, size_t bytes);

  fork_safe_mutex mutex_{fork_safe_mutex::rank::outer};  // guards reservations_
  std::map<uintptr_t, reservation> reservations_;
};

}  // namespace zevent::driver
