#include "check/kernel_names.hpp"

#include <optional>

#include "model/argument_plan.hpp"
#include "trace/object_table.hpp"

namespace zevent::check {

std::map<std::string, std::string> kernel_names(const trace::trace_file& trace) {
  std::map<trace::call_number, trace::object_id> created;  // in the order of the trace
  const auto& objects = trace.objects();
  const uint16_t kernels = trace::class_named(trace.model(), "ze_kernel_handle_t");
  for (uint32_t i = 0; i < objects.all().size(); ++i) {
    const auto& each = objects.all()[i];
    if (each.handle.handle_class == kernels && each.created)
      created.emplace(each.first_call, trace::object_id{i});
  }

  std::map<std::string, std::string> names;
  model::argument_plan plan(trace.model());
  model::call_view view;
  std::optional<trace::call_reader> reader;  // at a call of the same block
  size_t block = 0;
  for (const auto& [number, object] : created) {
    if (!reader || trace.block_of(number) != block) reader.emplace(trace, number);
    block = trace.block_of(number);
    const trace::call* call = reader->next();
    while (call != nullptr && call->number < number) call = reader->next();
    if (call == nullptr || call->number != number) {
      reader.reset();
      continue;
    }
    const auto arguments = reader->arguments();
    if (!plan.read(call->function, arguments.inputs, arguments.outputs, view)) continue;
    const auto name = view.bytes(model::argument::kernel_name);
    names[objects.name(object, trace.model())].assign(reinterpret_cast<const char*>(name.data()),
                                                      name.size());
  }
  return names;
}

}  // namespace zevent::check
