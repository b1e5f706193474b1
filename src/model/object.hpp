#pragma once

#include <cstdint>
#include <string_view>

#include "model/call_view.hpp"
#include "model/ref.hpp"
#include "trace/call.hpp"

namespace zevent::model {

using trace::call_number;

inline constexpr call_number no_call{UINT64_MAX};

enum class object_kind : uint8_t {
  context,
  event_pool,
  event,
  command_list,
  command_queue,
  fence,
  module,
  kernel,
  image,
  sampler,
  graph,
  executable_graph,
  memory,
};

std::string_view name_of(object_kind kind);

struct object : counted {
  explicit object(object_kind k) : kind(k) {}

  object_kind kind;
  function created_by = function::other;
  uint32_t created_by_thread = 0;
  uint64_t handle = 0;
  call_number created = no_call;
  call_number destroyed = no_call;  // no_call while it lives
  uint32_t destroyed_by_thread = 0;
  uint64_t destroy_ended_ns = 0;

  bool alive() const { return destroyed == no_call; }
};

}  // namespace zevent::model
