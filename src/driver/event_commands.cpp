#include "driver/event_commands.hpp"

#include <cstring>
#include <utility>

#include "driver/event.hpp"

namespace zevent::driver {
namespace {

class barrier_command final : public command {
 public:
  barrier_command() : command(order::barrier) {}
  ze_result_t run() override { return ZE_RESULT_SUCCESS; }
};

class no_operation_command final : public command {
 public:
  explicit no_operation_command(order ordering) : command(ordering) {}
  ze_result_t run() override { return ZE_RESULT_SUCCESS; }
};

class event_reset_command final : public command {
 public:
  explicit event_reset_command(event& target) : command(order::at_start), target_(&target) {}

  ze_result_t run() override {
    target_->reset();
    return ZE_RESULT_SUCCESS;
  }

 private:
  const ref<event> target_;
};

class global_timestamp_command final : public command {
 public:
  global_timestamp_command(device& clock_of, uint64_t* destination)
      : clock_(clock_of.clock()), destination_(destination) {}

  ze_result_t run() override {
    *destination_ = clock_.global_timestamp(clock_.now_ticks());
    return ZE_RESULT_SUCCESS;
  }

 private:
  const device_clock& clock_;
  uint64_t* const destination_;
};

class host_function_command final : public command {
 public:
  host_function_command(ze_host_function_callback_t function, void* user_data)
      : function_(function), user_data_(user_data) {}

  ze_result_t run() override {
    function_(user_data_);
    return ZE_RESULT_SUCCESS;
  }

 private:
  const ze_host_function_callback_t function_;
  void* const user_data_;
};

class timestamp_query_command final : public command {
 public:
  timestamp_query_command(device& clock_of, std::vector<ref<event>> events, void* destination,
                          std::vector<size_t> offsets)
      : device_(clock_of),
        events_(std::move(events)),
        destination_(static_cast<char*>(destination)),
        offsets_(std::move(offsets)) {}

  ze_result_t run() override {
    for (size_t i = 0; i < events_.size(); ++i) {
      const auto times = kernel_timestamps(device_, *events_[i]);
      const size_t offset = offsets_.empty() ? i * sizeof times : offsets_[i];
      std::memcpy(destination_ + offset, &times, sizeof times);
    }
    return ZE_RESULT_SUCCESS;
  }

 private:
  const device& device_;
  const std::vector<ref<event>> events_;
  char* const destination_;
  const std::vector<size_t> offsets_;
};

}  // namespace

std::unique_ptr<command> make_barrier() {
  return std::make_unique<barrier_command>();
}

std::unique_ptr<command> make_signal() {
  return std::make_unique<no_operation_command>(command::order::at_start);
}

std::unique_ptr<command> make_no_operation() {
  return std::make_unique<no_operation_command>(command::order::free);
}

std::unique_ptr<command> make_event_reset(event& target) {
  return std::make_unique<event_reset_command>(target);
}

std::unique_ptr<command> make_global_timestamp(device& clock_of, uint64_t* destination) {
  return std::make_unique<global_timestamp_command>(clock_of, destination);
}

std::unique_ptr<command> make_host_function(ze_host_function_callback_t function, void* user_data) {
  return std::make_unique<host_function_command>(function, user_data);
}

std::unique_ptr<command> make_timestamp_query(device& clock_of, std::vector<ref<event>> events,
                                              void* destination, std::vector<size_t> offsets) {
  return std::make_unique<timestamp_query_command>(clock_of, std::move(events), destination,
                                                   std::move(offsets));
}

ze_kernel_timestamp_result_t kernel_timestamps(const device& clock_of, const event& of) {
  const device_clock& clock = clock_of.clock();
  const auto [start_ns, end_ns] = of.timestamps_ns();
  const ze_kernel_timestamp_data_t times = {clock.kernel_timestamp(clock.to_ticks(start_ns)),
                                            clock.kernel_timestamp(clock.to_ticks(end_ns))};
  return {times, times};
}

}  // namespace zevent::driver
