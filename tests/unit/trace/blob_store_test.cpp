#include "trace/blob_store.hpp"

#include <gtest/gtest.h>

#include <random>

#include "written_file.hpp"

namespace zevent::trace {
namespace {

std::vector<std::vector<std::byte>> random_blobs() {
  std::mt19937_64 random(4);
  std::vector<std::vector<std::byte>> blobs(40);
  for (auto& blob : blobs) {
    blob.resize(random() % 200'000);
    for (auto& byte : blob) byte = static_cast<std::byte>(random() % 5);
  }
  blobs.emplace_back();
  blobs.emplace_back(1'500'000, std::byte{7});  // a chunk of its own, of one byte
  return blobs;
}

TEST(blob_store, every_blob_is_kept_once_and_comes_back) {
  const auto blobs = random_blobs();
  const auto file = chunk_file::parse(own_bytes(written_file([&](chunk_writer& writer) {
    blob_writer store;
    for (int round = 0; round < 2; ++round) {
      for (const auto& blob : blobs) ASSERT_TRUE(store.add(hash_of(blob), blob, writer));
    }
    ASSERT_TRUE(store.flush(writer));
  })));
  EXPECT_GT(file->chunks().size(), 1u);
  std::vector<file_damage> damage;
  const blob_index index(*file, damage);
  EXPECT_TRUE(damage.empty());
  EXPECT_EQ(index.size(), blobs.size());
  for (const auto& blob : blobs) {
    const auto read = index.read(*file, hash_of(blob));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == blob);
    EXPECT_EQ(index.size_of(hash_of(blob)), blob.size());
  }
  EXPECT_FALSE(index.read(*file, blob_hash{{1, 2, 3}}));
}

TEST(blob_store, content_under_a_hash_that_is_not_its_own_is_refused) {
  written_file([&](chunk_writer& writer) {
    blob_writer store;
    EXPECT_FALSE(store.add(blob_hash{{1}}, {}, writer));
  });
}

}  // namespace
}  // namespace zevent::trace
