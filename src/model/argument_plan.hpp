#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "api/model.hpp"
#include "model/call_view.hpp"

namespace zevent::model {

// Takes the arguments that the model wants straight out of the encoded bytes of a call
// (api/call_codec.hpp), without building anything. One plan is made for each description of the
// API, that is for each trace.
class argument_plan {
 public:
  // Bytes that a call refers to by their hash; empty when they are not to be had. They must last
  // until the next call is read.
  using blob_source = std::function<std::span<const std::byte>(std::span<const std::byte> hash)>;

  explicit argument_plan(const api::model& described, blob_source blobs = {});
  ~argument_plan();

  function function_of(uint32_t index) const { return functions_[index].which; }

  // Sets the arguments of a call of that function. Bytes that are not what the model says leave
  // the rest unset; false then.
  bool read(uint32_t function_index, std::span<const std::byte> inputs,
            std::span<const std::byte> outputs, call_view& into);

  struct wanted;

 private:
  struct planned_function {
    function which = function::other;
    std::vector<std::unique_ptr<wanted>> parameters;  // null: to be stepped over
    argument returned = argument::none;
    bool wants_outputs = false;
    bool wants_anything = false;
    bool planned = false;
  };

  // The plan of a function is made when it is first called: few of them ever are.
  const planned_function& planned(uint32_t function_index);
  void plan(planned_function& to, const api::function& described, argument which,
            std::string_view path);

  const api::model& model_;
  blob_source blobs_;
  std::vector<planned_function> functions_;  // by index in the model
};

}  // namespace zevent::model
