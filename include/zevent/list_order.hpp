#pragma once

#include <level_zero/ze_api.h>

#include <optional>

namespace zevent {

// What a command list promises about its commands. In an in-order list each completes before the
// next one starts. In any other list they are only started in order, and complete in any order.
enum class list_order { in_order, unordered };

// Asks the list how it was made. Nothing when loader or driver are too old to be asked.
std::optional<list_order> order_of(ze_command_list_handle_t list) noexcept;

}  // namespace zevent
