#pragma once

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"
#include "trace/device_times.hpp"
#include "trace/trace_file.hpp"

namespace zevent::profile_test {

// What a program found out: results of calls, memory, whatever must be the same with and without a
// profiler.
class findings {
 public:
  void add(uint64_t value);
  void add(ze_result_t result) { add(static_cast<uint64_t>(static_cast<uint32_t>(result))); }
  void add_bytes(const void* bytes, size_t count);
  // How many commands the program gave to the device, of those that are timed.
  void executed(uint64_t commands);

  static constexpr size_t most = 8192;
  struct shared {
    uint64_t count;
    uint64_t executed;
    uint64_t values[most];
  };
  explicit findings(shared* place) : place_(place) {}

 private:
  shared* place_;
};

using program = std::function<void(findings&)>;
using settings = std::vector<std::pair<std::string, std::string>>;

// Runs programs in forked children, with the recorder for a loader. This process never calls it
// itself.
class ProfiledChild : public testing::Test {
 protected:
  struct outcome {
    int status = 0;  // of wait()
    uint64_t executed = 0;
    std::vector<uint64_t> values;
  };
  outcome run(const program& what, bool profiled, const settings& environment = {});

  // Runs the program without and with the profiler: what it finds is the same, and as many commands
  // are timed as it gave to the device.
  void expect_unchanged(const program& what, const settings& environment = {});
  // With the profiler only.
  void expect_all_timed(const program& what, const settings& environment = {});

  // Of the last profiled run.
  std::vector<trace::device_time> times();
  uint64_t untimed();
  std::map<std::string, uint64_t> times_by_function();
  const trace::trace_file& trace();
  std::string folder() const { return folder_; }

 private:
  const temporary_folder made_{"zevent-profile"};
  const std::string folder_ = made_.path();
  int runs_ = 0;
  std::unique_ptr<trace::trace_file> trace_;
};

// A driver's first device, a context, and what programs make of them. Ends the process when a call
// fails that must not.
struct device_program {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;

  device_program();
  static void check(ze_result_t result);

  ze_context_handle_t new_context() const;
  ze_event_pool_handle_t pool(uint32_t count, ze_event_pool_flags_t flags = 0) const;
  static ze_event_handle_t event(ze_event_pool_handle_t pool, uint32_t index);
  ze_event_handle_t counter_event(ze_event_counter_based_flags_t flags) const;
  ze_command_list_handle_t immediate(ze_command_queue_flags_t flags = 0,
                                     ze_context_handle_t in = nullptr) const;
  ze_command_list_handle_t regular(ze_command_list_flags_t flags = 0,
                                   ze_context_handle_t in = nullptr) const;
  ze_command_queue_handle_t queue(ze_context_handle_t in = nullptr) const;
  void* memory(size_t bytes, ze_context_handle_t in = nullptr) const;  // shared, zeros
};

constexpr auto in_order_queue = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
constexpr auto in_order_list = ZE_COMMAND_LIST_FLAG_IN_ORDER;
constexpr uint64_t no_timeout = UINT64_MAX;

}  // namespace zevent::profile_test
