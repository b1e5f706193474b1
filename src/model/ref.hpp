#pragma once

#include <cstdint>
#include <utility>

namespace zevent::model {

// What a ref counts. One thread builds a model, so the count is a plain number.
class counted {
 public:
  counted() = default;
  // A copy is something new, which nobody holds yet.
  counted(const counted&) {}
  counted& operator=(const counted&) = delete;

 private:
  template <typename T>
  friend class ref;
  mutable uint32_t references_ = 0;
};

// Shared ownership of something counted.
template <typename T>
class ref {
 public:
  ref() = default;
  ref(T* target) : target_(target) { hold(); }
  ref(const ref& other) : target_(other.target_) { hold(); }
  ref(ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  ref& operator=(ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~ref() {
    if (target_ != nullptr && --target_->references_ == 0) delete target_;
  }

  T* get() const { return target_; }
  T* operator->() const { return target_; }
  T& operator*() const { return *target_; }
  explicit operator bool() const { return target_ != nullptr; }
  friend bool operator==(const ref& a, const ref& b) { return a.target_ == b.target_; }

  // No one else holds it: it may be changed in place.
  bool unique() const { return target_ != nullptr && target_->references_ == 1; }

 private:
  void hold() {
    if (target_ != nullptr) ++target_->references_;
  }
  T* target_ = nullptr;
};

template <typename T, typename... Args>
ref<T> make(Args&&... args) {
  return ref<T>(new T{std::forward<Args>(args)...});
}

}  // namespace zevent::model
