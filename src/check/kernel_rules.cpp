#include <level_zero/ze_api.h>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::kernel;

// EV-75: every argument that a kernel uses is set when it is launched.
class kernel_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    return is_launch(which) && which != function::zeCommandListAppendLaunchKernelWithArguments;
  }

  void begins(const call_view& call) override {
    const auto* list = look_.state.lists.find_alive(call[hCommandList]);
    // The arguments of a command that may be changed may come later.
    if (list == nullptr || !list->next_ids.empty()) return;
    if (call.has(hKernel)) see(call[hKernel]);
    for (const auto handle : call.list(phKernels)) see(handle);
  }

 private:
  void see(uint64_t handle) {
    const kernel* which = look_.state.kernels.find_alive(handle);
    if (which == nullptr || which->all_set) return;
    const auto& parameters = which->parameters;
    const bool is_read = !parameters.empty();
    const size_t count = is_read ? parameters.size() : which->parameter_count;
    for (size_t i = 0; i < count; ++i) {
      if (which->is_set(i) || (is_read && !parameters[i].is_used)) continue;
      return report(*which, i, is_read);
    }
  }

  void report(const kernel& which, size_t index, bool is_read) {
    finding* made =
        look_.add(ev(75), "not set", is_read ? std::nullopt : std::optional(severity::hazard));
    if (made == nullptr) return;
    made->message = fmt::format("Argument {} of {} ({}) was never set{}.", index, look_.name(which),
                                which.name, is_read ? ", and the kernel uses it" : "");
    made->calls = {{which.created, "creates the kernel"}, {look_.current->number, "launches it"}};
  }
};

}  // namespace

std::unique_ptr<rule_set> kernel_rules(inspection& of) {
  return std::make_unique<kernel_rule_set>(of);
}

}  // namespace zevent::check
