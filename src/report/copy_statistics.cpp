#include "report/copy_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zevent::report {
namespace {

using model::function;
using enum model::argument;

// Memory that no call of the recording allocated: the program's own.
constexpr const char* plain_memory = "program";

const char* kind_made_by(function which) {
  switch (which) {
    case function::zeMemAllocHost:
      return "host";
    case function::zeMemAllocDevice:
      return "device";
    case function::zeMemAllocShared:
      return "shared";
    case function::zeMemOpenIpcHandle:
      return "imported";
    default:
      return nullptr;
  }
}

// Three factors of 32 bits; more than fits is more than any memory.
uint64_t region_bytes(const model::call_view& view) {
  const auto depth = std::max<uint64_t>(1, view[dst_depth]);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(view[dst_width] * view[dst_height], depth, &bytes)) return UINT64_MAX;
  return bytes;
}

}  // namespace

copy_statistics::copy_statistics(const trace::trace_file& trace)
    : trace_(trace), list_class_(trace::class_named(trace.model(), "ze_command_list_handle_t")) {}

bool copy_statistics::is_copy(function which) {
  return which == function::zeCommandListAppendMemoryCopy ||
         which == function::zeCommandListAppendMemoryCopyWithParameters ||
         which == function::zeCommandListAppendMemoryCopyFromContext ||
         which == function::zeCommandListAppendMemoryCopyRegion;
}

uint64_t copy_statistics::bytes_moved(const model::call_view& view) {
  if (view.which == function::zeCommandListAppendMemoryCopyRegion) return region_bytes(view);
  const bool moves = is_copy(view.which) || view.which == function::zeCommandListAppendMemoryFill ||
                     view.which == function::zeCommandListAppendMemoryFillWithParameters;
  return moves ? view[size] : 0;
}

bool copy_statistics::wants(function which) {
  switch (which) {
    case function::zeCommandListAppendMemoryCopy:
    case function::zeCommandListAppendMemoryCopyWithParameters:
    case function::zeCommandListAppendMemoryCopyFromContext:
    case function::zeCommandListAppendMemoryCopyRegion:
    case function::zeCommandListAppendMemoryFill:
    case function::zeCommandListAppendMemoryFillWithParameters:
    case function::zeCommandListCreateImmediate:
    case function::zeCommandListReset:
    case function::zeCommandQueueExecuteCommandLists:
    case function::zeCommandListImmediateAppendCommandListsExp:
    case function::zeCommandListImmediateAppendCommandListsWithParameters:
      return true;
    default:
      return kind_made_by(which) != nullptr;
  }
}

void copy_statistics::add(const trace::call& each, const model::call_view& view, bool counts) {
  if (each.failed()) return;
  if (kind_made_by(view.which) != nullptr) return note_memory(each, view);
  switch (view.which) {
    case function::zeCommandListCreateImmediate: {
      const auto list = trace_.objects().find(
          {trace_.process_of(each), list_class_, view[phCommandList]}, each.end_ns());
      if (list) lists_[index_of(*list)].immediate = true;
      return;
    }
    case function::zeCommandListReset:
      if (auto* list = list_of(each, view[hCommandList])) list->copies.clear();
      return;
    case function::zeCommandQueueExecuteCommandLists:
    case function::zeCommandListImmediateAppendCommandListsExp:
    case function::zeCommandListImmediateAppendCommandListsWithParameters:
      for (const uint64_t handle : view.list(phCommandLists)) {
        const auto* list = list_of(each, handle);
        if (list == nullptr || !counts) continue;
        for (const auto& [kind, count] : list->copies) by_kind_[kind].add(count);
      }
      return;
    case function::zeCommandListAppendMemoryFill:
    case function::zeCommandListAppendMemoryFillWithParameters:
      return add_command(each, view, "fill of " + kind_at(each, view[ptr]), view[size], counts);
    default: {
      const bool is_region = view.which == function::zeCommandListAppendMemoryCopyRegion;
      return add_command(each, view,
                         kind_at(each, view[srcptr]) + " to " + kind_at(each, view[dstptr]),
                         is_region ? region_bytes(view) : view[size], counts);
    }
  }
}

void copy_statistics::note_memory(const trace::call& each, const model::call_view& view) {
  const auto memory = trace_.objects().find(
      {trace_.process_of(each), trace::memory_class, view[pptr]}, each.end_ns());
  if (memory) kind_of_memory_[index_of(*memory)] = kind_made_by(view.which);
}

std::string copy_statistics::kind_at(const trace::call& each, uint64_t address) const {
  const auto memory = trace_.objects().find_memory(trace_.process_of(each), address, each.start_ns);
  const auto found = memory ? kind_of_memory_.find(index_of(*memory)) : kind_of_memory_.end();
  return found == kind_of_memory_.end() ? plain_memory : found->second;
}

void copy_statistics::add_command(const trace::call& each, const model::call_view& view,
                                  std::string kind, uint64_t bytes, bool counts) {
  auto* list = list_of(each, view[hCommandList]);
  if (list != nullptr && !list->immediate)
    list->copies[kind].add({1, bytes});
  else if (counts)
    by_kind_[std::move(kind)].add({1, bytes});
}

copy_statistics::list_content* copy_statistics::list_of(const trace::call& each, uint64_t handle) {
  const auto list =
      trace_.objects().find({trace_.process_of(each), list_class_, handle}, each.start_ns);
  return list ? &lists_[index_of(*list)] : nullptr;
}

}  // namespace zevent::report
