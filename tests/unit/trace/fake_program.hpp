#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/call_encoder.hpp"
#include "api/model.hpp"
#include "api/model_file.hpp"
#include "api/result_code.hpp"
#include "base/byte_writer.hpp"
#include "recording_builder.hpp"
#include "trace/blob_store.hpp"

namespace zevent::trace {

// A program that never ran: its calls are encoded as a recorder would, with times and handles that
// the test chooses. One object is one process.
class fake_program {
 public:
  fake_program() {
    const auto schema = api::write_model(api::builtin_model());
    file.header().schema = hash_of(schema);
    file.segment(1 + schema.size() / recording_builder::unit_bytes + 1);
    file.thread(0, 0);
    file.calibration(1, 1, uint64_t{1'753'849'873} * 1'000'000'000);
    file.blob(hash_of(schema), {reinterpret_cast<const char*>(schema.data()), schema.size()});
    file.segment(200);
    on_thread(1);
  }

  // The calls from here on are this thread's.
  void on_thread(uint32_t number, std::string_view name = "main") {
    file.thread(number, next_stretch_++, name);
  }

  struct times {
    uint64_t start_ns = 0;
    uint64_t duration_ns = 0;
  };

  // Arguments are given as they lie on the caller's stack. `driver` runs between the two halves and
  // may fill what is put out.
  template <typename Driver, typename... Args>
  uint64_t call(std::string_view name, times when, ze_result_t result, Driver driver,
                const Args&... args) {
    const auto& function = *api::builtin_model().find_function(name);
    const void* const arguments[] = {&args...};
    api::call_encoder encoder(api::builtin_model());
    byte_writer inputs, outputs;
    encoder.inputs(function, arguments, inputs);
    driver();
    const auto place = file.call(
        api::builtin_model().index_of(function), when.start_ns,
        recording::returned_word(static_cast<uint32_t>(result), when.duration_ns), text_of(inputs));
    if (api::has_outputs(static_cast<uint32_t>(result)))
      encoder.outputs(function, arguments, nullptr, outputs);
    if (!outputs.view().empty())
      file.completion(place, when.start_ns + when.duration_ns, text_of(outputs));
    return place;
  }

  // A call that puts nothing out.
  template <typename... Args>
  uint64_t call(std::string_view name, times when, const Args&... args) {
    return call(
        name, when, ZE_RESULT_SUCCESS, [] {}, args...);
  }

  // A call that never returned.
  template <typename... Args>
  void hang(std::string_view name, uint64_t start_ns, const Args&... args) {
    const auto& function = *api::builtin_model().find_function(name);
    const void* const arguments[] = {&args...};
    byte_writer inputs;
    api::call_encoder(api::builtin_model()).inputs(function, arguments, inputs);
    file.call(api::builtin_model().index_of(function), start_ns, 0, text_of(inputs));
  }

  recording_builder file;

 private:
  static std::string_view text_of(const byte_writer& bytes) {
    return {reinterpret_cast<const char*>(bytes.view().data()), bytes.view().size()};
  }

  uint64_t next_stretch_ = 0;
};

template <typename Handle>
Handle fake_handle(uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

}  // namespace zevent::trace
