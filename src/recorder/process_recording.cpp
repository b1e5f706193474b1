#include "recorder/process_recording.hpp"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include "api/model_file.hpp"
#include "base/byte_size.hpp"
#include "base/checked_cast.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "recorder/blob_store.hpp"
#include "recorder/child_recording.hpp"
#include "recorder/memory_capture.hpp"
#include "recorder/process_facts.hpp"
#include "recorder/profile_mode.hpp"
#include "recorder/tick_clock.hpp"
#include "recorder/undisturbed.hpp"

namespace zevent::recorder {
namespace {

using recording::record_kind;

// The first calibration comes soon, so that a short recording has a second point too.
constexpr uint64_t first_calibrations_per_second = 100;

// What has become of the wish to record in this process.
enum class outcome { not_tried, recording, nothing };

std::atomic<outcome> present_outcome{outcome::not_tried};
// Written before present_outcome is stored (release), read after it is loaded (acquire).
process_recording* present = nullptr;
// In the child of a fork, what the parent had: not freed, its locks may be held.
[[maybe_unused]] process_recording* left_by_parent = nullptr;

// Guards the start. Whoever forks holds it meanwhile; at exit it stays as it is.
constinit std::mutex start_mutex;
static_assert(std::is_trivially_destructible_v<std::mutex>);

pthread_key_t thread_end_key;

// Of the thread that forks. Guarded by start_mutex.
undisturbed::state disturbance_before_fork{};

// Of a process that was forked off one with a recording: who that was, and when. The driver is as
// that process had left it.
struct fork_origin {
  pid_t parent = 0;  // 0: there is none
  uint64_t ticks = 0;
};
// The fork that is under way, and the one that this process comes from. Guarded by start_mutex.
constinit fork_origin fork_under_way, own_fork;

// relaxed: of the threads of the parent, only the one that forks is in the child.
constinit std::atomic<void (*)(process_recording&)> child_listener{nullptr};

// What note_process_fact() was told. Guarded by start_mutex.
std::vector<std::pair<std::string, std::string>>& noted_facts() {
  static auto* facts = new std::vector<std::pair<std::string, std::string>>;
  return *facts;
}

void say(const std::string& message) {
  const std::string line = "zevent: " + message + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

recording::memory_mode wanted_memory_mode() {
  const auto text = read_environment("ZEVENT_RECORD_MEMORY").value_or("full");
  if (text == "off") return recording::memory_mode::off;
  if (text == "copies") return recording::memory_mode::copies;
  if (text == "results") return recording::memory_mode::results;
  if (text != "full")
    say("ZEVENT_RECORD_MEMORY=" + text + " is not off, copies, full or results; using full");
  return recording::memory_mode::full;
}

// 0: as large as the disk lets it become.
uint64_t wanted_most_bytes() {
  const auto text = read_environment("ZEVENT_RECORD_MAX_SIZE");
  if (!text) return 0;
  const auto bytes = parse_byte_size(*text);
  if (!bytes) say("ZEVENT_RECORD_MAX_SIZE: " + bytes.error().message + "; there is no limit");
  return bytes.value_or(0);
}

}  // namespace

process_recording* process_recording::current() {
  const outcome now = present_outcome.load(std::memory_order_acquire);
  if (now == outcome::not_tried) return start();
  return now == outcome::recording ? present : nullptr;
}

bool process_recording::may_record() {
  return present_outcome.load(std::memory_order_acquire) != outcome::nothing;
}

process_recording* process_recording::start() {
  const undisturbed all_the_while;
  const std::lock_guard lock(start_mutex);
  const outcome now = present_outcome.load(std::memory_order_relaxed);
  if (now != outcome::not_tried) return now == outcome::recording ? present : nullptr;

  const auto give_up = [](const std::string& why) -> process_recording* {
    if (!why.empty()) say(why);
    present_outcome.store(outcome::nothing, std::memory_order_release);
    return nullptr;
  };
  const auto output = read_environment("ZEVENT_RECORD");
  if (!output) {
    log_info("recorder", "ZEVENT_RECORD is not set: nothing is recorded");
    return give_up("");
  }
  if (getauxval(AT_SECURE) != 0)
    return give_up("a program that runs with another user's rights is not recorded");
  auto part = part_file::create(*output + recording::parts_suffix, wanted_memory_mode(),
                                wanted_most_bytes());
  if (!part)
    return give_up("nothing is recorded: " + part.error().message + "; the program goes on");

  log_info("recorder", "process {} records to {}{}", getpid(), *output, recording::parts_suffix);
  static const int key_made = pthread_key_create(&thread_end_key, &process_recording::end_thread);
  static_cast<void>(key_made);
  present = new process_recording(**part);
  for (const auto& [name, value] : noted_facts()) present->write_fact(name, value);
  auto* const listener = child_listener.load(std::memory_order_relaxed);
  if (own_fork.parent != 0 && listener != nullptr) listener(*present);
  if (own_fork.parent != 0)
    present->write_fact(recording::fork_fact,
                        std::to_string(own_fork.parent) + " " + std::to_string(own_fork.ticks));
  if (present->memory_mode() != recording::memory_mode::off)
    memory_capture::make_current(new memory_capture(present->memory_mode()));
  begin_profile();
  present_outcome.store(outcome::recording, std::memory_order_release);
  return present;
}

process_recording::process_recording(part_file& part)
    : part_(&part),
      next_calibration_(0),
      ticks_per_second_(part.header().ticks_per_second),
      others_(ticks_per_second_) {
  own_thread_.recording = this;
  own_thread_.owner.header.kind = record_kind::thread;
  if (!own_log_.attach(own_thread_, nullptr, 0)) return;
  own_log_.write_calibration();
  write_schema();
  for (const auto& fact : collect_process_facts()) write_fact(fact.name, fact.value);
}

void process_recording::write_schema() {
  static const auto* schema = new std::vector<std::byte>(api::write_model(api::builtin_model()));
  const auto hash = hash_of(*schema);
  if (own_log_.write_blob(hash, *schema)) part_->header().schema = hash;
}

bool process_recording::take_calibration_turn(uint64_t now, uint64_t& next) {
  uint64_t due = next_calibration_.load(std::memory_order_relaxed);
  if (now < due) {
    next = due;
    return false;
  }
  next = now + (due == 0 ? ticks_per_second_ / first_calibrations_per_second : ticks_per_second_);
  return next_calibration_.compare_exchange_strong(due, next, std::memory_order_relaxed) &&
         due != 0;
}

size_t process_recording::blob_hash_value::operator()(
    const recording::blob_hash& hash) const noexcept {
  size_t value = 0;
  std::memcpy(&value, hash.bytes, sizeof(value));
  return value;
}

bool process_recording::has_blob(const recording::blob_hash& hash) {
  const undisturbed all_the_while;
  const std::lock_guard lock(blobs_mutex_);
  return blobs_.contains(hash);
}

void process_recording::note_blob(const recording::blob_hash& hash) {
  const undisturbed all_the_while;
  const std::lock_guard lock(blobs_mutex_);
  blobs_.insert(hash);
}

void process_recording::write_fact(std::string_view name, std::string_view value) {
  const undisturbed all_the_while;
  const std::lock_guard lock(mutex_);
  const uint64_t bytes = sizeof(recording::fact_record) + name.size() + value.size();
  std::byte* record = own_log_.reserve(bytes, 0);
  if (record == nullptr) return;
  auto* fact = reinterpret_cast<recording::fact_record*>(record);
  fact->header.kind = record_kind::fact;
  fact->header.detail = checked_cast<uint16_t>(name.size());
  std::memcpy(record + sizeof(*fact), name.data(), name.size());
  std::memcpy(record + sizeof(*fact) + name.size(), value.data(), value.size());
  own_log_.publish(record, checked_cast<uint32_t>(bytes));
}

uint64_t* process_recording::new_counter(std::string_view name) {
  const undisturbed all_the_while;
  const std::lock_guard lock(mutex_);
  const uint64_t bytes = sizeof(recording::counter_record) + name.size();
  std::byte* record = own_log_.reserve(bytes, 0);
  if (record == nullptr) return nullptr;
  auto* counter = reinterpret_cast<recording::counter_record*>(record);
  counter->header.kind = record_kind::counter;
  std::memcpy(record + sizeof(*counter), name.data(), name.size());
  own_log_.publish(record, checked_cast<uint32_t>(bytes));
  // An open call that never ends: the counter's segment stays in memory for good.
  own_log_.call_begins();
  return &counter->value;
}

bool process_recording::begin(thread_log& log) {
  // What another thread left has room still, but there would be a gap before what is recorded
  // there.
  if (part_->stopped()) return false;
  auto* thread = new recorded_thread;
  thread->recording = this;
  thread->owner.header.kind = record_kind::thread;
  thread->owner.thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  pthread_getname_np(pthread_self(), thread->owner.name, sizeof(thread->owner.name));
  std::optional<left_segment> left;
  {
    const std::lock_guard lock(mutex_);
    thread->owner.thread = ++threads_;
    if (!left_segments_.empty()) {
      left = left_segments_.back();
      left_segments_.pop_back();
    }
  }
  if (!log.attach(*thread, left ? &left->segment : nullptr, left ? left->used_bytes : 0)) {
    delete thread;
    return false;
  }
  pthread_setspecific(thread_end_key, thread);
  return true;
}

void process_recording::end_thread(void* ended) {
  auto* thread = static_cast<recorded_thread*>(ended);
  // From here on: a handler that forks would leave nothing to end to the child.
  const undisturbed all_the_while;
  if (!this_thread_log.attached() || &this_thread_log.thread() != thread) return;
  thread->recording->end(*thread);
}

void process_recording::end(recorded_thread& thread) {
  try {
    if (const auto left = this_thread_log.detach()) {
      const std::lock_guard lock(mutex_);
      left_segments_.push_back(*left);
    }
  } catch (const std::bad_alloc&) {
    part_->stop("there is no memory left", ENOMEM);
    this_thread_log.forget();
  }
  delete &thread;
}

// A signal handler may fork too: whoever holds one of these two locks is undisturbed.
void process_recording::before_fork() {
  const auto before = undisturbed::begin();
  this_thread_log.pause();
  start_mutex.lock();
  disturbance_before_fork = before;
  if (present == nullptr) return;
  present->part_->before_fork();
  fork_under_way = {getpid(), ticks()};
}

void process_recording::after_fork_in_parent() {
  if (present != nullptr) present->part_->after_fork_in_parent();
  const auto before = disturbance_before_fork;
  start_mutex.unlock();
  this_thread_log.resume();
  undisturbed::end(before);
}

// The child has only this thread. The parent's recording is left as it is, with locks that threads
// of the parent may hold for ever: nobody will ask for it again.
void process_recording::after_fork_in_child() {
  const auto before = disturbance_before_fork;
  start_mutex.unlock();  // which this thread took before the fork
  if (present != nullptr) leave_recording_of_parent();
  this_thread_log.resume();
  undisturbed::end(before);
}

void process_recording::leave_recording_of_parent() {
  present->part_->abandon_in_child();
  left_by_parent = present;
  present = nullptr;
  own_fork = fork_under_way;
  memory_capture::make_current(nullptr);
  this_thread_log.forget();
  delete static_cast<recorded_thread*>(pthread_getspecific(thread_end_key));
  pthread_setspecific(thread_end_key, nullptr);
  present_outcome.store(outcome::not_tried, std::memory_order_release);
}

void process_recording::at_exit() {
  if (present_outcome.load(std::memory_order_acquire) != outcome::recording) return;
  const undisturbed all_the_while;
  const std::lock_guard lock(present->mutex_);
  present->own_log_.write_calibration();
  present->part_->close();
}

[[gnu::constructor]] static void follow_forks() {
  pthread_atfork(&process_recording::before_fork, &process_recording::after_fork_in_parent,
                 &process_recording::after_fork_in_child);
}

[[gnu::destructor]] static void close_recording() {
  process_recording::at_exit();
}

void listen_to_child_recordings(void (*listener)(process_recording&)) {
  child_listener.store(listener, std::memory_order_relaxed);
}

bool begin_thread(thread_log& log) {
  auto* recording = process_recording::current();
  return recording != nullptr && recording->begin(log);
}

void note_process_fact(std::string_view name, std::string_view value) {
  const undisturbed all_the_while;
  const std::lock_guard lock(start_mutex);
  noted_facts().emplace_back(name, value);
  if (present_outcome.load(std::memory_order_acquire) == outcome::recording)
    present->write_fact(name, value);
}

void count_lost_call() {
  if (present_outcome.load(std::memory_order_acquire) == outcome::recording)
    present->count_lost_call();
}

}  // namespace zevent::recorder
