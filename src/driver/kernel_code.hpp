#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "driver/kernel_image.hpp"

namespace zevent::driver {

struct launch_shape {
  std::array<uint64_t, 3> group_size{1, 1, 1};
  std::array<uint64_t, 3> group_count{1, 1, 1};
  std::array<uint64_t, 3> global_offset{};
};

// The machine code of a kernel: a function that serves every launch, and for the few group sizes in
// which the kernel has run for long a function that knows the size, and that there is no global
// offset. Loops over the work-items then have fixed ends and fewer numbers to keep: some kernels
// take a fifth less.
//
// Such a function is made in the background, or found in the cache, and serves the launches that
// begin when it is there. The same launch gives the same results with either.
class kernel_code : public std::enable_shared_from_this<kernel_code> {
 public:
  // Null when there is none.
  using image_maker =
      std::function<std::shared_ptr<const kernel_image>(const std::array<uint64_t, 3>& group_size)>;

  kernel_code(std::shared_ptr<const kernel_image> for_all, image_maker make_for_size);

  const kernel_image& for_all() const { return *for_all_; }
  // The best that there is for such a launch.
  const kernel_image& for_launch(const launch_shape& shape) const;
  // How long such a launch will take one thread, if every work-item takes as long as those of the
  // last launch did. 0: there was none.
  std::chrono::nanoseconds expected_time(const launch_shape& shape) const;
  // To be told how long a launch took, all threads together. A kernel that runs one work-item at a
  // time gets no function for a group size.
  void count_time(const launch_shape& shape, std::chrono::nanoseconds spent, bool runs_groups);

 private:
  struct variant {
    // Packed; 0: not in use yet. Set once. Relaxed: the other members do not depend on it.
    std::atomic<uint64_t> group_size{0};
    std::atomic<int64_t> spent_ns{0};       // relaxed: a count
    std::atomic<bool> is_asked_for{false};  // relaxed: who sets it asks
    // Null: not there. Release/acquire: who sees the pointer sees the image.
    std::atomic<const kernel_image*> image{nullptr};
    std::shared_ptr<const kernel_image> kept;  // what `image` points to; for the destructor only
  };

  void count_for_variant(const launch_shape& shape, std::chrono::nanoseconds spent);
  void make(variant& wanted, const std::array<uint64_t, 3>& group_size);

  const std::shared_ptr<const kernel_image> for_all_;
  const image_maker make_for_size_;
  std::atomic<float> ns_per_item_{0};  // relaxed: an estimate
  std::array<variant, 8> variants_;    // those in use first
};

}  // namespace zevent::driver
