#pragma once

#include <memory>
#include <vector>

#include "check/rule_set.hpp"

namespace zevent::check {

std::unique_ptr<rule_set> pool_rules(inspection& of);        // EV-1 to EV-9
std::unique_ptr<rule_set> event_rules(inspection& of);       // EV-10, 11, 15 to 17, 20, 21
std::unique_ptr<rule_set> deadlock_rules(inspection& of);    // EV-12 to 14, 19, 21
std::unique_ptr<rule_set> timed_out_rules(inspection& of);   // EV-12, 13
std::unique_ptr<rule_set> poll_rules(inspection& of);        // EV-18
std::unique_ptr<rule_set> order_rules(inspection& of);       // EV-0, 22, 23, 25 to 27, 50, 51, 56
std::unique_ptr<rule_set> scope_rules(inspection& of);       // EV-22, on the host
std::unique_ptr<rule_set> timestamp_rules(inspection& of);   // EV-28 to 33
std::unique_ptr<rule_set> list_rules(inspection& of);        // EV-34 to 39, 43
std::unique_ptr<rule_set> thread_rules(inspection& of);      // EV-5, 8, 40 to 42
std::unique_ptr<rule_set> memory_rules(inspection& of);      // EV-44 to 46, 60
std::unique_ptr<rule_set> host_write_rules(inspection& of);  // EV-47, 78
std::unique_ptr<rule_set> target_rules(inspection& of);      // EV-47
std::unique_ptr<rule_set> counter_rules(inspection& of);     // EV-48, 49, 52 to 55, 57 to 59
std::unique_ptr<rule_set> ipc_rules(inspection& of);         // EV-61 to 65
std::unique_ptr<rule_set> graph_rules(inspection& of);       // EV-66 to 69
std::unique_ptr<rule_set> blocking_rules(inspection& of);    // EV-70 to 72
std::unique_ptr<rule_set> bounds_rules(inspection& of);      // EV-73
std::unique_ptr<rule_set> stack_rules(inspection& of);       // EV-73
std::unique_ptr<rule_set> kernel_rules(inspection& of);      // EV-75
std::unique_ptr<rule_set> lifetime_rules(inspection& of);    // EV-76
std::unique_ptr<rule_set> driver_rules(inspection& of);      // EV-77, 78
std::unique_ptr<rule_set> result_rules(inspection& of);      // EV-8, 74, 79; after all others

std::vector<std::unique_ptr<rule_set>> all_rule_sets(inspection& of);

}  // namespace zevent::check
