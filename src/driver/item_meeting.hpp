#pragma once

#include <cstddef>
#include <span>

#include "driver/kernel_image.hpp"
#include "driver/work_item.hpp"

namespace zevent::driver {

// What the work-items of a group run.
struct item_launch {
  kernel_image::work_group_function function = nullptr;  // for a group of one
  std::span<void* const> arguments;
  size_t item_argument = 0;  // which of them is the pointer to the work-item
  launch_context context;
  void* runner_stack = nullptr;  // where the thread was that runs a work-item
};

// What a kernel calls where a work-item meets others.
void meet_others(work_item* item, uint64_t operation, uint64_t path_length);

// Makes a work-item ready to run on an empty stack.
void begin(work_item& item, item_launch& launch, void* upper_end_of_stack);

// Runs a work-item until it waits for others or is done.
void resume(work_item& item);

}  // namespace zevent::driver
