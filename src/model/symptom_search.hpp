#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/symptom.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// A call that should not block and takes longer than this did block.
inline constexpr uint64_t blocking_ns = 100'000;

struct found_symptom {
  symptom what;
  uint64_t call = 0;  // that shows it
  std::string why;    // "call 49 zeEventQueryStatus took 177.9 ms and may not block"
};

// What a symptom is a sign of, the clearest first.
enum class symptom_kind { crash, hang, wrong_memory, error, broken_rule, stall, other };
symptom_kind kind_of(const symptom& which);

// What is most worth showing again of what a process did until `last_call`: a crash in a call, a
// hang, an error that its program can hardly have expected, or, of the calls that may not block and
// that took longer than `threshold_ns` without an explanation (model/call_time.hpp), the one for
// which this was longest. Nothing when there is none of these. A crash in no call is none of them:
// calls do not show it again.
//
// A stall is the weakest of these signs: who knows of rules that the program broke shows those
// before one, by kind_of().
//
// Of a process whose end is not known, a call that may wait and did not return hung, and any other
// crashed. One that exited may have left threads in calls.
result<std::optional<found_symptom>> find_symptom(const trace::trace_file& trace, uint32_t process,
                                                  uint64_t threshold_ns = blocking_ns,
                                                  uint64_t last_call = UINT64_MAX);

// A process crashed while it was in no call. A recording does not tell which thread crashed, nor
// where; what is known is whether there was anything of the driver's that could have.
struct crash_in_no_call {
  int signal = 0;
  uint64_t after_call = 0;  // the last one that was made
  // No command was under way and no call is missing: it was the program's own code.
  bool is_programs_own = false;
  std::string why;  // "the program was ended by SIGABRT after call 6 zeEventCreate, in no call; …"
};

// Of those of the processes that crashed so, where all of their calls are among those until
// `last_call`.
std::vector<crash_in_no_call> find_crashes_in_no_call(const trace::trace_file& trace,
                                                      std::span<const uint32_t> processes,
                                                      uint64_t last_call = UINT64_MAX);

// Where a recording shows this symptom. Fails where it does not tell: what memory holds, and how a
// process ended whose end is not known.
result<std::vector<found_symptom>> find_shown(const trace::trace_file& trace,
                                              const symptom& wanted);

}  // namespace zevent::model
