#pragma once

#include <span>

#include "driver/work_item.hpp"

namespace zevent::driver {

// Does an operation for the work-items that have met, which are in the order of their lanes or, for
// an operation of the whole group, of their local ids. Whoever asks for the value of one that is
// not there gets its own.
void perform_together(const group_operation& operation, std::span<work_item* const> present);

// Does an operation that concerns nobody else.
void perform_alone(const group_operation& operation, work_item& item);

}  // namespace zevent::driver
