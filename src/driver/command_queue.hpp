#pragma once

#include <level_zero/ze_api.h>

#include <span>

#include "driver/context.hpp"
#include "driver/object.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {

class command_list;
class fence;

class command_queue : public object_of<command_queue, object_kind::command_queue> {
 public:
  static ze_result_t create(context& owner, device& target, const ze_command_queue_desc_t& desc,
                            command_queue** out);

  ze_result_t execute(std::span<command_list* const> lists, fence* signalled);
  ze_result_t synchronize(uint64_t timeout_ns) { return stream_->synchronize(timeout_ns); }

  const ze_command_queue_desc_t& desc() const { return desc_; }
  context& owner_context() const { return *context_; }

 private:
  command_queue(context& owner, device& target, const ze_command_queue_desc_t& desc);

  const ref<context> context_;
  const ze_command_queue_desc_t desc_;
  const ref<stream> stream_;
};

}  // namespace zevent::driver
