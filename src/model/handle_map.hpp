#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zevent::model {

// From handle values to T, which is cheap to move and empty when default-constructed. Open
// addressing, for every call looks up two or three handles.
template <typename T>
class handle_map {
 public:
  T* find(uint64_t handle) {
    if (slots_.empty() || handle == 0) return nullptr;
    for (size_t i = home(handle);; i = next(i)) {
      if (slots_[i].handle == handle) return &slots_[i].value;
      if (slots_[i].handle == 0) return nullptr;
    }
  }
  const T* find(uint64_t handle) const { return const_cast<handle_map*>(this)->find(handle); }

  // The value of the handle, empty when it is new. The handle is not 0.
  T& operator[](uint64_t handle) {
    if (T* present = find(handle)) return *present;
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    ++size_;
    size_t i = home(handle);
    while (slots_[i].handle != 0) i = next(i);
    slots_[i].handle = handle;
    return slots_[i].value;
  }

  void erase(uint64_t handle) {
    T* present = find(handle);
    if (present == nullptr) return;
    size_t hole = static_cast<size_t>(
        reinterpret_cast<slot*>(reinterpret_cast<char*>(present) - offsetof(slot, value)) -
        slots_.data());
    --size_;
    // Move back whatever was pushed past the hole, so that no search ends there too early.
    for (size_t i = next(hole); slots_[i].handle != 0; i = next(i)) {
      const size_t wanted = home(slots_[i].handle);
      const bool reachable =
          hole <= i ? (wanted > hole && wanted <= i) : (wanted > hole || wanted <= i);
      if (reachable) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = slot{};
  }

  size_t size() const { return size_; }

  template <typename Visit>
  void for_each(Visit&& visit) {
    for (auto& each : slots_) {
      if (each.handle != 0) visit(each.handle, each.value);
    }
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& each : slots_) {
      if (each.handle != 0) visit(each.handle, each.value);
    }
  }

 private:
  struct slot {
    uint64_t handle = 0;
    T value{};
  };

  size_t home(uint64_t handle) const {
    return static_cast<size_t>((handle * 0x9e37'79b9'7f4a'7c15u) >> shift_);
  }
  size_t next(size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<slot> old = std::move(slots_);
    const size_t count = old.empty() ? 16 : old.size() * 2;
    slots_ = std::vector<slot>(count);
    shift_ = 64;
    for (size_t n = count; n > 1; n /= 2) --shift_;
    for (auto& each : old) {
      if (each.handle == 0) continue;
      size_t i = home(each.handle);
      while (slots_[i].handle != 0) i = next(i);
      slots_[i] = std::move(each);
    }
  }

  std::vector<slot> slots_;
  size_t size_ = 0;
  unsigned shift_ = 64;
};

}  // namespace zevent::model
