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

#include "recording_process.hpp"
#include "trace/recording_part.hpp"

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

TEST_F(RecorderLog, AThreadIsCancelledWhereTheProgramLetsItAndNotInTheRecorder) {
  const int status = run([] {
    std::atomic<bool> made_all = false;
    std::thread cancelled([&] {
      pthread_cancel(pthread_self());
      for (uint64_t i = 0; i < 100'000; ++i) make_call(i);
      made_all = true;
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
