#pragma once

#include <fmt/format.h>

#include <bitset>
#include <map>
#include <string>
#include <vector>

#include "api/result_code.hpp"
#include "check/finding.hpp"
#include "check/refused_calls.hpp"
#include "check/unknown_effects.hpp"
#include "model/process_model.hpp"
#include "trace/call_usage.hpp"
#include "trace/memory_notes.hpp"

namespace zevent::check {

using model::argument;
using model::call_view;
using model::function;
using model::run;
using trace::number_of;

// What a user may set.
struct check_options {
  uint64_t blocking_ns = 100'000;    // EV-70: longer than this is a block
  uint64_t overrun_ns = 1'000'000;   // EV-71: tolerated beyond the timeout
  uint64_t polls = 1000;             // EV-72: the same query more often than this in a row
  bool leaks = false;                // EV-76: what is never destroyed is a hazard, not a note
  bool importer_may_signal = false;  // EV-65: which of the specification's two statements holds
  size_t max_of_a_kind = finding_list::max_of_a_kind;  // findings that are kept one by one
};

// Pools that a process of the run has shared, by the bytes of the handle: EV-62, EV-63.
struct shared_pool {
  uint32_t process = 0;
  bool of_sub_device = false;
  call_number exported = model::no_call;
};
using shared_pools = std::map<std::string, shared_pool, std::less<>>;

// The content of a blob of the trace; nullopt when it is not to be had.
using blob_reader = std::function<std::optional<std::vector<std::byte>>(const trace::blob_hash&)>;

// What the thread of a slow call did meanwhile; null when that was not recorded. Valid until the
// next one is asked for.
using usage_finder = std::function<const trace::call_usage*(call_number)>;

// What rules work with: the state of one process, and where findings go.
class inspection {
 public:
  inspection(uint32_t process_index, model::process_model& model_of_it, finding_list& found,
             const object_namer& namer, const check_options& set, shared_pools& pools,
             const blob_reader& blobs, const usage_finder& usage, refused_calls& refused_by_driver)
      : state(model_of_it),
        options(set),
        shared(pools),
        process(process_index),
        refused(refused_by_driver),
        found_(found),
        namer_(namer),
        blobs_(blobs),
        usage_(usage) {}

  model::process_model& state;
  const check_options& options;
  shared_pools& shared;
  const uint32_t process;
  refused_calls& refused;
  const call_view* current = nullptr;  // the call that is being looked at
  bool has_findings = false;           // the current call has some, listed or only counted
  bool cut_off = false;                // at the end: the process was killed, not done
  bool crashed = false;                // at the end: a fault or an abort ended it
  bool unsettled = false;              // a rule set wants to hear of ends: rule_set::settles
  bool several_threads = false;        // have made calls so far
  bool keeps_addresses = false;        // the driver never gives addresses back to the system
  bool has_intel_driver = false;       // Intel's driver for GPUs
  state_kinds unknown = 0;             // what calls of unknown effect may have changed so far

  void set_current(const call_view& call) {
    current = &call;
    now_ns_ = call.start_ns;
  }
  // No call is being looked at any more.
  void forget_current() { current = nullptr; }

  finding* add(rule_id rule, const char* kind, std::optional<severity> level = std::nullopt) {
    return add_at(current->number, rule, kind, level);
  }
  finding* add_at(call_number call, rule_id rule, const char* kind,
                  std::optional<severity> level = std::nullopt) {
    if ((state_needed_by(rule) & unknown) != 0) [[unlikely]]
      return nullptr;
    const bool is_current = current != nullptr && current->number == call;
    has_findings |= is_current;
    finding* made = found_.add(rule, process, call, kind, level);
    if (made != nullptr && is_current && !current->succeeded()) refused.add(*current);
    return made;
  }

  // What is wrong with the current call, and nothing else.
  template <typename... Args>
  void report(rule_id rule, const char* kind, fmt::format_string<Args...> message, Args&&... args) {
    if (finding* made = add(rule, kind))
      made->message = fmt::format(message, std::forward<Args>(args)...);
  }

  // Causes of findings: finding::cause.
  std::string missing_host_wait(const run& pending) const {
    return fmt::format("the host does not wait for {}", name(*pending.where));
  }
  std::string missing_order(const run& earlier, const run& later) const {
    // Commands of one list that is not in-order: each pair of functions lacks an order of its own.
    if (earlier.where == later.where)
      return fmt::format("{}: {} before {}", name(*earlier.where), describe(*earlier.what),
                         describe(*later.what));
    return fmt::format("{} before {}", name(*earlier.where), name(*later.where));
  }

  std::optional<std::vector<std::byte>> read_blob(const trace::blob_hash& hash) const {
    return blobs_ ? blobs_(hash) : std::nullopt;
  }

  const trace::call_usage* usage_of(call_number call) const {
    return usage_ ? usage_(call) : nullptr;
  }

  std::string name(const model::object& which) const { return name(which.kind, which.handle); }
  std::string name(model::object_kind kind, uint64_t handle) const {
    return namer_(process, kind, handle, now_ns_);
  }
  // As it is called when the process ends.
  std::string last_name(model::object_kind kind, uint64_t handle) const {
    return namer_(process, kind, handle, UINT64_MAX);
  }
  std::string name(const model::stream& which) const {
    return name(
        which.is_queue ? model::object_kind::command_queue : model::object_kind::command_list,
        which.handle);
  }

 private:
  uint64_t now_ns_ = 0;  // start of the current call, or of the last one
  finding_list& found_;
  const object_namer& namer_;
  const blob_reader& blobs_;
  const usage_finder& usage_;
};

// A group of rules. They see each call before the model has learned from it, and are told what the
// model finds out.
class rule_set {
 public:
  explicit rule_set(inspection& of) : look_(of) {}
  virtual ~rule_set() = default;
  rule_set(const rule_set&) = delete;
  rule_set& operator=(const rule_set&) = delete;

  // The functions whose calls it wants to see: begins(), and began() and ends() of some.
  virtual bool wants(function which) const = 0;
  virtual bool wants_began(function /*which*/) const { return false; }
  virtual bool wants_end(function /*which*/) const { return false; }
  // What memory held when the call that comes next was made.
  virtual void noted(const trace::memory_note& /*note*/) {}
  virtual void begins(const call_view& /*call*/) {}
  // After the model has taken in that the call began.
  virtual void began(const call_view& /*call*/) {}
  virtual void ends(const call_view& /*call*/) {}
  // Any call ends, before the model has learned from it; when inspection::unsettled, which is to be
  // set again by whom it still concerns.
  virtual void settles(const call_view& /*call*/) {}
  virtual void starting(const run& /*about_to*/) {}
  virtual void conflicts(const model::access_map::conflict& /*found*/) {}
  // No call comes any more, and some may be missing.
  virtual void calls_end() {}
  // No call comes any more, and all are there.
  virtual void finish() {}

 protected:
  inspection& look_;
};

}  // namespace zevent::check
