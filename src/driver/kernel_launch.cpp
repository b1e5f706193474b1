#include "driver/kernel_launch.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/invariant.hpp"
#include "driver/alignment.hpp"
#include "driver/item_group.hpp"
#include "driver/kernel_limits.hpp"
#include "driver/kernel_team.hpp"

namespace zevent::driver {
namespace {

using clock = std::chrono::steady_clock;

// A launch that has not finished after `alone_for` is worth the trouble of waking other threads, if
// what is left will take at least that long again. One that is known to be like that need not wait.
constexpr auto alone_for = std::chrono::microseconds(30);

constexpr uint32_t cooperative_groups = 64;  // each is a thread

constexpr uint32_t default_float_control = 0x1f80;  // all exceptions masked, round to nearest
constexpr uint32_t flush_denormals = 0x8040;        // flush to zero, denormals are zero

// Memory that a thread keeps from one launch to the next.
class thread_memory {
 public:
  char* at_least(size_t bytes) {
    if (bytes > bytes_) {
      release();
      memory_ = static_cast<char*>(
          ::operator new(bytes, std::align_val_t(argument_values::alignment_bytes)));
      bytes_ = bytes;
    }
    return memory_;
  }
  ~thread_memory() { release(); }

 private:
  void release() {
    ::operator delete(memory_, std::align_val_t(argument_values::alignment_bytes));
    memory_ = nullptr;
    bytes_ = 0;
  }

  char* memory_ = nullptr;
  size_t bytes_ = 0;
};

thread_local thread_memory local_memory;
thread_local thread_memory printf_memory;
thread_local thread_memory pointer_memory;

// The floating-point mode that kernels run in, until the end of the scope.
class float_mode {
 public:
  explicit float_mode(bool flushes) : before_(_mm_getcsr()) {
    _mm_setcsr(flushes ? default_float_control | flush_denormals : default_float_control);
  }
  ~float_mode() { _mm_setcsr(before_); }
  float_mode(const float_mode&) = delete;
  float_mode& operator=(const float_mode&) = delete;

 private:
  const unsigned before_;
};

// One thread's part in a launch: its own copy of what groups are given.
class group_runner {
 public:
  group_runner(const kernel_image& image, const launch_shape& shape,
               const argument_values& arguments, const launch_options& options)
      : run_group_(image.run_group()),
        items_(options.sub_group_size != 0 ? &item_group::of_this_thread() : nullptr),
        item_argument_(options.item_argument),
        uses_printf_(options.uses_printf),
        mode_(options.flushes_denormals) {
    context_.group_count = shape.group_count;
    context_.global_offset = shape.global_offset;
    context_.group_size = shape.group_size;
    context_.printf_position = &printed_bytes_;
    if (uses_printf_) {
      context_.printf_buffer = printf_memory.at_least(printf_buffer_bytes);
      context_.printf_capacity_bytes = printf_buffer_bytes;
    }
    const size_t count = arguments.count();
    argument_count_ = count;
    pointers_ = reinterpret_cast<void**>(pointer_memory.at_least(2 * count * sizeof(void*)));
    arguments.bind(pointers_, pointers_ + count, local_memory.at_least(arguments.local_bytes()));
  }

  void run(uint64_t first, uint64_t last) {
    const auto& count = context_.group_count;
    uint64_t x = first % count[0];
    uint64_t y = first / count[0] % count[1];
    uint64_t z = first / count[0] / count[1];
    for (uint64_t i = first; i < last; ++i) {
      if (items_ == nullptr) {
        run_group_(pointers_, &context_, x, y, z);
      } else {
        items_->run({pointers_, argument_count_}, item_argument_, context_, {x, y, z});
      }
      if (uses_printf_) print();
      if (++x < count[0]) continue;
      x = 0;
      if (++y < count[1]) continue;
      y = 0;
      ++z;
    }
  }

 private:
  // Behind what the program has printed so far, which may still be in its buffer.
  void print() {
    const size_t bytes = std::exchange(printed_bytes_, 0);
    if (bytes == 0) return;
    std::fwrite(context_.printf_buffer, 1, bytes, stdout);
    std::fflush(stdout);
  }

  const kernel_image::work_group_function run_group_;
  item_group* const items_;  // null: the function runs a whole group
  const size_t item_argument_;
  const bool uses_printf_;
  const float_mode mode_;
  launch_context context_;
  uint32_t printed_bytes_ = 0;
  void** pointers_ = nullptr;
  size_t argument_count_ = 0;
};

// Whether this thread has what it takes to run groups. To be asked before it takes any.
bool prepare_thread(const kernel_image& image, const launch_shape& shape,
                    const launch_options& options) {
  return options.sub_group_size == 0 ||
         item_group::of_this_thread().prepare(image, shape, options.sub_group_size);
}

// Groups handed out to whoever asks, in portions.
class shared_groups {
 public:
  shared_groups(uint64_t first, uint64_t last, uint64_t portion)
      : next_(first), last_(last), portion_(portion) {}

  bool take(uint64_t& first, uint64_t& last) {
    // Relaxed: only who gets which groups is at stake; the team's hand-over orders all else.
    first = next_.fetch_add(portion_, std::memory_order_relaxed);
    if (first >= last_) return false;
    last = std::min(first + portion_, last_);
    return true;
  }

 private:
  std::atomic<uint64_t> next_;
  const uint64_t last_;
  const uint64_t portion_;
};

// Runs groups on this thread until they are done or a helping hand would pay. Returns how many ran.
uint64_t run_alone(group_runner& runner, uint64_t count) {
  const auto start = clock::now();
  uint64_t done = 0;
  uint64_t portion = 1;
  while (done < count) {
    const uint64_t last = std::min(done + portion, count);
    runner.run(done, last);
    done = last;
    const auto elapsed = clock::now() - start;
    if (elapsed < alone_for) {
      portion *= 2;
      continue;
    }
    // As long for the rest as for what is done?
    if (count - done >= done) return done;
    portion = count - done;
  }
  return done;
}

}  // namespace

void argument_values::add_value(size_t size_bytes) {
  const size_t offset = values_.size() * alignment_bytes;
  values_.resize(values_.size() + round_up(size_bytes, alignment_bytes) / alignment_bytes);
  slots_.push_back({false, offset, size_bytes});
}

void argument_values::add_local(size_t size_bytes) {
  slots_.push_back({true, 0, size_bytes});
}

void argument_values::set_value(size_t argument, const void* bytes, size_t size_bytes) {
  const slot& target = slots_[argument];
  ZEVENT_INVARIANT(!target.is_local && size_bytes <= target.size_bytes);
  std::byte* place = values_.front().bytes.data() + target.offset;
  std::memset(place, 0, target.size_bytes);
  if (bytes != nullptr) std::memcpy(place, bytes, size_bytes);
}

void argument_values::set_local_size(size_t argument, size_t size_bytes) {
  ZEVENT_INVARIANT(slots_[argument].is_local);
  slots_[argument].size_bytes = size_bytes;
}

void argument_values::keep(size_t argument, ref<object> needed) {
  if (kept_.size() <= argument) kept_.resize(argument + 1);
  kept_[argument] = std::move(needed);
}

size_t argument_values::local_bytes() const {
  size_t total = 0;
  for (const slot& each : slots_) {
    if (each.is_local) total += round_up(each.size_bytes, alignment_bytes);
  }
  return total;
}

void argument_values::bind(void** pointers, void** local_pointers, char* memory) const {
  const char* values = reinterpret_cast<const char*>(values_.data());
  for (size_t i = 0; i < slots_.size(); ++i) {
    const slot& each = slots_[i];
    if (each.is_local) {
      local_pointers[i] = memory;
      pointers[i] = &local_pointers[i];
      memory += round_up(each.size_bytes, alignment_bytes);
    } else {
      pointers[i] = const_cast<char*>(values + each.offset);
    }
  }
}

uint32_t most_cooperative_groups() {
  return cooperative_groups;
}

namespace {

// Adds the time until the end of the scope.
class stop_watch {
 public:
  explicit stop_watch(std::atomic<int64_t>& total_ns) : total_ns_(total_ns) {}
  ~stop_watch() {
    const std::chrono::nanoseconds spent = clock::now() - start_;
    // Relaxed: the team's hand-over orders it.
    total_ns_.fetch_add(spent.count(), std::memory_order_relaxed);
  }
  stop_watch(const stop_watch&) = delete;
  stop_watch& operator=(const stop_watch&) = delete;

 private:
  std::atomic<int64_t>& total_ns_;
  const clock::time_point start_ = clock::now();
};

bool run_groups(const kernel_image& image, const launch_shape& shape,
                const argument_values& arguments, const launch_options& options,
                std::chrono::nanoseconds expected, std::atomic<int64_t>& spent_ns) {
  const uint64_t count = shape.group_count[0] * shape.group_count[1] * shape.group_count[2];
  if (options.is_cooperative && count > 1) {
    shared_groups groups(0, count, 1);
    const stop_watch watch(spent_ns);
    std::atomic<bool> is_complete{true};  // relaxed: the end of the threads orders it
    const bool ran = run_together(count, [&] {
      if (!prepare_thread(image, shape, options)) {
        is_complete.store(false, std::memory_order_relaxed);
        return;
      }
      group_runner runner(image, shape, arguments, options);
      uint64_t first = 0, last = 0;
      if (groups.take(first, last)) runner.run(first, last);
    });
    return ran && is_complete.load(std::memory_order_relaxed);
  }
  if (!prepare_thread(image, shape, options)) return false;
  kernel_team& team = kernel_team::instance();
  uint64_t done = 0;
  if (team.helper_count() == 0 || count == 1 || expected < 2 * alone_for) {
    const stop_watch watch(spent_ns);
    group_runner runner(image, shape, arguments, options);
    if (team.helper_count() == 0) {
      runner.run(0, count);
      return true;
    }
    done = run_alone(runner, count);
  }
  if (done == count) return true;
  const uint64_t portion =
      std::max<uint64_t>(1, (count - done) / (uint64_t{16} * (team.helper_count() + 1)));
  shared_groups groups(done, count, portion);
  team.run_helped([&] {
    uint64_t first = 0, last = 0;
    if (!prepare_thread(image, shape, options) || !groups.take(first, last)) return;
    const stop_watch watch(spent_ns);
    group_runner runner(image, shape, arguments, options);
    do {
      runner.run(first, last);
    } while (groups.take(first, last));
  });
  return true;
}

}  // namespace

bool run_launch(kernel_code& code, const launch_shape& shape, const argument_values& arguments,
                const launch_options& options) {
  const auto& groups = shape.group_count;
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return true;
  // What runs one work-item is made for a group of one, whatever the launch's group size is.
  const bool runs_items = options.sub_group_size != 0;
  std::atomic<int64_t> spent_ns{0};
  const bool ran = run_groups(runs_items ? code.for_all() : code.for_launch(shape), shape,
                              arguments, options, code.expected_time(shape), spent_ns);
  code.count_time(shape, std::chrono::nanoseconds(spent_ns.load(std::memory_order_relaxed)),
                  !runs_items);
  return ran;
}

}  // namespace zevent::driver
