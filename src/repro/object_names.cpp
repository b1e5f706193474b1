#include "repro/object_names.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/checked_cast.hpp"

namespace zevent::repro {
namespace {

using api::value;
using api::value_form;
using replay::recorded_call;

const value* pointee(const value* v) {
  return v == nullptr || v->items.empty() ? nullptr : &v->items.front();
}

std::string text_of(const value* v) {
  const value* text = pointee(v);
  return text != nullptr && text->form == value_form::text ? std::string(text->text()) : "";
}

struct function_purpose {
  std::string_view function, purpose;
};

// What a command does, in a word.
constexpr function_purpose purposes[] = {
    {"zeCommandListAppendMemoryFill", "memfill"},
    {"zeCommandListAppendMemoryCopyRegion", "copyregion"},
    {"zeCommandListAppendMemoryCopy", "memcopy"},
    {"zeCommandListAppendImageCopy", "imagecopy"},
    {"zeCommandListAppendMemoryRangesBarrier", "ranges"},
    {"zeCommandListAppendBarrier", "barrier"},
    {"zeCommandListAppendWriteGlobalTimestamp", "timestamp"},
    {"zeCommandListAppendQueryKernelTimestamps", "timestamps"},
    {"zeCommandListAppendSignalEvent", "signal"},
    {"zeCommandListAppendWaitOnEvents", "wait"},
    {"zeEventHostSignal", "host"},
    {"zeCommandListAppendHostFunction", "hostfunction"},
    {"zeCommandListImmediateAppendCommandLists", "lists"},
};

std::string_view purpose_of(std::string_view function) {
  for (const auto& each : purposes)
    if (function.starts_with(each.function)) return each.purpose;
  return "";
}

std::string memory_kind(std::string_view maker) {
  if (maker == "zeMemAllocDevice") return "device_mem";
  if (maker == "zeMemAllocHost") return "host_mem";
  if (maker == "zeMemAllocShared") return "shared_mem";
  if (maker == "zeMemOpenIpcHandle") return "ipc_mem";
  if (maker == "zeVirtualMemReserve") return "virtual_mem";
  return "mem";
}

std::string handle_kind(std::string_view short_name) {
  if (short_name == "event_pool") return "pool";
  if (short_name == "command_list") return "list";
  if (short_name == "command_queue") return "queue";
  if (short_name == "module_build_log") return "build_log";
  return std::string(short_name);
}

std::string plural_of(const std::string& name) {
  return name.ends_with("y") ? name.substr(0, name.size() - 1) + "ies" : name + "s";
}

class name_giver {
 public:
  name_giver(const trace::trace_file& trace, std::span<const replay::survey> seen)
      : trace_(trace), all_(seen), hints_(seen.back().book.slot_count()) {}

  void look_at(const recorded_call& call, const replay::survey& seen);
  void give(std::vector<object_class>& classes, std::vector<object_reference>& by_slot,
            std::vector<object_reference>& by_opaque);

 private:
  void suggest(const recorded_call& call, const value* handle, bool came_out, std::string name);
  const replay::address_book& book() const { return seen_->book; }
  std::string kind_of(uint32_t slot) const;
  std::string type_of(uint32_t slot) const;
  uint32_t class_of(std::vector<object_class>& classes, const std::string& kind,
                    const std::string& type);
  void number_names(std::vector<object_class>& classes);

  const trace::trace_file& trace_;
  std::span<const replay::survey> all_;           // slots of the last one come last
  const replay::survey* seen_ = nullptr;          // of the call that is looked at
  std::vector<std::string> hints_;                // by slot: the whole name but its number
  std::map<uint32_t, std::string> opaque_types_;  // by opaque id
  std::map<std::pair<std::string, std::string>, uint32_t> class_of_kind_;
};

void name_giver::suggest(const recorded_call& call, const value* handle, bool came_out,
                         std::string name) {
  if (handle == nullptr || handle->form != value_form::scalar || handle->declared == nullptr ||
      handle->declared->kind != api::type_kind::handle)
    return;
  const auto slot = book().find_handle(handle->declared->index, handle->bits,
                                       came_out ? call.call.end_ns() : call.call.start_ns);
  if (slot && hints_[replay::index_of(*slot)].empty())
    hints_[replay::index_of(*slot)] = std::move(name);
}

void name_giver::look_at(const recorded_call& call, const replay::survey& seen) {
  seen_ = &seen;
  const auto function = call.function->name;
  const auto& in = call.inputs;
  const auto& out = call.outputs;
  if (function == "zeCommandListCreateImmediate") {
    suggest(call, pointee(out.find("phCommandList")), true, "list_imm");
  } else if (function == "zeKernelCreate") {
    const value* desc = in.find("desc");
    const std::string name =
        c_identifier(text_of(desc != nullptr ? desc->find("pKernelName") : nullptr));
    suggest(call, pointee(out.find("phKernel")), true, "kernel_" + name);
  } else if (function == "zeModuleGetGlobalPointer") {
    const value* address = pointee(out.find("pptr"));
    if (address == nullptr) return;
    const auto place = book().find_memory(address->bits, call.call.end_ns());
    if (place && place->offset == 0)
      hints_[replay::index_of(place->slot)] =
          "global_" + c_identifier(text_of(in.find("pGlobalName")));
  }
  if (function.find("LaunchKernel") != function.npos ||
      function.find("LaunchCooperative") != function.npos) {
    const value* kernel = in.find("hKernel");
    const auto slot = kernel == nullptr ? std::nullopt
                                        : book().find_handle(kernel->declared->index, kernel->bits,
                                                             call.call.start_ns);
    const std::string kernel_name = slot ? hints_[replay::index_of(*slot)] : "";
    const size_t prefix = std::string_view("kernel_").size();
    suggest(call, in.find("hSignalEvent"), false,
            "event_" + (kernel_name.size() > prefix ? kernel_name.substr(prefix) : "kernel"));
  } else if (const auto purpose = purpose_of(function); !purpose.empty()) {
    const std::string name = fmt::format("event_{}", purpose);
    suggest(call, in.find("hSignalEvent"), false, name);
    if (purpose == "signal" || purpose == "host") suggest(call, in.find("hEvent"), false, name);
  }
  for (const auto& each : out.parameters)
    if (const value* handle = pointee(&each);
        handle != nullptr && handle->form == value_form::record &&
        replay::is_opaque(*handle->structure) && !handle->items.empty())
      if (const auto known = book().find_opaque(handle->items.front().bytes))
        opaque_types_.try_emplace(static_cast<uint32_t>(*known), handle->structure->name);
}

std::string name_giver::kind_of(uint32_t slot) const {
  const auto* object = all_.front().book.object_of(replay::slot_id{slot});
  if (object == nullptr) return "pointer";
  if (object->handle.handle_class == trace::memory_class) {
    for (const auto& each : all_)
      if (const auto maker = each.maker.find(slot); maker != each.maker.end())
        return memory_kind(trace_.model().functions[maker->second].name);
    return memory_kind("");
  }
  const auto& handles = trace_.model().handles;
  return object->handle.handle_class < handles.size()
             ? handle_kind(handles[object->handle.handle_class].short_name)
             : "object";
}

std::string name_giver::type_of(uint32_t slot) const {
  const auto* object = all_.front().book.object_of(replay::slot_id{slot});
  const auto& handles = trace_.model().handles;
  return object != nullptr && object->handle.handle_class < handles.size()
             ? std::string(handles[object->handle.handle_class].name)
             : "void*";
}

uint32_t name_giver::class_of(std::vector<object_class>& classes, const std::string& kind,
                              const std::string& type) {
  const auto [found, is_new] =
      class_of_kind_.try_emplace({kind, type}, checked_cast<uint32_t>(classes.size()));
  const bool is_shared = kind == "ipc_handle" && all_.size() > 1;
  if (is_new) classes.push_back({type, kind, plural_of(kind), is_shared ? "shared->" : "", {}});
  return found->second;
}

void name_giver::give(std::vector<object_class>& classes, std::vector<object_reference>& by_slot,
                      std::vector<object_reference>& by_opaque) {
  for (uint32_t slot = 0; slot < hints_.size(); ++slot) {
    const std::string kind = kind_of(slot);
    const uint32_t which = class_of(classes, kind, type_of(slot));
    by_slot.push_back({which, checked_cast<uint32_t>(classes[which].names.size())});
    // What a hint names is unique by itself when nothing else has the name; the rest is numbered.
    classes[which].names.push_back(hints_[slot].empty() ? kind + "_#" : hints_[slot]);
  }
  for (uint32_t i = 0; i < all_.front().book.opaque_count(); ++i) {
    const auto type = opaque_types_.find(i);
    const uint32_t which = class_of(
        classes, "ipc_handle", type == opaque_types_.end() ? "ze_ipc_mem_handle_t" : type->second);
    by_opaque.push_back({which, checked_cast<uint32_t>(classes[which].names.size())});
    classes[which].names.push_back("ipc_handle_#");
  }
  number_names(classes);
}

void name_giver::number_names(std::vector<object_class>& classes) {
  std::map<std::string, uint32_t> count, next;
  std::set<std::string> used;
  for (const auto& each : classes)
    for (const auto& name : each.names) ++count[name];
  for (auto& each : classes) {
    for (auto& name : each.names) {
      const uint32_t number = next[name]++;
      if (name.ends_with('#')) {
        name = fmt::format("{}{}", name.substr(0, name.size() - 1), number);
      } else if (name == "list_imm" || count[name] > 1) {
        name = fmt::format("{}_{}", name, number);
      }
      while (!used.insert(name).second) name += '_';
    }
  }
}

}  // namespace

std::string c_identifier(std::string_view text, size_t most) {
  std::string out;
  for (const char c : text.substr(0, most))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out.empty() ? "unnamed" : out;
}

result<object_names> object_names::make(const trace::trace_file& trace,
                                        std::span<const replay::call_selection> selections,
                                        std::span<const replay::survey> seen) {
  name_giver giver(trace, seen);
  for (size_t i = 0; i < selections.size(); ++i) {
    replay::recorded_calls calls(trace, selections[i]);
    for (;;) {
      const auto next = calls.next();
      if (!next) return tl::unexpected(next.error());
      if (*next == nullptr) break;
      giver.look_at(**next, seen[i]);
    }
  }
  object_names out;
  giver.give(out.classes_, out.by_slot_, out.by_opaque_);
  return out;
}

}  // namespace zevent::repro
