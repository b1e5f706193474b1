#pragma once

#include <cstdint>
#include <string>

#include "model/call_time.hpp"
#include "report/object_namer.hpp"
#include "trace/call.hpp"
#include "trace/call_block.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

struct call_text_options {
  bool coloured = false;
  handle_style handles = handle_style::names;
};

// A call as one line:
//
//   230 T1  0.003121456  177.9 ms  zeEventQueryStatus(hEvent=event_4) → SUCCESS
//
// Number, thread (with its process where there are several), seconds since the first call,
// duration, then the call by names.
class call_text {
 public:
  call_text(const trace::trace_file& trace, const call_text_options& options);

  std::string line(const trace::call& each, trace::call_arguments arguments) const;
  // The call alone, without colours.
  std::string call_only(const trace::call& each, trace::call_arguments arguments) const;

  // How a process ended, below its calls:
  //
  //       P1  0.003121456            ended by SIGSEGV
  std::string end_line(uint32_t process) const;

  // How many columns stand before the call.
  size_t indentation() const;

 private:
  std::string thread_name(const trace::call& each) const;
  std::string coloured_call(const trace::call& each, const std::string& text) const;

  const trace::trace_file& trace_;
  call_text_options options_;
  object_namer names_;
  size_t number_width_;
  size_t thread_width_;
  size_t seconds_width_;
};

// Below a slow call, what explains its time:
//
//   its thread waited 27.9 ms for a processor; 190 us are left
std::string time_text(const model::call_time& time);

}  // namespace zevent::report
