#include "recorder/write_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace zevent::recorder {
namespace {

class WriteWatch : public testing::TestWithParam<bool> {
 protected:
  static constexpr uint64_t pages = 100;

  void SetUp() override {
    if (!watch_.works()) GTEST_SKIP() << "this kernel cannot watch writes";
    int file = -1;
    if (GetParam()) {
      file = memfd_create("watched", MFD_CLOEXEC);
      ASSERT_EQ(ftruncate(file, pages * page_bytes), 0);
    }
    void* memory = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE,
                        file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
    ASSERT_NE(memory, MAP_FAILED);
    memory_ = static_cast<char*>(memory);
    if (file >= 0) close(file);
  }
  void TearDown() override {
    if (memory_ != nullptr) munmap(memory_, pages * page_bytes);
  }

  address_range all() const {
    const auto begin = reinterpret_cast<uint64_t>(memory_);
    return {begin, begin + pages * page_bytes};
  }

  // The numbers of the pages written since the last time.
  std::vector<uint64_t> written() {
    std::vector<address_range> runs;
    EXPECT_TRUE(watch_.take_written(all(), runs));
    std::vector<uint64_t> numbers;
    for (const auto& run : runs)
      for (uint64_t at = run.begin; at < run.end; at += page_bytes)
        numbers.push_back((at - all().begin) / page_bytes);
    return numbers;
  }

  write_watch watch_;
  char* memory_ = nullptr;
};

TEST_P(WriteWatch, SaysWhichPagesWereWrittenAndBeginsAnew) {
  memory_[3 * page_bytes] = 1;
  ASSERT_TRUE(watch_.watch(all()));
  EXPECT_EQ(written(), std::vector<uint64_t>{});
  memory_[3 * page_bytes + 100] = 2;
  memory_[7 * page_bytes] = 2;
  memory_[8 * page_bytes] = 2;
  EXPECT_EQ(written(), (std::vector<uint64_t>{3, 7, 8}));
  EXPECT_EQ(written(), std::vector<uint64_t>{});
  memory_[7 * page_bytes] = 3;
  EXPECT_EQ(written(), std::vector<uint64_t>{7});
}

TEST_P(WriteWatch, SystemCallsWriteToWatchedMemoryAsToAny) {
  ASSERT_TRUE(watch_.watch(all()));
  const int zeros = open("/dev/zero", O_RDONLY);
  EXPECT_EQ(read(zeros, memory_ + 5 * page_bytes, 2 * page_bytes),
            static_cast<ssize_t>(2 * page_bytes));
  close(zeros);
  EXPECT_EQ(written(), (std::vector<uint64_t>{5, 6}));
}

TEST_P(WriteWatch, ManySeparateRunsAreAllFound) {
  ASSERT_TRUE(watch_.watch(all()));
  std::vector<uint64_t> expected;
  for (uint64_t page = 0; page < pages; page += 1 + page % 2) {
    memory_[page * page_bytes] = 1;
    expected.push_back(page);
  }
  EXPECT_EQ(written(), expected);
}

TEST_P(WriteWatch, MemoryThatIsNoLongerWatchedIsOrdinary) {
  ASSERT_TRUE(watch_.watch(all()));
  watch_.unwatch(all());
  memory_[0] = 1;
  std::vector<address_range> runs;
  EXPECT_FALSE(watch_.take_written(all(), runs));
}

INSTANTIATE_TEST_SUITE_P(OfPrivateAndOfSharedMemory, WriteWatch, testing::Bool());

}  // namespace
}  // namespace zevent::recorder
