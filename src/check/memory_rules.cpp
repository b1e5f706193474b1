#include <level_zero/ze_api.h>

#include <algorithm>
#include <bit>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::allocation;
using model::byte_region;
using model::command_list;
using model::complete;
using model::memory_access;
using model::ref;

class memory_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeMemFree:
      case zeMemFreeExt:
      case zeContextEvictMemory:
      case zeContextEvictImage:
      case zeContextDestroy:
      case zeModuleDestroy:
      case zeKernelDestroy:
      case zeImageDestroy:
      case zeSamplerDestroy:
      case zeCommandListAppendMemoryCopy:
      case zeCommandListAppendMemoryCopyWithParameters:
      case zeCommandListAppendMemoryCopyRegion:
      case zeCommandListAppendMemoryFill:
      case zeCommandListAppendMemoryFillWithParameters:
        return true;
      default:
        return false;
    }
  }

  void begins(const call_view& call) override {
    using enum function;
    auto& state = look_.state;
    switch (call.which) {
      case zeMemFreeExt:
        // Blocking and deferred free wait by themselves.
        if (call[free_policy] != 0) return;
        [[fallthrough]];
      case zeMemFree:
        if (const allocation* memory = state.find_memory_by_start(call[ptr]);
            memory != nullptr && memory->alive())
          see_pending(memory->handle, memory->end(), *memory, "frees it");
        return;
      case zeContextEvictMemory:
        if (const allocation* memory = state.find_memory(call[ptr]))
          see_pending(call[ptr], call[ptr] + std::min(call[size], memory->end() - call[ptr]),
                      *memory, "evicts it");
        return;
      case zeContextEvictImage:
      case zeImageDestroy:
        if (const auto* which = state.images.find_alive(call[hImage]))
          see_uses(*which, which->uses);
        return;
      case zeKernelDestroy:
        if (const auto* which = state.kernels.find_alive(call[hKernel]))
          see_uses(*which, which->uses);
        return;
      case zeModuleDestroy:
        return destroy_module(call);
      case zeSamplerDestroy:
        return destroy_sampler(call);
      case zeContextDestroy:
        return destroy_context(call);
      case zeCommandListAppendMemoryCopy:
      case zeCommandListAppendMemoryCopyWithParameters:
        return copy(call);
      case zeCommandListAppendMemoryCopyRegion:
        return copy_region(call);
      default:
        return fill(call);
    }
  }

 private:
  // EV-44, or EV-60 when the host has waited for the event of a pending command, which had been
  // given to another one meanwhile.
  void see_pending(uint64_t first, uint64_t end, const allocation& memory, const char* does) {
    const run* pending = nullptr;
    look_.state.accesses().for_each_pending(first, end, [&](const run& each, const memory_access&) {
      if (pending == nullptr) pending = &each;
    });
    if (pending != nullptr) report(*pending, memory, does);
  }

  void see_uses(const model::object& which, const std::vector<ref<run>>& uses) {
    for (const auto& each : uses) {
      if (!complete(*each)) return report(*each, which, "destroys it");
    }
  }

  static bool is_over(const model::command& what) {
    return what.executions > 0 && (what.last_run == nullptr || complete(*what.last_run));
  }

  void report(const run& pending, const model::object& which, const char* does) {
    const auto& signal = pending.what->signal;
    const bool replaced = signal && signal->counter_based && signal->last_signal &&
                          signal->last_signal != pending.what && is_over(*signal->last_signal);
    finding* made = look_.add(replaced ? ev(60) : ev(44), name_of(which.kind).data(),
                              replaced ? std::optional(severity::error) : std::nullopt);
    if (made == nullptr) return;
    made->message = fmt::format("Nothing shows that #{}, which uses {}, is complete.",
                                number_of(pending.what->call), look_.name(which));
    made->cause = look_.missing_host_wait(pending);
    made->calls.push_back({pending.what->call, "uses it"});
    if (replaced) {
      made->message += fmt::format(" Its event {} was waited for, but it stood for #{} by then.",
                                   look_.name(*signal), number_of(signal->last_signal->call));
      made->calls.push_back({signal->last_signal->call, "signals the same event"});
    }
    if (pending.submitted != pending.what->call)
      made->calls.push_back({pending.submitted, "executes its list"});
    made->calls.push_back({look_.current->number, does});
  }

  void destroy_module(const call_view& call) {
    const auto* which = look_.state.modules.find_alive(call[hModule]);
    if (which == nullptr) return;
    look_.state.kernels.for_each_alive([&](const model::kernel& each) {
      if (each.owner.get() == which) see_uses(*which, each.uses);
    });
  }

  void destroy_sampler(const call_view& call) {
    const auto* which = look_.state.samplers.find_alive(call[hSampler]);
    if (which == nullptr) return;
    look_.state.kernels.for_each_alive([&](const model::kernel& each) {
      const bool uses =
          std::any_of(each.arguments.begin(), each.arguments.end(),
                      [&](const auto& argument) { return argument.value == which->handle; });
      if (uses) see_uses(*which, each.uses);
    });
  }

  void destroy_context(const call_view& call) {
    const auto* which = look_.state.contexts.find_alive(call[hContext]);
    if (which == nullptr) return;
    for (const auto& each : look_.state.streams()) {
      if (each->owner.get() != which) continue;
      for (const auto& pending : each->runs) {
        if (!complete(*pending)) return report(*pending, *which, "destroys it");
      }
    }
  }

  // EV-45.
  void copy(const call_view& call) {
    if (call[size] == 0 || call[dstptr] == call[srcptr]) return;
    const byte_region to{call[dstptr], call[size]};
    const byte_region from{call[srcptr], call[size]};
    const auto common = overlap(to, from);
    if (!common) return;
    if (finding* made = look_.add(ev(45), "plain", severity::hazard)) {
      made->message = fmt::format("Source and destination overlap by {} bytes.", common->bytes);
    }
  }

  void copy_region(const call_view& call) {
    if (!call.has(dstRegion) || !call.has(srcRegion)) return;
    if (call[dst_width] != call[src_width] || call[dst_height] != call[src_height] ||
        call[dst_depth] != call[src_depth]) {
      look_.report(ev(45), "extents", "The source is {} × {} × {}, the destination {} × {} × {}.",
                   call[src_width], call[src_height], call[src_depth], call[dst_width],
                   call[dst_height], call[dst_depth]);
      return;
    }
    if (call[dst_depth] > 1 && (call[dstSlicePitch] == 0 || call[srcSlicePitch] == 0)) {
      look_.report(ev(45), "slices", "The copy has a depth of {}, but a slice pitch is 0.",
                   call[dst_depth]);
      return;
    }
    const auto to = region(call, dstptr, dst_x, dst_y, dst_z, dstPitch, dstSlicePitch);
    const auto from = region(call, srcptr, src_x, src_y, src_z, srcPitch, srcSlicePitch);
    if (const auto common = overlap(to, from)) {
      look_.report(ev(45), "overlap", "The two regions overlap from {:#x} to {:#x}.", common->first,
                   common->end());
    }
  }

  static byte_region region(const call_view& call, argument base, argument x, argument y,
                            argument z, argument pitch, argument slice_pitch) {
    const uint64_t offset = call[x] + call[y] * call[pitch] + call[z] * call[slice_pitch];
    return model::simplified({call[base] + offset, call[dst_width],
                              std::max<uint64_t>(call[dst_height], 1), call[pitch],
                              std::max<uint64_t>(call[dst_depth], 1), call[slice_pitch]});
  }

  // EV-46.
  void fill(const call_view& call) {
    const uint64_t pattern = call[pattern_size];
    if (pattern == 0 || !std::has_single_bit(pattern)) {
      look_.report(ev(46), "power", "A pattern of {} bytes is not a power of two.", pattern);
      return;
    }
    if (call[ptr] % pattern != 0) {
      look_.report(ev(46), "aligned",
                   "ptr is {:#x}, which is not aligned to the pattern of {} "
                   "bytes.",
                   call[ptr], pattern);
    }
    if (call[size] % pattern != 0) {
      look_.report(ev(46), "size", "The size, {}, is not a multiple of the pattern's {} bytes.",
                   call[size], pattern);
    }
    const command_list* list = look_.state.lists.find_alive(call[hCommandList]);
    const auto* device = list != nullptr ? look_.state.devices.find(list->device) : nullptr;
    if (device == nullptr || list->ordinal >= device->max_fill_pattern.size()) return;
    const uint64_t most = device->max_fill_pattern[list->ordinal];
    if (most > 0 && pattern > most) {
      look_.report(ev(46), "limit", "The pattern has {} bytes; queue group {} takes {} at most.",
                   pattern, list->ordinal, most);
    }
  }
};

}  // namespace

std::unique_ptr<rule_set> memory_rules(inspection& of) {
  return std::make_unique<memory_rule_set>(of);
}

}  // namespace zevent::check
