#pragma once

#include <level_zero/ze_api.h>

#include <memory>

#include "driver/command.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

class context;
class device;

// The last three parameters of every append, as they come from the caller.
struct dependencies {
  ze_event_handle_t signal = nullptr;
  uint32_t wait_count = 0;
  ze_event_handle_t* waits = nullptr;
};

// A command list. An append makes a command and hands it over:
//
//   ze_result_t zeCommandListAppendLaunchKernel(list, kernel, groups, signal, count, waits) {
//     return with<command_list>(list, [&](command_list& target) -> ze_result_t {
//       if (target.is_copy_only()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
//       ...
//       return target.append(std::make_unique<launch_command>(...), {signal, count, waits});
//     });
//   }
//
// append() checks the events (null wait events, counter-based events on the wrong kind of list),
// binds them, and records the command (regular list) or submits it (immediate list). It never waits
// for the events; it waits for the command's end only where the list is SYNCHRONOUS.
class command_list : public object_of<command_list, object_kind::command_list> {
 public:
  ze_result_t append(std::unique_ptr<command> work, const dependencies& events);

  context& owner_context() const;
  device& owner_device() const;
  uint32_t queue_group_ordinal() const;
  bool is_copy_only() const;
  bool is_immediate() const;
  bool is_in_order() const;
};

}  // namespace zevent::driver
