#pragma once

#include <cstdint>
#include <vector>

#include "model/process_model.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// The storage of an external counter that no command writes: the host must have written it, at the
// latest before the call that shows that somebody got the value he waited for.
struct host_counter_write {
  call_number before = no_call;
  uint64_t address = 0;
  uint64_t value = 0;  // at least
};

// Listens to the model of one process, whose calls are given to begin() and end().
class host_counters final : public listener {
 public:
  host_counters() : state_(*this) {}

  void begin(const call_view& call);
  void end(const call_view& call);
  void starting(const run& about_to) override;
  std::vector<host_counter_write> take();

 private:
  struct waiting_run {
    ref<const run> who;
    uint64_t address;
    uint64_t value;
  };

  process_model state_;
  std::vector<waiting_run> waiting_;
  std::vector<byte_range> written_;  // by commands
  size_t merge_at_ = 1024;           // so many of them
  std::vector<host_counter_write> out_;
};

// In the order in which that was shown.
std::vector<host_counter_write> find_host_counter_writes(const trace::trace_file& trace,
                                                         uint32_t process);

}  // namespace zevent::model
