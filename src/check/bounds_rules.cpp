#include <level_zero/ze_api.h>

#include <algorithm>

#include "check/rule_sets.hpp"
#include "model/call_accesses.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::allocation;
using model::byte_range;
using model::byte_region;
using model::command;
using model::command_list;
using model::memory_access;

// EV-73: memory is used inside its allocation and while that lives. Where memory begins and ends is
// known of zeMemAlloc* alone: plain host memory, reservations and imported memory are not judged.
class bounds_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeMemFree:
      case zeMemFreeExt:
      case zeCommandQueueExecuteCommandLists:
        return true;
      default:
        return is_append(which);
    }
  }

  void begins(const call_view& call) override {
    using enum function;
    switch (call.which) {
      case zeMemFree:
      case zeMemFreeExt:
        ++frees_;
        return see_free(call);
      case zeCommandQueueExecuteCommandLists:
      case zeCommandListImmediateAppendCommandListsExp:
      case zeCommandListImmediateAppendCommandListsWithParameters:
        for (const auto handle : call.list(phCommandLists)) see_execution(handle);
        return;
      default:
        accesses_.clear();
        add_certain_accesses(call, accesses_);
        for (const auto& each : accesses_) see_append(each);
        if (is_launch(call.which)) see_launch(call);
    }
  }

 private:
  static const char* verb(const memory_access& access) {
    return access.writes ? "writes" : "reads";
  }

  void see_append(const memory_access& access) {
    const auto& region = access.region;
    if (const allocation* memory = look_.state.find_memory(region.first)) {
      if (region.end() > memory->end()) report_end(access, *memory);
      return;
    }
    const allocation* next = look_.state.find_memory_after(region.first);
    if (next != nullptr && next->handle < region.end()) {
      if (overlap(region, {next->handle, next->bytes})) report_start(access, *next);
      return;
    }
    if (const allocation* freed = look_.state.find_freed_memory(region.first))
      report_freed(access, *freed);
  }

  void report_end(const memory_access& access, const allocation& memory) {
    const auto& region = access.region;
    finding* made = look_.add(ev(73), access.writes ? "writes past the end" : "reads past the end");
    if (made == nullptr) return;
    made->message =
        fmt::format("The command {} {} from byte {} to {}, but it has {}: {} too many.",
                    verb(access), look_.name(memory), region.first - memory.handle,
                    region.end() - memory.handle, memory.bytes, region.end() - memory.end());
    made->calls = {{memory.created, "allocates the memory"},
                   {look_.current->number, fmt::format("{} past its end", verb(access))}};
  }

  void report_start(const memory_access& access, const allocation& memory) {
    finding* made = look_.add(ev(73), "before the start");
    if (made == nullptr) return;
    made->message = fmt::format("The command {} {:#x} to {:#x}, which begins {} bytes before {}.",
                                verb(access), access.region.first, access.region.end(),
                                memory.handle - access.region.first, look_.name(memory));
    made->calls = {{memory.created, "allocates the memory"},
                   {look_.current->number, fmt::format("{} before its start", verb(access))}};
  }

  // Addresses that no program can get from the system: the upper half is the kernel's, and drivers
  // give them to devices.
  static bool is_device_only(uint64_t address) { return (address >> 47) != 0; }

  // The addresses of freed memory may be the system's by now, and plain memory of the program.
  void report_freed(const memory_access& access, const allocation& freed) {
    const bool certain = look_.keeps_addresses || is_device_only(access.region.first);
    finding* made = look_.add(ev(73), "freed", certain ? severity::error : severity::note);
    if (made == nullptr) return;
    made->message = fmt::format(
        "The command {} {}, which #{} freed{}.", verb(access), look_.name(freed),
        number_of(freed.destroyed),
        certain ? "" : "; unless the system has given its addresses to the program again");
    describe_use(*made, freed, look_.current->number, verb(access));
  }

  static void describe_use(finding& made, const allocation& freed, call_number user,
                           const char* does) {
    made.calls = {{freed.created, "allocates the memory"},
                  {freed.destroyed, "frees it"},
                  {user, fmt::format("{} it", does)}};
    std::sort(made.calls.begin(), made.calls.end(),
              [](const auto& a, const auto& b) { return a.call < b.call; });
  }

  // What was appended before the free refers to the freed allocation, whatever is there now.
  void see_execution(uint64_t handle) {
    const command_list* list = look_.state.lists.find_alive(handle);
    if (list == nullptr || list->immediate || list->commands.empty()) return;
    uint64_t& seen = frees_seen_[handle];
    if (std::exchange(seen, frees_) == frees_) return;
    for (const auto& each : list->commands) {
      for (const auto& access : each->accesses) {
        if (see_stale(*each, access)) break;
      }
    }
  }

  bool see_stale(const command& appended, const memory_access& access) {
    const uint64_t address = access.region.first;
    const allocation* freed = look_.state.find_freed_memory(address);
    if (freed == nullptr || freed->destroyed < appended.call || freed->created > appended.call)
      return false;
    finding* made =
        look_.add(ev(73), "executed", access.certain ? severity::error : severity::hazard);
    if (made == nullptr) return true;
    made->message = fmt::format("The list is executed although {}, which #{} {}, was freed by #{}.",
                                look_.name(*freed), number_of(appended.call),
                                access.certain ? verb(access) : "passes to a kernel",
                                number_of(freed->destroyed));
    made->calls = {{appended.call, access.certain ? fmt::format("{} the memory", verb(access))
                                                  : "launches a kernel with a pointer to it"},
                   {freed->destroyed, "frees it"},
                   {look_.current->number, "executes the list"}};
    return true;
  }

  // A kernel may have no use for a pointer that it was given: a hazard.
  void see_launch(const call_view& call) {
    const auto see = [&](uint64_t handle) {
      const auto* kernel = look_.state.kernels.find_alive(handle);
      if (kernel == nullptr) return;
      for (size_t i = 0; i < kernel->arguments.size(); ++i) {
        const auto& argument = kernel->arguments[i];
        if (!argument.target || argument.target->alive()) continue;
        if (look_.state.find_freed_memory(argument.value) != argument.target.get()) continue;
        report_argument(*kernel, i, *argument.target);
        return;
      }
    };
    if (call.which == function::zeCommandListAppendLaunchKernelWithArguments) return;
    if (call.has(hKernel)) see(call[hKernel]);
    for (const auto handle : call.list(phKernels)) see(handle);
  }

  void report_argument(const model::kernel& kernel, size_t index, const allocation& freed) {
    finding* made = look_.add(ev(73), "argument", severity::hazard);
    if (made == nullptr) return;
    made->message = fmt::format("Argument {} of kernel {} points into {}, which #{} freed.", index,
                                kernel.name, look_.name(freed), number_of(freed.destroyed));
    describe_use(*made, freed, look_.current->number, "passes");
  }

  void see_free(const call_view& call) {
    const uint64_t address = call[ptr];
    if (address == 0) return;
    if (const allocation* memory = look_.state.find_memory(address)) {
      if (memory->handle == address) return;
      look_.report(ev(73), "inside", "{} is freed by a pointer to its byte {}.",
                   look_.name(*memory), address - memory->handle);
      return;
    }
    const allocation* freed = look_.state.find_freed_memory(address);
    if (freed == nullptr || freed->handle != address) return;
    finding* made = look_.add(ev(73), "freed twice");
    if (made == nullptr) return;
    made->message = fmt::format("{} was freed by #{} already.", look_.name(*freed),
                                number_of(freed->destroyed));
    made->calls = {{freed->created, "allocates the memory"},
                   {freed->destroyed, "frees it"},
                   {call.number, "frees it again"}};
  }

  std::vector<memory_access> accesses_;     // of the current call; kept to save allocations
  uint64_t frees_ = 0;                      // calls so far
  model::handle_map<uint64_t> frees_seen_;  // by list: calls before it was last looked through
};

}  // namespace

std::unique_ptr<rule_set> bounds_rules(inspection& of) {
  return std::make_unique<bounds_rule_set>(of);
}

}  // namespace zevent::check
