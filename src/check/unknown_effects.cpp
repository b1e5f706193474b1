#include "check/unknown_effects.hpp"

#include <algorithm>
#include <array>

namespace zevent::check {
namespace {

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

struct effect {
  std::string_view part;   // of a function's name
  std::string_view table;  // of a dispatch table's name
  state_kinds changed;
};

// All that fit count.
constexpr std::array effects = {
    effect{"CommandList", "_command_list_", state_of_order | state_of_lists | state_of_handles},
    effect{"CommandQueue", "_command_queue_", state_of_order | state_of_handles},
    effect{"Graph", "_graph_", state_of_graphs | state_of_order | state_of_handles},
    effect{"Event", "_event_", state_of_order | state_of_handles},
    effect{"Fence", "_fence_", state_of_order | state_of_handles},
    effect{"Synchronize", "", state_of_order},
    effect{"Mem", "_mem_", state_of_memory},
    effect{"Pointer", "", state_of_memory},
    effect{"Kernel", "_kernel_", state_of_kernels | state_of_handles},
    effect{"Module", "_module_", state_of_handles},
    effect{"Variable", "", state_of_order | state_of_kernels},
    effect{"Image", "_image_", state_of_memory | state_of_handles},
    effect{"Context", "_context_", state_of_memory | state_of_handles},
};

// Questions change nothing, but may tell of objects.
bool is_question(std::string_view name) {
  return has(name, "Get") || has(name, "Query") || has(name, "Is");
}

// Metrics and system management.
bool is_of_core(std::string_view name) {
  return !name.starts_with("zet") && !name.starts_with("zes");
}

}  // namespace

state_kinds state_needed_by(rule_id rule) {
  switch (static_cast<unsigned>(rule)) {
    case 0:
    case 7:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 18:
    case 19:
    case 21:
    case 25:
    case 26:
    case 27:
    case 29:
    case 39:
    case 47:
    case 50:
    case 51:
    case 56:
    case 57:
    case 60:
      return state_of_order;
    case 34:
    case 37:
    case 43:
      return state_of_lists;
    case 36:
      return state_of_order | state_of_lists;
    case 44:
      return state_of_order | state_of_memory;
    case 66:
    case 67:
    case 68:
      return state_of_graphs;
    case 73:
    case 78:
      return state_of_memory;
    case 75:
      return state_of_kernels;
    case 4:
    case 6:
    case 8:
    case 74:
      return state_of_handles;
    case 76:
      return state_of_order | state_of_handles | state_of_memory;
    default:
      return 0;
  }
}

state_kinds state_changed_by(std::string_view function) {
  const bool is_slot = function.starts_with("slot ");
  if (is_slot) function.remove_prefix(std::min(function.size(), function.rfind(' ') + 1));
  if (!is_of_core(function)) return 0;
  state_kinds changed = 0;
  for (const auto& each : effects) {
    const auto part = is_slot ? each.table : each.part;
    if (!part.empty() && has(function, part)) changed |= each.changed;
  }
  // What an entry of a list's table does to graphs, its name would tell.
  if (is_slot && has(function, "_command_list_")) changed |= state_of_graphs;
  if (!is_slot && is_question(function)) changed &= state_of_handles;
  return changed;
}

state_kinds state_changed_by(const model::call_view& call) {
  using enum model::function;
  if (call.which != other && call.which != other_append) return 0;
  // Commands that come from elsewhere, run more or less often than they were appended, or get other
  // events later.
  constexpr std::string_view functions[] = {
      "zeCommandListVisitExt",    "zeGraphVisitExt",        "zexCommandListLoadNativeBinary",
      "zexCommandListAppendJump", "zexCommandListSetLabel", "zexVariableSetValue",
  };
  const bool may_be_one = call.name.starts_with("zex") || call.name.ends_with("VisitExt");
  if (!may_be_one ||
      std::find(std::begin(functions), std::end(functions), call.name) == std::end(functions))
    return 0;
  return state_changed_by(call.name);
}

state_kinds state_changed_by(const std::vector<trace::passed_through>& functions) {
  state_kinds changed = 0;
  for (const auto& each : functions)
    if (each.calls != 0) changed |= state_changed_by(each.name);
  return changed;
}

std::string rules_silenced_by(state_kinds unknown) {
  std::string out;
  for (const auto& each : rules())
    if ((state_needed_by(each.id) & unknown) != 0) {
      if (!out.empty()) out += ", ";
      out += to_text(each.id);
    }
  return out;
}

}  // namespace zevent::check
