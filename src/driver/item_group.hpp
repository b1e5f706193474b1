#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/item_meeting.hpp"
#include "driver/item_stack.hpp"
#include "driver/kernel_launch.hpp"
#include "driver/work_item.hpp"

namespace zevent::driver {

// Runs groups whose work-items each have a stack of their own and meet at operations of sub-groups
// and groups, whatever way each of them takes through the kernel:
//
//   A sub-group runs until each of its work-items waits or is done. If all that are left wait for
//   the same operation, it is done. Otherwise those that are behind the others (work_item::path)
//   do theirs, together with whoever is at the same place in the same round of the same loops.
//   When none of them waits for its sub-group any more, the next sub-group runs.
//
//   When all that are left wait for the whole group, they go on.
//
// Nothing waits for work-items that are done, so no kernel gets stuck at a barrier that not all
// come to.
class item_group {
 public:
  // The calling thread's own. Its memory is kept from one launch to the next.
  static item_group& of_this_thread();

  // False where there is no memory for so many stacks.
  bool prepare(const kernel_image& image, const launch_shape& shape, uint32_t sub_group_size);

  // Runs a group. `arguments` are those of the kernel, of which one is a pointer to the work-item.
  void run(std::span<void* const> arguments, size_t item_argument, const launch_context& context,
           const std::array<uint64_t, 3>& group);

 private:
  void place_item(size_t index, const launch_shape& shape);
  void begin_item(work_item& item, const std::array<uint64_t, 3>& group);
  std::span<work_item> sub_group(size_t index);
  bool serve_sub_group(std::span<work_item> members);
  void serve_group();

  uint32_t sub_group_size_ = 0;
  item_launch launch_;
  item_stacks stacks_;
  std::vector<work_item> items_;
  std::vector<work_item*> waiting_, present_;
};

}  // namespace zevent::driver
