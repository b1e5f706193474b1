#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/call_view.hpp"
#include "report/copy_statistics.hpp"
#include "report/latency_histogram.hpp"
#include "trace/device_times.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

// Commands that do the same: launches of one kernel, copies between the same kinds of memory.
struct device_work {
  std::string name;
  latency_histogram durations;  // on the device
  uint64_t bytes = 0;           // moved; 0 where that is not known
  // The life of a command: sums over all of them.
  uint64_t append_to_submit_ns = 0;  // 0 for immediate lists
  uint64_t submit_to_start_ns = 0;

  double bytes_per_second() const {
    const auto ns = static_cast<double>(durations.total_ns());
    return ns > 0 ? static_cast<double>(bytes) / ns * 1e9 : 0;
  }
};

// What ran on one queue, or immediate list.
struct device_queue {
  std::string name;
  uint64_t commands = 0;
  uint64_t busy_ns = 0;  // at least one command ran
  uint64_t idle_ns = 0;  // none did, from the first start to the last end
  uint64_t gaps = 0;     // how often
  uint64_t longest_gap_ns = 0;
};

struct device_summary {
  uint64_t commands = 0;           // executions
  uint64_t untimed = 0;            // that ran and whose time is not known
  uint64_t impossible = 0;         // whose time cannot be right; in no other number
  std::vector<device_work> works;  // by total time, longest first
  std::vector<device_queue> queues;
};

// Puts the device times of a profile together with the calls that they speak of.
class device_statistics {
 public:
  explicit device_statistics(const trace::trace_file& trace);

  // Whether arguments of calls of a function are of interest.
  bool wants(model::function which) const;

  // Calls come in order of number; commands of those that do not count are left out.
  void add(const trace::call& each, const model::call_view& view, const copy_statistics& copies,
           bool counts);

  bool is_profile() const { return !times_.empty(); }
  device_summary summarise();

 private:
  struct append {
    uint64_t start_ns = 0;
    uint64_t bytes = 0;
    uint32_t work = 0;
    bool counts = false;
  };
  struct submission {
    uint64_t start_ns = 0;
    uint32_t queue = 0;
  };

  void note_kernel(const trace::call& each, const model::call_view& view);
  std::string kernel_name(const trace::call& each, uint64_t handle) const;
  std::string work_of(const trace::call& each, const model::call_view& view,
                      const copy_statistics& copies) const;
  uint32_t work_named(const std::string& name);
  uint32_t queue_of(const trace::call& each, const model::call_view& view);
  void sum_up_queues(device_summary& summary) const;

  const trace::trace_file& trace_;
  uint16_t kernel_class_, list_class_, queue_class_;
  std::vector<trace::device_time> times_;
  std::unordered_map<uint64_t, append> appends_;          // by number; those with times
  std::unordered_map<uint64_t, submission> submissions_;  // likewise
  std::unordered_map<uint32_t, std::string> kernels_;     // names, by object
  std::unordered_map<std::string, uint32_t> work_by_name_;
  std::vector<device_work> works_;
  std::unordered_map<uint64_t, uint32_t> queue_by_object_;
  std::vector<std::string> queue_names_;
};

}  // namespace zevent::report
