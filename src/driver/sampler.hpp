#pragma once

#include <level_zero/ze_api.h>

#include "driver/context.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// A sampler is a number (see image_access), which is what kernels get.
class sampler : public object_of<sampler, object_kind::sampler> {
 public:
  sampler(context& owner, const ze_sampler_desc_t& desc);

  uint64_t value() const { return value_; }

 private:
  const ref<context> context_;
  const uint64_t value_;
};

}  // namespace zevent::driver
