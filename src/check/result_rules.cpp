#include <level_zero/ze_api.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::event;
using model::event_role;
using model::no_call;
using model::object_kind;

struct handle_argument {
  argument which;
  object_kind kind;
};

// Where a call gives out what it has made.
constexpr std::array made_handles = {
    handle_argument{phContext, object_kind::context},
    handle_argument{phEventPool, object_kind::event_pool},
    handle_argument{phEvent, object_kind::event},
    handle_argument{phCommandList, object_kind::command_list},
    handle_argument{phCommandQueue, object_kind::command_queue},
    handle_argument{phFence, object_kind::fence},
    handle_argument{phModule, object_kind::module},
    handle_argument{phKernel, object_kind::kernel},
    handle_argument{phImage, object_kind::image},
    handle_argument{phSampler, object_kind::sampler},
    handle_argument{phGraph, object_kind::graph},
    handle_argument{phExecutableGraph, object_kind::executable_graph},
    handle_argument{pptr, object_kind::memory},
};

// Handles that no function takes as null, except for the fence of an execution.
constexpr std::array used_handles = {
    handle_argument{hContext, object_kind::context},
    handle_argument{hEventPool, object_kind::event_pool},
    handle_argument{hEvent, object_kind::event},
    handle_argument{hCommandList, object_kind::command_list},
    handle_argument{hCommandQueue, object_kind::command_queue},
    handle_argument{hFence, object_kind::fence},
    handle_argument{hModule, object_kind::module},
    handle_argument{hKernel, object_kind::kernel},
    handle_argument{hImage, object_kind::image},
    handle_argument{hDstImage, object_kind::image},
    handle_argument{hSrcImage, object_kind::image},
    handle_argument{hSampler, object_kind::sampler},
};

// EV-74: what a failed call should have done or made is not relied on. EV-79: a call that the
// driver called wrong, where no other rule says why; for that it comes after all other rules; and a
// null pointer on which the process crashed. EV-8: likewise handles that were never made.
class result_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return true; }

  void begins(const call_view& call) override {
    if (!call.did_return) note_unknown_handle(call);
    const bool failed = call.did_return && api::is_error(call.result);
    if (any_failed_) {
      see_null_handles(call);
      see_null_memory(call);
      see_stale_handles(call);
      see_waits(call);
      if (is_launch(call.which)) see_launch(call);
    }
    if (failed)
      note_failure(call);
    else if (any_failed_)
      note_success(call);
    if (failed && !look_.has_findings && is_called_invalid(call.result)) report_refusal(call);
  }

  void finish() override {
    if (!look_.crashed) return;
    for (const auto& each : crash_suspects_) {
      finding* made = each.is_null_pointer
                          ? look_.add_at(each.call, ev(79), "null", severity::error)
                          : look_.add_at(each.call, ev(8), "never made");
      if (made == nullptr) return;
      made->message = each.message;
      made->calls = {{each.call, "uses it"}};
    }
  }

 private:
  struct failure {
    call_number call = no_call;
    std::string_view name;  // of the function
    uint32_t result = 0;
    uint32_t thread = 0;
    bool made_since = false;  // the thread has made another object of the kind
  };
  struct unset_argument {
    failure by;
    uint64_t index = 0;
  };
  struct crash_suspect {
    call_number call;
    std::string message;
    bool is_null_pointer = false;
  };

  static failure failure_of(const call_view& call) {
    return {call.number, call.name, call.result, call.thread};
  }

  static object_kind made_by(const call_view& call, bool& makes) {
    for (const auto& each : made_handles) {
      makes = call.has(each.which);
      if (makes) return each.kind;
    }
    return object_kind::context;
  }

  static uint64_t signalled_event(const call_view& call) {
    return call.which == function::zeCommandListAppendSignalEvent ? call[hEvent]
                                                                  : call[hSignalEvent];
  }

  void note_failure(const call_view& call) {
    bool makes = false;
    const object_kind kind = made_by(call, makes);
    if (makes) {
      not_made_[static_cast<size_t>(kind)] = failure_of(call);
      any_failed_ = true;
    } else if (is_append(call.which)) {
      if (const uint64_t handle = signalled_event(call)) not_signalled_[handle] = failure_of(call);
    } else if (call.which == function::zeCommandQueueExecuteCommandLists) {
      if (call[hFence] != 0) fences_not_signalled_[call[hFence]] = failure_of(call);
      for (const auto list_handle : call.list(phCommandLists)) {
        const auto* list = look_.state.lists.find_alive(list_handle);
        if (list == nullptr) continue;
        for (const auto& each : list->commands) {
          if (each->signal) not_signalled_[each->signal->handle] = failure_of(call);
        }
      }
    } else if (call.which == function::zeKernelSetArgumentValue) {
      not_set_[call[hKernel]] = {failure_of(call), call[argIndex]};
    }
    any_failed_ |= !not_signalled_.empty() || !fences_not_signalled_.empty() || !not_set_.empty();
  }

  void note_success(const call_view& call) {
    bool makes = false;
    const object_kind kind = made_by(call, makes);
    if (makes) {
      auto& last = not_made_[static_cast<size_t>(kind)];
      last.made_since |= last.thread == call.thread;
    } else if (is_append(call.which)) {
      not_signalled_.erase(signalled_event(call));
    } else if (call.which == function::zeCommandQueueExecuteCommandLists) {
      fences_not_signalled_.erase(call[hFence]);
    } else if (call.which == function::zeEventHostSignal ||
               call.which == function::zeEventDestroy) {
      not_signalled_.erase(call[hEvent]);
    } else if (call.which == function::zeKernelSetArgumentValue) {
      const auto known = not_set_.find(call[hKernel]);
      if (known != not_set_.end() && known->second.index == call[argIndex]) not_set_.erase(known);
    }
  }

  const failure* not_made(object_kind kind) const {
    const auto& last = not_made_[static_cast<size_t>(kind)];
    return last.call != no_call ? &last : nullptr;
  }

  finding* add(const failure& failed, const char* kind,
               std::optional<severity> level = std::nullopt) {
    look_.refused.note_use(failed.call, look_.current->number);
    finding* made = look_.add(ev(74), kind, level);
    if (made != nullptr) {
      made->calls = {{failed.call, fmt::format("fails: {}", result_name(failed.result))},
                     {look_.current->number, "relies on it"}};
    }
    return made;
  }

  static bool releases(const call_view& call) {
    return call.name.find("Destroy") != std::string_view::npos;
  }

  static bool is_optional(const call_view& call, argument which) {
    return which == hFence &&
           (call.which == function::zeCommandQueueExecuteCommandLists || is_append(call.which));
  }

  void see_null_handles(const call_view& call) {
    for (const auto& each : used_handles) {
      if (!call.has(each.which) || call[each.which] != 0) continue;
      if (!is_optional(call, each.which) && report_null(call, each.kind, path_of(each.which)))
        return;
    }
    for (const argument each : {phWaitEvents, phEvents}) {
      const auto handles = call.list(each);
      if (std::find(handles.begin(), handles.end(), 0) == handles.end()) continue;
      if (report_null(call, object_kind::event, path_of(each))) return;
    }
  }

  bool report_null(const call_view& call, object_kind kind, std::string_view path) {
    const failure* failed = not_made(kind);
    if (failed == nullptr) return false;
    finding* made = add(*failed, "null handle",
                        releases(call) ? std::optional(severity::hazard) : std::nullopt);
    if (made == nullptr) return true;
    made->message = fmt::format("{} is null: #{} {}, which was to make the {}, failed with {}.",
                                path.substr(0, path.find('|')), number_of(failed->call),
                                failed->name, name_of(kind), result_name(failed->result));
    return true;
  }

  void see_null_memory(const call_view& call) {
    if (!is_append(call.which) || (call.has(size) && call[size] == 0)) return;
    const failure* failed = not_made(object_kind::memory);
    if (failed == nullptr) return;
    for (const argument each : {dstptr, srcptr, ptr}) {
      if (!call.is_null(each)) continue;
      if (finding* made = add(*failed, "null memory")) {
        made->message =
            fmt::format("{} is null: #{} {} failed with {}.", path_of(each),
                        number_of(failed->call), failed->name, result_name(failed->result));
      }
      return;
    }
  }

  // The handle that a variable held before a failed call was to give it another one.
  void see_stale_handles(const call_view& call) {
    auto& state = look_.state;
    const auto see = [&](const auto& table, object_kind kind, argument which) {
      const failure* failed = call[which] != 0 ? not_made(kind) : nullptr;
      if (failed == nullptr || failed->made_since || failed->thread != call.thread) return;
      const model::object* dead = table.find(call[which]);
      if (dead == nullptr || dead->alive() || failed->call < dead->destroyed) return;
      finding* made = add(*failed, "stale handle", severity::hazard);
      if (made == nullptr) return;
      made->message = fmt::format(
          "{} was destroyed by #{}, and #{} {}, which may have been meant to replace it, failed "
          "with {}.",
          look_.name(*dead), number_of(dead->destroyed), number_of(failed->call), failed->name,
          result_name(failed->result));
      made->calls.insert(made->calls.begin(), {dead->destroyed, "destroys the object"});
    };
    see(state.events, object_kind::event, hEvent);
    see(state.events, object_kind::event, hSignalEvent);
    see(state.pools, object_kind::event_pool, hEventPool);
    see(state.lists, object_kind::command_list, hCommandList);
    see(state.queues, object_kind::command_queue, hCommandQueue);
    see(state.fences, object_kind::fence, hFence);
    see(state.modules, object_kind::module, hModule);
    see(state.kernels, object_kind::kernel, hKernel);
    see(state.images, object_kind::image, hImage);
  }

  void see_waits(const call_view& call) {
    using enum function;
    switch (call.which) {
      case zeEventHostSynchronize:
      case zeEventQueryStatus:
      case zeEventQueryKernelTimestamp:
        return see_wait(call[hEvent]);
      case zeFenceHostSynchronize:
      case zeFenceQueryStatus:
        return see_fence_wait(call[hFence]);
      default:
        if (!is_append(call.which) || not_signalled_.empty()) return;
        for (const auto handle : call.list(phWaitEvents)) see_wait(handle);
        if (call.which == zeCommandListAppendWaitOnEvents) {
          for (const auto handle : call.list(phEvents)) see_wait(handle);
        }
    }
  }

  void see_wait(uint64_t handle) {
    const auto known = not_signalled_.find(handle);
    if (known == not_signalled_.end()) return;
    const failure failed = known->second;
    not_signalled_.erase(known);
    const event* which = look_.state.events.find_alive(handle);
    if (which == nullptr || which->foreign || which->created > failed.call) return;
    const bool comes_otherwise =
        which->counter_based
            ? which->last_signal && which->last_signal->call > failed.call
            : which->signalled() ||
                  std::any_of(which->uses.begin(), which->uses.end(),
                              [](const auto& use) { return use.role == event_role::signals; });
    if (comes_otherwise) return;
    finding* made = add(failed, which->counter_based ? "counter" : "event",
                        which->counter_based ? std::optional(severity::hazard) : std::nullopt);
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} is waited for, but #{} {}, which was to have it signalled, failed with {}.",
        look_.name(*which), number_of(failed.call), failed.name, result_name(failed.result));
    if (which->counter_based) {
      made->message += which->last_signal
                           ? " It stands for an older command, and passes when that is complete."
                           : " It counts as complete, and the wait passes at once.";
    }
  }

  void see_fence_wait(uint64_t handle) {
    const auto known = fences_not_signalled_.find(handle);
    if (known == fences_not_signalled_.end()) return;
    const failure failed = known->second;
    fences_not_signalled_.erase(known);
    const auto* which = look_.state.fences.find_alive(handle);
    if (which == nullptr || which->pending != 0 || which->created > failed.call) return;
    finding* made = add(failed, "fence");
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} is waited for, but #{} {}, which was to have it signalled, failed with {}.",
        look_.name(*which), number_of(failed.call), failed.name, result_name(failed.result));
  }

  // A launch with the value that an argument had before. One that never had any is EV-75.
  void see_launch(const call_view& call) {
    if (not_set_.empty() || call.which == function::zeCommandListAppendLaunchKernelWithArguments)
      return;
    const auto see = [&](uint64_t handle) {
      const auto known = not_set_.find(handle);
      if (known == not_set_.end()) return;
      const auto failed = known->second;
      not_set_.erase(known);
      const auto* kernel = look_.state.kernels.find_alive(handle);
      if (kernel == nullptr || kernel->created > failed.by.call ||
          !kernel->is_set(static_cast<size_t>(failed.index)))
        return;
      finding* made = add(failed.by, "argument", severity::hazard);
      if (made == nullptr) return;
      made->message = fmt::format(
          "Argument {} of {} ({}) has the value that it had before: #{}, which was to set it, "
          "failed with {}.",
          failed.index, look_.name(*kernel), kernel->name, number_of(failed.by.call),
          result_name(failed.by.result));
    };
    if (call.has(hKernel)) see(call[hKernel]);
    for (const auto handle : call.list(phKernels)) see(handle);
  }

  bool is_known(object_kind kind, uint64_t handle) const {
    const auto& state = look_.state;
    switch (kind) {
      case object_kind::context:
        return state.contexts.find(handle) != nullptr;
      case object_kind::event_pool:
        return state.pools.find(handle) != nullptr;
      case object_kind::event:
        return state.events.find(handle) != nullptr;
      case object_kind::command_list:
        return state.lists.find(handle) != nullptr;
      case object_kind::command_queue:
        return state.queues.find(handle) != nullptr;
      case object_kind::fence:
        return state.fences.find(handle) != nullptr;
      case object_kind::module:
        return state.modules.find(handle) != nullptr;
      case object_kind::kernel:
        return state.kernels.find(handle) != nullptr;
      case object_kind::image:
        return state.images.find(handle) != nullptr;
      case object_kind::sampler:
        return state.samplers.find(handle) != nullptr;
      default:
        return true;
    }
  }

  // "hEvent is 0x1234, which is no event of this process."; empty when there is nothing of the
  // kind among the arguments.
  std::string unknown_handle(const call_view& call) const {
    const auto see = [&](argument which, object_kind kind, uint64_t handle) -> std::string {
      if (is_known(kind, handle)) return {};
      const auto path = path_of(which);
      const auto name = path.substr(0, path.find('|'));
      if (handle == 0) return fmt::format("{} is null.", name);
      return fmt::format("{} is {:#x}, which is no {} of this process.", name, handle,
                         name_of(kind));
    };
    for (const auto& each : used_handles) {
      if (!call.has(each.which) || is_optional(call, each.which)) continue;
      if (auto text = see(each.which, each.kind, call[each.which]); !text.empty()) return text;
    }
    if (call[hSignalEvent] != 0) {
      if (auto text = see(hSignalEvent, object_kind::event, call[hSignalEvent]); !text.empty())
        return text;
    }
    for (const argument which : {phWaitEvents, phEvents}) {
      for (const auto handle : call.list(which)) {
        if (auto text = see(which, object_kind::event, handle); !text.empty()) return text;
      }
    }
    for (const auto handle : call.list(phCommandLists)) {
      if (auto text = see(phCommandLists, object_kind::command_list, handle); !text.empty())
        return text;
    }
    return {};
  }

  void note_unknown_handle(const call_view& call) {
    auto text = unknown_handle(call);
    const bool is_null_pointer = text.empty();
    if (is_null_pointer) text = null_pointer(call);
    if (text.empty()) return;
    look_.refused.add(call);
    crash_suspects_.push_back({call.number, std::move(text), is_null_pointer});
  }

  // Where the specification has a call refused, a driver may crash in it instead.
  static std::string null_pointer(const call_view& call) {
    if (!is_append(call.which) || (call.has(size) && call[size] == 0)) return {};
    for (const argument each : {dstptr, srcptr, ptr})
      if (call.is_null(each)) return fmt::format("{} is null.", path_of(each));
    return {};
  }

  // EV-79.
  void report_refusal(const call_view& call) {
    const auto reason = unknown_handle(call);
    look_.report(ev(79), call.name.data(), "{} is called wrongly. {}", call.name,
                 reason.empty() ? "No other rule says how." : reason);
  }

  bool any_failed_ = false;  // something may rely on one of the calls below
  std::array<failure, static_cast<size_t>(object_kind::memory) + 1> not_made_;  // the last, by kind
  std::unordered_map<uint64_t, failure> not_signalled_;                         // by event
  std::unordered_map<uint64_t, failure> fences_not_signalled_;                  // by fence
  std::unordered_map<uint64_t, unset_argument> not_set_;                        // by kernel
  std::vector<crash_suspect> crash_suspects_;
};

}  // namespace

std::unique_ptr<rule_set> result_rules(inspection& of) {
  return std::make_unique<result_rule_set>(of);
}

}  // namespace zevent::check
