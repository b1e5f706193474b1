#include "zevent/list_order.hpp"

#include <dlfcn.h>

namespace zevent {
namespace {

// Newer than many loaders: looked up by name.
struct list_queries {
  decltype(&zeCommandListIsImmediate) is_immediate;
  decltype(&zeCommandListGetFlags) flags;
  decltype(&zeCommandListImmediateGetFlags) queue_flags;

  bool complete() const { return is_immediate && flags && queue_flags; }
};

const list_queries& queries() {
  const auto find = []<typename Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  };
  static const list_queries found = [&] {
    list_queries q{};
    find(q.is_immediate, "zeCommandListIsImmediate");
    find(q.flags, "zeCommandListGetFlags");
    find(q.queue_flags, "zeCommandListImmediateGetFlags");
    return q;
  }();
  return found;
}

list_order order_if(bool in_order) {
  return in_order ? list_order::in_order : list_order::unordered;
}

}  // namespace

std::optional<list_order> order_of(ze_command_list_handle_t list) noexcept {
  const list_queries& ask = queries();
  ze_bool_t immediate = 0;
  if (!ask.complete() || ask.is_immediate(list, &immediate) != ZE_RESULT_SUCCESS) {
    return std::nullopt;
  }
  if (immediate) {
    ze_command_queue_flags_t flags = 0;
    if (ask.queue_flags(list, &flags) != ZE_RESULT_SUCCESS) return std::nullopt;
    return order_if((flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0);
  }
  ze_command_list_flags_t flags = 0;
  if (ask.flags(list, &flags) != ZE_RESULT_SUCCESS) return std::nullopt;
  return order_if((flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0);
}

}  // namespace zevent
