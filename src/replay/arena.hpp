#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace zevent::replay {

// Memory from the kernel: zeros, on whole pages, taken only as far as it is touched.
class mapped_memory {
 public:
  static result<mapped_memory> make(uint64_t bytes, bool shared = false);
  mapped_memory() = default;
  ~mapped_memory();
  mapped_memory(mapped_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  mapped_memory& operator=(mapped_memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }
  uint64_t size() const { return bytes_; }
  // Makes all of it ready to be written to, where the kernel can (since Linux 5.14).
  void populate() const;

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// Gives out memory piece by piece and takes it back all at once. Pieces are zeroed and aligned for
// anything that the API has.
class arena {
 public:
  // Throws std::bad_alloc when there is none.
  std::byte* take(uint64_t bytes);
  template <typename T>
  T* take_array(uint64_t count) {
    static_assert(alignof(T) <= alignment);
    return reinterpret_cast<T*>(take(count * sizeof(T)));
  }
  uint64_t used_bytes() const { return used_; }
  void populate() const;

 private:
  static constexpr uint64_t alignment = 16;
  std::vector<mapped_memory> blocks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  uint64_t used_ = 0;
};

}  // namespace zevent::replay
