// Several devices: run with ZEVENT_DEVICES=3.

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class devices : public driver_fixture {
 protected:
  void SetUp() override {
    driver_fixture::SetUp();
    uint32_t count = 0;
    ASSERT_EQ(zeDeviceGet(driver_, &count, nullptr), ZE_RESULT_SUCCESS);
    ASSERT_EQ(count, 3u);
    all_.resize(count);
    ASSERT_EQ(zeDeviceGet(driver_, &count, all_.data()), ZE_RESULT_SUCCESS);
  }

  std::vector<ze_device_handle_t> all_;
};

TEST_F(devices, have_each_its_own_uuid_and_address) {
  for (size_t i = 1; i < all_.size(); ++i) {
    ze_device_properties_t one = {};
    ze_device_properties_t other = {};
    ASSERT_EQ(zeDeviceGetProperties(all_[i - 1], &one), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeDeviceGetProperties(all_[i], &other), ZE_RESULT_SUCCESS);
    EXPECT_NE(std::vector<uint8_t>(one.uuid.id, one.uuid.id + 16),
              std::vector<uint8_t>(other.uuid.id, other.uuid.id + 16));
    ze_pci_ext_properties_t one_pci = {};
    ze_pci_ext_properties_t other_pci = {};
    ASSERT_EQ(zeDevicePciGetPropertiesExt(all_[i - 1], &one_pci), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeDevicePciGetPropertiesExt(all_[i], &other_pci), ZE_RESULT_SUCCESS);
    EXPECT_NE(one_pci.address.bus, other_pci.address.bus);
  }
}

TEST_F(devices, are_peers) {
  for (const auto one : all_) {
    for (const auto other : all_) {
      ze_bool_t can = 0;
      ASSERT_EQ(zeDeviceCanAccessPeer(one, other, &can), ZE_RESULT_SUCCESS);
      EXPECT_EQ(can, 1);
    }
  }
}

TEST_F(devices, work_together_through_events_and_each_others_memory) {
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const auto from = pool(3);
  std::vector<uint32_t*> memory;
  std::vector<ze_event_handle_t> events;
  const uint32_t number = 77;
  const void* source = &number;
  for (uint32_t i = 0; i < 3; ++i) {
    void* allocated = nullptr;
    ASSERT_EQ(zeMemAllocDevice(context_, &desc, sizeof number, 0, all_[i], &allocated),
              ZE_RESULT_SUCCESS);
    at_end([=, this] { EXPECT_EQ(zeMemFree(context_, allocated), ZE_RESULT_SUCCESS); });
    memory.push_back(static_cast<uint32_t*>(allocated));
    ze_command_queue_desc_t queue_desc = {};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    ze_command_list_handle_t list = nullptr;
    ASSERT_EQ(zeCommandListCreateImmediate(context_, all_[i], &queue_desc, &list),
              ZE_RESULT_SUCCESS);
    at_end([=] { EXPECT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS); });
    events.push_back(event_of(from, i));
    ASSERT_EQ(zeCommandListAppendMemoryCopy(list, memory[i], source, sizeof number, events[i],
                                            i == 0 ? 0 : 1, i == 0 ? nullptr : &events[i - 1]),
              ZE_RESULT_SUCCESS);
    source = memory[i];
  }
  ASSERT_EQ(zeEventHostSynchronize(events[2], forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(*memory[2], 77u);
  for (const auto each : all_) EXPECT_EQ(zeDeviceSynchronize(each), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
