#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>

namespace zevent::recorder {

// A queue whose elements stay where they are until they are popped, and which takes no memory while
// it is filled and emptied: blocks that were left in front are used again behind.
template <typename T>
class block_queue {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  T& operator[](size_t i) { return at(first_ + i); }
  const T& operator[](size_t i) const { return const_cast<block_queue*>(this)->at(first_ + i); }
  T& front() { return at(first_); }

  T& emplace_back() {
    const size_t place = first_ + size_;
    if (place == blocks_.size() * block_size) blocks_.push_back(std::make_unique<block>());
    ++size_;
    return *std::construct_at(&at(place));
  }

  void pop_front() {
    ++first_;
    --size_;
    if (first_ != block_size) return;
    first_ = 0;
    auto left = std::move(blocks_.front());
    blocks_.pop_front();
    const size_t in_use = (size_ + block_size - 1) / block_size;
    if (blocks_.size() < in_use + most_spare) blocks_.push_back(std::move(left));
  }

  void clear() {
    blocks_.clear();
    first_ = 0;
    size_ = 0;
  }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  static constexpr size_t block_size = 64;
  static constexpr size_t most_spare = 16;
  using block = std::array<T, block_size>;

  T& at(size_t place) { return (*blocks_[place / block_size])[place % block_size]; }

  std::deque<std::unique_ptr<block>> blocks_;
  size_t first_ = 0;  // of the first element, in the first block
  size_t size_ = 0;
};

}  // namespace zevent::recorder
