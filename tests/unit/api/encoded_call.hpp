#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "api/call_codec.hpp"
#include "api/call_encoder.hpp"
#include "api/print.hpp"
#include "base/byte_writer.hpp"

namespace zevent::api {

// A call made by a test: encoded before and after "the driver" ran, and decoded again.
class encoded_call {
 public:
  // The arguments are kept by reference, as they lie on a caller's stack.
  template <typename... Args>
  explicit encoded_call(std::string_view name, const Args&... args)
      : function_(*builtin_model().find_function(name)), arguments_{&args...} {}

  encoded_call& with(capture_policy& policy) {
    encoder_.emplace(builtin_model(), &policy);
    return *this;
  }

  // Before the call.
  const call_values& enter() {
    byte_writer out;
    encoder_->inputs(function_, arguments_, out);
    inputs_ = out.take();
    auto decoded = decode_inputs(builtin_model(), function_, inputs_);
    EXPECT_TRUE(decoded.has_value()) << decoded.error().message;
    in_ = std::move(*decoded);
    return in_;
  }

  // After the call.
  const call_values& leave(const void* returned = nullptr) {
    byte_writer out;
    encoder_->outputs(function_, arguments_, returned, out);
    outputs_ = out.take();
    auto decoded = decode_outputs(builtin_model(), function_, outputs_);
    EXPECT_TRUE(decoded.has_value()) << decoded.error().message;
    out_ = std::move(*decoded);
    return *out_;
  }

  std::string print(std::optional<uint32_t> result, const print_options& options = {}) const {
    return print_call(builtin_model(), in_, out_ ? &*out_ : nullptr, result, options);
  }

  const function& callee() const { return function_; }
  const std::vector<std::byte>& input_bytes() const { return inputs_; }
  const std::vector<std::byte>& output_bytes() const { return outputs_; }

 private:
  const function& function_;
  std::vector<const void*> arguments_;
  std::optional<call_encoder> encoder_{std::in_place, builtin_model()};
  std::vector<std::byte> inputs_, outputs_;
  call_values in_;
  std::optional<call_values> out_;
};

template <typename Handle>
Handle handle_of(uint64_t bits) {
  return reinterpret_cast<Handle>(bits);
}

}  // namespace zevent::api
