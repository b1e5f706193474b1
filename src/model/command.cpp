#include "model/command.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zevent::model {

std::string_view name_of(object_kind kind) {
  switch (kind) {
    case object_kind::context:
      return "context";
    case object_kind::event_pool:
      return "event pool";
    case object_kind::event:
      return "event";
    case object_kind::command_list:
      return "command list";
    case object_kind::command_queue:
      return "command queue";
    case object_kind::fence:
      return "fence";
    case object_kind::module:
      return "module";
    case object_kind::kernel:
      return "kernel";
    case object_kind::image:
      return "image";
    case object_kind::sampler:
      return "sampler";
    case object_kind::graph:
      return "graph";
    case object_kind::executable_graph:
      return "executable graph";
    case object_kind::memory:
      return "memory";
  }
  return "object";
}

std::string describe(const command& which) {
  using enum function;
  const auto with_bytes = [&](std::string_view does) {
    const auto written = std::find_if(which.accesses.begin(), which.accesses.end(),
                                      [](const memory_access& each) { return each.writes; });
    if (written == which.accesses.end()) return std::string(does);
    const auto& region = written->region;
    if (region.contiguous()) return fmt::format("{} {} bytes", does, region.row_bytes);
    return fmt::format("{} {} x {} x {} bytes", does, region.row_bytes, region.rows, region.slices);
  };
  if (is_launch(which.which)) {
    std::string text = "launch";
    for (const auto& each : which.kernels) text += " " + each->name;
    return text;
  }
  switch (which.which) {
    case zeCommandListAppendMemoryCopy:
    case zeCommandListAppendMemoryCopyWithParameters:
    case zeCommandListAppendMemoryCopyFromContext:
    case zeCommandListAppendMemoryCopyRegion:
      return with_bytes("copy");
    case zeCommandListAppendMemoryFill:
    case zeCommandListAppendMemoryFillWithParameters:
      return with_bytes("fill");
    case zeCommandListAppendBarrier:
    case zeCommandListAppendMemoryRangesBarrier:
      return "barrier";
    case zeCommandListAppendWriteGlobalTimestamp:
      return "write timestamp";
    case zeCommandListAppendQueryKernelTimestamps:
      return "query timestamps";
    case zeCommandListAppendSignalEvent:
      return "signal event";
    case zeCommandListAppendEventReset:
      return "reset event";
    case zeCommandListAppendWaitOnEvents:
      return "wait on events";
    case zeCommandListAppendHostFunction:
      return "host function";
    default: {
      constexpr std::string_view prefix = "zeCommandListAppend";
      const auto name = name_of(which.which);
      if (name.empty()) return "command";
      return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
    }
  }
}

bool ordered(const run& a, const run& b) {
  if (a.chain && a.chain == b.chain) return a.chain_at < b.chain_at;
  if (look(b.before, *a.where->line).ordered >= a.at) return true;
  return a.chain && look(b.before, *a.chain).ordered >= a.chain_at;
}

bool visible(const run& a, const run& b) {
  if (a.chain && a.chain == b.chain) return a.chain_at < b.chain_at;
  if (look(b.before, *a.where->line).visible >= a.at) return true;
  return a.chain && look(b.before, *a.chain).visible >= a.chain_at;
}

clock_ref completion(const run& r) {
  if (!r.chain) return r.before;
  return join(r.before, clock_entry{r.chain, r.chain_at, r.chain_at});
}

bool stream::busy() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const ref<run>& each) { return !complete(*each); });
}

}  // namespace zevent::model
