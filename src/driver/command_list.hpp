#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <span>

#include "driver/command.hpp"
#include "driver/context.hpp"
#include "driver/object.hpp"
#include "driver/recording.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {

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
  static ze_result_t create_regular(context& owner, device& target,
                                    const ze_command_list_desc_t& desc, command_list** out);
  static ze_result_t create_immediate(context& owner, device& target,
                                      const ze_command_queue_desc_t& desc, command_list** out);

  ze_result_t append(std::unique_ptr<command> work, const dependencies& events);
  // The commands of regular lists, appended to an immediate one.
  ze_result_t append_lists(std::span<command_list* const> lists, const dependencies& events);

  ze_result_t close();
  ze_result_t reset();
  ze_result_t synchronize(uint64_t timeout_ns);

  context& owner_context() const { return *context_; }
  device& owner_device() const { return device_; }
  uint32_t queue_group_ordinal() const { return desc_.ordinal; }
  bool is_copy_only() const { return device::is_copy_only(desc_.ordinal); }
  bool is_immediate() const { return static_cast<bool>(stream_); }
  bool is_in_order() const { return in_order_; }
  bool is_closed() const { return closed_; }
  const ref<recording>& commands() const { return recording_; }

  ze_command_list_flags_t list_flags() const { return list_flags_; }
  // Immediate lists: what they were created with. Regular lists: the ordinal alone.
  const ze_command_queue_desc_t& queue_desc() const { return desc_; }

 private:
  command_list(context& owner, device& target, const ze_command_queue_desc_t& desc, bool in_order);

  ze_result_t check(const dependencies& events) const;
  static void wait_on_host(command& work);
  static void bind_waits(command& work, const dependencies& events);
  ze_result_t finish_append(uint64_t number);

  const ref<context> context_;
  device& device_;
  const ze_command_queue_desc_t desc_;
  const bool in_order_;
  ze_command_list_flags_t list_flags_ = 0;

  ref<stream> stream_;        // immediate lists
  ref<recording> recording_;  // regular lists
  bool closed_ = false;       // regular lists
};

}  // namespace zevent::driver
