#include "replay/shared_handles.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "api/call_codec.hpp"
#include "replay/address_book.hpp"

namespace zevent::replay {
namespace {

using trace::number_of;

struct seen_handle {
  uint64_t call = 0;
  uint32_t process = 0;
};

// All but the file descriptor.
using handle_key = std::vector<std::byte>;

void for_each_handle(const std::vector<api::value>& values, const auto& visit) {
  for (const auto& v : values) {
    if (v.form == api::value_form::record && is_opaque(*v.structure) && !v.items.empty() &&
        v.items.front().bytes.size() > descriptor_bytes)
      visit(v.items.front().bytes);
    for_each_handle(v.items, visit);
  }
}

handle_key key_of(std::span<const std::byte> handle) {
  const auto rest = handle.subspan(descriptor_bytes);
  return {rest.begin(), rest.end()};
}

// Every call that has to do with IPC handles, with its values.
result<void> for_each_ipc_call(const trace::trace_file& trace, const auto& visit) {
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    const auto& function = trace.function(*call);
    if (call->injected() || function.name.find("Ipc") == std::string_view::npos) continue;
    const auto arguments = reader.arguments();
    const auto inputs = api::decode_inputs(trace.model(), function, arguments.inputs);
    const auto outputs = api::decode_outputs(trace.model(), function, arguments.outputs);
    if (!inputs || !outputs) return fail("call {} cannot be read", number_of(call->number));
    visit(*call, function, inputs->parameters, outputs->parameters);
  }
  return {};
}

std::string opened_object(const trace::trace_file& trace, uint64_t call) {
  const auto all = trace.objects().all();
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].created && number_of(all[i].first_call) == call)
      return trace.objects().name(trace::object_id{i}, trace.model());
  return "what it opens";
}

}  // namespace

std::string describe_process(const trace::trace_file& trace, uint32_t process) {
  const auto& info = trace.run().processes[process];
  // Counted from 1, as in all that is printed of a trace.
  return fmt::format("process {} ({}, pid {})", process + 1, info.fact("executable"),
                     info.process_id);
}

std::string describe_maker(const trace::object_table& objects, uint16_t handle_class,
                           uint64_t value) {
  for (const auto& each : objects.all())
    if (each.created && each.handle.handle_class == handle_class && each.handle.value == value)
      return fmt::format(
          "which process {0} made before this one was forked off; '--process {0}' has the calls of "
          "that one alone",
          each.handle.process);
  return "which no recorded call made";
}

result<std::vector<shared_handle>> find_shared_handles(const trace::trace_file& trace) {
  std::vector<shared_handle> out;
  if (trace.run().processes.size() == 1) return out;
  std::map<handle_key, seen_handle> put_out;
  const auto done = for_each_ipc_call(trace, [&](const trace::call& call, const api::function& f,
                                                 const auto& inputs, const auto& outputs) {
    if (call.failed()) return;
    const uint64_t number = number_of(call.number);
    const uint32_t here = trace.process_of(call);
    if (f.name.find("Open") != std::string_view::npos)
      for_each_handle(inputs, [&](std::span<const std::byte> handle) {
        const auto found = put_out.find(key_of(handle));
        if (found == put_out.end() || found->second.process == here) return;
        out.push_back({found->second.call, found->second.process, number, here});
      });
    for_each_handle(outputs, [&](std::span<const std::byte> handle) {
      put_out.insert_or_assign(key_of(handle), seen_handle{number, here});
    });
  });
  if (!done) return tl::unexpected(done.error());
  return out;
}

result<std::vector<opaque_handle>> find_put_out_handles(const trace::trace_file& trace,
                                                        std::span<const uint32_t> processes) {
  std::vector<opaque_handle> out;
  std::set<opaque_handle> known;
  const auto done = for_each_ipc_call(trace, [&](const trace::call& call, const api::function&,
                                                 const auto&, const auto& outputs) {
    if (std::find(processes.begin(), processes.end(), trace.process_of(call)) == processes.end())
      return;
    for_each_handle(outputs, [&](std::span<const std::byte> handle) {
      if (known.insert(to_opaque(handle)).second) out.push_back(to_opaque(handle));
    });
  });
  if (!done) return tl::unexpected(done.error());
  return out;
}

std::vector<uint32_t> sharing_processes(const std::vector<shared_handle>& handles,
                                        uint32_t process) {
  std::set<uint32_t> found{process};
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& each : handles)
      if (found.contains(each.owner) || found.contains(each.opener))
        found.insert({each.owner, each.opener});
  }
  return {found.begin(), found.end()};
}

sharing describe_sharing(const trace::trace_file& trace, uint32_t process,
                         const std::vector<shared_handle>& handles, uint64_t last_call) {
  sharing out;
  for (const auto& each : handles) {
    if (each.opener == process && each.opened_by <= last_call) {
      out.hindrances.push_back(
          fmt::format("call {} opens an IPC handle of {}, from its call {}: without that process "
                      "the handle does "
                      "not exist, and neither the call nor those that use {} can succeed",
                      each.opened_by, describe_process(trace, each.owner), each.put_out_by,
                      opened_object(trace, each.opened_by)));
    } else if (each.owner == process && each.put_out_by <= last_call) {
      out.notes.push_back(
          fmt::format("call {} puts out an IPC handle that {} opens with its call {}: what that "
                      "process does with it is left out, and what waits for that may wait for ever",
                      each.put_out_by, describe_process(trace, each.opener), each.opened_by));
    }
  }
  if (!out.hindrances.empty()) {
    const auto first = std::min_element(handles.begin(), handles.end(),
                                        [&](const shared_handle& a, const shared_handle& b) {
                                          return (a.opener == process ? a.opened_by : UINT64_MAX) <
                                                 (b.opener == process ? b.opened_by : UINT64_MAX);
                                        });
    out.hindrances.push_back(
        fmt::format("without --process both are there; '--until {}' stops before",
                    first->opened_by == 0 ? 0 : first->opened_by - 1));
  }
  return out;
}

}  // namespace zevent::replay
