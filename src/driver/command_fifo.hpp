#pragma once

#include <memory>
#include <utility>

#include "driver/command.hpp"

namespace zevent::driver {

// Commands linked through themselves: no allocation to queue one, no recursion to delete many.
class command_fifo {
 public:
  command_fifo() = default;
  command_fifo(const command_fifo&) = delete;
  command_fifo& operator=(const command_fifo&) = delete;
  ~command_fifo() { clear(); }

  bool is_empty() const { return first_ == nullptr; }
  command* front() const { return first_; }

  void push(std::unique_ptr<command> work) {
    work->next_ = nullptr;
    command* last = work.release();
    (first_ == nullptr ? first_ : last_->next_) = last;
    last_ = last;
  }

  std::unique_ptr<command> pop() {
    std::unique_ptr<command> work(first_);
    first_ = first_->next_;
    return work;
  }

  // Takes all of the other's commands; only into an empty one.
  void take(command_fifo& other) {
    first_ = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
  }

  template <typename Function>
  void for_each(Function&& visit) const {
    for (const command* each = first_; each != nullptr; each = each->next_) visit(*each);
  }

  // Leaves the commands to nobody.
  void forget() { first_ = nullptr; }

  void clear() {
    while (!is_empty()) pop();
  }

 private:
  command* first_ = nullptr;
  command* last_ = nullptr;  // meaningless while first_ is null
};

}  // namespace zevent::driver
