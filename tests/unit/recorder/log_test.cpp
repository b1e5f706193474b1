#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "recorder/memory_capture.hpp"
#include "recording_process.hpp"
#include "sanitizers.hpp"

namespace zevent::recorder {
namespace {

uint64_t address_space_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

// Mounts four megabytes in a namespace of this process alone.
bool mount_small_disk(const std::string& folder, unsigned long flags) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return mount("none", folder.c_str(), "tmpfs", flags, "size=4m") == 0;
}

TEST_F(RecorderLog, KeepsWhatAKilledProcessRecorded) {
  const int status = run([] {
    make_call(1);
    begin_call(2);
    std::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  ASSERT_EQ(part.call_count(), 2u);
  const auto& calls = part.calls.at(1);
  EXPECT_EQ(input_of(calls[0]), 1u);
  EXPECT_TRUE(calls[0].end.has_value());
  EXPECT_EQ(input_of(calls[1]), 2u);
  EXPECT_FALSE(calls[1].end.has_value());
  EXPECT_EQ(part.header.state, recording::part_state::recording);
}

TEST_F(RecorderLog, GoesOnInFurtherSegments) {
  constexpr uint64_t count = 100'000;
  run([] {
    for (uint64_t i = 0; i < count; ++i) make_call(i);
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(input_of(calls[i]), i);
    ASSERT_TRUE(calls[i].end.has_value());
  }
  EXPECT_EQ(part.header.lost_calls, 0u);
}

TEST_F(RecorderLog, UsesItsSegmentsAgainAndKeepsWhatWasInThem) {
  constexpr uint64_t count = 300'000;
  constexpr uint64_t inputs = 700;
  const int status = run([] {
    make_call(0);
    const uint64_t mapped = mapped_part_bytes();
    for (uint64_t i = 1; i < count; ++i) make_call(i * i % inputs);
    std::_Exit(mapped_part_bytes() == mapped ? 42 : 43);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "more of the file is mapped than at the start";
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(input_of(calls[i]), i * i % inputs);
    ASSERT_TRUE(calls[i].end.has_value());
    ASSERT_TRUE(i == 0 || calls[i].start >= *calls[i - 1].end);
  }
  // A call has 32 bytes before it is packed.
  EXPECT_LT(std::filesystem::file_size(part_paths(parts()).front()), count * 16);
}

// Of all kinds and sizes, some too long or too seldom the same to be said in fewer bytes.
TEST_F(RecorderLog, CallsWithOutputsAndBlobsBetweenThemArePackedToo) {
  constexpr uint64_t count = 40'000;
  run([] {
    for (uint64_t i = 0; i < count; ++i) {
      if (i % 1000 == 0) {
        const std::vector<std::byte> content(100 + i, std::byte{0x5a});
        recording::blob_hash hash{};
        std::memcpy(hash.bytes, &i, sizeof(i));
        this_thread_log.write_blob(hash, content);
      }
      const auto open = begin_call(i);
      const uint32_t bytes = static_cast<uint32_t>(sizeof(recording::completion_record) + i % 700);
      std::byte* record = this_thread_log.reserve(bytes, ticks());
      auto* completion = reinterpret_cast<recording::completion_record*>(record);
      completion->header.kind = recording::record_kind::completion;
      completion->call = open.position;
      completion->end = ticks();
      std::memset(record + sizeof(*completion), 0x33, i % 700);
      this_thread_log.publish(record, bytes);
      end_call(open, static_cast<uint32_t>(i % 3));
    }
  });
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  const auto& calls = part.calls.at(1);
  ASSERT_EQ(calls.size(), count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(input_of(calls[i]), i);
    ASSERT_EQ(calls[i].result, i % 3);
    ASSERT_EQ(calls[i].outputs, std::vector<std::byte>(i % 700, std::byte{0x33}));
  }
  EXPECT_EQ(part.blobs.size(), count / 1000 + 1);
}

TEST_F(RecorderLog, ThreadsGoOnInSegmentsAndAreasThatOthersLeft) {
  constexpr uint64_t threads = 40, per_thread = 3000;
  run([] {
    for (uint64_t t = 0; t < threads; ++t)
      std::thread([t] {
        for (uint64_t i = 0; i < per_thread; ++i) make_call(t << 32 | i % 10);
      }).join();
  });
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  ASSERT_EQ(part.calls.size(), threads);
  for (const auto& [thread, calls] : part.calls) {
    ASSERT_EQ(calls.size(), per_thread);
    for (uint64_t i = 0; i < per_thread; ++i)
      ASSERT_EQ(input_of(calls[i]), uint64_t{thread - 1} << 32 | i % 10);
  }
  EXPECT_LT(std::filesystem::file_size(part_paths(parts()).front()), 3u << 20);
}

TEST_F(RecorderLog, CompletesACallWhoseSegmentIsLongFull) {
  run([] {
    const auto outer = begin_call(1000);
    for (uint64_t i = 0; i < 100'000; ++i) make_call(i);
    end_call(outer, 5);
    for (uint64_t i = 0; i < 100'000; ++i) make_call(i);
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  const auto& outer = part.calls.at(1).front();
  EXPECT_EQ(input_of(outer), 1000u);
  EXPECT_TRUE(outer.end.has_value());
  EXPECT_EQ(outer.result, 5u);
  EXPECT_EQ(part.call_count(), 200'001u);
}

TEST_F(RecorderLog, KeepsThreadsApart) {
  constexpr uint64_t per_thread = 30'000;
  constexpr uint64_t threads = 4;
  run([] {
    std::vector<std::thread> all;
    for (uint64_t t = 0; t < threads; ++t)
      all.emplace_back([t] {
        for (uint64_t i = 0; i < per_thread; ++i) make_call(t << 32 | i);
      });
    for (auto& each : all) each.join();
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  ASSERT_EQ(part.calls.size(), threads);
  for (const auto& [thread, calls] : part.calls) {
    ASSERT_EQ(calls.size(), per_thread);
    const uint64_t owner = input_of(calls.front()) >> 32;
    for (uint64_t i = 0; i < per_thread; ++i) ASSERT_EQ(input_of(calls[i]), owner << 32 | i);
  }
}

TEST_F(RecorderLog, ManyShortThreadsShareSegments) {
  constexpr uint64_t threads = 300;
  run([] {
    for (uint64_t t = 0; t < threads; ++t) std::thread([t] { make_call(t); }).join();
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  ASSERT_EQ(part.calls.size(), threads);
  for (const auto& [thread, calls] : part.calls) {
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(input_of(calls.front()), thread - 1u);
  }
  EXPECT_LT(std::filesystem::file_size(part_paths(parts()).front()), 2u << 20);
}

TEST_F(RecorderLog, FilesAreTheUsersOnly) {
  run([] { make_call(1); });
  struct stat status {};
  ASSERT_EQ(stat(part_paths(parts()).front().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(stat(parts().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(RecorderLog, StopsWhenTheFileMayNotGrowAndTheProgramGoesOn) {
  constexpr uint64_t count = 200'000;
  const int status = run([] {
    const rlimit limit{3u << 20, 3u << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDERR_FILENO);
    for (uint64_t i = 0; i < count; ++i) make_call(i);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.header.state, recording::part_state::stopped);
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(EFBIG));
  EXPECT_GT(part.call_count(), 1000u);
  EXPECT_EQ(part.call_count() + part.header.lost_calls, count);
}

TEST_F(RecorderLog, StopsWhenNothingCanBeMappedAndTheProgramGoesOn) {
#if ZEVENT_THREAD_SANITIZER
  GTEST_SKIP() << "the thread sanitizer ends the program when it finds no memory";
#endif
  constexpr uint64_t count = 500'000;
  const int status = run([&] {
    // As long as it has not returned, its segment and those behind it are kept.
    begin_call(0);
    say_into(folder_ + "/said");
    // Address space for a few segments more, then none.
    const rlimit limit{address_space_bytes() + (2u << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    for (uint64_t i = 1; i < count; ++i) make_call(i);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.header.state, recording::part_state::stopped);
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(ENOMEM));
  EXPECT_EQ(part.call_count() + part.header.lost_calls, count);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

TEST_F(RecorderLog, WhereThereIsNoMemoryToCopyWhatACommandReadsTheProgramGoesOn) {
  if (!recorder_test::may_run_out_of_memory) GTEST_SKIP() << "the sanitizer would end the program";
  const int status = run([&] {
    const auto list = reinterpret_cast<ze_command_list_handle_t>(uintptr_t{1});
    memory_capture capture(recording::memory_mode::copies);
    capture.immediate_list_created(list, nullptr, nullptr, nullptr);
    const auto open = begin_call(1);
    say_into(folder_ + "/said");
    constexpr uint64_t bytes = 16u << 20;
    const void* source =
        mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const rlimit limit{address_space_bytes() + (64u << 10), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    // What lies free in the heap is enough for a piece of the source: it is taken away.
    for (void* volatile taken = this; taken != nullptr;) taken = std::malloc(256u << 10);
    capture.copy_appended(open.position, list, nullptr, source, bytes);
    end_call(open, 0);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42) << "signal " << WTERMSIG(status);
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.call_count(), 1u);
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(ENOMEM));
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

TEST_F(RecorderLog, StopsWhenTheDiskIsFullAndTheProgramGoesOn) {
  constexpr uint64_t count = 200'000;
  const int status = run([&] {
    // A disk of our own that nobody else sees.
    const std::string disk = folder_ + "/disk";
    std::filesystem::create_directory(disk);
    if (!mount_small_disk(disk, 0)) std::_Exit(77);
    setenv("ZEVENT_RECORD", (disk + "/out.zev").c_str(), 1);
    say_into(folder_ + "/said");
    for (uint64_t i = 0; i < count; ++i) make_call(i);
    std::filesystem::copy(disk + "/out.zev" + recording::parts_suffix, parts());
    std::_Exit(42);
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a file system here";
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.header.state, recording::part_state::stopped);
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(ENOSPC));
  EXPECT_GT(part.call_count(), 1000u);
  EXPECT_EQ(part.call_count() + part.header.lost_calls, count);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

TEST_F(RecorderLog, LeavesSomeRoomOnTheDisk) {
  const int status = run([&] {
    const std::string disk = folder_ + "/disk";
    std::filesystem::create_directory(disk);
    if (!mount_small_disk(disk, 0)) std::_Exit(77);
    setenv("ZEVENT_RECORD", (disk + "/out.zev").c_str(), 1);
    say_into(folder_ + "/said");
    for (uint64_t i = 0; i < 200'000; ++i) make_call(i);
    const auto space = std::filesystem::space(disk);
    std::_Exit(space.available >= space.capacity / 64 ? 42 : 43);
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a file system here";
  EXPECT_EQ(WEXITSTATUS(status), 42) << "the disk is full";
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

uint64_t bytes_in(const std::string& folder) {
  uint64_t sum = 0;
  for (const auto& path : part_paths(folder)) sum += std::filesystem::file_size(path);
  return sum;
}

TEST_F(RecorderLog, StopsAtTheSizeThatIsAllowedAndTheProgramGoesOn) {
  constexpr uint64_t count = 300'000;
  const int status = run([&] {
    setenv("ZEVENT_RECORD_MAX_SIZE", "6M", 1);
    say_into(folder_ + "/said");
    for (uint64_t i = 0; i < count; ++i) make_call(i);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  EXPECT_EQ(part.header.state, recording::part_state::stopped);
  EXPECT_EQ(std::string(part.header.stop_reason),
            "it would become larger than the 6 MB that are allowed");
  EXPECT_LE(bytes_in(parts()), 6'000'000u);
  EXPECT_GT(part.call_count(), 10'000u);
  EXPECT_EQ(part.call_count() + part.header.lost_calls, count);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

TEST_F(RecorderLog, TheSizeThatIsAllowedIsThatOfAllProcesses) {
  constexpr uint64_t processes = 6, calls = 60'000;
  run([&] {
    setenv("ZEVENT_RECORD_MAX_SIZE", "8M", 1);
    say_into(folder_ + "/said");
    for (uint64_t p = 0; p < processes; ++p) {
      const pid_t child = fork();
      if (child == 0) {
        for (uint64_t i = 0; i < calls; ++i) make_call(i);
        std::_Exit(0);
      }
      waitpid(child, nullptr, 0);
    }
  });
  EXPECT_LE(bytes_in(parts()), 8'000'000u);
  const auto paths = part_paths(parts());
  EXPECT_EQ(paths.size(), processes);
  uint64_t recorded = 0, lost = 0;
  for (const auto& path : paths) {
    const auto part = read_part_file(path);
    recorded += part.call_count();
    lost += part.header.lost_calls;
  }
  EXPECT_GT(recorded, calls);
  EXPECT_EQ(recorded + lost, processes * calls);
}

TEST_F(RecorderLog, ASizeThatIsNoneIsSaidAndNoLimit) {
  run([&] {
    setenv("ZEVENT_RECORD_MAX_SIZE", "much", 1);
    say_into(folder_ + "/said");
    make_call(1);
  });
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
  EXPECT_EQ(only_part().call_count(), 1u);
}

TEST_F(RecorderLog, WhereThereIsNoRoomForTheFirstSegmentTheProgramGoesOn) {
  const int status = run([&] {
    const std::string disk = folder_ + "/disk";
    std::filesystem::create_directory(disk);
    if (!mount_small_disk(disk, 0)) std::_Exit(77);
    std::ofstream(disk + "/full") << std::string((4u << 20) - (64u << 10), 'x') << std::flush;
    setenv("ZEVENT_RECORD", (disk + "/out.zev").c_str(), 1);
    say_into(folder_ + "/said");
    note_process_fact("driver", "none");
    for (uint64_t i = 0; i < 3; ++i) make_call(i);
    process_recording::at_exit();
    std::filesystem::copy(disk + "/out.zev" + recording::parts_suffix, parts());
    std::_Exit(42);
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a file system here";
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
  EXPECT_EQ(only_part().header.lost_calls, 3u);
}

TEST_F(RecorderLog, OfManyThreadsOneSaysThatTheDiskIsFullAndEveryCallIsCounted) {
  constexpr uint64_t threads = 4, per_thread = 60'000;
  const int status = run([&] {
    const std::string disk = folder_ + "/disk";
    std::filesystem::create_directory(disk);
    if (!mount_small_disk(disk, 0)) std::_Exit(77);
    setenv("ZEVENT_RECORD", (disk + "/out.zev").c_str(), 1);
    say_into(folder_ + "/said");
    std::vector<std::thread> all;
    for (uint64_t t = 0; t < threads; ++t)
      all.emplace_back([t] {
        for (uint64_t i = 0; i < per_thread; ++i) make_call(t << 32 | i);
      });
    for (auto& each : all) each.join();
    std::filesystem::copy(disk + "/out.zev" + recording::parts_suffix, parts());
    std::_Exit(42);
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a file system here";
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const auto part = only_part();
  EXPECT_EQ(part.faults, std::vector<std::string>());
  EXPECT_EQ(part.header.stop_error, static_cast<uint32_t>(ENOSPC));
  EXPECT_EQ(part.call_count() + part.header.lost_calls, threads * per_thread);
  // Each thread's calls up to some moment, and none behind a gap.
  for (const auto& [thread, calls] : part.calls)
    for (uint64_t i = 0; i < calls.size(); ++i) ASSERT_EQ(input_of(calls[i]) & UINT32_MAX, i);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

TEST_F(RecorderLog, OnAReadOnlyDiskTheProgramGoesOn) {
  const int status = run([&] {
    const std::string disk = folder_ + "/disk";
    std::filesystem::create_directory(disk);
    if (!mount_small_disk(disk, MS_RDONLY)) std::_Exit(77);
    setenv("ZEVENT_RECORD", (disk + "/out.zev").c_str(), 1);
    say_into(folder_ + "/said");
    for (uint64_t i = 0; i < 3; ++i) make_call(i);
    std::_Exit(42);
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a file system here";
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(lines_of(folder_ + "/said"), 1);
}

TEST_F(RecorderLog, WithoutAWritableFolderTheProgramGoesOn) {
  const int status = run([] {
    setenv("ZEVENT_RECORD", "/proc/nowhere/out.zev", 1);
    const int quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDERR_FILENO);
    make_call(1);
    std::_Exit(42);
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST_F(RecorderLog, WithoutAnOutputNothingIsRecorded) {
  run([] {
    unsetenv("ZEVENT_RECORD");
    make_call(1);
  });
  EXPECT_TRUE(part_paths(parts()).empty());
}

TEST_F(RecorderLog, BlobsOfAllSizesAreWhole) {
  run([] {
    for (const size_t bytes :
         {size_t{0}, size_t{1}, size_t{5000}, size_t{100'000}, size_t{1'000'000}}) {
      recording::blob_hash hash{};
      std::memcpy(hash.bytes, &bytes, sizeof(bytes));
      std::vector<std::byte> content(bytes, std::byte{0x5a});
      this_thread_log.write_blob(hash, content);
      make_call(bytes);
    }
  });
  const auto part = only_part();
  EXPECT_TRUE(part.faults.empty());
  EXPECT_EQ(part.call_count(), 5u);
  const std::string schema(reinterpret_cast<const char*>(part.header.schema.bytes), 16);
  EXPECT_TRUE(part.blobs.contains(schema));
  ASSERT_EQ(part.blobs.size(), 6u);
  for (const auto& [hash, content] : part.blobs) {
    if (hash == schema) continue;
    size_t bytes = 0;
    std::memcpy(&bytes, hash.data(), sizeof(bytes));
    EXPECT_EQ(content, std::vector<std::byte>(bytes, std::byte{0x5a}));
  }
}

TEST_F(RecorderLog, SaysWhatTheProcessIs) {
  run([] {
    setenv("PMI_RANK", "3", 1);
    setenv("ZE_FLAT_DEVICE_HIERARCHY", "FLAT", 1);
    make_call(1);
  });
  const auto part = only_part();
  EXPECT_EQ(part.facts.at("mpi rank"), "3");
  EXPECT_NE(part.facts.at("executable").find("recorder_tests"), std::string::npos);
  EXPECT_NE(part.facts.at("environment").find("ZE_FLAT_DEVICE_HIERARCHY=FLAT"), std::string::npos);
  EXPECT_EQ(part.facts.at("environment").find("PATH="), std::string::npos);
  EXPECT_FALSE(part.calibrations.empty());
  EXPECT_GT(part.header.ticks_per_second, 0u);
}

}  // namespace
}  // namespace zevent::recorder
