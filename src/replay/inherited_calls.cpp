#include "replay/inherited_calls.hpp"

#include "api/call_codec.hpp"
#include "replay/address_book.hpp"
#include "replay/call_memory.hpp"

namespace zevent::replay {
namespace {

using api::value;
using api::value_form;

// Looks for objects of other processes among what a call is given.
class inheritance_search {
 public:
  inheritance_search(const trace::trace_file& trace, uint32_t process)
      : model_(trace.model()), process_(process), book_(trace, process, 1) {}

  bool uses_inherited(const trace::call& call, const api::call_values& inputs) {
    time_ns_ = call.start_ns;
    for (const auto& each : inputs.parameters)
      if (holds_inherited(each)) return true;
    bool found = false;
    for_each_address(model_, inputs, [&](const address_use& use) {
      const auto place = book_.find_memory(use.address, time_ns_);
      found |= place && is_inherited(place->slot);
    });
    return found;
  }

 private:
  bool holds_inherited(const value& v) const {
    const bool is_handle = v.declared != nullptr && v.declared->kind == api::type_kind::handle;
    if (is_handle && v.form == value_form::scalar && is_inherited_handle(v, v.bits)) return true;
    if (is_handle && v.form == value_form::raw)
      for (size_t i = 0; i < v.element_count(); ++i)
        if (is_inherited_handle(v, v.element(i))) return true;
    for (const auto& each : v.items)
      if (holds_inherited(each)) return true;
    return false;
  }
  bool is_inherited_handle(const value& v, uint64_t bits) const {
    const auto slot = book_.find_handle(v.declared->index, bits, time_ns_);
    return slot && is_inherited(*slot);
  }
  bool is_inherited(slot_id slot) const {
    const auto* object = book_.object_of(slot);
    return object != nullptr && object->handle.process != process_;
  }

  const api::model& model_;
  uint32_t process_;
  address_book book_;
  uint64_t time_ns_ = 0;
};

}  // namespace

bool is_initialisation(const api::function& function) {
  return function.name == "zeInit" || function.name == "zeInitDrivers" ||
         function.name == "zesInit";
}

inheritance find_inheritance(const trace::trace_file& trace, uint32_t process, uint64_t last_call) {
  if (!trace.run().processes[process].fork) return inheritance::nothing;
  inheritance_search search(trace, process);
  bool initialises = false;
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    if (trace::number_of(call->number) > last_call) break;
    if (call->injected() || trace.process_of(*call) != process) continue;
    const auto& function = trace.function(*call);
    initialises |= is_initialisation(function) && !call->failed();
    const auto inputs = api::decode_inputs(trace.model(), function, reader.arguments().inputs);
    if (inputs && search.uses_inherited(*call, *inputs)) return inheritance::everything;
  }
  return initialises ? inheritance::nothing : inheritance::initialisation;
}

}  // namespace zevent::replay
