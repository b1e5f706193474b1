#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "driver/event.hpp"
#include "driver/launch_draft.hpp"
#include "driver/recording.hpp"

namespace zevent::driver {

// The commands of a mutable list that may be changed after the list was closed. Before such a
// command is appended the program asks for its id, and says what of it will change. The list sees
// to when changes are allowed, this to which; what does not fit answers INVALID_ARGUMENT and
// changes nothing.
class mutable_commands {
 public:
  // What of a command can be changed.
  static constexpr ze_mutable_command_exp_flags_t supported =
      ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS | ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT |
      ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE | ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET |
      ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT | ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS |
      ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION;

  mutable_commands() = default;
  mutable_commands(const mutable_commands& other) : commands_(other.commands_) {}

  // The id of the next command that is appended, counted from 1; flags 0 stands for everything but
  // the kernel. May be called by several threads.
  ze_result_t issue_id(ze_mutable_command_exp_flags_t flags, std::span<kernel* const> kernels,
                       uint64_t* id);
  bool awaits_command() const;
  // The command that was awaited, if one was, stands there in the list.
  void identify(const recording& list, size_t position, std::optional<launch_draft> draft);

  // Kernel arguments and shapes: all of the chain, or none.
  ze_result_t update(recording& list, const void* chain);
  ze_result_t update_signal(recording& list, uint64_t id, event* signalled);
  // As many as the command was appended with; null for an event: that one is waited for no more.
  // No array at all: none of them is.
  ze_result_t update_waits(recording& list, uint64_t id, uint32_t count, event* const* events);
  ze_result_t update_kernels(recording& list, std::span<const uint64_t> ids,
                             std::span<kernel* const> kernels);

  // Every launch has the arguments and the shape that its kernel needs.
  bool are_complete() const;

 private:
  struct identified {
    ze_mutable_command_exp_flags_t flags = 0;
    std::vector<ref<kernel>> kernels;  // that may take the command over
    bool is_appended = false;
    size_t position = 0;  // in the list
    // EV-43: what may take their places is like them.
    std::optional<event::likeness> signal;
    std::vector<event::likeness> waits;
    std::optional<launch_draft> draft;  // launches
  };
  struct changed_launch {
    identified* of;
    launch_draft draft;
  };

  identified* find(uint64_t id, ze_mutable_command_exp_flags_t flag);
  launch_draft* draft_of(uint64_t id, ze_mutable_command_exp_flags_t flag,
                         std::vector<changed_launch>& changed);
  ze_result_t apply(const void* descriptor, std::vector<changed_launch>& changed);
  static ze_result_t commit(recording& list, std::vector<changed_launch>& changed);

  mutable std::mutex mutex_;  // guards commands_ while ids are issued
  std::vector<identified> commands_;
};

}  // namespace zevent::driver
