#include "recorder/watched_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <random>

namespace zevent::recorder {
namespace {

constexpr uint64_t memory_bytes = 256 * page_bytes;

// With the help of the kernel and without.
class WatchedMemory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
  }
  void TearDown() override { munmap(memory_, memory_bytes); }

  uint64_t at(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory_) + offset; }

  // What is noted now: offset and content.
  std::map<uint64_t, std::vector<std::byte>> changes() {
    std::map<uint64_t, std::vector<std::byte>> all;
    set_aside_.clear();
    watched_.note_changes(
        [&](uint64_t address, std::span<const std::byte> content, watched_memory::change how) {
          all[address - at(0)] = {content.begin(), content.end()};
          set_aside_[address - at(0)] = how == watched_memory::change::set_aside;
        });
    return all;
  }

  // Likewise where results are wanted; `copied_` has what was read through the driver.
  std::map<uint64_t, std::vector<std::byte>> results(bool device_is_idle) {
    std::map<uint64_t, std::vector<std::byte>> all;
    copied_.clear();
    watched_.note_results(
        [&](uint64_t address, std::span<const std::byte> content, watched_memory::change how) {
          all[address - at(0)] = {content.begin(), content.end()};
          copied_[address - at(0)] = how == watched_memory::change::copied;
        },
        device_is_idle);
    return all;
  }

  std::map<uint64_t, bool> copied_;  // by offset

  std::byte* memory_ = nullptr;
  watched_memory watched_{GetParam()};
  std::map<uint64_t, bool> set_aside_;  // by offset, of what was noted last
};

TEST_P(WatchedMemory, NotesWhatWasWrittenOnce) {
  watched_.add(at(0), 10 * page_bytes);
  EXPECT_TRUE(changes().empty());
  memory_[2 * page_bytes + 5] = std::byte{7};
  const auto noted = changes();
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted.begin()->first, 2 * page_bytes);
  ASSERT_EQ(noted.begin()->second.size(), page_bytes);
  EXPECT_EQ(noted.begin()->second[5], std::byte{7});
  EXPECT_TRUE(changes().empty());
}

TEST_P(WatchedMemory, ReadsThroughTheDriverWhatTheHostCannotRead) {
  watched_.add(at(0), page_bytes);
  watched_.add_of_device(at(4 * page_bytes), 2 * page_bytes);
  mprotect(memory_, page_bytes, PROT_NONE);
  watched_.read_devices_by([&](uint64_t, std::span<std::byte> target) {
    std::fill(target.begin(), target.end(), std::byte{9});
    return true;
  });
  EXPECT_TRUE(results(true).empty()) << "no command was given to the device";
  watched_.mark_all_written();
  EXPECT_TRUE(changes().empty()) << "results were not asked for";
  const auto noted = results(true);
  ASSERT_EQ(noted.size(), 2u);
  EXPECT_EQ(noted.at(0), std::vector<std::byte>(page_bytes, std::byte{9}));
  EXPECT_EQ(noted.at(4 * page_bytes), std::vector<std::byte>(2 * page_bytes, std::byte{9}));
  EXPECT_TRUE(copied_[0] && copied_[4 * page_bytes]);
  EXPECT_TRUE(results(true).empty());
}

TEST_P(WatchedMemory, NotesResultsAgainUntilTheDeviceIsIdle) {
  watched_.add(at(0), 2 * page_bytes);
  watched_.mark_written({at(0), at(1)});
  memory_[0] = std::byte{7};
  EXPECT_EQ(results(false).size(), 1u);
  EXPECT_EQ(results(false).size(), 1u) << "it may have been something between";
  EXPECT_EQ(results(true).size(), 1u);
  EXPECT_TRUE(results(true).empty());
  EXPECT_TRUE(changes().empty());
}

TEST_P(WatchedMemory, NotesAsResultsWhatWasNotedWhileCommandsRan) {
  watched_.add(at(0), 2 * page_bytes);
  watched_.mark_written({at(0), at(1)});
  memory_[0] = std::byte{7};
  EXPECT_EQ(changes().size(), 1u);
  EXPECT_EQ(results(true).size(), 1u) << "the device may have written it";
  EXPECT_TRUE(results(true).empty());
}

TEST_P(WatchedMemory, WhatNoCommandWritesIsChangedByTheHost) {
  watched_.add(at(0), page_bytes);
  watched_.add(at(page_bytes), page_bytes);
  watched_.add(at(2 * page_bytes), page_bytes);
  watched_.mark_written({at(0), at(8)});
  watched_.mark_shared(at(2 * page_bytes));
  for (const uint64_t page : {0, 1, 2}) memory_[page * page_bytes] = std::byte{7};
  std::map<uint64_t, watched_memory::change> by;
  watched_.note_results([&](uint64_t address, std::span<const std::byte>,
                            watched_memory::change how) { by[address - at(0)] = how; },
                        true);
  EXPECT_EQ(by.at(0), watched_memory::change::seen);
  EXPECT_EQ(by.at(page_bytes), watched_memory::change::by_host);
  EXPECT_EQ(by.at(2 * page_bytes), watched_memory::change::seen) << "other processes have it";
}

TEST_P(WatchedMemory, WhatCommandsWriteToTheDeviceIsNotedWhateverItIs) {
  watched_.add_of_device(at(0), 3 * page_bytes);
  watched_.read_devices_by([&](uint64_t, std::span<std::byte> target) {
    std::fill(target.begin(), target.end(), std::byte{});
    return true;
  });
  watched_.mark_written({at(page_bytes), at(page_bytes + 8)});
  const auto noted = results(true);
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted.at(page_bytes).size(), page_bytes);
}

TEST_P(WatchedMemory, WritingTheSameValueIsNoChange) {
  watched_.add(at(0), page_bytes);
  memory_[0] = std::byte{7};
  changes();
  memory_[0] = std::byte{7};
  EXPECT_TRUE(changes().empty());
}

TEST_P(WatchedMemory, NotesWhatTheHostClearsInMemoryThatWasHandedOutAgain) {
  std::memset(memory_, 0x77, 4 * page_bytes);
  watched_.add(at(0), 4 * page_bytes);
  EXPECT_TRUE(changes().empty());
  std::memset(memory_ + page_bytes, 0, page_bytes);
  const auto noted = changes();
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted.begin()->first, page_bytes);
  EXPECT_EQ(noted.begin()->second, std::vector<std::byte>(page_bytes));
  EXPECT_TRUE(changes().empty());
}

// A replay has this memory from its own driver, which may have left something else there.
TEST(WatchedMemoryOfThisKernel, NotesZerosThatTheHostWritesToFreshMemory) {
  if (!write_watch().works()) GTEST_SKIP() << "the kernel does not tell which pages were written";
  void* memory =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  watched_memory watched;
  watched.add(reinterpret_cast<uint64_t>(memory), page_bytes);
  std::memset(memory, 0, page_bytes);
  size_t bytes = 0;
  watched.note_changes([&](uint64_t, std::span<const std::byte> content, watched_memory::change) {
    bytes += content.size();
    EXPECT_EQ(content[0], std::byte{0});
  });
  EXPECT_EQ(bytes, page_bytes);
  munmap(memory, page_bytes);
}

TEST_P(WatchedMemory, IsCutToTheAllocation) {
  watched_.add(at(100), 50);
  std::memset(memory_, 0x11, page_bytes);
  const auto noted = changes();
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted.begin()->first, 100u);
  EXPECT_EQ(noted.begin()->second, std::vector<std::byte>(50, std::byte{0x11}));
}

TEST_P(WatchedMemory, NeighboursInOnePageAreBothNoted) {
  watched_.add(at(0), 100);
  watched_.add(at(200), 100);
  memory_[0] = std::byte{1};
  memory_[200] = std::byte{2};
  EXPECT_EQ(changes().size(), 2u);
  memory_[201] = std::byte{3};
  watched_.add(at(400), 100);
  // Of a new neighbour nothing is known: that it is noted too does no harm.
  auto noted = changes();
  noted.erase(400);
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted.begin()->first, 200u);
  watched_.remove(at(200));
  memory_[0] = std::byte{9};
  EXPECT_EQ(changes().size(), 1u);
}

TEST_P(WatchedMemory, LongRunsComeInPieces) {
  watched_.add(at(0), 40 * page_bytes);
  std::memset(memory_, 1, 40 * page_bytes);
  const auto noted = changes();
  ASSERT_EQ(noted.size(), 3u);
  EXPECT_TRUE(noted.contains(watched_memory::piece_bytes));
  EXPECT_TRUE(noted.contains(2 * watched_memory::piece_bytes));
}

TEST_P(WatchedMemory, WhatChangedBeforeALineIsToldApart) {
  watched_.add(at(0), 10 * page_bytes);
  for (const uint64_t page : {1U, 3U, 5U}) memory_[page * page_bytes] = std::byte{1};
  const bool can_tell = watched_.set_aside();
  memory_[3 * page_bytes] = std::byte{2};
  memory_[7 * page_bytes] = std::byte{2};
  EXPECT_EQ(changes().size(), 4u);
  if (!can_tell) return;
  EXPECT_EQ(set_aside_, (std::map<uint64_t, bool>{{1 * page_bytes, true},
                                                  {3 * page_bytes, false},
                                                  {5 * page_bytes, true},
                                                  {7 * page_bytes, false}}));
  EXPECT_TRUE(changes().empty());
}

// A kernel changes what the host has written; the host waits and writes the same once more.
TEST_P(WatchedMemory, WhatIsWrittenBackAfterALineIsNoted) {
  watched_.add(at(0), 2 * page_bytes);
  memory_[0] = std::byte{1};
  changes();
  memory_[0] = std::byte{17};
  if (!watched_.set_aside()) {
    EXPECT_EQ(changes().size(), 1u);
  }
  memory_[0] = std::byte{1};
  const auto noted = changes();
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted.begin()->second[0], std::byte{1});
  EXPECT_TRUE(changes().empty());
}

TEST_P(WatchedMemory, FreshMemoryHasNoPast) {
  watched_.add(at(0), 4 * page_bytes);
  memory_[page_bytes] = std::byte{1};
  if (!watched_.set_aside()) return;
  watched_.remove(at(0));
  watched_.add(at(0), 4 * page_bytes);
  memory_[0] = std::byte{1};
  EXPECT_EQ(changes().size(), 1u);
  EXPECT_EQ(set_aside_, (std::map<uint64_t, bool>{{0, false}}));
}

TEST_P(WatchedMemory, MemoryThatIsGoneIsLeftOut) {
  watched_.add(at(0), 4 * page_bytes);
  memory_[0] = std::byte{1};
  munmap(memory_, 4 * page_bytes);
  EXPECT_TRUE(changes().empty());
}

// Whatever is written: putting the notes together gives the memory.
TEST_P(WatchedMemory, NotesAddUpToTheMemory) {
  std::mt19937 random(1);
  std::vector<std::byte> rebuilt(memory_bytes);
  std::map<uint64_t, uint64_t> allocations;  // offset, bytes
  for (uint64_t offset = 0; offset < memory_bytes - 40'000;) {
    const uint64_t bytes = 1 + random() % 30'000;
    allocations[offset] = bytes;
    offset += bytes + random() % 5'000;
  }
  for (const auto& [offset, bytes] : allocations) watched_.add(at(offset), bytes);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) memory_[random() % memory_bytes] = std::byte(random());
    if (round % 3 == 0) watched_.set_aside();
    for (const auto& [offset, content] : changes())
      std::copy(content.begin(), content.end(), rebuilt.begin() + static_cast<ptrdiff_t>(offset));
    for (const auto& [offset, bytes] : allocations)
      ASSERT_EQ(std::memcmp(memory_ + offset, rebuilt.data() + offset, bytes), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(EitherWay, WatchedMemory, testing::Bool());

TEST(CopyMemory, SaysWhenThereIsNone) {
  void* memory =
      mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(static_cast<std::byte*>(memory) + page_bytes, page_bytes);
  std::vector<std::byte> copy(2 * page_bytes);
  EXPECT_FALSE(copy_memory(memory, copy));
  EXPECT_TRUE(copy_memory(memory, std::span(copy).first(page_bytes)));
  munmap(memory, page_bytes);
}

}  // namespace
}  // namespace zevent::recorder
