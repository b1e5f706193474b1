#pragma once

#include <span>
#include <string>

#include "model/append_waits.hpp"
#include "report/json_writer.hpp"
#include "report/object_namer.hpp"
#include "trace/call.hpp"
#include "trace/call_block.hpp"
#include "trace/device_times.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

// A call as one JSON object on one line; docs/export.md says what is in it.
class call_json {
 public:
  // `waits` may be null; else each call says what it waits for. `times` are those of a profile, in
  // order: each call says when its command ran.
  explicit call_json(const trace::trace_file& trace, handle_style handles = handle_style::names,
                     const model::append_waits* waits = nullptr,
                     std::span<const trace::device_time> times = {})
      : trace_(trace), names_(trace, handles), waits_(waits), times_(times), usage_(trace) {}

  std::string object(const trace::call& each, trace::call_arguments arguments) const;
  // Only what went in, or what came out: {"hEvent":"event_3"}. "null" when it cannot be read.
  std::string inputs(const trace::call& each, trace::call_arguments arguments) const;
  std::string outputs(const trace::call& each, trace::call_arguments arguments) const;

 private:
  void write_half(const trace::call& each, const result<api::call_values>& values,
                  api::call_side side, json_writer& out) const;
  void write_waits(const trace::call& each, json_writer& out) const;
  void write_times(const trace::call& each, json_writer& out) const;
  void write_usage(const trace::call& each, json_writer& out) const;

  const trace::trace_file& trace_;
  object_namer names_;
  const model::append_waits* waits_;
  std::span<const trace::device_time> times_;
  mutable trace::call_usage_reader usage_;  // keeps the chunk that it read last
};

// "signal", "later signal", …: why a call is waited for.
std::string_view name_of(model::awaited::reason why);

}  // namespace zevent::report
