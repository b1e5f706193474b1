// Devices with parts: run with ZEVENT_DEVICES=2 and ZEVENT_SUBDEVICES=3.

#include <level_zero/zes_api.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class subdevices : public driver_fixture {
 protected:
  void SetUp() override {
    driver_fixture::SetUp();
    uint32_t count = 10;
    parts_.resize(count);
    ASSERT_EQ(zeDeviceGetSubDevices(device_, &count, parts_.data()), ZE_RESULT_SUCCESS);
    ASSERT_EQ(count, 3u);
    parts_.resize(count);
  }

  static ze_device_properties_t properties(ze_device_handle_t device) {
    ze_device_properties_t told = {};
    EXPECT_EQ(zeDeviceGetProperties(device, &told), ZE_RESULT_SUCCESS);
    return told;
  }

  std::vector<ze_device_handle_t> parts_;
};

TEST_F(subdevices, know_their_root_and_their_place) {
  std::set<std::string> uuids = {
      std::string(reinterpret_cast<char*>(properties(device_).uuid.id), ZE_MAX_DEVICE_UUID_SIZE)};
  EXPECT_EQ(properties(device_).flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE, 0u);
  ze_device_handle_t root = parts_[0];
  ASSERT_EQ(zeDeviceGetRootDevice(device_, &root), ZE_RESULT_SUCCESS);
  EXPECT_EQ(root, nullptr);
  for (uint32_t i = 0; i < parts_.size(); ++i) {
    const auto told = properties(parts_[i]);
    EXPECT_NE(told.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE, 0u);
    EXPECT_EQ(told.subdeviceId, i);
    uuids.emplace(reinterpret_cast<const char*>(told.uuid.id), ZE_MAX_DEVICE_UUID_SIZE);
    ASSERT_EQ(zeDeviceGetRootDevice(parts_[i], &root), ZE_RESULT_SUCCESS);
    EXPECT_EQ(root, device_);
    uint32_t count = 1;
    ASSERT_EQ(zeDeviceGetSubDevices(parts_[i], &count, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 0u);

    zes_uuid_t uuid = {};
    std::memcpy(uuid.id, told.uuid.id, sizeof uuid.id);
    zes_device_handle_t found = nullptr;
    ze_bool_t on_subdevice = 0;
    uint32_t index = 0;
    ASSERT_EQ(zesDriverGetDeviceByUuidExp(reinterpret_cast<zes_driver_handle_t>(driver_), uuid,
                                          &found, &on_subdevice, &index),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(on_subdevice, 1);
    EXPECT_EQ(index, i);
  }
  EXPECT_EQ(uuids.size(), parts_.size() + 1);
}

TEST_F(subdevices, are_vertices_below_that_of_their_root) {
  uint32_t count = 0;
  ASSERT_EQ(zeFabricVertexGetExp(driver_, &count, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 2u) << "one for each device";
  std::vector<ze_fabric_vertex_handle_t> vertices(count);
  ASSERT_EQ(zeFabricVertexGetExp(driver_, &count, vertices.data()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeFabricVertexGetSubVerticesExp(vertices[0], &(count = 0), nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, parts_.size());
  std::vector<ze_fabric_vertex_handle_t> below(count);
  ASSERT_EQ(zeFabricVertexGetSubVerticesExp(vertices[0], &count, below.data()), ZE_RESULT_SUCCESS);
  for (size_t i = 0; i < below.size(); ++i) {
    ze_device_handle_t of = nullptr;
    ASSERT_EQ(zeFabricVertexGetDeviceExp(below[i], &of), ZE_RESULT_SUCCESS);
    EXPECT_EQ(of, parts_[i]);
    ze_fabric_vertex_handle_t again = nullptr;
    ASSERT_EQ(zeDeviceGetFabricVertexExp(of, &again), ZE_RESULT_SUCCESS);
    EXPECT_EQ(again, below[i]);
    ze_fabric_vertex_exp_properties_t told = {};
    told.stype = ZE_STRUCTURE_TYPE_FABRIC_VERTEX_EXP_PROPERTIES;
    ASSERT_EQ(zeFabricVertexGetPropertiesExp(again, &told), ZE_RESULT_SUCCESS);
    EXPECT_EQ(told.type, ZE_FABRIC_VERTEX_EXP_TYPE_SUBDEVICE);
    EXPECT_EQ(std::memcmp(told.uuid.id, properties(of).uuid.id, sizeof told.uuid.id), 0);
  }
}

TEST_F(subdevices, belong_to_the_contexts_of_their_root_and_run_commands) {
  const uint32_t number = 77;
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  for (const auto part : parts_) {
    void* memory = nullptr;
    ASSERT_EQ(zeMemAllocDevice(context_, &desc, sizeof number, 0, part, &memory),
              ZE_RESULT_SUCCESS);
    ze_memory_allocation_properties_t told = {};
    ze_device_handle_t of = nullptr;
    ASSERT_EQ(zeMemGetAllocProperties(context_, memory, &told, &of), ZE_RESULT_SUCCESS);
    EXPECT_EQ(of, part);
    ze_command_queue_desc_t queue_desc = {};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    ze_command_list_handle_t list = nullptr;
    ASSERT_EQ(zeCommandListCreateImmediate(context_, part, &queue_desc, &list), ZE_RESULT_SUCCESS);
    ASSERT_EQ(
        zeCommandListAppendMemoryCopy(list, memory, &number, sizeof number, nullptr, 0, nullptr),
        ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeDeviceSynchronize(device_), ZE_RESULT_SUCCESS) << "with all its parts";
    EXPECT_EQ(*static_cast<uint32_t*>(memory), number);
    EXPECT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeMemFree(context_, memory), ZE_RESULT_SUCCESS);
  }
}

// Whether a process with this mask sees so many devices, the first with so many parts.
bool mask_shows(const char* mask, uint32_t devices, uint32_t parts_of_first) {
  setenv("ZE_AFFINITY_MASK", mask, 1);
  uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS) {
    return false;
  }
  uint32_t shown = 2;
  ze_device_handle_t each[2] = {};
  uint32_t parts = 0;
  return zeDeviceGet(driver, &shown, each) == ZE_RESULT_SUCCESS && shown == devices &&
         zeDeviceGetSubDevices(each[0], &parts, nullptr) == ZE_RESULT_SUCCESS &&
         parts == parts_of_first;
}

TEST(affinity_mask, hides_devices_and_subdevices) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // processes in which nothing was called yet
  const auto succeeded = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(std::_Exit(mask_shows("", 2, 3) ? 0 : 1), succeeded, "");
  EXPECT_EXIT(std::_Exit(mask_shows("1", 1, 3) ? 0 : 1), succeeded, "");
  EXPECT_EXIT(std::_Exit(mask_shows("0.2,1", 2, 1) ? 0 : 1), succeeded, "");
  EXPECT_EXIT(std::_Exit(mask_shows("1.0,1.2,x,7", 1, 2) ? 0 : 1), succeeded, "");
}

// What a process in this hierarchy, with this mask, gets: the devices that zeDeviceGet returns, how
// many roots they have, and how many parts those.
struct shown_devices {
  uint32_t devices = 0;
  uint32_t with_subdevice_flag = 0;
  uint32_t roots = 0;
  uint32_t parts_of_roots = 0;
  uint32_t parts_of_devices = 0;
  bool operator==(const shown_devices&) const = default;
};

bool hierarchy_shows(const char* hierarchy, const char* mask, const shown_devices& expected) {
  setenv("ZE_FLAT_DEVICE_HIERARCHY", hierarchy, 1);
  setenv("ZE_AFFINITY_MASK", mask, 1);
  uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS) {
    return false;
  }
  shown_devices seen;
  seen.devices = 10;
  ze_device_handle_t each[10] = {};
  if (zeDeviceGet(driver, &seen.devices, each) != ZE_RESULT_SUCCESS) return false;
  std::set<ze_device_handle_t> roots;
  for (uint32_t i = 0; i < seen.devices; ++i) {
    ze_device_properties_t told = {};
    ze_device_handle_t root = nullptr;
    uint32_t parts = 0;
    if (zeDeviceGetProperties(each[i], &told) != ZE_RESULT_SUCCESS ||
        zeDeviceGetRootDevice(each[i], &root) != ZE_RESULT_SUCCESS ||
        zeDeviceGetSubDevices(each[i], &parts, nullptr) != ZE_RESULT_SUCCESS) {
      return false;
    }
    if ((told.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0) ++seen.with_subdevice_flag;
    if (root != nullptr) roots.insert(root);
    seen.parts_of_devices += parts;
  }
  seen.roots = static_cast<uint32_t>(roots.size());
  for (const auto root : roots) {
    uint32_t parts = 0;
    if (zeDeviceGetSubDevices(root, &parts, nullptr) != ZE_RESULT_SUCCESS) return false;
    seen.parts_of_roots += parts;
  }
  // A context for one of them runs commands on it.
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t context = nullptr;
  ze_command_queue_desc_t queue = {};
  queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  queue.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  ze_command_list_handle_t list = nullptr;
  ze_device_handle_t last = each[seen.devices - 1];
  uint32_t from = 9;
  uint32_t to = 0;
  return zeContextCreateEx(driver, &desc, 1, &last, &context) == ZE_RESULT_SUCCESS &&
         zeCommandListCreateImmediate(context, last, &queue, &list) == ZE_RESULT_SUCCESS &&
         zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, nullptr, 0, nullptr) ==
             ZE_RESULT_SUCCESS &&
         to == from && seen == expected;
}

TEST(device_hierarchy, decides_which_devices_a_program_gets) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // processes in which nothing was called yet
  const auto succeeded = ::testing::ExitedWithCode(0);
  const auto expect = [&](const char* hierarchy, const char* mask, const shown_devices& expected) {
    EXPECT_EXIT(std::_Exit(hierarchy_shows(hierarchy, mask, expected) ? 0 : 1), succeeded, "")
        << hierarchy << " with the mask '" << mask << "'";
  };
  expect("COMPOSITE", "", {.devices = 2, .parts_of_devices = 6});
  expect("FLAT", "", {.devices = 6});
  expect("FLAT", "1,4,5", {.devices = 3});
  expect("FLAT", "1.0,5", {.devices = 1});
  expect("COMBINED", "", {.devices = 6, .with_subdevice_flag = 6, .roots = 2, .parts_of_roots = 6});
  expect("COMBINED", "0,4,5",
         {.devices = 3, .with_subdevice_flag = 3, .roots = 2, .parts_of_roots = 3});
}

}  // namespace
}  // namespace zevent::driver::test
