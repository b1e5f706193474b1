#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/call_view.hpp"
#include "model/object.hpp"

namespace zevent::check {

using model::call_number;
using model::call_view;

// Whether the driver said that the call itself was wrong (INVALID_*) or not for this device
// (UNSUPPORTED_*), and not that something ran out or broke.
bool is_refusal(uint32_t result);

// Whether it said that the call was wrong. Names that are asked for, and binaries that may be of
// another device, are not: programs try whether there are such.
bool is_called_invalid(uint32_t result);

// "ERROR_INVALID_ARGUMENT".
std::string result_name(uint32_t result);

// Calls of one process that broke a rule and failed, and what the program did then (EV-79).
class refused_calls {
 public:
  // The call, which is beginning, broke a rule. Nothing is noted of those that succeed.
  void add(const call_view& call);
  // `user` uses what the failed call should have made.
  void note_use(call_number failed, call_number user);
  // Every call, as it begins.
  void see(const call_view& call);

  // " The driver refused it: ERROR_INVALID_ARGUMENT. The program went on with #12." Empty for a
  // call that succeeded. `crashed`: a fault or an abort ended the process.
  std::string describe(call_number call, bool crashed) const;

 private:
  struct refused_call {
    uint32_t result = 0;
    bool did_return = true;
    model::function which = model::function::other;
    uint32_t thread = 0;
    call_number next = model::no_call;  // of the same thread
    bool is_repeated = false;           // by the next one
    call_number used_by = model::no_call;
  };

  std::map<call_number, refused_call> calls_;
  std::vector<call_number> open_;          // of which the next one is not known
  call_number last_use_ = model::no_call;  // the last call of the process that released nothing
};

}  // namespace zevent::check
