#include "model/command.hpp"

#include <algorithm>

namespace zevent::model {

std::string_view name_of(object_kind kind) {
  switch (kind) {
    case object_kind::context:
      return "context";
    case object_kind::event_pool:
      return "event pool";
    case object_kind::event:
      return "event";
    case object_kind::command_list:
      return "command list";
    case object_kind::command_queue:
      return "command queue";
    case object_kind::fence:
      return "fence";
    case object_kind::module:
      return "module";
    case object_kind::kernel:
      return "kernel";
    case object_kind::image:
      return "image";
    case object_kind::sampler:
      return "sampler";
    case object_kind::graph:
      return "graph";
    case object_kind::executable_graph:
      return "executable graph";
    case object_kind::memory:
      return "memory";
  }
  return "object";
}

bool complete(const run& r) {
  return r.done || r.where->line->known >= r.at || (r.chain && r.chain->known >= r.chain_at);
}

bool ordered(const run& a, const run& b) {
  if (a.chain && a.chain == b.chain) return a.chain_at < b.chain_at;
  if (look(b.before, *a.where->line).ordered >= a.at) return true;
  return a.chain && look(b.before, *a.chain).ordered >= a.chain_at;
}

bool visible(const run& a, const run& b) {
  if (a.chain && a.chain == b.chain) return a.chain_at < b.chain_at;
  if (look(b.before, *a.where->line).visible >= a.at) return true;
  return a.chain && look(b.before, *a.chain).visible >= a.chain_at;
}

clock_ref completion(const run& r) {
  if (!r.chain) return r.before;
  return join(r.before, clock_entry{r.chain, r.chain_at, r.chain_at});
}

bool stream::busy() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const ref<run>& each) { return !complete(*each); });
}

}  // namespace zevent::model
