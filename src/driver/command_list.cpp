#include "driver/command_list.hpp"

#include <utility>

#include "driver/event.hpp"
#include "driver/fault_injection.hpp"
#include "driver/last_error.hpp"
#include "driver/quirks.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {
namespace {

// Does nothing but to stand in the stream, for its waits or its signal.
class marker_command final : public command {
 public:
  marker_command() : command(order::barrier) {}
  ze_result_t run() override { return ZE_RESULT_SUCCESS; }
};

ze_result_t check_queue(const ze_command_queue_desc_t& desc) {
  const queue_group* group = device::group(desc.ordinal);
  const bool exists = group != nullptr && desc.index < group->queue_count;
  return exists ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

// The end of the enumeration, which some pass for "anything", asks for nothing.
ze_command_list_flags_t known_list_flags(ze_command_list_flags_t flags) {
  return flags == ZE_COMMAND_LIST_FLAG_FORCE_UINT32 ? 0 : flags;
}

ze_result_t check_flags(ze_command_list_flags_t flags) {
  constexpr ze_command_list_flags_t all =
      ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING | ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT |
      ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY | ZE_COMMAND_LIST_FLAG_IN_ORDER |
      ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE | ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT;
  constexpr auto exclusive = ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
  const bool valid = (flags & ~all) == 0 && (flags & exclusive) != exclusive;
  return valid ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ENUMERATION;
}

bool resets_keep_counter_mode() {
  return has_quirk(quirk::reset_keeps_counter_mode) || has_fault(fault::reset_keeps_counter_mode);
}

}  // namespace

command_list::command_list(context& owner, device& target, const ze_command_queue_desc_t& desc,
                           bool in_order)
    : context_(&owner), device_(target), desc_(desc), in_order_(in_order) {}

ze_result_t command_list::create_regular(context& owner, device& target,
                                         const ze_command_list_desc_t& desc, command_list** out) {
  const ze_command_list_flags_t flags = known_list_flags(desc.flags);
  if (const ze_result_t result = check_flags(flags); result != ZE_RESULT_SUCCESS) return result;
  ze_command_queue_desc_t queue{};
  queue.ordinal = desc.commandQueueGroupOrdinal;
  if (const ze_result_t result = check_queue(queue); result != ZE_RESULT_SUCCESS) return result;
  const auto* changes = find_in_chain<ze_mutable_command_list_exp_desc_t>(
      desc.pNext, ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC);
  if (changes != nullptr &&
      (changes->flags & ~uint32_t{ZE_MUTABLE_COMMAND_LIST_EXP_FLAG_RESERVED})) {
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  }
  const bool in_order = (flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0;
  auto* made = new command_list(owner, target, queue, in_order);
  made->list_flags_ = flags;
  if (changes != nullptr) made->mutable_ = std::make_unique<mutable_commands>();
  made->recording_ = ref<recording>::adopt(new recording(in_order));
  *out = made;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list::create_immediate(context& owner, device& target,
                                           const ze_command_queue_desc_t& desc,
                                           command_list** out) {
  if (const ze_result_t result = check_queue(desc); result != ZE_RESULT_SUCCESS) return result;
  const bool in_order = (desc.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0;
  auto* made = new command_list(owner, target, desc, in_order);
  if (in_order) made->list_flags_ |= ZE_COMMAND_LIST_FLAG_IN_ORDER;
  if ((desc.flags & ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY) != 0) {
    made->list_flags_ |= ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY;
  }
  if ((desc.flags & ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT) != 0) {
    made->list_flags_ |= ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT;
  }
  made->stream_ = stream::create(owner, target, in_order, desc);
  *out = made;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list::check(const dependencies& events) const {
  if (context_->is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
  if (events.wait_count > 0 && events.waits == nullptr) return ZE_RESULT_ERROR_INVALID_SIZE;
  for (uint32_t i = 0; i < events.wait_count; ++i) {
    const auto* wait = try_from_handle<event>(events.waits[i]);
    if (events.waits[i] == nullptr && is_immediate()) {
      return answer_misuse(quirk::crash_on_null_handle, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                           "an append that waits for a null event");
    }
    if (wait == nullptr || wait->has_lost_counter()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (has_quirk(quirk::unsignalled_counter_wait_refused) && wait->is_unsignalled_counter()) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
  }
  if (events.signal == nullptr) return ZE_RESULT_SUCCESS;
  const auto* signal = try_from_handle<event>(events.signal);
  if (signal == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return signal->check_signal(in_order_, is_immediate());
}

void command_list::bind_waits(command& work, const dependencies& events) const {
  work.links_.waits.reserve(events.wait_count);
  for (uint32_t i = 0; i < events.wait_count; ++i) {
    auto* wait = try_from_handle<event>(events.waits[i]);
    if (is_immediate() && wait->stays_complete()) {
      work.links_.waits.emplace_back().source = ref<event>(wait);
    } else {
      work.links_.waits.push_back(wait->bind_wait());
    }
  }
}

void command_list::wait_on_host(command& work) {
  for (const command_wait& each : work.links_.waits) {
    if (!each.moves) host_wait(each.point, UINT64_MAX, *each.source);
  }
}

ze_result_t command_list::append(std::unique_ptr<command> work, const dependencies& events,
                                 std::optional<launch_draft> draft) {
  if (const ze_result_t result = check(events); result != ZE_RESULT_SUCCESS) return result;
  // EV-34: what comes after the end of a list is taken and never reached, as by Intel's driver.
  if (ended_) return ZE_RESULT_SUCCESS;
  dwell_.stay();
  // Waits first: a command may wait for the counter-based event that it signals anew (EV-51).
  bind_waits(*work, events);
  auto* signal = try_from_handle<event>(events.signal);
  if (!is_immediate()) {
    recording_->add(std::move(work), signal);
    if (mutable_) mutable_->identify(*recording_, recording_->size() - 1, std::move(draft));
    return ZE_RESULT_SUCCESS;
  }
  if (signal != nullptr) {
    if (in_order_ && resets_keep_counter_mode()) signal->enter_counter_mode();
    work->links_.signal = signal->begin_signal();
    signal->note_signaller(work->ordering());
  }
  const bool binds = work->links_.signal.act == command_signal::action::counter;
  if (has_fault(fault::append_blocks_on_host_event)) wait_on_host(*work);
  const uint64_t number = stream_->submit(std::move(work));
  if (binds) signal->bind_signal(stream_->progress(), number, false);
  return finish_append(number);
}

ze_result_t command_list::append_lists(std::span<command_list* const> lists,
                                       const dependencies& events) {
  if (!is_immediate()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (const ze_result_t result = check(events); result != ZE_RESULT_SUCCESS) return result;
  for (const command_list* each : lists) {
    if (each->is_immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    if (!each->is_closed()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  if (events.wait_count > 0) {
    auto waits = std::make_unique<marker_command>();
    bind_waits(*waits, events);
    stream_->submit(std::move(waits));
  }
  for (const command_list* each : lists) {
    stream_->submit(std::make_unique<batch>(each->commands()));
  }
  return append(std::make_unique<marker_command>(), {events.signal});
}

ze_result_t command_list::finish_append(uint64_t number) {
  if (desc_.mode != ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) return ZE_RESULT_SUCCESS;
  return stream_->synchronize(number, UINT64_MAX);
}

ze_result_t command_list::close() {
  if (is_immediate()) return ZE_RESULT_SUCCESS;
  if (ended_ && !closed_) {
    if (!mutable_->are_complete()) {
      set_last_error(
          "a mutable command was given another kernel, and then not all of the arguments, group "
          "size and group count that this kernel needs");
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    recording_->finish_changes();
  }
  closed_ = true;
  ended_ = true;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list::reset() {
  if (is_immediate()) return ZE_RESULT_SUCCESS;
  recording_ = ref<recording>::adopt(new recording(in_order_));
  if (mutable_) mutable_ = std::make_unique<mutable_commands>();
  closed_ = false;
  ended_ = false;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list::clone(command_list** out) const {
  const bool may_be_cloned =
      (list_flags_ & ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE) != 0 && !is_immediate() && closed_;
  if (!may_be_cloned) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (context_->is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
  auto* made = new command_list(*context_, device_, desc_, in_order_);
  made->list_flags_ = list_flags_;
  made->recording_ = recording_->clone();
  if (mutable_) made->mutable_ = std::make_unique<mutable_commands>(*mutable_);
  made->closed_ = true;
  made->ended_ = true;
  *out = made;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list::issue_command_id(ze_mutable_command_exp_flags_t flags,
                                           std::span<kernel* const> kernels, uint64_t* id) {
  if (!is_mutable() || ended_) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (context_->is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
  return mutable_->issue_id(flags, kernels, id);
}

ze_result_t command_list::begin_update() {
  if (!is_mutable() || !ended_) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (context_->is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
  // EV-43 wants executions to be over. Where they are not, they keep what they had.
  if (recording_->is_shared()) recording_ = recording_->copy();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list::synchronize(uint64_t timeout_ns) {
  return is_immediate() ? stream_->synchronize(timeout_ns) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace zevent::driver
