#include "trace/object_tracker.hpp"

#include <algorithm>

#include "api/call_codec.hpp"
#include "base/checked_cast.hpp"

namespace zevent::trace {
namespace {

using api::role;
using api::value_form;

bool changes_objects(const api::model& model, const api::function& function) {
  if (model.types[function.result_type].kind == api::type_kind::handle) return true;
  return std::any_of(function.parameters.begin(), function.parameters.end(),
                     [](const auto& each) { return each.object_role != role::used; });
}

// What "size" says, for functions that allocate.
uint64_t size_given(const api::call_values& inputs) {
  const auto* size = inputs.find("size");
  return size != nullptr && size->form == value_form::scalar ? size->bits : 0;
}

bool is_untyped(const api::model& model, const api::type& pointer) {
  return model.types[pointer.index].kind == api::type_kind::nothing;
}

}  // namespace

object_tracker::object_tracker(const api::model& model) : model_(model) {
  for (const auto& function : model.functions)
    concerns_.push_back(changes_objects(model, function));
}

void object_tracker::add(const call& each, uint32_t process, call_arguments arguments) {
  const auto& function = model_.functions[each.function];
  const auto inputs = api::decode_inputs(model_, function, arguments.inputs);
  if (!inputs) return;
  const auto outputs = api::decode_outputs(model_, function, arguments.outputs);
  // A handle is taken back by a call that succeeded, or that never returned.
  const bool releases = !each.returned() || each.result == 0;
  for (const auto& parameter : inputs->parameters)
    if (releases && parameter.origin->object_role == role::released)
      visit(parameter, role::released, each, process, 0);
  if (!outputs || arguments.outputs.empty()) return;
  const auto& result_type = model_.types[function.result_type];
  if (result_type.kind == api::type_kind::handle)
    begin_life({process, result_type.index, outputs->returned}, each, false, 0);
  for (size_t i = 0; i < outputs->parameters.size(); ++i) {
    const auto object_role = function.parameters[i].object_role;
    if (object_role == role::created || object_role == role::returned)
      visit(outputs->parameters[i], object_role, each, process, size_given(*inputs));
  }
}

void object_tracker::visit(const api::value& each, api::role object_role, const call& by,
                           uint32_t process, uint64_t size_bytes) {
  const auto apply = [&](uint16_t handle_class, uint64_t bits) {
    const handle_key handle{process, handle_class, bits};
    if (bits == 0) return;
    if (object_role == role::released)
      end_life(handle, by);
    else
      begin_life(handle, by, object_role == role::created, size_bytes);
  };
  switch (each.form) {
    case value_form::scalar:
      if (each.declared->kind == api::type_kind::handle) apply(each.declared->index, each.bits);
      break;
    case value_form::raw:
      if (each.declared->kind == api::type_kind::handle)
        for (size_t i = 0; i < each.element_count(); ++i)
          apply(each.declared->index, each.element(i));
      break;
    case value_form::pointer:
      // An address that is put out is memory only when it was made by this call: others point at
      // functions, or into memory that is known already.
      if (each.items.empty() && object_role != role::returned && is_untyped(model_, *each.declared))
        apply(memory_class, each.bits);
      [[fallthrough]];
    case value_form::record:
    case value_form::list:
      for (const auto& item : each.items) visit(item, object_role, by, process, size_bytes);
      break;
    default:
      break;
  }
}

std::vector<uint32_t>::iterator object_tracker::first_after(std::vector<uint32_t>& lives,
                                                            uint64_t time_ns) {
  return std::upper_bound(lives.begin(), lives.end(), time_ns, [&](uint64_t time, uint32_t index) {
    return time < objects_[index].from_ns;
  });
}

object* object_tracker::life_at(const handle_key& handle, uint64_t time_ns) {
  const auto found = lives_.find(handle);
  if (found == lives_.end()) return nullptr;
  const auto later = first_after(found->second, time_ns);
  return later == found->second.begin() ? nullptr : &objects_[*std::prev(later)];
}

void object_tracker::begin_life(const handle_key& handle, const call& by, bool created,
                                uint64_t size_bytes) {
  if (!created) {
    const auto* known = life_at(handle, by.end_ns());
    if (known != nullptr && known->until_ns > by.end_ns()) return;
  }
  object next;
  next.handle = handle;
  next.created = created;
  next.size_bytes = handle.handle_class == memory_class ? size_bytes : 0;
  next.first_call = by.number;
  next.from_ns = by.end_ns();
  auto& lives = lives_[handle];
  lives.insert(first_after(lives, next.from_ns), checked_cast<uint32_t>(objects_.size()));
  objects_.push_back(next);
}

void object_tracker::end_life(const handle_key& handle, const call& by) {
  auto* known = life_at(handle, by.start_ns);
  if (known == nullptr || known->released_by) return;
  known->released_by = by.number;
  known->until_ns = by.start_ns;
}

}  // namespace zevent::trace
