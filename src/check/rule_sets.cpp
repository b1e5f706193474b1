#include "check/rule_sets.hpp"

namespace zevent::check {

std::vector<std::unique_ptr<rule_set>> all_rule_sets(inspection& of) {
  std::vector<std::unique_ptr<rule_set>> sets;
  for (const auto make :
       {pool_rules,     event_rules,      deadlock_rules,  timed_out_rules, poll_rules,
        order_rules,    scope_rules,      timestamp_rules, list_rules,      thread_rules,
        memory_rules,   host_write_rules, target_rules,    counter_rules,   ipc_rules,
        graph_rules,    blocking_rules,   bounds_rules,    stack_rules,     kernel_rules,
        lifetime_rules, driver_rules,     result_rules})
    sets.push_back(make(of));
  return sets;
}

}  // namespace zevent::check
