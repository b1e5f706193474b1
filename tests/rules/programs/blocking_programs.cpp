#include "rule_program.hpp"

namespace rule_programs {
namespace {

// With the fault query-slow, a query of an event with timestamps takes long.
void query_slowly(machine& m, ze_event_pool_flags_t more) {
  const auto list = new_immediate(m);
  const auto gate = new_event(new_pool(m));
  const auto event = new_event(new_pool(m, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | more));
  copy(list, new_memory(m), new_memory(m), page, event, {gate});
  maybe(zeEventQueryStatus(event));
  MUST(zeEventHostSignal(gate));
  finish(list);
}

void poll(machine& m, int times) {
  const auto event = new_event(new_pool(m));
  for (int i = 0; i < times; ++i) maybe(zeEventQueryStatus(event));
}

}  // namespace

program_list blocking_programs() {
  return {
      {"70", [](machine& m) { query_slowly(m, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP); },
       [](machine& m) { query_slowly(m, 0); }},
      {"72", [](machine& m) { poll(m, 3000); }, [](machine& m) { poll(m, 100); }},
  };
}

}  // namespace rule_programs
