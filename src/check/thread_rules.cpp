#include <algorithm>
#include <optional>
#include <string>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::memory_access;

// What is done with one handle at the same time.
class thread_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    return exclusive_argument(which) != none || which == function::zeEventPoolPutIpcHandle;
  }
  bool wants_began(function which) const override {
    return which == function::zeCommandQueueExecuteCommandLists;
  }

  void begins(const call_view& call) override {
    const argument which = exclusive_argument(call.which);
    const uint64_t handle = which != none ? call[which] : fingerprint(call.bytes(argument::hIpc));
    if (handle == 0) return;
    std::erase_if(under_way_, [&](const use& each) { return each.end_ns <= call.start_ns; });
    const auto other = std::find_if(under_way_.begin(), under_way_.end(), [&](const use& each) {
      return each.handle == handle && each.exclusive == which && each.thread != call.thread &&
             !given_out_again(each);
    });
    const bool at_once = other != under_way_.end();
    if (at_once) report(call, *other, which);
    note_user(call, which, handle, at_once);
    if (under_way_.size() >= most_uses) under_way_.erase(under_way_.begin());
    under_way_.push_back(
        {handle, call.end_ns, call.number, call.which, call.name, which, call.thread});
  }

  void began(const call_view& call) override { execute(call); }

  void finish() override {
    users_.for_each([&](uint64_t, const users& of) { report_in_turn(of); });
  }

 private:
  static constexpr size_t most_uses = 256;

  struct use {
    uint64_t handle = 0;
    uint64_t end_ns = 0;
    call_number call = model::no_call;
    function which = function::other;
    std::string_view name;
    check::argument exclusive = none;
    uint32_t thread = 0;
  };

  // The threads that used an object one after the other. What kept them apart, if anything, is not
  // in a recording: a lock of the program's, or luck.
  struct users {
    std::string name;  // of the object, once there are two threads
    call_number first = model::no_call, second = model::no_call;
    uint32_t thread = 0;  // of the first
    bool create_events = false;
    bool at_once = false;  // which is an error of its own
  };

  static std::optional<model::object_kind> kind_of(argument which) {
    switch (which) {
      case hCommandList:
        return model::object_kind::command_list;
      case hEventPool:
        return model::object_kind::event_pool;
      case hKernel:
        return model::object_kind::kernel;
      default:
        return std::nullopt;  // such objects are only given back
    }
  }

  // That another thread gives an object back in the end is common, and not noted.
  void note_user(const call_view& call, argument which, uint64_t handle, bool at_once) {
    const auto kind = kind_of(which);
    if (!kind) return;
    if (destroys(call.which) || call.which == function::zeEventPoolCloseIpcHandle) {
      if (const users* known = users_.find(handle)) report_in_turn(*known);
      return users_.erase(handle);
    }
    users& of = users_[handle];
    of.at_once |= at_once;
    if (of.first == model::no_call) {
      of.first = call.number;
      of.thread = call.thread;
    } else if (of.second == model::no_call && of.thread != call.thread) {
      of.second = call.number;
      of.name = look_.name(*kind, handle);
      of.create_events = call.which == function::zeEventCreate;
    }
  }

  void report_in_turn(const users& of) {
    if (of.second == model::no_call || of.at_once) return;
    finding* made =
        look_.add_at(of.second, of.create_events ? ev(5) : ev(40), "in turn", severity::note);
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} was used by several threads, never at the same time in this run. Whether a lock keeps "
        "them apart is not in a recording.",
        of.name);
    made->calls = {{of.first, "one thread"}, {of.second, "another thread"}};
  }

  static uint64_t fingerprint(std::span<const std::byte> bytes) {
    uint64_t sum = 0xcbf2'9ce4'8422'2325;
    for (const auto each : bytes) sum = (sum ^ static_cast<uint64_t>(each)) * 0x100'0000'01b3;
    return bytes.empty() ? 0 : sum;
  }

  static bool destroys(function which) {
    return name_of(which).find("Destroy") != std::string_view::npos;
  }

  // The call that is still at work gave the handle back, and the driver has given it out again
  // since: it is another object now.
  bool given_out_again(const use& last) const {
    const auto& state = look_.state;
    const uint64_t handle = last.handle;
    const bool frees = last.which == function::zeMemFree || last.which == function::zeMemFreeExt;
    if (!frees && !destroys(last.which)) return false;
    switch (last.exclusive) {
      case ptr: {
        const auto* memory = state.find_memory_by_start(handle);
        return memory != nullptr && memory->alive();
      }
      case hEvent:
        return state.events.find_alive(handle) != nullptr;
      case hEventPool:
        return state.pools.find_alive(handle) != nullptr;
      case hCommandList:
        return state.lists.find_alive(handle) != nullptr;
      case hCommandQueue:
        return state.queues.find_alive(handle) != nullptr;
      case hFence:
        return state.fences.find_alive(handle) != nullptr;
      case hModule:
        return state.modules.find_alive(handle) != nullptr;
      case hKernel:
        return state.kernels.find_alive(handle) != nullptr;
      case hImage:
        return state.images.find_alive(handle) != nullptr;
      case hSampler:
        return state.samplers.find_alive(handle) != nullptr;
      case hContext:
        return state.contexts.find_alive(handle) != nullptr;
      default:
        return false;
    }
  }

  void report(const call_view& call, const use& other, argument which) {
    const bool creates_event =
        call.which == function::zeEventCreate && other.which == function::zeEventCreate;
    const bool both_destroy = destroys(call.which) && destroys(other.which);
    const rule_id rule = creates_event ? ev(5) : both_destroy ? ev(8) : ev(40);
    finding* made = look_.add(rule, "at once");
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} was called while {} of another thread was still at work with the same {}.", call.name,
        other.name,
        which == none ? "IPC handle"
                      : std::string(path_of(which).substr(0, path_of(which).find('|'))));
    made->calls = {{other.call, "begins first"}, {call.number, "begins before that one has ended"}};
  }

  // EV-41: two executions at once on one queue, when it matters which comes first.
  void execute(const call_view& call) {
    const auto* queue = look_.state.queues.find_alive(call[hCommandQueue]);
    if (queue == nullptr) return;
    execution& last = executions_[queue->handle];
    const auto handles = call.list(phCommandLists);
    execution now{call.end_ns, call.number, call.thread, {handles.begin(), handles.end()}};
    if (last.end_ns > call.start_ns && last.thread != call.thread &&
        meet(accesses_of(last), accesses_of(now))) {
      if (finding* made = look_.add(ev(41), "at once")) {
        made->message = fmt::format(
            "Two threads execute lists on {} at the same time, and the lists use the same memory.",
            look_.name(*queue));
        made->calls = {{last.call, "begins first"},
                       {call.number, "begins before that one has ended"}};
      }
    }
    last = std::move(now);
  }

  struct execution {
    uint64_t end_ns = 0;
    call_number call = model::no_call;
    uint32_t thread = 0;
    std::vector<uint64_t> lists;
  };
  static constexpr size_t most_accesses = 256;

  std::vector<memory_access> accesses_of(const execution& which) const {
    std::vector<memory_access> all;
    for (const auto handle : which.lists) {
      const auto* list = look_.state.lists.find_alive(handle);
      if (list == nullptr) continue;
      for (const auto& each : list->commands) {
        if (all.size() > most_accesses) return all;
        all.insert(all.end(), each->accesses.begin(), each->accesses.end());
      }
    }
    return all;
  }

  static bool meet(const std::vector<memory_access>& a, const std::vector<memory_access>& b) {
    return std::any_of(a.begin(), a.end(), [&](const memory_access& x) {
      return std::any_of(b.begin(), b.end(), [&](const memory_access& y) {
        return (x.writes || y.writes) && overlap(x.region, y.region).has_value();
      });
    });
  }

  std::vector<use> under_way_;               // calls that may not have ended, as they began
  model::handle_map<execution> executions_;  // by queue
  model::handle_map<users> users_;           // of objects that are alive
};

}  // namespace

std::unique_ptr<rule_set> thread_rules(inspection& of) {
  return std::make_unique<thread_rule_set>(of);
}

}  // namespace zevent::check
