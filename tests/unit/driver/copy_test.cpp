#include <cstring>
#include <numeric>
#include <random>

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class copies : public driver_fixture {
 protected:
  void SetUp() override {
    driver_fixture::SetUp();
    list_ = in_order_list();
  }

  void finish() { ASSERT_EQ(zeCommandListHostSynchronize(list_, forever), ZE_RESULT_SUCCESS); }

  void* allocate(ze_memory_type_t type, size_t bytes) {
    const ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void* memory = nullptr;
    if (type == ZE_MEMORY_TYPE_UNKNOWN) {
      memory = std::malloc(bytes);
      at_end([memory] { std::free(memory); });
      return memory;
    }
    ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
    if (type == ZE_MEMORY_TYPE_HOST) {
      result = zeMemAllocHost(context_, &host_desc, bytes, 0, &memory);
    } else if (type == ZE_MEMORY_TYPE_DEVICE) {
      result = zeMemAllocDevice(context_, &device_desc, bytes, 0, device_, &memory);
    } else {
      result = zeMemAllocShared(context_, &device_desc, &host_desc, bytes, 0, device_, &memory);
    }
    EXPECT_EQ(result, ZE_RESULT_SUCCESS);
    at_end([this, memory] { EXPECT_EQ(zeMemFree(context_, memory), ZE_RESULT_SUCCESS); });
    return memory;
  }

  ze_command_list_handle_t list_ = nullptr;
};

TEST_F(copies, go_between_every_pair_of_memory_kinds) {
  constexpr size_t bytes = 100'000;
  std::vector<uint8_t> data(bytes);
  std::iota(data.begin(), data.end(), uint8_t{0});
  std::vector<uint8_t> back(bytes);
  constexpr ze_memory_type_t kinds[] = {ZE_MEMORY_TYPE_UNKNOWN, ZE_MEMORY_TYPE_HOST,
                                        ZE_MEMORY_TYPE_DEVICE, ZE_MEMORY_TYPE_SHARED};
  for (const auto from : kinds) {
    for (const auto to : kinds) {
      void* source = allocate(from, bytes);
      void* target = allocate(to, bytes);
      ASSERT_EQ(
          zeCommandListAppendMemoryCopy(list_, source, data.data(), bytes, nullptr, 0, nullptr),
          ZE_RESULT_SUCCESS);
      ASSERT_EQ(zeCommandListAppendMemoryCopy(list_, target, source, bytes, nullptr, 0, nullptr),
                ZE_RESULT_SUCCESS);
      ASSERT_EQ(
          zeCommandListAppendMemoryCopy(list_, back.data(), target, bytes, nullptr, 0, nullptr),
          ZE_RESULT_SUCCESS);
      finish();
      EXPECT_EQ(back, data) << "from kind " << from << " to kind " << to;
    }
  }
}

TEST_F(copies, of_no_bytes_do_nothing_but_signal) {
  uint8_t one = 1;
  uint8_t other = 2;
  const auto done = regular_event();
  ASSERT_EQ(zeCommandListAppendMemoryCopy(list_, &one, &other, 0, done, 0, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(done, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(one, 1);
}

TEST_F(copies, from_another_context_are_copies) {
  auto* numbers = shared_memory<uint32_t>(2);
  numbers[0] = 3;
  const auto other = zeDriverGetDefaultContext(driver_);
  ASSERT_EQ(zeCommandListAppendMemoryCopyFromContext(list_, &numbers[1], other, &numbers[0], 4,
                                                     nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  finish();
  EXPECT_EQ(numbers[1], 3u);
}

TEST_F(copies, fills_repeat_every_legal_pattern_to_the_last_byte) {
  std::vector<uint8_t> pattern(4096);
  std::iota(pattern.begin(), pattern.end(), uint8_t{1});
  for (size_t pattern_bytes = 1; pattern_bytes <= pattern.size(); pattern_bytes *= 2) {
    for (const size_t bytes : {pattern_bytes, 3 * pattern_bytes, size_t{204'800}}) {
      std::vector<uint8_t> filled(bytes + 1, 0xee);
      ASSERT_EQ(zeCommandListAppendMemoryFill(list_, filled.data(), pattern.data(), pattern_bytes,
                                              bytes, nullptr, 0, nullptr),
                ZE_RESULT_SUCCESS);
      finish();
      for (size_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(filled[i], pattern[i % pattern_bytes])
            << "byte " << i << " of " << bytes << ", pattern of " << pattern_bytes;
      }
      ASSERT_EQ(filled[bytes], 0xee) << "past the end";
    }
  }
}

TEST_F(copies, fills_take_the_pattern_at_the_append) {
  auto gate = regular_event();
  auto* numbers = shared_memory<uint32_t>(4);
  uint32_t pattern = 5;
  ASSERT_EQ(zeCommandListAppendMemoryFill(list_, numbers, &pattern, sizeof pattern, 16, nullptr, 1,
                                          &gate),
            ZE_RESULT_SUCCESS);
  pattern = 6;
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  finish();
  EXPECT_EQ(numbers[3], 5u);
}

TEST_F(copies, fills_with_an_illegal_pattern_are_refused) {
  uint8_t memory[64] = {};
  uint8_t pattern[64] = {};
  EXPECT_EQ(zeCommandListAppendMemoryFill(list_, memory, pattern, 3, 60, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
  const auto copy_only = immediate_list(0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 1);
  EXPECT_EQ(zeCommandListAppendMemoryFill(copy_only, memory, pattern, 32, 64, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE)
      << "more than the copy-only group's limit of 16";
}

struct plane {
  uint32_t pitch;
  uint32_t slice_pitch;
  ze_copy_region_t region;
};

// One byte after the other, as one would write it down.
void naive_region_copy(std::vector<uint8_t>& to, const plane& target,
                       const std::vector<uint8_t>& from, const plane& source) {
  const uint32_t depth = std::max(1u, source.region.depth);
  for (uint32_t z = 0; z < depth; ++z) {
    for (uint32_t y = 0; y < source.region.height; ++y) {
      for (uint32_t x = 0; x < source.region.width; ++x) {
        const size_t at = (target.region.originZ + z) * size_t{target.slice_pitch} +
                          (target.region.originY + y) * size_t{target.pitch} +
                          target.region.originX + x;
        const size_t was = (source.region.originZ + z) * size_t{source.slice_pitch} +
                           (source.region.originY + y) * size_t{source.pitch} +
                           source.region.originX + x;
        to[at] = from[was];
      }
    }
  }
}

TEST_F(copies, of_regions_agree_with_a_naive_copy) {
  std::mt19937 random(7);
  const auto up_to = [&](uint32_t most) { return static_cast<uint32_t>(random() % (most + 1)); };
  for (int round = 0; round < 200; ++round) {
    const uint32_t width = 1 + up_to(20);
    const uint32_t height = 1 + up_to(6);
    const uint32_t depth = up_to(4);
    const auto make_plane = [&] {
      plane made = {};
      made.region = {up_to(5), up_to(3), depth == 0 ? 0 : up_to(2), width, height, depth};
      made.pitch = made.region.originX + width + up_to(7);
      made.slice_pitch = made.pitch * (made.region.originY + height + up_to(3));
      return made;
    };
    const auto bytes_of = [&](const plane& of) {
      return size_t{of.slice_pitch} * (of.region.originZ + std::max(1u, depth));
    };
    const plane source = make_plane();
    const plane target = make_plane();
    std::vector<uint8_t> from(bytes_of(source));
    for (auto& each : from) each = static_cast<uint8_t>(random());
    std::vector<uint8_t> to(bytes_of(target));
    std::vector<uint8_t> expected = to;
    naive_region_copy(expected, target, from, source);
    ASSERT_EQ(zeCommandListAppendMemoryCopyRegion(
                  list_, to.data(), &target.region, target.pitch, target.slice_pitch, from.data(),
                  &source.region, source.pitch, source.slice_pitch, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    finish();
    ASSERT_EQ(to, expected) << "round " << round;
  }
}

TEST_F(copies, of_regions_that_overlap_are_refused) {
  std::vector<uint8_t> memory(1024);
  const ze_copy_region_t one = {0, 0, 0, 8, 8, 1};
  const ze_copy_region_t overlapping = {4, 4, 0, 8, 8, 1};
  const ze_copy_region_t beside = {8, 0, 0, 8, 8, 1};
  const auto copy_region = [&](const ze_copy_region_t& to) {
    return zeCommandListAppendMemoryCopyRegion(list_, memory.data(), &to, 32, 1024, memory.data(),
                                               &one, 32, 1024, nullptr, 0, nullptr);
  };
  EXPECT_EQ(copy_region(overlapping), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
  EXPECT_EQ(copy_region(beside), ZE_RESULT_SUCCESS);
  finish();
}

TEST_F(copies, prefetch_and_advice_are_heard) {
  auto* numbers = shared_memory<uint32_t>(1);
  EXPECT_EQ(zeCommandListAppendMemoryPrefetch(list_, numbers, 4), ZE_RESULT_SUCCESS);
  EXPECT_EQ(
      zeCommandListAppendMemAdvise(list_, device_, numbers, 4, ZE_MEMORY_ADVICE_SET_READ_MOSTLY),
      ZE_RESULT_SUCCESS);
  finish();
}

}  // namespace
}  // namespace zevent::driver::test
