#include "launch/process_end_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "api/recording_format.hpp"
#include "base/temporary_folder.hpp"
#include "launch/process_stat.hpp"
#include "support/kernel_version.hpp"

namespace zevent::launch {
namespace {

using recording::end_kind;

// As a recorder begins one in its process: the file first, and then what is in it.
void begin_part(const std::string& folder, int number) {
  char host[64] = {};
  gethostname(host, sizeof(host) - 1);
  const auto path = fmt::format("{}/{}-{}-{}.part", folder, host, getpid(), number);
  const int part = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  recording::file_header header{};
  header.magic = recording::file_magic;
  header.process_id = static_cast<uint32_t>(getpid());
  header.process_start = read_process_stat(header.process_id)->start;
  header.open_ticks = static_cast<uint64_t>(10 + number);
  if (write(part, &header, sizeof(header)) != sizeof(header)) _exit(99);
  close(part);
}

class process_ends : public testing::Test {
 protected:
  // The end that is noted in a part of this process.
  recording::process_end end_of(pid_t process, int number = 0) const {
    char host[64] = {};
    gethostname(host, sizeof(host) - 1);
    const auto path = fmt::format("{}/{}-{}-{}.part", folder_, host, process, number);
    const int part = open(path.c_str(), O_RDONLY);
    recording::file_header header{};
    EXPECT_EQ(pread(part, &header, sizeof(header), 0), static_cast<ssize_t>(sizeof(header)));
    close(part);
    return header.end;
  }

  // Runs a process of the recording in the child of a child, as a script's programs are, and gives
  // its number. It begins a part, and once the watch has seen that, it does the deed. The watch is
  // looked at until the child has ended.
  template <typename Deed>
  pid_t run_grandchild(process_end_watch& watch, Deed deed) {
    int begun[2], seen[2];
    EXPECT_EQ(pipe(begun), 0);
    EXPECT_EQ(pipe(seen), 0);
    const pid_t child = fork();
    if (child == 0) {
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        begin_part(folder_, 0);
        const pid_t self = getpid();
        char word = 0;
        if (write(begun[1], &self, sizeof(self)) != sizeof(self)) _exit(97);
        if (read(seen[0], &word, 1) == 1) deed();
        _exit(98);
      }
      waitpid(grandchild, nullptr, 0);
      _exit(0);
    }
    pid_t grandchild = 0;
    EXPECT_EQ(read(begun[0], &grandchild, sizeof(grandchild)),
              static_cast<ssize_t>(sizeof(grandchild)));
    watch.look();
    EXPECT_EQ(write(seen[1], "x", 1), 1);
    for (const int end : {begun[0], begun[1], seen[0], seen[1]}) close(end);
    pollfd happens{watch.descriptor(), POLLIN, 0};
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      poll(&happens, 1, 10);
      watch.look();
    }
    watch.look();
    return grandchild;
  }

  const temporary_folder made_{"zevent-ends"};
  const std::string folder_ = made_.path();
};

TEST_F(process_ends, of_the_program_is_noted_in_its_part) {
  process_end_watch watch(folder_);
  program_end end;
  end.signal = SIGSEGV;
  end.exit_status = 128 + SIGSEGV;
  end.process_id = static_cast<uint32_t>(getpid());
  end.process_start = read_process_stat(end.process_id)->start;
  end.ended_at_ns = 123;
  begin_part(folder_, 0);
  begin_part(folder_, 1);
  watch.note(end);
  EXPECT_EQ(end_of(getpid(), 0).kind, end_kind::unknown) << "it went on as another program";
  const auto noted = end_of(getpid(), 1);
  EXPECT_EQ(noted.kind, end_kind::by_signal);
  EXPECT_EQ(noted.status, static_cast<uint32_t>(SIGSEGV));
  EXPECT_EQ(noted.realtime_ns, 123u);
}

TEST_F(process_ends, is_not_noted_in_the_part_of_another_process_of_that_number) {
  process_end_watch watch(folder_);
  program_end end;
  end.process_id = static_cast<uint32_t>(getpid());
  end.process_start = read_process_stat(end.process_id)->start + 1;
  begin_part(folder_, 0);
  watch.note(end);
  EXPECT_EQ(end_of(getpid()).kind, end_kind::unknown);
}

TEST_F(process_ends, without_a_folder_there_is_nothing_to_watch) {
  process_end_watch nothing(""), nowhere("/nowhere");
  for (auto* each : {&nothing, &nowhere}) {
    EXPECT_EQ(each->descriptor(), -1);
    each->look();
    each->note({});
  }
}

TEST_F(process_ends, of_others_are_noted_with_the_status_or_the_signal) {
  if (!kernel_tells_ends_of_others()) GTEST_SKIP() << "the kernel does not tell";
  process_end_watch watch(folder_);
  const auto exited = end_of(run_grandchild(watch, [] { _exit(7); }));
  EXPECT_EQ(exited.kind, end_kind::exited);
  EXPECT_EQ(exited.status, 7u);
  const auto crashed = end_of(run_grandchild(watch, [] {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }));
  EXPECT_EQ(crashed.kind, end_kind::by_signal);
  EXPECT_EQ(crashed.status, static_cast<uint32_t>(SIGSEGV));
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  EXPECT_LE(crashed.realtime_ns / 1'000'000'000, static_cast<uint64_t>(now.tv_sec));
  EXPECT_GT(crashed.realtime_ns, exited.realtime_ns);
}

TEST_F(process_ends, of_a_process_that_nobody_waited_for_is_noted_at_the_end) {
  process_end_watch watch(folder_);
  int begun[2], seen[2];
  ASSERT_EQ(pipe(begun), 0);
  ASSERT_EQ(pipe(seen), 0);
  const pid_t child = fork();
  if (child == 0) {
    begin_part(folder_, 0);
    char word = 0;
    close(seen[1]);
    if (write(begun[1], "x", 1) == 1 && read(seen[0], &word, 1) == 0) raise(SIGKILL);
    _exit(98);
  }
  char word = 0;
  ASSERT_EQ(read(begun[0], &word, 1), 1);
  watch.look();
  for (const int end : {begun[0], begun[1], seen[0], seen[1]}) close(end);
  siginfo_t about{};
  waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT);
  watch.look();
  EXPECT_EQ(end_of(child).kind, end_kind::unknown);
  watch.finish();
  EXPECT_EQ(end_of(child).kind, end_kind::by_signal);
  EXPECT_EQ(end_of(child).status, static_cast<uint32_t>(SIGKILL));
  waitpid(child, nullptr, 0);
}

TEST(process_stat, a_process_lives_as_long_as_any_of_its_threads) {
  const auto own = read_process_stat(static_cast<uint32_t>(getpid()));
  ASSERT_TRUE(own);
  EXPECT_TRUE(is_alive(static_cast<uint32_t>(getpid()), own->start));
  EXPECT_FALSE(is_alive(static_cast<uint32_t>(getpid()), own->start + 1));
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(told[1]);
    static int until;
    until = told[0];
    pthread_t other;
    pthread_create(
        &other, nullptr,
        [](void*) -> void* {
          char word = 0;
          _exit(static_cast<int>(read(until, &word, 1)));
        },
        nullptr);
    syscall(SYS_exit, 0);  // this thread alone; pthread_exit() unwinds into the test
  }
  close(told[0]);
  const auto number = static_cast<uint32_t>(child);
  while (read_process_stat(number)->state != 'Z') usleep(1000);
  const uint64_t start = read_process_stat(number)->start;
  EXPECT_TRUE(is_alive(number, start)) << "its first thread has ended, the other has not";
  close(told[1]);
  siginfo_t about{};
  waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_alive(number, start));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_alive(number, start));
}

}  // namespace
}  // namespace zevent::launch
