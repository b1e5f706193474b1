#include "driver/kernel_code.hpp"

#include <algorithm>
#include <utility>

#include "driver/background_work.hpp"
#include "driver/kernel_limits.hpp"

namespace zevent::driver {
namespace {

// How long a kernel has run in a group size before that gets a function of its own. To make it
// takes a tenth of a second or two of some processor that has nothing else to do, once: it is kept
// in the cache.
constexpr auto long_enough = std::chrono::milliseconds(20);

constexpr unsigned size_bits = 16;
static_assert(largest_group_size < uint64_t{1} << size_bits);

// 0: no variant can serve it.
uint64_t variant_for(const launch_shape& shape) {
  if (shape.global_offset != std::array<uint64_t, 3>{}) return 0;
  const auto& [x, y, z] = shape.group_size;
  return x | y << size_bits | z << (2 * size_bits);
}

double items_of(const launch_shape& shape) {
  double items = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    items *= static_cast<double>(shape.group_size[axis]);
    items *= static_cast<double>(shape.group_count[axis]);
  }
  return items;
}

}  // namespace

kernel_code::kernel_code(std::shared_ptr<const kernel_image> for_all, image_maker make_for_size)
    : for_all_(std::move(for_all)), make_for_size_(std::move(make_for_size)) {}

const kernel_image& kernel_code::for_launch(const launch_shape& shape) const {
  const uint64_t wanted = variant_for(shape);
  if (wanted == 0) return *for_all_;
  for (const variant& each : variants_) {
    const uint64_t found = each.group_size.load(std::memory_order_relaxed);
    if (found == 0) break;
    if (found != wanted) continue;
    const kernel_image* image = each.image.load(std::memory_order_acquire);
    return image != nullptr ? *image : *for_all_;
  }
  return *for_all_;
}

std::chrono::nanoseconds kernel_code::expected_time(const launch_shape& shape) const {
  constexpr double longest_ns = 1e18;
  const double ns = items_of(shape) * ns_per_item_.load(std::memory_order_relaxed);
  return std::chrono::nanoseconds(static_cast<int64_t>(std::min(ns, longest_ns)));
}

void kernel_code::count_time(const launch_shape& shape, std::chrono::nanoseconds spent,
                             bool runs_groups) {
  ns_per_item_.store(static_cast<float>(static_cast<double>(spent.count()) / items_of(shape)),
                     std::memory_order_relaxed);
  if (runs_groups) count_for_variant(shape, spent);
}

void kernel_code::count_for_variant(const launch_shape& shape, std::chrono::nanoseconds spent) {
  const uint64_t wanted = variant_for(shape);
  if (wanted == 0) return;
  for (variant& each : variants_) {
    uint64_t found = 0;
    if (!each.group_size.compare_exchange_strong(found, wanted, std::memory_order_relaxed) &&
        found != wanted) {
      continue;
    }
    if (each.is_asked_for.load(std::memory_order_relaxed)) return;
    const int64_t before = each.spent_ns.fetch_add(spent.count(), std::memory_order_relaxed);
    if (std::chrono::nanoseconds(before) + spent < long_enough) return;
    if (each.is_asked_for.exchange(true, std::memory_order_relaxed)) return;
    do_in_background(
        [self = shared_from_this(), &each, size = shape.group_size] { self->make(each, size); });
    return;
  }
}

void kernel_code::make(variant& wanted, const std::array<uint64_t, 3>& group_size) {
  try {
    wanted.kept = make_for_size_(group_size);
  } catch (...) {
    return;  // no memory for it; then it is not made
  }
  wanted.image.store(wanted.kept.get(), std::memory_order_release);
}

}  // namespace zevent::driver
