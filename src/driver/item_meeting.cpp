#include "driver/item_meeting.hpp"

#include <cstring>

#include "driver/group_operations.hpp"
#include "driver/item_stack.hpp"

namespace zevent::driver {
namespace {

// On the work-item's own stack.
void run_item(void* argument) {
  auto* item = static_cast<work_item*>(argument);
  const item_launch& launch = *item->launch;
  // Its own copy of the arguments, not in a container: nothing is cleaned up on this stack.
  const size_t bytes = launch.arguments.size_bytes();
  auto** arguments = static_cast<void**>(__builtin_alloca(bytes));
  std::memcpy(arguments, launch.arguments.data(), bytes);
  arguments[launch.item_argument] = &item;
  launch.function(arguments, &launch.context, 0, 0, 0);
  item->now = work_item::state::finished;
  switch_stack(&item->stack_pointer, item->launch->runner_stack);
}

}  // namespace

void meet_others(work_item* item, uint64_t operation, uint64_t path_length) {
  item->operation = group_operation::decode(operation);
  if (is_done_alone(item->operation.act)) return perform_alone(item->operation, *item);
  item->path_length = path_length;
  item->now = work_item::state::waiting;
  switch_stack(&item->stack_pointer, item->launch->runner_stack);
}

void begin(work_item& item, item_launch& launch, void* upper_end_of_stack) {
  item.launch = &launch;
  item.now = work_item::state::ready;
  item.stack_pointer = start_of_stack(upper_end_of_stack, &run_item, &item);
}

void resume(work_item& item) {
  switch_stack(&item.launch->runner_stack, item.stack_pointer);
}

}  // namespace zevent::driver
