#include "report/call_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "model/call_time.hpp"
#include "report/blob_text.hpp"
#include "trace/blob_store.hpp"

namespace zevent::report {
namespace {

using api::type_kind;
using api::value;
using api::value_form;

// Longer runs of bytes are only counted: who wants them reads the blobs.
constexpr size_t most_bytes_shown = 256;

class value_writer {
 public:
  value_writer(const trace::trace_file& trace, const object_namer& names, const trace::call& by,
               api::call_side side, json_writer& out)
      : trace_(trace), model_(trace.model()), names_(names), by_(by), side_(side), out_(out) {}

  void write(const value& v) {
    switch (v.form) {
      case value_form::absent:
        return out_.null();
      case value_form::scalar:
        return number(*v.declared, v.bits);
      case value_form::pointer:
        if (v.items.empty()) return address(v.bits);
        if (v.origin != nullptr && api::points_at_arguments(*v.origin))
          return argument(v.items.front());
        return write(v.items.front());
      case value_form::record:
        return record(v);
      case value_form::raw:
        return raw(v);
      case value_form::list:
      case value_form::runs:
        out_.begin_array();
        for (const auto& item : v.items) write(item);
        return out_.end_array();
      case value_form::bytes:
        return api::is_text_buffer(v) ? buffer(v.text()) : bytes(v.bytes);
      case value_form::text:
        return out_.string(v.text());
      case value_form::blob:
        if (api::is_text_buffer(v))
          if (const auto content = blob_text(trace_, v.bytes)) return buffer(*content);
        out_.begin_object();
        out_.member("bytes", v.bits);
        out_.member("blob", hexadecimal(v.bytes));
        return out_.end_object();
      case value_form::unknown_chain:
        out_.begin_object();
        out_.member("unknown_stype", v.bits);
        return out_.end_object();
    }
  }

  void number(const api::type& t, uint64_t bits) {
    switch (t.kind) {
      case type_kind::unsigned_integer:
      case type_kind::character:
        return out_.number(bits);
      case type_kind::signed_integer: {
        const unsigned unused = 64 - 8 * std::clamp(t.size_bytes, 1u, 8u);
        return out_.number(static_cast<int64_t>(bits << unused) >> unused);
      }
      case type_kind::floating:
        if (t.size_bytes == 4)
          return out_.number(double{std::bit_cast<float>(static_cast<uint32_t>(bits))});
        return out_.number(std::bit_cast<double>(bits));
      case type_kind::boolean:
        return out_.boolean(bits != 0);
      case type_kind::enumeration:
      case type_kind::flags:
        return out_.string(
            print_value(model_, {.form = value_form::scalar, .declared = &t, .bits = bits}));
      case type_kind::handle:
        if (bits == 0) return out_.null();
        return out_.string(names_.handle(by_, model_.handles[t.index], bits, side_));
      default:
        return address(bits);
    }
  }

 private:
  static std::string hexadecimal(std::span<const std::byte> bytes) {
    std::string text;
    for (const auto byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
  }

  void address(uint64_t bits) {
    if (bits == 0) return out_.null();
    const auto name = names_.address(by_, bits, side_);
    out_.string(name.empty() ? fmt::format("{:#x}", bits) : name);
  }

  void buffer(std::string_view text) { out_.string(text.substr(0, text.find('\0'))); }

  void bytes(std::span<const std::byte> run, bool may_be_pointers = false) {
    out_.begin_object();
    out_.member("bytes", uint64_t{run.size()});
    if (run.size() <= most_bytes_shown) out_.member("hex", hexadecimal(run));
    if (may_be_pointers) pointers(run);
    out_.end_object();
  }

  void argument(const value& content) {
    if (content.form == value_form::bytes) return bytes(content.bytes, true);
    if (content.form != value_form::runs) return write(content);
    out_.begin_array();
    for (const auto& run : content.items) argument(run);
    out_.end_array();
  }

  // Which allocations the words of a kernel's argument point into.
  void pointers(std::span<const std::byte> run) {
    bool has_any = false;
    for (size_t at = 0; at + sizeof(uint64_t) <= run.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, run.data() + at, sizeof(word));
      const auto place = names_.find_memory(by_, word, side_);
      if (!place) continue;
      if (!has_any) {
        out_.key("pointers");
        out_.begin_array();
      }
      has_any = true;
      out_.begin_object();
      out_.member("at", uint64_t{at});
      out_.member("memory", place->memory);
      out_.member("offset", place->offset);
      out_.end_object();
    }
    if (has_any) out_.end_array();
  }

  void record(const value& v) {
    out_.begin_object();
    for (const auto& field : v.items) {
      out_.key(field.origin->name);
      write(field);
    }
    out_.end_object();
  }

  void raw(const value& v) {
    if (v.declared->kind == type_kind::character)
      return out_.string(v.text().substr(0, v.text().find('\0')));
    if (api::is_byte(*v.declared) || v.declared->kind == type_kind::record) return bytes(v.bytes);
    out_.begin_array();
    for (size_t i = 0; i < v.element_count(); ++i) number(*v.declared, v.element(i));
    out_.end_array();
  }

  const trace::trace_file& trace_;
  const api::model& model_;
  const object_namer& names_;
  const trace::call& by_;
  api::call_side side_;
  json_writer& out_;
};

bool returns_result(const api::model& model, const api::function& function) {
  return model.types[function.result_type].name == "ze_result_t";
}

}  // namespace

std::string_view name_of(model::awaited::reason why) {
  switch (why) {
    case model::awaited::reason::signal:
      return "signal";
    case model::awaited::reason::host_signal:
      return "host signal";
    case model::awaited::reason::later_signal:
      return "later signal";
    case model::awaited::reason::nothing:
      return "nothing";
    case model::awaited::reason::in_order:
      return "in order";
  }
  return "";
}

void call_json::write_half(const trace::call& each, const result<api::call_values>& values,
                           api::call_side side, json_writer& out) const {
  if (!values) return out.null();
  value_writer writer(trace_, names_, each, side, out);
  out.begin_object();
  for (size_t i = 0; i < values->parameters.size(); ++i) {
    const auto& parameter = values->parameters[i];
    if (parameter.form == value_form::absent) continue;
    out.key(values->callee->parameters[i].name);
    writer.write(parameter);
  }
  const auto& function = trace_.function(each);
  if (side == api::call_side::came_out && !returns_result(trace_.model(), function)) {
    out.key("returned");
    writer.number(trace_.model().types[function.result_type], values->returned);
  }
  out.end_object();
}

std::string call_json::inputs(const trace::call& each, trace::call_arguments arguments) const {
  std::string text;
  json_writer out(text);
  write_half(each, decode_inputs(trace_.model(), trace_.function(each), arguments.inputs),
             api::call_side::went_in, out);
  return text;
}

std::string call_json::outputs(const trace::call& each, trace::call_arguments arguments) const {
  std::string text;
  json_writer out(text);
  write_half(each, decode_outputs(trace_.model(), trace_.function(each), arguments.outputs),
             api::call_side::came_out, out);
  return text;
}

void call_json::write_waits(const trace::call& each, json_writer& out) const {
  const auto waits = waits_->of(each.number);
  if (waits.empty()) return;
  out.key("waits_for");
  out.begin_array();
  for (const auto& wait : waits) {
    out.begin_object();
    out.member("why", name_of(wait.why));
    if (wait.why != model::awaited::reason::nothing) {
      out.member("call", number_of(wait.call));
      const auto command = waits_->command_name(wait.call);
      if (!command.empty()) out.member("command", command);
    }
    if (wait.event) out.member("event", trace_.objects().name(*wait.event, trace_.model()));
    out.end_object();
  }
  out.end_array();
}

void call_json::write_times(const trace::call& each, json_writer& out) const {
  auto time = std::lower_bound(times_.begin(), times_.end(), each.number,
                               [](const auto& a, auto call) { return a.call < call; });
  if (time == times_.end() || time->call != each.number) return;
  out.key("device_times");
  out.begin_array();
  for (; time != times_.end() && time->call == each.number; ++time) {
    out.begin_object();
    out.member("execution", number_of(time->execution));
    out.member("device", time->device);
    out.member("start_ns", time->start_ns);
    out.member("duration_ns", time->duration_ns);
    if (time->is_impossible()) out.member("impossible", true);
    out.end_object();
  }
  out.end_array();
}

void call_json::write_usage(const trace::call& each, json_writer& out) const {
  const auto* note = usage_.find(each.number);
  if (note == nullptr) return;
  const auto time = model::explain_time(each.duration_ns, note);
  out.key("usage");
  out.begin_object();
  out.member("unexplained_ns", time.unexplained_ns());
  out.member("no_processor_ns", time.no_processor_ns);
  out.member("behind_other_thread_ns", time.behind_ns);
  out.member("page_faults_ns", time.faults_ns);
  out.member("before_ns", note->before_ns);
  out.member("processor_ns", note->processor_ns);
  if (note->has_run_delay()) out.member("run_delay_ns", note->run_delay_ns);
  out.member("minor_faults", note->minor_faults);
  out.member("major_faults", note->major_faults);
  out.member("voluntary_switches", note->voluntary_switches);
  out.member("involuntary_switches", note->involuntary_switches);
  if (note->has_others()) {
    out.member("other_threads", note->other_threads);
    out.member("other_run_delay_ns", note->other_run_delay_ns);
    out.member("other_processor_ns", note->other_processor_ns);
  }
  out.member("runnable_tasks", note->runnable_tasks);
  out.member("processors", note->processors);
  out.end_object();
}

std::string call_json::object(const trace::call& each, trace::call_arguments arguments) const {
  const auto& model = trace_.model();
  const auto& function = trace_.function(each);
  std::string text;
  json_writer out(text);
  out.begin_object();
  out.member("call", number_of(each.number));
  out.member("process", trace_.process_of(each) + 1);
  out.member("thread", each.thread + 1);
  out.member("start_ns", each.start_ns);
  out.key("duration_ns");
  each.returned() ? out.number(each.duration_ns) : out.null();
  out.member("function", function.name);
  out.key("in");
  write_half(each, decode_inputs(model, function, arguments.inputs), api::call_side::went_in, out);
  if (!arguments.outputs.empty()) {
    out.key("out");
    write_half(each, decode_outputs(model, function, arguments.outputs), api::call_side::came_out,
               out);
  }
  out.key("result");
  if (each.returned() && returns_result(model, function))
    out.string(print_result(model, each.result));
  else
    out.null();
  if (each.injected()) out.member("injected", true);
  if (waits_ != nullptr) write_waits(each, out);
  if (!times_.empty()) write_times(each, out);
  write_usage(each, out);
  out.end_object();
  return text;
}

}  // namespace zevent::report
