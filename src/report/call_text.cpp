#include "report/call_text.hpp"

#include <fmt/format.h>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "base/terminal.hpp"
#include "report/blob_text.hpp"
#include "report/duration_text.hpp"

namespace zevent::report {
namespace {

constexpr size_t duration_width = 8;
constexpr std::string_view result_arrow = ") → ";

// What a user wants to see without looking for it.
constexpr uint64_t long_ns = 100'000;
constexpr uint64_t very_long_ns = 10'000'000;

colour colour_of_duration(uint64_t ns) {
  if (ns >= very_long_ns) return colour::red;
  return ns >= long_ns ? colour::yellow : colour::plain;
}

colour colour_of_result(const trace::call& each) {
  if (!each.returned() || each.failed()) return colour::red;
  return each.result == 0 ? colour::green : colour::yellow;
}

size_t decimal_digits(uint64_t number) {
  return fmt::formatted_size("{}", number);
}

// When the last call began, to align the column of times.
uint64_t last_start_ns(const trace::trace_file& trace) {
  if (trace.blocks() == 0) return 0;
  const auto last = trace.read_block(trace.blocks() - 1);
  return last && last->size() != 0 ? last->starts_ns().back() : 0;
}

}  // namespace

call_text::call_text(const trace::trace_file& trace, const call_text_options& options)
    : trace_(trace),
      options_(options),
      names_(trace, options.handles),
      number_width_(decimal_digits(trace.calls() == 0 ? 0 : trace.calls() - 1)),
      thread_width_(1 + decimal_digits(trace.run().threads.size())),
      seconds_width_(seconds_text(last_start_ns(trace)).size()) {
  if (trace.run().processes.size() > 1)
    thread_width_ += 2 + decimal_digits(trace.run().processes.size());
}

size_t call_text::indentation() const {
  return number_width_ + 1 + thread_width_ + 2 + seconds_width_ + 2 + duration_width + 2;
}

std::string call_text::thread_name(const trace::call& each) const {
  if (trace_.run().processes.size() > 1)
    return fmt::format("P{} T{}", trace_.process_of(each) + 1, each.thread + 1);
  return fmt::format("T{}", each.thread + 1);
}

std::string call_text::call_only(const trace::call& each, trace::call_arguments arguments) const {
  const auto& model = trace_.model();
  const auto& function = trace_.function(each);
  api::print_options options;
  options.handle_name = [&](const api::handle_class& kind, uint64_t value, api::call_side side) {
    return names_.handle(each, kind, value, side);
  };
  options.address_name = [&](uint64_t address, api::call_side side) {
    return names_.address(each, address, side);
  };
  options.blob_text = [&](std::span<const std::byte> hash) { return blob_text(trace_, hash); };
  const auto inputs = api::decode_inputs(model, function, arguments.inputs);
  const auto outputs = api::decode_outputs(model, function, arguments.outputs);
  if (!inputs || !outputs)
    return fmt::format("{}(?) → {}", function.name, (inputs ? outputs : inputs).error().message);
  return api::print_call(model, *inputs, each.returned() ? &*outputs : nullptr,
                         each.returned() ? std::optional(each.result) : std::nullopt, options);
}

std::string call_text::coloured_call(const trace::call& each, const std::string& text) const {
  if (!options_.coloured) return text;
  const auto name_end = trace_.function(each).name.size();
  const auto arrow = text.rfind(result_arrow);
  if (arrow == std::string::npos) return text;
  const auto result = arrow + result_arrow.size();
  return paint(text.substr(0, name_end), colour::bold, true) +
         text.substr(name_end, result - name_end) +
         paint(text.substr(result), colour_of_result(each), true);
}

std::string call_text::end_line(uint32_t process) const {
  const auto& end = trace_.run().processes[process].end;
  const auto who =
      trace_.run().processes.size() > 1 ? fmt::format("P{}", process + 1) : std::string();
  const auto when = end.at_ns ? seconds_text(*end.at_ns) : std::string();
  return fmt::format("{:>{}} {:<{}}  {:>{}}  {:>{}}  {}", "", number_width_, who, thread_width_,
                     when, seconds_width_, "", duration_width,
                     paint(to_text(end), colour::red, options_.coloured));
}

std::string call_text::line(const trace::call& each, trace::call_arguments arguments) const {
  const auto duration = each.returned() ? duration_text(each.duration_ns) : std::string("-");
  const auto shade = each.returned() ? colour_of_duration(each.duration_ns) : colour::red;
  return fmt::format(
      "{} {:<{}}  {:>{}}  {}  {}{}",
      paint(fmt::format("{:>{}}", number_of(each.number), number_width_), colour::dim,
            options_.coloured),
      thread_name(each), thread_width_, seconds_text(each.start_ns), seconds_width_,
      paint(fmt::format("{:>{}}", duration, duration_width), shade, options_.coloured),
      each.injected() ? "(injected) " : "", coloured_call(each, call_only(each, arguments)));
}

std::string time_text(const model::call_time& time) {
  const auto explained = model::explanation_text(time);
  if (explained.empty()) return "nothing that its thread did explains the time";
  return fmt::format("{}; {} are left", explained, duration_text(time.unexplained_ns()));
}

}  // namespace zevent::report
