#include "launch/elf_symbols.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "launch/installation.hpp"

namespace zevent::launch {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// A file of its own for each test, gone at the end.
class scratch_file {
 public:
  explicit scratch_file(const std::string& bytes) {
    const int descriptor = mkstemp(path_.data());
    EXPECT_EQ(write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(descriptor);
  }
  ~scratch_file() { unlink(path_.c_str()); }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "zevent-elf-XXXXXX";
};

TEST(elf_symbols, the_stock_loader_offers_the_functions_of_level_zero) {
  const auto loader = find_stock_loader();
  ASSERT_FALSE(loader.empty()) << "libze1 is not installed; run scripts/setup";
  const auto symbols = read_elf_symbols(loader);
  ASSERT_TRUE(symbols) << symbols.error().message;
  const auto& names = symbols->offered;
  EXPECT_NE(std::find(names.begin(), names.end(), "zeEventQueryStatus"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "malloc"), names.end());
}

TEST(elf_symbols, what_is_not_a_binary_is_an_error) {
  for (const char* path : {"/etc/passwd", "/", "/no/such/file", "/dev/null", ""})
    EXPECT_FALSE(read_elf_symbols(path)) << path;
}

TEST(elf_symbols, damaged_files_never_crash) {
  const auto whole = contents_of("/proc/self/exe").substr(0, 1 << 16);
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    auto damaged = contents_of(find_stock_loader());
    for (int flips = 0; flips < 20; ++flips) {
      // The headers at both ends are where the offsets are.
      const size_t where = flips % 2 == 0 ? random() % 64 : damaged.size() - 1 - random() % 2048;
      damaged[where] = static_cast<char>(random());
    }
    damaged.resize(round % 3 == 0 ? random() % damaged.size() : damaged.size());
    const scratch_file file(damaged);
    (void)read_elf_symbols(file.path());
  }
  const scratch_file cut(whole);
  EXPECT_FALSE(read_elf_symbols(cut.path()));
}

}  // namespace
}  // namespace zevent::launch
