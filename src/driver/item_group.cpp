#include "driver/item_group.hpp"

#include <algorithm>
#include <iterator>

#include "driver/group_operations.hpp"

namespace zevent::driver {
namespace {

// Besides what the kernel itself takes: for what it calls, and for signal handlers.
constexpr size_t item_stack_bytes = 256 << 10;

std::span<const uint64_t> path_of(const work_item& item) {
  return {item.path.data(), std::min<size_t>(item.path_length, item.path.size())};
}

bool is_behind(const work_item& a, const work_item& b) {
  const auto first = path_of(a), second = path_of(b);
  return std::lexicographical_compare(first.begin(), first.end(), second.begin(), second.end());
}

bool are_together(const work_item& a, const work_item& b) {
  const auto first = path_of(a), second = path_of(b);
  return a.operation == b.operation &&
         std::equal(first.begin(), first.end(), second.begin(), second.end());
}

// In whatever round of their loops.
bool are_at_same_operation(const work_item& a, const work_item& b) {
  const auto first = path_of(a), second = path_of(b);
  const auto same_place = [](uint64_t x, uint64_t y) { return x >> 32 == y >> 32; };
  return a.operation == b.operation &&
         std::equal(first.begin(), first.end(), second.begin(), second.end(), same_place);
}

work_item::lane_mask lanes_from(uint64_t first, uint64_t end) {
  work_item::lane_mask mask{};
  const auto below = [](uint64_t lane, uint64_t start) {
    const uint64_t bits = std::clamp<uint64_t>(lane, start, start + 32) - start;
    return static_cast<uint32_t>((uint64_t{1} << bits) - 1);
  };
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = below(end, 32 * i) & ~below(first, 32 * i);
  return mask;
}

}  // namespace

item_group& item_group::of_this_thread() {
  static thread_local item_group own;
  return own;
}

bool item_group::prepare(const kernel_image& image, const launch_shape& shape,
                         uint32_t sub_group_size) {
  const auto& size = shape.group_size;
  sub_group_size_ = sub_group_size;
  launch_.function = image.run_group();
  const size_t count = size[0] * size[1] * size[2];
  if (!stacks_.provide(count, item_stack_bytes + image.stack_frame_bytes())) return false;
  items_.resize(count);
  for (size_t i = 0; i < count; ++i) place_item(i, shape);
  return true;
}

// What does not differ from group to group.
void item_group::place_item(size_t index, const launch_shape& shape) {
  const auto& size = shape.group_size;
  work_item& item = items_[index];
  item.meet = &meet_others;
  item.local_linear_id = index;
  item.local_id = {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
  for (size_t axis = 0; axis < 3; ++axis) {
    item.group_size[axis] = size[axis];
    item.group_count[axis] = shape.group_count[axis];
    item.global_size[axis] = size[axis] * shape.group_count[axis];
    item.global_offset[axis] = shape.global_offset[axis];
  }
  item.lane = index % sub_group_size_;
  item.sub_group_id = index / sub_group_size_;
  item.sub_group_count = (items_.size() + sub_group_size_ - 1) / sub_group_size_;
  item.largest_sub_group_size = sub_group_size_;
  item.sub_group_size =
      std::min<uint64_t>(sub_group_size_, items_.size() - item.sub_group_id * sub_group_size_);
  item.equal_mask = lanes_from(item.lane, item.lane + 1);
  item.greater_equal_mask = lanes_from(item.lane, sub_group_size_);
  item.greater_mask = lanes_from(item.lane + 1, sub_group_size_);
  item.less_equal_mask = lanes_from(0, item.lane + 1);
  item.less_mask = lanes_from(0, item.lane);
}

void item_group::begin_item(work_item& item, const std::array<uint64_t, 3>& group) {
  uint64_t linear = 0;
  for (size_t axis = 3; axis-- > 0;) {
    item.group_id[axis] = group[axis];
    const uint64_t place = group[axis] * item.group_size[axis] + item.local_id[axis];
    item.global_id[axis] = place + item.global_offset[axis];
    linear = linear * item.global_size[axis] + place;
  }
  item.global_linear_id = linear;
  item.stack = stacks_.take();
  begin(item, launch_, stacks_.upper_end(item.stack));
}

std::span<work_item> item_group::sub_group(size_t index) {
  const size_t first = index * sub_group_size_;
  return {items_.data() + first, std::min<size_t>(sub_group_size_, items_.size() - first)};
}

void item_group::run(std::span<void* const> arguments, size_t item_argument,
                     const launch_context& context, const std::array<uint64_t, 3>& group) {
  launch_.arguments = arguments;
  launch_.item_argument = item_argument;
  launch_.context = context;
  launch_.context.group_size = {1, 1, 1};
  for (work_item& each : items_) each.now = work_item::state::fresh;
  const size_t sub_groups = items_.front().sub_group_count;
  for (;;) {
    for (size_t i = 0; i < sub_groups; ++i) {
      const std::span<work_item> members = sub_group(i);
      do {
        for (work_item& each : members) {
          if (each.now == work_item::state::fresh) begin_item(each, group);
          if (each.now != work_item::state::ready) continue;
          resume(each);
          if (each.now == work_item::state::finished) stacks_.give_back(each.stack);
        }
      } while (serve_sub_group(members));
    }
    const bool is_done = std::all_of(items_.begin(), items_.end(), [](const work_item& each) {
      return each.now == work_item::state::finished;
    });
    if (is_done) return;
    serve_group();
  }
}

// False where nobody of the sub-group waits for it.
bool item_group::serve_sub_group(std::span<work_item> members) {
  waiting_.clear();
  size_t left = 0;
  for (work_item& each : members) {
    if (each.now == work_item::state::finished) continue;
    ++left;
    if (!each.operation.is_of_whole_group) waiting_.push_back(&each);
  }
  if (waiting_.empty()) return false;
  const work_item& first = *waiting_.front();
  present_.clear();
  if (first.operation.needs_all && waiting_.size() == left &&
      std::all_of(waiting_.begin(), waiting_.end(),
                  [&](const work_item* each) { return are_at_same_operation(*each, first); })) {
    present_ = waiting_;
  } else {
    const work_item& last = **std::min_element(
        waiting_.begin(), waiting_.end(),
        [](const work_item* a, const work_item* b) { return is_behind(*a, *b); });
    std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(present_),
                 [&](const work_item* each) { return are_together(*each, last); });
  }
  perform_together(present_.front()->operation, present_);
  for (work_item* each : present_) each->now = work_item::state::ready;
  return true;
}

// All that are left wait for the group. Those at the same place do something together; where they
// are at different places, which a kernel must not do, they go on all the same.
void item_group::serve_group() {
  for (work_item& first : items_) {
    if (first.now != work_item::state::waiting) continue;
    present_.clear();
    for (work_item& each : items_) {
      if (each.now == work_item::state::waiting && are_at_same_operation(each, first)) {
        present_.push_back(&each);
      }
    }
    perform_together(first.operation, present_);
    for (work_item* each : present_) each->now = work_item::state::ready;
  }
}

}  // namespace zevent::driver
