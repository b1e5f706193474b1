#include "model/call_view.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace zevent::model {
namespace {

struct known_function {
  std::string_view name;
  argument exclusive;
};

constexpr std::array known_functions = {
#define F(name, exclusive) known_function{#name, argument::exclusive},
#include "model/functions.inc"
#undef F
};

constexpr std::array<std::string_view, argument_count> paths = {
#define A(name, path) path,
#include "model/arguments.inc"
#undef A
};

constexpr std::array<uint16_t, known_functions.size()> sorted_by_name = [] {
  std::array<uint16_t, known_functions.size()> order{};
  std::iota(order.begin(), order.end(), uint16_t{0});
  std::sort(order.begin(), order.end(), [](uint16_t a, uint16_t b) {
    return known_functions[a].name < known_functions[b].name;
  });
  return order;
}();

// Functions that mean what another one means, with the same names of parameters: forms of drivers
// from before a function was part of the API, and others of one kind.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"zeGraphCreateExp", "zeGraphCreateExt"},
    {"zeCommandListBeginGraphCaptureExp", "zeCommandListBeginGraphCaptureExt"},
    {"zeCommandListBeginCaptureIntoGraphExp", "zeCommandListBeginCaptureIntoGraphExt"},
    {"zeCommandListEndGraphCaptureExp", "zeCommandListEndGraphCaptureExt"},
    {"zeCommandListGetGraphExp", "zeCommandListGetGraphExt"},
    {"zeCommandListInstantiateGraphExp", "zeGraphInstantiateExt"},
    {"zeCommandListAppendGraphExp", "zeCommandListAppendGraphExt"},
    {"zeExecutableGraphDestroyExp", "zeExecutableGraphDestroyExt"},
    {"zeGraphDestroyExp", "zeGraphDestroyExt"},
    {"zexCommandListAppendMemoryCopyWithParameters", "zeCommandListAppendMemoryCopyWithParameters"},
    {"zexCommandListAppendMemoryFillWithParameters", "zeCommandListAppendMemoryFillWithParameters"},
    {"zexCommandListAppendWaitOnMemory64", "zexCommandListAppendWaitOnMemory"},
    // Memory that has an address from then on, of a size that is not said.
    {"zexMemOpenIpcHandles", "zeMemOpenIpcHandle"},
    {"zeIntelMemMapDeviceMemToHost", "zeMemOpenIpcHandle"},
};

bool names_an_append(std::string_view name) {
  return name.find("CommandListAppend") != std::string_view::npos ||
         name.find("CommandListImmediateAppend") != std::string_view::npos;
}

bool names_a_query(std::string_view name) {
  for (const std::string_view start :
       {"zeEventGet", "zeEventPoolGet", "zeCommandListGet", "zeCommandListIs",
        "zeCommandListImmediateGet", "zeCommandQueueGet"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

function function_named(std::string_view name) {
  for (const auto& [other, same] : aliases)
    if (name == other) name = same;
  const auto place = std::lower_bound(
      sorted_by_name.begin(), sorted_by_name.end(), name,
      [](uint16_t i, std::string_view wanted) { return known_functions[i].name < wanted; });
  if (place != sorted_by_name.end() && known_functions[*place].name == name)
    return static_cast<function>(*place);
  if (names_an_append(name)) return function::other_append;
  return names_a_query(name) ? function::other_query : function::other;
}

std::string_view name_of(function which) {
  const auto i = static_cast<size_t>(which);
  return i < known_functions.size() ? known_functions[i].name : std::string_view{};
}

argument exclusive_argument(function which) {
  if (which == function::other_append) return argument::hCommandList;
  const auto i = static_cast<size_t>(which);
  return i < known_functions.size() ? known_functions[i].exclusive : argument::none;
}

bool is_append(function which) {
  static const auto appends = [] {
    std::array<bool, function_count> table{};
    for (size_t i = 0; i < known_functions.size(); ++i)
      table[i] = names_an_append(known_functions[i].name);
    table[static_cast<size_t>(function::other_append)] = true;
    return table;
  }();
  return appends[static_cast<size_t>(which)];
}

bool is_launch(function which) {
  return which >= function::zeCommandListAppendLaunchKernel &&
         which <= function::zeCommandListAppendLaunchMultipleKernelsIndirect;
}

std::string_view path_of(argument which) {
  return paths[static_cast<size_t>(which)];
}

}  // namespace zevent::model
