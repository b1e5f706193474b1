#include <level_zero/ze_api.h>

#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using enum argument;
using model::memory_access;

// EV-73: a buffer that has gone while a command may still use it. What a call passes to the driver
// by pointer, a descriptor or a region, is in memory of the program that holds nothing else; where
// a pending command reads or writes the same bytes, what it was given there is no more: a variable
// of a function that has returned, or memory that was given back to the heap.
class stack_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function which) const override {
    using enum function;
    switch (which) {
      case zeContextCreate:
      case zeCommandQueueCreate:
      case zeCommandListCreate:
      case zeCommandListCreateImmediate:
      case zeCommandListAppendMemoryCopyRegion:
      case zeEventPoolCreate:
      case zeEventCreate:
      case zeEventCounterBasedCreate:
      case zeFenceCreate:
      case zeModuleCreate:
      case zeKernelCreate:
      case zeImageCreate:
      case zeSamplerCreate:
        return true;
      default:
        return false;
    }
  }

  void begins(const call_view& call) override {
    if (call.has(desc)) see(call[desc], least_descriptor_bytes, "desc");
    if (call.has(dstRegion)) see(call[dstRegion], sizeof(ze_copy_region_t), "dstRegion");
    if (call.has(srcRegion)) see(call[srcRegion], sizeof(ze_copy_region_t), "srcRegion");
  }

 private:
  // Its type, and the pointer to what follows.
  static constexpr uint64_t least_descriptor_bytes = 16;

  void see(uint64_t address, uint64_t bytes, const char* parameter) {
    // A program may well keep a descriptor in memory of a device.
    if (look_.state.find_memory(address) != nullptr) return;
    const run* user = nullptr;
    bool writes = false;
    look_.state.accesses().for_each_pending(
        address, address + bytes, [&](const run& each, const memory_access& what) {
          if (user != nullptr || !what.certain || each.submitted >= look_.current->number) return;
          user = &each;
          writes = what.writes;
        });
    if (user == nullptr) return;
    finding* made = look_.add(ev(73), "gone", severity::hazard);
    if (made == nullptr) return;
    made->message = fmt::format(
        "{} lies at {:#x}, which #{} {}; nothing shows that #{} is complete. The buffer that was "
        "there has gone: its function has returned, or its memory was freed.",
        parameter, address, number_of(user->what->call), writes ? "writes" : "reads",
        number_of(user->what->call));
    made->calls.push_back({user->what->call, writes ? "writes to the memory" : "reads the memory"});
    if (user->submitted != user->what->call)
      made->calls.push_back({user->submitted, "executes its list"});
    made->calls.push_back({look_.current->number, "has something else there"});
  }
};

}  // namespace

std::unique_ptr<rule_set> stack_rules(inspection& of) {
  return std::make_unique<stack_rule_set>(of);
}

}  // namespace zevent::check
