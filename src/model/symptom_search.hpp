#pragma once

#include <cstdint>
#include <optional>
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

// What is most worth showing again of what a process did until `last_call`: a crash in a call, a
// hang, an error that its program can hardly have expected, a crash elsewhere, or the call that
// overran `threshold_ns` by most of those that may not block. Nothing when there is none of these.
//
// Of a process whose end is not known, a call that may wait and did not return hung, and any other
// crashed. One that exited may have left threads in calls.
result<std::optional<found_symptom>> find_symptom(const trace::trace_file& trace, uint32_t process,
                                                  uint64_t threshold_ns = blocking_ns,
                                                  uint64_t last_call = UINT64_MAX);

// Where a recording shows this symptom. Fails where it does not tell: what memory holds, and how a
// process ended whose end is not known.
result<std::vector<found_symptom>> find_shown(const trace::trace_file& trace,
                                              const symptom& wanted);

}  // namespace zevent::model
