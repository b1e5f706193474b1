#include "driver/mutable_commands.hpp"

#include <algorithm>

namespace zevent::driver {
namespace {

template <typename Descriptor>
const Descriptor& as(const void* descriptor) {
  return *static_cast<const Descriptor*>(descriptor);
}

// The only error that the update of a launch is documented with.
ze_result_t as_documented(ze_result_t result) {
  return result == ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace

ze_result_t mutable_commands::issue_id(ze_mutable_command_exp_flags_t flags,
                                       std::span<kernel* const> kernels, uint64_t* id) {
  if ((flags & ~supported) != 0) return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
  constexpr ze_mutable_command_exp_flags_t kernel_flag =
      ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION;
  identified next;
  next.flags = flags != 0 ? flags : supported & ~kernel_flag;
  if ((flags & kernel_flag) != 0) {
    if (kernels.empty()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (kernel* each : kernels) next.kernels.emplace_back(each);
  }
  const std::lock_guard lock(mutex_);
  commands_.push_back(std::move(next));
  *id = commands_.size();
  return ZE_RESULT_SUCCESS;
}

bool mutable_commands::awaits_command() const {
  const std::lock_guard lock(mutex_);
  return !commands_.empty() && !commands_.back().is_appended;
}

void mutable_commands::identify(const recording& list, size_t position,
                                std::optional<launch_draft> draft) {
  const std::lock_guard lock(mutex_);
  if (commands_.empty() || commands_.back().is_appended) return;
  identified& awaited = commands_.back();
  const command_links& links = list.at(position).links;
  awaited.is_appended = true;
  awaited.position = position;
  if (links.signal.target) awaited.signal = links.signal.target->kind_of_event();
  for (const command_wait& each : links.waits) {
    awaited.waits.push_back(each.source->kind_of_event());
  }
  awaited.draft = std::move(draft);
}

mutable_commands::identified* mutable_commands::find(uint64_t id,
                                                     ze_mutable_command_exp_flags_t flag) {
  if (id == 0 || id > commands_.size()) return nullptr;
  identified& found = commands_[id - 1];
  return found.is_appended && (found.flags & flag) != 0 ? &found : nullptr;
}

launch_draft* mutable_commands::draft_of(uint64_t id, ze_mutable_command_exp_flags_t flag,
                                         std::vector<changed_launch>& changed) {
  identified* found = find(id, flag);
  if (found == nullptr || !found->draft) return nullptr;
  const auto known = std::find_if(changed.begin(), changed.end(),
                                  [&](const changed_launch& each) { return each.of == found; });
  if (known != changed.end()) return &known->draft;
  changed.push_back({found, *found->draft});
  return &changed.back().draft;
}

ze_result_t mutable_commands::apply(const void* descriptor, std::vector<changed_launch>& changed) {
  launch_draft* draft = nullptr;
  switch (stype_of(descriptor)) {
    case ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC: {
      const auto& desc = as<ze_mutable_kernel_argument_exp_desc_t>(descriptor);
      draft = draft_of(desc.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS, changed);
      if (draft == nullptr) break;
      return as_documented(draft->set_argument(desc.argIndex, desc.argSize, desc.pArgValue));
    }
    case ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC: {
      const auto& desc = as<ze_mutable_group_count_exp_desc_t>(descriptor);
      draft = draft_of(desc.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT, changed);
      if (draft == nullptr || desc.pGroupCount == nullptr) break;
      draft->set_group_count(*desc.pGroupCount);
      return ZE_RESULT_SUCCESS;
    }
    case ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC: {
      const auto& desc = as<ze_mutable_group_size_exp_desc_t>(descriptor);
      draft = draft_of(desc.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE, changed);
      if (draft == nullptr) break;
      return as_documented(
          draft->set_group_size(desc.groupSizeX, desc.groupSizeY, desc.groupSizeZ));
    }
    case ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC: {
      const auto& desc = as<ze_mutable_global_offset_exp_desc_t>(descriptor);
      draft = draft_of(desc.commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET, changed);
      if (draft == nullptr) break;
      draft->set_global_offset(desc.offsetX, desc.offsetY, desc.offsetZ);
      return ZE_RESULT_SUCCESS;
    }
    default:  // graph arguments among them: no command here has any
      break;
  }
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t mutable_commands::commit(recording& list, std::vector<changed_launch>& changed) {
  for (const changed_launch& each : changed) {
    if (const ze_result_t bad = each.draft.check(); bad != ZE_RESULT_SUCCESS) return bad;
  }
  for (changed_launch& each : changed) {
    list.change_work(each.of->position, each.draft.make_command());
    each.of->draft = std::move(each.draft);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t mutable_commands::update(recording& list, const void* chain) {
  std::vector<changed_launch> changed;
  for (const void* each = chain; each != nullptr; each = as<chained>(each).next) {
    if (const ze_result_t bad = apply(each, changed); bad != ZE_RESULT_SUCCESS) return bad;
  }
  return commit(list, changed);
}

ze_result_t mutable_commands::update_kernels(recording& list, std::span<const uint64_t> ids,
                                             std::span<kernel* const> kernels) {
  std::vector<changed_launch> changed;
  for (size_t i = 0; i < ids.size(); ++i) {
    constexpr auto flag = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION;
    launch_draft* draft = draft_of(ids[i], flag, changed);
    if (draft == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const identified& command = *find(ids[i], flag);
    const bool is_listed =
        std::any_of(command.kernels.begin(), command.kernels.end(),
                    [&](const ref<kernel>& each) { return each.get() == kernels[i]; });
    if (!is_listed) return ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE;
    draft->set_kernel(*kernels[i], command.flags);
  }
  return commit(list, changed);
}

ze_result_t mutable_commands::update_signal(recording& list, uint64_t id, event* signalled) {
  const identified* found = find(id, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT);
  if (found == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (signalled != nullptr) {
    if (found->signal != signalled->kind_of_event()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const ze_result_t bad = signalled->check_signal(list.is_in_order(), false);
    if (bad != ZE_RESULT_SUCCESS) return bad;
  }
  list.change_signal(found->position, signalled);
  return ZE_RESULT_SUCCESS;
}

ze_result_t mutable_commands::update_waits(recording& list, uint64_t id, uint32_t count,
                                           event* const* events) {
  const identified* found = find(id, ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS);
  if (found == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const bool clears_all = events == nullptr && count == 0;
  if (count != found->waits.size() && !clears_all) return ZE_RESULT_ERROR_INVALID_SIZE;
  std::vector<event*> next(found->waits.size());
  if (events != nullptr) std::copy(events, events + count, next.begin());
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i] != nullptr && next[i]->kind_of_event() != found->waits[i]) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
  }
  list.change_waits(found->position, next);
  return ZE_RESULT_SUCCESS;
}

bool mutable_commands::are_complete() const {
  return std::all_of(commands_.begin(), commands_.end(), [](const identified& each) {
    return !each.draft || each.draft->is_complete();
  });
}

}  // namespace zevent::driver
