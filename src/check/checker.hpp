#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "check/finding.hpp"
#include "check/rule_set.hpp"
#include "model/call_sequence.hpp"

namespace zevent::check {

class process_checker;

// Reads the calls of a run, of all its processes, and finds what is wrong with them.
class checker {
 public:
  explicit checker(object_namer namer = {}, const check_options& options = {},
                   blob_reader blobs = {}, usage_finder usage = {});
  ~checker();
  checker(const checker&) = delete;
  checker& operator=(const checker&) = delete;

  // Threads on which the driver calls the program's host functions: EV-42.
  void set_callback_threads(std::set<uint32_t> threads) { callback_threads_ = std::move(threads); }

  // Processes whose driver never gives the addresses of freed memory back to the system: EV-73.
  void set_address_keepers(std::set<uint32_t> processes) {
    address_keepers_ = std::move(processes);
  }

  // Processes that ran on Intel's driver: EV-77.
  void set_intel_driven(std::set<uint32_t> processes) { intel_driven_ = std::move(processes); }

  // What calls that are not in the trace may have changed, by process.
  void set_unknown_effects(std::map<uint32_t, state_kinds> of) { unknown_effects_ = std::move(of); }

  // Calls come in the order of their start; `next_start_ns` is that of the call after this one,
  // UINT64_MAX when there is none.
  // `notes`: what memory held then.
  void add(const model::call_view& call, uint64_t next_start_ns,
           std::span<const trace::memory_note> notes = {}) {
    notes_ = notes;
    sequence_.add(call, next_start_ns);
  }

  // Findings in the order of their calls. What a process waited for when its calls ended is judged
  // only if they are all there: `incomplete` names the processes of which calls are missing.
  // `cut_off`: those that somebody may have ended; `crashed`: those that a fault or an abort ended.
  std::vector<finding> finish(const std::set<uint32_t>& incomplete = {},
                              const std::set<uint32_t>& cut_off = {},
                              const std::set<uint32_t>& crashed = {});

  // What must not be relied on in a process, after all calls; 0 where all is known.
  state_kinds unknown_in(uint32_t process) const;

  // For call_sequence.
  void begin(const model::call_view& call);
  void end(const model::call_view& call);
  bool wants_end(const model::call_view& call);

 private:
  process_checker& process_of(const model::call_view& call);

  object_namer namer_;
  check_options options_;
  blob_reader blobs_;
  usage_finder usage_;
  std::span<const trace::memory_note> notes_;
  finding_list found_;
  shared_pools shared_;
  std::set<uint32_t> callback_threads_;
  std::set<uint32_t> address_keepers_;
  std::set<uint32_t> intel_driven_;
  std::map<uint32_t, state_kinds> unknown_effects_;
  std::map<uint32_t, std::unique_ptr<process_checker>> processes_;
  process_checker* last_ = nullptr;  // of the call before
  model::call_sequence<checker> sequence_;
};

}  // namespace zevent::check
