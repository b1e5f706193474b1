#include "driver/command.hpp"

#include "driver/event.hpp"

namespace zevent::driver {

command::command() = default;

command::command(order ordering) : ordering_(ordering) {}

command::~command() = default;

}  // namespace zevent::driver
