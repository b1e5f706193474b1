#include "trace/object_table.hpp"

#include <gtest/gtest.h>

#include <random>

#include "written_file.hpp"

namespace zevent::trace {
namespace {

object life(uint64_t value, uint64_t from_ns, std::optional<uint64_t> until_ns,
            uint16_t handle_class = 5, uint64_t size_bytes = 0) {
  object made;
  made.handle = {0, handle_class, value};
  made.created = true;
  made.size_bytes = size_bytes;
  made.first_call = call_number{from_ns};
  made.from_ns = from_ns;
  if (until_ns) {
    made.until_ns = *until_ns;
    made.released_by = call_number{*until_ns};
  }
  return made;
}

TEST(object_table, same_handle_one_after_the_other_is_two_objects) {
  const object_table table({life(0x10, 300, std::nullopt), life(0x10, 100, 200)});
  const handle_key handle{0, 5, 0x10};
  EXPECT_FALSE(table.find(handle, 99));
  EXPECT_EQ(index_of(*table.find(handle, 100)), 0u);
  EXPECT_EQ(index_of(*table.find(handle, 250)), 0u) << "used after its release";
  EXPECT_EQ(index_of(*table.find(handle, 300)), 1u);
  EXPECT_FALSE(table.find({0, 6, 0x10}, 300)) << "another class";
  EXPECT_FALSE(table.find({1, 5, 0x10}, 300)) << "another process";
}

TEST(object_table, objects_are_counted_within_their_class) {
  const object_table table({life(1, 10, {}, 0), life(2, 20, {}, 1), life(3, 30, {}, 0)});
  EXPECT_EQ(table.all()[0].ordinal, 0u);
  EXPECT_EQ(table.all()[1].ordinal, 0u);
  EXPECT_EQ(table.all()[2].ordinal, 1u);
  EXPECT_EQ(table.name(object_id{2}, api::builtin_model()), "command_list_1");
}

TEST(object_table, address_inside_memory_finds_it) {
  const object_table table({life(0x1000, 10, 50, memory_class, 0x100),
                            life(0x1080, 60, {}, memory_class, 0x10),
                            life(0x5000, 10, {}, memory_class, 0x10)});
  EXPECT_EQ(index_of(*table.find_memory(0, 0x10ff, 20)), 0u);
  EXPECT_FALSE(table.find_memory(0, 0x1100, 20)) << "just behind it";
  EXPECT_FALSE(table.find_memory(0, 0xfff, 20)) << "just before it";
  EXPECT_EQ(index_of(*table.find_memory(0, 0x1084, 70)), 2u) << "given out again in a piece";
  EXPECT_EQ(table.all()[1].handle.value, 0x5000u);
  EXPECT_FALSE(table.find_memory(1, 0x5000, 70));
}

TEST(object_table, objects_come_back_from_a_chunk_as_they_were) {
  std::mt19937_64 random(2);
  std::vector<object> objects;
  for (uint64_t i = 0; i < 40'000; ++i) {
    objects.push_back(life(random(), i * 10, {}, static_cast<uint16_t>(random() % 40)));
    auto& each = objects.back();
    each.handle.process = static_cast<uint32_t>(random() % 3);
    each.created = random() % 2 == 0;
    each.size_bytes = random() % 1000;
    each.first_call = call_number{i + random() % 50};
    if (random() % 2 == 0) {
      each.until_ns = each.from_ns + random() % 100'000;
      each.released_by = call_number{number_of(each.first_call) + random() % 1000};
    }
  }
  const auto file = chunk_file::parse(own_bytes(
      written_file([&](chunk_writer& writer) { ASSERT_TRUE(write_objects(objects, writer)); })));
  size_t next = 0;
  for (const auto& entry : file->chunks()) {
    const auto read = read_objects(*file->load(entry), entry);
    ASSERT_TRUE(read) << read.error().message;
    for (const auto& each : *read) {
      const auto& expected = objects[next++];
      ASSERT_EQ(each.handle, expected.handle);
      ASSERT_EQ(each.created, expected.created);
      ASSERT_EQ(each.size_bytes, expected.size_bytes);
      ASSERT_EQ(each.first_call, expected.first_call);
      ASSERT_EQ(each.released_by, expected.released_by);
      ASSERT_EQ(each.from_ns, expected.from_ns);
      ASSERT_EQ(each.until_ns, expected.until_ns);
    }
  }
  EXPECT_EQ(next, objects.size());
}

}  // namespace
}  // namespace zevent::trace
