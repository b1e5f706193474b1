#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <optional>
#include <span>

#include "driver/chaos.hpp"
#include "driver/command.hpp"
#include "driver/context.hpp"
#include "driver/mutable_commands.hpp"
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

  // Launches in mutable lists come with what can be changed of them.
  ze_result_t append(std::unique_ptr<command> work, const dependencies& events,
                     std::optional<launch_draft> draft = std::nullopt);
  bool wants_draft() const { return mutable_ != nullptr && mutable_->awaits_command(); }
  // The commands of regular lists, appended to an immediate one.
  ze_result_t append_lists(std::span<command_list* const> lists, const dependencies& events);

  ze_result_t close();
  ze_result_t reset();
  // EXP_CLONEABLE lists: another list of the same commands, closed as this one is.
  ze_result_t clone(command_list** out) const;

  // Mutable lists.
  bool is_mutable() const { return mutable_ != nullptr; }
  ze_result_t issue_command_id(ze_mutable_command_exp_flags_t flags,
                               std::span<kernel* const> kernels, uint64_t* id);
  // Changes commands once the list has been closed; it is then to be closed again.
  //   change: ze_result_t(mutable_commands&, recording&)
  template <typename Change>
  ze_result_t update(Change&& change) {
    if (const ze_result_t bad = begin_update(); bad != ZE_RESULT_SUCCESS) return bad;
    const ze_result_t result = change(*mutable_, *recording_);
    if (result == ZE_RESULT_SUCCESS) closed_ = false;
    return result;
  }
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
  void bind_waits(command& work, const dependencies& events) const;
  ze_result_t finish_append(uint64_t number);
  ze_result_t begin_update();

  const ref<context> context_;
  device& device_;
  const ze_command_queue_desc_t desc_;
  const bool in_order_;
  ze_command_list_flags_t list_flags_ = 0;

  ref<stream> stream_;  // immediate lists
  // Regular lists.
  ref<recording> recording_;
  std::unique_ptr<mutable_commands> mutable_;  // null: not mutable
  bool closed_ = false;                        // may be executed
  bool ended_ = false;                         // takes no more commands until it is reset
  chaos_dwell dwell_;
};

}  // namespace zevent::driver
