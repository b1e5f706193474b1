#include "replay/shared_handles.hpp"

#include <algorithm>
#include <map>

#include "api/call_codec.hpp"
#include "replay/address_book.hpp"

namespace zevent::replay {
namespace {

using trace::number_of;

struct seen_handle {
  uint64_t call = 0;
  uint32_t process = 0;
};

// The first four bytes are a file descriptor, which has another number in each process.
constexpr size_t descriptor_bytes = 4;
using handle_key = std::vector<std::byte>;

void for_each_handle(const std::vector<api::value>& values, const auto& visit) {
  for (const auto& v : values) {
    if (v.form == api::value_form::record && is_opaque(*v.structure) && !v.items.empty() &&
        v.items.front().bytes.size() > descriptor_bytes) {
      const auto bytes = v.items.front().bytes.subspan(descriptor_bytes);
      visit(handle_key(bytes.begin(), bytes.end()));
    }
    for_each_handle(v.items, visit);
  }
}

std::string who(const trace::trace_file& trace, uint32_t process) {
  const auto& info = trace.run().processes[process];
  return fmt::format("process {} ({}, pid {})", process, info.fact("executable"), info.process_id);
}

std::string opened_object(const trace::trace_file& trace, uint64_t call) {
  const auto all = trace.objects().all();
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].created && number_of(all[i].first_call) == call)
      return trace.objects().name(trace::object_id{i}, trace.model());
  return "what it opens";
}

}  // namespace

result<std::vector<shared_handle>> find_shared_handles(const trace::trace_file& trace,
                                                       uint32_t process) {
  std::vector<shared_handle> out;
  if (trace.run().processes.size() == 1) return out;
  std::map<handle_key, seen_handle> put_out;
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    const auto& function = trace.function(*call);
    if (call->injected() || call->failed() || function.name.find("Ipc") == std::string_view::npos)
      continue;
    const auto arguments = reader.arguments();
    const auto inputs = api::decode_inputs(trace.model(), function, arguments.inputs);
    const auto outputs = api::decode_outputs(trace.model(), function, arguments.outputs);
    if (!inputs || !outputs) return fail("call {} cannot be read", number_of(call->number));
    const uint32_t here = trace.process_of(*call);
    if (function.name.find("Open") != std::string_view::npos)
      for_each_handle(inputs->parameters, [&](const handle_key& key) {
        const auto found = put_out.find(key);
        if (found == put_out.end() || found->second.process == here) return;
        const shared_handle shared{found->second.call, found->second.process,
                                   number_of(call->number), here};
        if (shared.owner == process || shared.opener == process) out.push_back(shared);
      });
    for_each_handle(outputs->parameters, [&](const handle_key& key) {
      put_out.insert_or_assign(key, seen_handle{number_of(call->number), here});
    });
  }
  return out;
}

sharing describe_sharing(const trace::trace_file& trace, uint32_t process,
                         const std::vector<shared_handle>& handles, uint64_t last_call) {
  sharing out;
  for (const auto& each : handles) {
    if (each.opener == process && each.opened_by <= last_call) {
      out.hindrances.push_back(fmt::format(
          "call {} opens an IPC handle of {}, from its call {}: only one process is replayed, so "
          "the handle does not exist, and neither the call nor those that use {} can succeed",
          each.opened_by, who(trace, each.owner), each.put_out_by,
          opened_object(trace, each.opened_by)));
    } else if (each.owner == process && each.put_out_by <= last_call) {
      out.notes.push_back(
          fmt::format("call {} puts out an IPC handle that {} opens with its call {}: what that "
                      "process does with it is left out, and what waits for that may wait for ever",
                      each.put_out_by, who(trace, each.opener), each.opened_by));
    }
  }
  if (!out.hindrances.empty()) {
    const auto first = std::min_element(handles.begin(), handles.end(),
                                        [&](const shared_handle& a, const shared_handle& b) {
                                          return (a.opener == process ? a.opened_by : UINT64_MAX) <
                                                 (b.opener == process ? b.opened_by : UINT64_MAX);
                                        });
    out.hindrances.push_back(
        fmt::format("'--until {}' stops before; '--process {}' has the calls of the handle's owner",
                    first->opened_by == 0 ? 0 : first->opened_by - 1, first->owner));
  }
  return out;
}

}  // namespace zevent::replay
