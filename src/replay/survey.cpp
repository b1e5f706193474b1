#include "replay/survey.hpp"

#include <algorithm>

#include "api/call_codec.hpp"
#include "replay/call_memory.hpp"
#include "replay/shared_handles.hpp"
#include "replay/value_access.hpp"

namespace zevent::replay {
namespace {

using api::value;
using api::value_form;

class surveyor {
 public:
  surveyor(const trace::trace_file& trace, survey& out) : model_(trace.model()), out_(out) {}

  void look_at(const recorded_call& call);
  void say_what_is_inherited(const trace::trace_file& trace, const call_selection& selection);

 private:
  void look_for_memory(const recorded_call& call);
  void look_at_inputs(const recorded_call& call, const value& v);
  void look_at_outputs(const recorded_call& call, const value& v, uint64_t size);
  void look_at_needs(const recorded_call& call);
  void note_image(const recorded_call& call);
  std::optional<slot_id> slot_of(const recorded_call& call, std::string_view parameter) const;
  void note_owner(const recorded_call& call);
  void note_writes(const recorded_call& call);
  void note_kernel_pointers(const recorded_call& call, const value& v, bool is_argument);
  void deviate(const recorded_call& call, std::string what) {
    out_.deviations.push_back({call.number(), std::move(what)});
  }
  uint64_t whole_image_bytes(const recorded_call& call) const;

  const api::model& model_;
  survey& out_;
  uint64_t inherited_ = 0;        // calls
  uint64_t first_inherited_ = 0;  // its number
};

void surveyor::look_at(const recorded_call& call) {
  ++out_.calls;
  out_.last_call = call.number();
  if (call.is_inherited && inherited_++ == 0) first_inherited_ = call.number();
  out_.functions.insert(call.call.function);
  out_.threads.insert(call.call.thread);
  look_for_memory(call);
  for (const auto& each : call.inputs.parameters) look_at_inputs(call, each);
  const value* size = call.outputs.find("pSize");
  const uint64_t bytes =
      size != nullptr && !size->items.empty() ? scalar_bits(&size->items.front()) : 0;
  for (const auto& each : call.outputs.parameters) look_at_outputs(call, each, bytes);
  look_at_needs(call);
  note_owner(call);
  note_writes(call);
  if (call.function->name == "zeImageCreate" ||
      call.function->name.starts_with("zeImageViewCreate")) {
    note_image(call);
  }
}

void surveyor::say_what_is_inherited(const trace::trace_file& trace,
                                     const call_selection& selection) {
  if (inherited_ == 0) return;
  const auto& fork = trace.run().processes[selection.process].fork;
  out_.deviations.push_back(
      {first_inherited_,
       fmt::format("process {} was forked off process {} after {}, and makes {} itself, too",
                   selection.process + 1, fork->parent + 1,
                   inherited_ == 1 ? std::string("this call")
                                   : fmt::format("{} calls from this one on", inherited_),
                   inherited_ == 1 ? "it" : "them")});
}

void surveyor::look_for_memory(const recorded_call& call) {
  auto& book = out_.book;
  for_each_address(model_, call.inputs, [&](const address_use& use) {
    if (use.variable->name == "pUserData" || use.variable->name == "pStart") return;
    if (book.find_memory(use.address, call.call.start_ns)) return;
    book.host().add(use.address, std::max(use.bytes, whole_image_bytes(call)));
  });
  for (const auto& note : call.memory) {
    if (!book.find_memory(note.address, call.time_of(note)))
      book.host().add(note.address, note.bytes);
    out_.looks.push_back({note.call, {note.address, note.bytes}, !is_after_call(note)});
  }
}

std::optional<slot_id> surveyor::slot_of(const recorded_call& call,
                                         std::string_view parameter) const {
  const value* handle = call.inputs.find(parameter);
  if (handle == nullptr || handle->declared == nullptr || handle->bits == 0) return std::nullopt;
  return out_.book.find_handle(handle->declared->index, handle->bits, call.call.start_ns);
}

void surveyor::note_owner(const recorded_call& call) {
  const auto name = call.function->name;
  if (call.call.failed()) return;
  const bool makes_list = name == "zeCommandListCreate" || name == "zeCommandListCreateImmediate";
  const bool makes_memory = name == "zeMemAllocDevice" || name == "zeMemAllocShared";
  if (!makes_list && !makes_memory) return;
  const auto context = slot_of(call, "hContext"), device = slot_of(call, "hDevice");
  if (!context) return;
  if (makes_list && device) out_.device_in_use[index_of(*context)] = *device;
  const value* address = pointee_of(makes_memory ? call.outputs.find("pptr") : nullptr);
  if (address == nullptr) return;
  if (const auto place = out_.book.find_memory(address->bits, call.call.end_ns()))
    out_.made_in[index_of(place->slot)] = {*context, device};
}

// Kernels may write to whatever they get a pointer to.
void surveyor::note_writes(const recorded_call& call) {
  for (const auto& each : call.inputs.parameters) note_kernel_pointers(call, each, false);
  const auto name = call.function->name;
  if (call.call.failed() || name.find("Append") == name.npos || name.ends_with("Prefetch") ||
      name.ends_with("Advise"))
    return;
  for_each_address(model_, call.inputs, [&](const address_use& use) {
    if (use.variable->name != "dstptr" && use.variable->name != "ptr") return;
    if (const auto place = out_.book.find_memory(use.address, call.call.start_ns))
      out_.written.insert(index_of(place->slot));
  });
}

void surveyor::note_kernel_pointers(const recorded_call& call, const value& v, bool is_argument) {
  is_argument = is_argument || (v.origin != nullptr && is_kernel_argument(*v.origin));
  if (is_argument)
    for (const auto& found : out_.book.find_pointers(v.bytes, call.call.start_ns))
      out_.written.insert(index_of(found.target.slot));
  for (const auto& item : v.items) note_kernel_pointers(call, item, is_argument);
}

uint64_t surveyor::whole_image_bytes(const recorded_call& call) const {
  for (const std::string_view name : {"hSrcImage", "hDstImage"}) {
    const value* image = call.inputs.find(name);
    if (image == nullptr) continue;
    const auto slot =
        out_.book.find_handle(image->declared->index, image->bits, call.call.start_ns);
    if (!slot) continue;
    const auto found = out_.image_bytes.find(index_of(*slot));
    if (found != out_.image_bytes.end()) return found->second;
  }
  return 0;
}

void surveyor::note_image(const recorded_call& call) {
  constexpr uint64_t largest_texel_bytes = 16, reasonable = uint64_t{1} << 40;
  const value* desc = call.inputs.find("desc");
  const value* made = call.outputs.find("phImage");
  if (made == nullptr) made = call.outputs.find("phImageView");
  if (desc == nullptr || made == nullptr || made->items.empty()) return;
  uint64_t bytes = largest_texel_bytes;
  for (const std::string_view name : {"width", "height", "depth", "arraylevels"}) {
    const uint64_t extent = std::max<uint64_t>(scalar_bits(desc->find(name)), 1);
    if (extent > reasonable / bytes) return;
    bytes *= extent;
  }
  const value& handle = made->items.front();
  if (handle.form != value_form::scalar || handle.declared == nullptr) return;
  const auto slot = out_.book.find_handle(handle.declared->index, handle.bits, call.call.end_ns());
  if (slot) out_.image_bytes[index_of(*slot)] = bytes;
}

void surveyor::look_at_inputs(const recorded_call& call, const value& v) {
  if (v.form == value_form::unknown_chain) {
    deviate(call, fmt::format("its pNext chain has a struct of an unknown kind (stype {:#x}), and "
                              "ends before it",
                              v.bits));
  } else if (v.form == value_form::scalar && v.declared->kind == api::type_kind::function &&
             v.bits != 0) {
    deviate(call, fmt::format("{} is called back: a function that does nothing stands for it",
                              v.origin != nullptr ? v.origin->name : "a function"));
  } else if (v.form == value_form::record && is_opaque(*v.structure) && !v.items.empty() &&
             !out_.book.find_opaque(v.items.front().bytes)) {
    deviate(call, "it opens an IPC handle that no replayed call put out");
  }
  const bool lacks_content = v.form == value_form::pointer && v.bits != 0 && v.items.empty() &&
                             v.origin != nullptr && v.origin->way == api::direction::in &&
                             api::is_followed(v.origin->pointee);
  if (lacks_content)
    deviate(call, fmt::format("what {} points at was not recorded", v.origin->name));
  for (const auto& item : v.items) look_at_inputs(call, item);
}

void surveyor::look_at_outputs(const recorded_call& call, const value& v, uint64_t size) {
  const uint64_t end = call.call.end_ns();
  const auto note = [&](uint16_t handle_class, uint64_t bits) {
    if (const auto slot = out_.book.find_handle(handle_class, bits, end))
      out_.maker.try_emplace(index_of(*slot), call.call.function);
  };
  if (v.form == value_form::scalar && v.declared->kind == api::type_kind::handle) {
    note(v.declared->index, v.bits);
  } else if (v.form == value_form::raw && v.declared->kind == api::type_kind::handle) {
    for (size_t i = 0; i < v.element_count(); ++i) note(v.declared->index, v.element(i));
  } else if (v.form == value_form::pointer && v.items.empty() && v.bits != 0) {
    // An address in known memory, or one to be known from now on: of a variable in a module, say.
    out_.book.add_pointer(v.bits, size, end);
    if (const auto place = out_.book.find_memory(v.bits, end); place && place->offset == 0)
      out_.maker.try_emplace(index_of(place->slot), call.call.function);
  } else if (v.form == value_form::pointer && v.origin != nullptr && v.items.size() == 1 &&
             v.items.front().declared != nullptr && v.items.front().bits != 0 &&
             is_address_as_number(*v.origin, *v.items.front().declared)) {
    out_.book.add_pointer(v.items.front().bits, sizeof(uint64_t), end);
  } else if (v.form == value_form::record && is_opaque(*v.structure) && !v.items.empty()) {
    out_.book.add_opaque(v.items.front().bytes);
  }
  for (const auto& item : v.items) look_at_outputs(call, item, size);
}

void surveyor::look_at_needs(const recorded_call& call) {
  const auto name = call.function->name;
  const auto& in = call.inputs;
  if (name == "zeDriverGetExtensionFunctionAddress") {
    // A name that the driver did not know is asked for again, and nothing is fetched.
    const value* wanted = call.call.failed() ? nullptr : in.find("name");
    if (wanted != nullptr && !wanted->items.empty())
      out_.needs.by_name.emplace(wanted->items.front().text());
  } else if (name == "zeCommandQueueCreate" || name == "zeCommandListCreateImmediate") {
    const value* desc = in.find(name == "zeCommandQueueCreate" ? "desc" : "altdesc");
    if (desc != nullptr && !call.call.failed())
      out_.needs.queues.emplace(scalar_bits(desc->find("ordinal")),
                                scalar_bits(desc->find("index")));
  } else if (name.starts_with("zeMemAlloc") && !call.call.failed()) {
    out_.needs.largest_allocation_bytes =
        std::max(out_.needs.largest_allocation_bytes, scalar_bits(in.find("size")));
  }
}

// Only where there are counter-based events to look for.
void find_host_counters(const trace::trace_file& trace, const call_selection& selection,
                        survey& out) {
  const auto makes_counters = [&](uint32_t function) {
    return trace.model().functions[function].name.find("CounterBased") != std::string_view::npos;
  };
  if (std::none_of(out.functions.begin(), out.functions.end(), makes_counters)) return;
  for (const auto& each : model::find_host_counter_writes(trace, selection.process))
    out.host_counters.emplace(trace::number_of(each.before), each);
}

void count_devices(const trace::trace_file& trace, const call_selection& selection, survey& out) {
  for (const auto& each : trace.objects().all()) {
    if (each.handle.process != selection.process ||
        each.handle.handle_class >= trace.model().handles.size())
      continue;
    const auto kind = trace.model().handles[each.handle.handle_class].name;
    if (kind == "ze_driver_handle_t") ++out.needs.drivers;
    if (kind == "ze_device_handle_t") ++out.needs.devices;
  }
}

}  // namespace

namespace {

result<survey> survey_process(const trace::trace_file& trace, call_selection selection,
                              address_book book, reading_progress& progress) {
  survey out(std::move(book));
  recorded_calls calls(trace, selection);
  surveyor looking(trace, out);
  for (;;) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) break;
    looking.look_at(**next);
    progress.call_read();
  }
  progress.reading_is_over();
  looking.say_what_is_inherited(trace, selection);
  for (const uint64_t each : calls.open_calls())
    out.deviations.push_back(
        {each,
         fmt::format("it had not returned when call {} did, and is left out", selection.last)});
  out.book.host().settle();
  if (out.calls == 0) return fail("there are no calls to replay");
  count_devices(trace, selection, out);
  find_host_counters(trace, selection, out);
  out.unfinished = model::seen_unfinished(trace, selection.process, out.looks);
  const auto writes_times = [&](uint32_t function) {
    return model::writes_timestamps(trace.model().functions[function].name);
  };
  if (std::any_of(out.functions.begin(), out.functions.end(), writes_times))
    out.times = model::seen_timestamps(trace, selection.process, out.looks);
  const auto driver = trace.run().processes[selection.process].fact("driver");
  out.device_writes_are_noted = driver.find("libze_zevent") != std::string::npos;
  return out;
}

}  // namespace

result<survey> survey_calls(const trace::trace_file& trace, call_selection selection,
                            uint64_t host_granule_bytes) {
  reading_progress unseen({}, trace.calls(), 1);
  return survey_process(trace, selection,
                        address_book(trace, selection.process, host_granule_bytes), unseen);
}

result<std::vector<survey>> survey_together(const trace::trace_file& trace,
                                            std::span<const call_selection> selections,
                                            uint64_t host_granule_bytes,
                                            reading_progress& progress) {
  std::vector<uint32_t> processes;
  for (const auto& each : selections) processes.push_back(each.process);
  std::vector<opaque_handle> handles;
  if (selections.size() > 1) {
    auto found = find_put_out_handles(trace, processes);
    if (!found) return tl::unexpected(found.error());
    handles = std::move(*found);
  }
  std::vector<survey> out;
  for (const auto& each : selections) {
    const auto objects = static_cast<uint32_t>(trace.objects().all().size());
    const uint32_t pointers = out.empty() ? 0 : out.back().book.slot_count() - objects;
    address_book book(trace, each.process, host_granule_bytes, pointers);
    for (const auto& handle : handles) book.add_opaque(handle);
    auto seen = survey_process(trace, each, std::move(book), progress);
    if (!seen) return tl::unexpected(seen.error());
    out.push_back(std::move(*seen));
  }
  return out;
}

std::vector<model::byte_range> parts_of_host(const trace::memory_note& note,
                                             const model::unfinished_of_look& unfinished,
                                             bool without_possible) {
  std::vector<model::byte_range> device;
  for (const auto& each : unfinished)
    if (each.certain || without_possible) device.push_back(each.where);
  std::sort(device.begin(), device.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<model::byte_range> out;
  uint64_t at = note.address;
  const uint64_t end = note.address + note.bytes;
  for (const auto& each : device) {
    if (each.first > at) out.push_back({at, std::min(each.first, end) - at});
    at = std::max(at, each.end());
  }
  if (at < end) out.push_back({at, end - at});
  return out;
}

namespace {

size_t first_look_of(std::span<const model::memory_look> looks, trace::call_number call) {
  const auto first = std::partition_point(
      looks.begin(), looks.end(), [&](const model::memory_look& each) { return each.call < call; });
  return static_cast<size_t>(first - looks.begin());
}

}  // namespace

std::span<const model::unfinished_of_look> survey::unfinished_of(trace::call_number call) const {
  return std::span(unfinished).subspan(first_look_of(looks, call));
}

std::span<const std::vector<model::byte_range>> survey::times_of(trace::call_number call) const {
  if (times.empty()) return {};
  return std::span(times).subspan(first_look_of(looks, call));
}

std::optional<memory_owner> survey::owner_of(slot_id memory) const {
  const auto found = made_in.find(index_of(memory));
  if (found == made_in.end()) return std::nullopt;
  const auto& [context, device] = found->second;
  if (device) return memory_owner{context, *device};
  const auto in_use = device_in_use.find(index_of(context));
  if (in_use == device_in_use.end()) return std::nullopt;
  return memory_owner{context, in_use->second};
}

}  // namespace zevent::replay
