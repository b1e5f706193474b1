#include "api/device_memory_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace zevent::api {
namespace {

// A driver whose copies are made when the test says so.
struct slow_driver {
  bool is_done = true;
  bool copies = true;
  int lists = 0, appended = 0, destroyed = 0, freed = 0;
  uint32_t ordinal = 0, index = 0;
  std::vector<std::byte> staging;
};
slow_driver driver;

ze_result_t groups_of(ze_device_handle_t, uint32_t* count,
                      ze_command_queue_group_properties_t* groups) {
  *count = 3;
  groups[0].flags =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  groups[0].numQueues = 4;
  groups[1].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  groups[1].numQueues = 2;
  groups[2].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  groups[2].numQueues = 7;
  return ZE_RESULT_SUCCESS;
}

ze_result_t create_list(ze_context_handle_t, ze_device_handle_t,
                        const ze_command_queue_desc_t* desc, ze_command_list_handle_t* list) {
  driver.ordinal = desc->ordinal;
  driver.index = desc->index;
  *list = reinterpret_cast<ze_command_list_handle_t>(uintptr_t{0x100} + ++driver.lists);
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy_list(ze_command_list_handle_t) {
  ++driver.destroyed;
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_copy(ze_command_list_handle_t, void* to, const void* from, size_t bytes,
                        ze_event_handle_t, uint32_t, ze_event_handle_t*) {
  if (!driver.copies) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  ++driver.appended;
  std::memcpy(to, from, bytes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t synchronize(ze_command_list_handle_t, uint64_t) {
  return driver.is_done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t allocate(ze_context_handle_t, const ze_host_mem_alloc_desc_t*, size_t bytes, size_t,
                     void** memory) {
  driver.staging.resize(bytes);
  *memory = driver.staging.data();
  return ZE_RESULT_SUCCESS;
}

ze_result_t free_memory(ze_context_handle_t, void*) {
  ++driver.freed;
  return ZE_RESULT_SUCCESS;
}

class DeviceMemoryReader : public testing::Test {
 protected:
  void SetUp() override { driver = {}; }

  bool read(size_t bytes) {
    read_.assign(bytes, std::byte{});
    return reader_.read(context_, device_, reinterpret_cast<uint64_t>(memory_.data()), read_);
  }

  const ze_context_handle_t context_ = reinterpret_cast<ze_context_handle_t>(uintptr_t{1});
  const ze_device_handle_t device_ = reinterpret_cast<ze_device_handle_t>(uintptr_t{2});
  const memory_copy_calls calls_ = {groups_of,   create_list, destroy_list, append_copy,
                                    synchronize, allocate,    free_memory};
  device_memory_reader reader_{calls_};
  std::vector<std::byte> memory_ = std::vector<std::byte>(3u << 20, std::byte{7});
  std::vector<std::byte> read_;
};

TEST_F(DeviceMemoryReader, CopiesInPiecesOnOneListOfAnEngineThatOnlyCopies) {
  EXPECT_TRUE(read(memory_.size()));
  EXPECT_EQ(read_, memory_);
  EXPECT_GT(driver.appended, 1);
  EXPECT_TRUE(read(5));
  EXPECT_EQ(driver.lists, 1);
  EXPECT_EQ(driver.ordinal, 1u);
  EXPECT_EQ(driver.index, 1u);
}

TEST_F(DeviceMemoryReader, GivesACopyUpThatIsNotDoneInTimeAndMakesNoOtherUntilItIs) {
  driver.is_done = false;
  EXPECT_FALSE(read(5));
  EXPECT_FALSE(read(5));
  EXPECT_EQ(driver.appended, 1);
  driver.is_done = true;
  EXPECT_TRUE(read(5));
  EXPECT_EQ(driver.appended, 2);
}

TEST_F(DeviceMemoryReader, LeavesWhereACopyIsUnderWayWhenItsContextGoes) {
  driver.is_done = false;
  EXPECT_FALSE(read(5));
  reader_.release(context_);
  EXPECT_EQ(driver.destroyed + driver.freed, 0);
}

TEST_F(DeviceMemoryReader, LeavesNothingInAContextThatGoes) {
  EXPECT_TRUE(read(5));
  reader_.release(context_);
  EXPECT_EQ(driver.destroyed, 1);
  EXPECT_EQ(driver.freed, 1);
  EXPECT_TRUE(read(5));
  EXPECT_EQ(driver.lists, 2);
}

TEST_F(DeviceMemoryReader, SaysWhatTheDriverDoesNotCopy) {
  driver.copies = false;
  EXPECT_FALSE(read(5));
  EXPECT_FALSE(reader_.read(context_, nullptr, 1, read_));
  const memory_copy_calls none;
  EXPECT_FALSE(device_memory_reader(none).read(context_, device_, 1, read_));
}

}  // namespace
}  // namespace zevent::api
