// What a program may do to a thread while that records: signals, cancellation, fork, and what it
// does to the file that is recorded to.

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "recorder/call_writer.hpp"
#include "recording_process.hpp"
#include "sanitizers.hpp"
#include "trace/recording_part.hpp"

#if ZEVENT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace zevent::recorder {
namespace {

TEST_F(RecorderLog, ASignalHandlersCallDoesNotTearTheRecordItInterrupts) {
  run([] {
    make_call(1);
    const uint64_t now = ticks();
    std::byte* record = this_thread_log.reserve(64, now);
    make_call(2);  // as from a handler
    std::memset(record + sizeof(recording::record_header), 0x55, 40);
    this_thread_log.cancel(record, 64);
    make_call(3);
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(input_of(calls[0]), 1u);
  EXPECT_EQ(input_of(calls[1]), 3u);
  EXPECT_EQ(part.header.lost_calls, 1u);
}

volatile sig_atomic_t calls_of_handler = 0;

TEST_F(RecorderLog, CallsOfASignalHandlerAreRecordedOrCountedWhateverTheyInterrupt) {
  constexpr uint64_t count = 300'000;
  const int status = run([&] {
    make_call(0);
    struct sigaction action {};
    action.sa_handler = [](int) {
      make_call(1u << 30);
      calls_of_handler = calls_of_handler + 1;
    };
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 20}, {0, 20}};
    setitimer(ITIMER_REAL, &often, nullptr);
    for (uint64_t i = 1; i < count; ++i) make_call(i % 100);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    std::ofstream(folder_ + "/handler") << calls_of_handler;
  });
  EXPECT_EQ(status, 0);
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  uint64_t of_handler = 0;
  std::ifstream(folder_ + "/handler") >> of_handler;
  EXPECT_EQ(part.call_count() + part.header.lost_calls, count + of_handler);
}

void raise_often(int microseconds) {
  const itimerval often{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &often, nullptr);
}

void raise_once(int microseconds) {
  const itimerval once{{0, 0}, {0, microseconds}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

void handle_alarm(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
}

// Who holds a lock of the recorder does not meet a call of its own that wants it.
TEST_F(RecorderLog, CallsOfASignalHandlerInThreadsThatComeAndGoDoNotWaitForThemselves) {
  constexpr uint64_t threads = 3000;
  const int status = run([] {
    make_call(0);
    handle_alarm([](int) { make_call(1); });
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, nullptr);
    raise_often(50);
    for (uint64_t t = 0; t < threads; ++t)
      std::thread([&] {
        pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
        make_call(2);
      }).join();
    raise_often(0);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(only_part().faults, std::vector<std::string>());
}

pthread_key_t call_at_end_key;

// Calls in every round of destructors that a thread has. The thread sanitizer's own end comes
// before the last one.
constexpr uintptr_t rounds = PTHREAD_DESTRUCTOR_ITERATIONS - (ZEVENT_THREAD_SANITIZER ? 1 : 0);

void call_at_end(void* rounds_left) {
  make_call(3);
  const auto left = reinterpret_cast<uintptr_t>(rounds_left) - 1;
  if (left != 0) pthread_setspecific(call_at_end_key, reinterpret_cast<void*>(left));
}

TEST_F(RecorderLog, ThreadsThatMakeCallsToTheirVeryEndKeepNoSegments) {
  constexpr uint64_t threads = 40, calls_of_each = 1 + rounds;
  const auto run_thread = [] {
    std::thread([] {
      make_call(2);
      pthread_setspecific(call_at_end_key, reinterpret_cast<void*>(rounds));
    }).join();
  };
  const int status = run([&] {
    make_call(0);
    pthread_key_create(&call_at_end_key, &call_at_end);
    run_thread();
    const uint64_t mapped = mapped_part_bytes();
    for (uint64_t t = 1; t < threads; ++t) run_thread();
    std::_Exit(mapped_part_bytes() == mapped ? 42 : 43);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "more of the file is mapped than at the start";
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  EXPECT_EQ(part.call_count() + part.header.lost_calls, 1 + threads * calls_of_each);
  EXPECT_GE(part.call_count(), 1 + threads * (calls_of_each - 2));
}

TEST_F(RecorderLog, ASignalHandlerMayForkWhateverItInterrupts) {
  constexpr uint64_t calls = 500'000;
  const int status = run([] {
    make_call(0);
    handle_alarm([](int) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      waitpid(child, nullptr, 0);
      raise_once(300);
    });
    raise_once(300);
    for (uint64_t i = 0; i < calls; ++i) make_call(i);
    signal(SIGALRM, SIG_IGN);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  EXPECT_EQ(part.call_count(), calls + 1);
}

// A record that is put together in memory, as the hooks do it.
class large_record : public call_writer {
 public:
  large_record() { call_writer::begin(sizeof(recording::call_record), 8, ticks()); }
  void add(uint64_t bytes, char content) {
    std::memset(claim(bytes), static_cast<unsigned char>(content), bytes);
  }
  void publish() {
    const uint32_t bytes = finish();
    auto* call = reinterpret_cast<recording::call_record*>(record());
    *call = {{0, some_function, recording::record_kind::call, 0}, ticks(), 0};
    log_.call_begins();
    log_.publish(record(), bytes);
    call->returned = recording::returned_word(0, 1);
    log_.call_ends();
  }
};

std::string text_of(const recorder_test::read_call& call) {
  return {reinterpret_cast<const char*>(call.inputs.data()), call.inputs.size()};
}

TEST_F(RecorderLog, LargeCallsOfASignalHandlerDoNotTouchTheLargeRecordThatTheyInterrupt) {
  run([] {
    large_record interrupted;
    interrupted.add(300'000, 'a');
    large_record of_handler;
    of_handler.add(300'000, 'h');
    of_handler.add(2'000'000, 'h');
    of_handler.publish();
    interrupted.add(300'000, 'b');
    interrupted.publish();
    make_call(1);
  });
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_TRUE(text_of(calls[0]) == std::string(2'300'000, 'h'));
  EXPECT_TRUE(text_of(calls[1]) == std::string(300'000, 'a') + std::string(300'000, 'b'));
}

// Handlers that run while the recorder's locks are held for a fork: they were there before it.
bool calls_around_forks = false;

void call_around_fork(uint64_t input) {
  if (calls_around_forks) make_call(input);
}

[[gnu::constructor(101)]] void be_there_first() {
  pthread_atfork(
      [] {
        if (calls_around_forks) raise(SIGUSR1);
        call_around_fork(100);
      },
      [] { call_around_fork(200); }, [] { call_around_fork(300); });
}

void fork_and_wait() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

TEST_F(RecorderLog, TheProgramsOwnHandlersAroundAForkMayMakeCalls) {
  const int status = run([] {
    alarm(30);  // who waits for himself does not wait for ever
    signal(SIGUSR1, [](int) { make_call(7); });
    make_call(1);
    calls_around_forks = true;
    fork_and_wait();
    std::thread(fork_and_wait).join();  // a thread that has no log yet
    calls_around_forks = false;
    make_call(2);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "signal " << WTERMSIG(status);
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  std::vector<uint64_t> inputs;
  for (const auto& each : part.calls.at(1)) inputs.push_back(input_of(each));
  EXPECT_EQ(inputs, (std::vector<uint64_t>{1, 7, 2}));
  ASSERT_EQ(part.calls.at(2).size(), 1u);
  EXPECT_EQ(input_of(part.calls.at(2).front()), 7u);
  EXPECT_EQ(part.header.lost_calls, 6u);
}

TEST_F(RecorderLog, TheChildOfASignalHandlerThatForkedInARecordGoesOnInItsOwnPart) {
  constexpr uint64_t calls = 20'000;
  const int status = run([] {
    make_call(1);
    std::byte* record = this_thread_log.reserve(64, ticks());
    const pid_t child = fork();  // as from a handler
    if (child != 0) {
      int ended = 0;
      waitpid(child, &ended, 0);
      std::_Exit(WEXITSTATUS(ended));
    }
    make_call(2);
    std::memset(record + sizeof(uint32_t), 0, 60);
    this_thread_log.publish(record, 64);
    for (uint64_t i = 0; i < calls; ++i) make_call(i);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "signal " << WTERMSIG(status);
  const auto paths = part_paths(parts());
  ASSERT_EQ(paths.size(), 2u);
  std::vector<uint64_t> counts;
  for (const auto& path : paths) {
    const auto part = read_part_file(path);
    EXPECT_EQ(part.faults, std::vector<std::string>());
    counts.push_back(part.call_count());
  }
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(counts, (std::vector<uint64_t>{1, calls}));
}

TEST_F(RecorderLog, AThreadIsCancelledWhereTheProgramLetsItAndNotInTheRecorder) {
  const int status = run([] {
    std::atomic<bool> made_all = false;
    std::thread cancelled([&] {
      pthread_cancel(pthread_self());
      for (uint64_t i = 0; i < 100'000; ++i) make_call(i);
      made_all = true;
#if ZEVENT_ADDRESS_SANITIZER
      // The thread is unwound without its frames being left: their marks would stay on the stack.
      __asan_handle_no_return();
#endif
      pthread_testcancel();
    });
    cancelled.join();
    std::_Exit(made_all ? 42 : 43);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(only_part().call_count(), 100'000u);
}

// Programs that become daemons do so. Their next file gets the number.
TEST_F(RecorderLog, AFileThatGotTheNumberOfTheRecordingsIsLeftAlone) {
  const std::string own = folder_ + "/own";
  const int status = run([&] {
    say_into(folder_ + "/said");
    for (uint64_t i = 0; i < 20'000; ++i) make_call(i);
    struct stat part {};
    stat(part_paths(parts()).front().c_str(), &part);
    for (int descriptor = 3; descriptor < 100; ++descriptor) {
      struct stat what {};
      if (fstat(descriptor, &what) != 0 || what.st_ino != part.st_ino) continue;
      const int file = open(own.c_str(), O_RDWR | O_CREAT, 0600);
      dup2(file, descriptor);
    }
    for (uint64_t i = 0; i < 100'000; ++i) make_call(i);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(std::filesystem::file_size(own), 0u);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  EXPECT_EQ(part.header.state, recording::part_state::stopped);
  EXPECT_GE(part.call_count(), 20'000u);
  EXPECT_EQ(part.call_count() + part.header.lost_calls, 120'000u);
}

TEST_F(RecorderLog, ALimitOnFilesThatComesLaterStopsItAndNotTheProgram) {
  const int status = run([&] {
    say_into(folder_ + "/said");
    for (uint64_t i = 0; i < 20'000; ++i) make_call(i % 10);
    const rlimit limit{65536, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 0; i < 100'000; ++i) make_call(i % 10);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "signal " << WTERMSIG(status);
  const auto part = only_part();
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(EFBIG));
  EXPECT_EQ(part.call_count() + part.header.lost_calls, 120'000u);
}

TEST_F(RecorderLog, AForkedChildHasItsOwnPart) {
  run([] {
    make_call(1);
    const pid_t child = fork();
    if (child == 0) {
      make_call(2);
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    make_call(3);
  });
  const auto paths = part_paths(parts());
  ASSERT_EQ(paths.size(), 2u);
  std::vector<std::vector<uint64_t>> inputs;
  std::vector<recording::file_header> headers;
  for (const auto& path : paths) {
    const auto part = read_part_file(path);
    EXPECT_TRUE(part.faults.empty());
    headers.push_back(part.header);
    auto& list = inputs.emplace_back();
    for (const auto& each : part.calls.at(1)) list.push_back(input_of(each));
  }
  const size_t parent = inputs[0].size() == 2 ? 0 : 1;
  EXPECT_EQ(inputs[parent], (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(inputs[1 - parent], (std::vector<uint64_t>{2}));
  EXPECT_EQ(headers[1 - parent].parent_process_id, headers[parent].process_id);
}

TEST_F(RecorderLog, AForkInsideACallLeavesTheParentsRecordAlone) {
  run([] {
    const auto open = begin_call(1);
    const pid_t child = fork();
    if (child == 0) {
      end_call(open, 99);
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::raise(SIGKILL);
  });
  const auto part = only_part();
  EXPECT_FALSE(part.calls.at(1).front().end.has_value());
}

TEST_F(RecorderLog, AChildThatOnlyForksLeavesNoPart) {
  run([] {
    make_call(1);
    const pid_t child = fork();
    if (child == 0) std::_Exit(0);
    int status = 0;
    waitpid(child, &status, 0);
  });
  EXPECT_EQ(part_paths(parts()).size(), 1u);
}

// The child returns from the call too, and goes on: in memory of the size that anybody else needs.
TEST_F(RecorderLog, AForkInsideACallLetsTheChildUseItsSegmentsAgain) {
  const int status = run([] {
    const auto open = begin_call(1);
    const pid_t child = fork();
    if (child == 0) {
      make_call(2);
      end_call(open, 0);
      const uint64_t mapped = mapped_part_bytes();
      for (uint64_t i = 0; i < 300'000; ++i) make_call(i % 100);
      std::_Exit(mapped_part_bytes() == mapped ? 42 : 43);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    std::_Exit(WEXITSTATUS(ended));
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "more of the file is mapped than at the start";
}

void write_outputs(const call& of, uint64_t output) {
  const uint32_t bytes = sizeof(recording::completion_record) + sizeof(output);
  std::byte* record = this_thread_log.reserve(bytes, ticks());
  auto* completion = reinterpret_cast<recording::completion_record*>(record);
  completion->header.kind = recording::record_kind::completion;
  completion->call = of.position;
  completion->end = ticks();
  std::memcpy(record + sizeof(*completion), &output, sizeof(output));
  this_thread_log.publish(record, bytes);
}

TEST_F(RecorderLog, OutputsOfACallThatTheParentBeganAreNoOutputsOfTheChildsCalls) {
  run([] {
    const auto open = begin_call(1);
    const pid_t child = fork();
    if (child == 0) {
      make_call(2);
      write_outputs(open, 99);
      end_call(open, 0);
      std::_Exit(0);
    }
    waitpid(child, nullptr, 0);
    std::raise(SIGKILL);
  });
  for (const auto& path : part_paths(parts())) {
    const auto part = trace::recording_part::open(path);
    ASSERT_TRUE(part);
    ASSERT_EQ(part->calls(), 1u);
    for (const auto& thread : part->threads()) {
      trace::recorded_calls calls(thread);
      while (const auto each = calls.next()) EXPECT_TRUE(each->outputs.empty());
    }
  }
}

}  // namespace
}  // namespace zevent::recorder
