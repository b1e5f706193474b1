#include <cstring>

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class virtual_memories : public driver_fixture {
 protected:
  void SetUp() override {
    driver_fixture::SetUp();
    size_t page_of_nothing = 0;
    ASSERT_EQ(zeVirtualMemQueryPageSize(context_, device_, 1 << 20, &page_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeVirtualMemQueryPageSize(context_, device_, 0, &page_of_nothing), ZE_RESULT_SUCCESS);
    ASSERT_EQ(page_of_nothing, page_);
  }

  void* reserve(size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(zeVirtualMemReserve(context_, nullptr, bytes, &address), ZE_RESULT_SUCCESS);
    at_end([=, this] { EXPECT_EQ(zeVirtualMemFree(context_, address, bytes), ZE_RESULT_SUCCESS); });
    return address;
  }

  ze_physical_mem_handle_t physical(size_t bytes) {
    ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, bytes};
    ze_physical_mem_handle_t made = nullptr;
    EXPECT_EQ(zePhysicalMemCreate(context_, device_, &desc, &made), ZE_RESULT_SUCCESS);
    at_end([=, this] { EXPECT_EQ(zePhysicalMemDestroy(context_, made), ZE_RESULT_SUCCESS); });
    return made;
  }

  size_t page_ = 0;
};

TEST_F(virtual_memories, show_one_physical_memory_at_two_addresses) {
  const auto memory = physical(2 * page_);
  auto* one = static_cast<char*>(reserve(4 * page_));
  auto* other = static_cast<char*>(reserve(2 * page_));
  ASSERT_EQ(zeVirtualMemMap(context_, one + page_, 2 * page_, memory, 0,
                            ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(
      zeVirtualMemMap(context_, other, page_, memory, page_, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
      ZE_RESULT_SUCCESS);
  one[2 * page_] = 42;
  EXPECT_EQ(other[0], 42);
  EXPECT_EQ(zeVirtualMemUnmap(context_, other, page_), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeVirtualMemUnmap(context_, one + page_, 2 * page_), ZE_RESULT_SUCCESS);
}

TEST_F(virtual_memories, are_copied_to_like_any_other) {
  const auto memory = physical(page_);
  auto* address = static_cast<uint32_t*>(reserve(page_));
  ASSERT_EQ(
      zeVirtualMemMap(context_, address, page_, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
      ZE_RESULT_SUCCESS);
  const auto list = in_order_list();
  const uint32_t number = 17;
  ASSERT_EQ(copy(list, address, &number), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(*address, 17u);
  ze_memory_allocation_properties_t properties = {};
  ASSERT_EQ(zeMemGetAllocProperties(context_, address, &properties, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_DEVICE);
  EXPECT_EQ(zeVirtualMemUnmap(context_, address, page_), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemGetAllocProperties(context_, address, &properties, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
}

TEST_F(virtual_memories, physical_memory_of_the_host_needs_no_device) {
  ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr,
                                 ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST, page_};
  ze_physical_mem_handle_t memory = nullptr;
  ASSERT_EQ(zePhysicalMemCreate(context_, nullptr, &desc, &memory), ZE_RESULT_SUCCESS);
  auto* address = reserve(page_);
  ASSERT_EQ(
      zeVirtualMemMap(context_, address, page_, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
      ZE_RESULT_SUCCESS);
  ze_memory_allocation_properties_t properties = {};
  ASSERT_EQ(zeMemGetAllocProperties(context_, address, &properties, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_HOST);
  EXPECT_EQ(zeVirtualMemUnmap(context_, address, page_), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zePhysicalMemDestroy(context_, memory), ZE_RESULT_SUCCESS);
  desc.flags = 0;
  EXPECT_EQ(zePhysicalMemCreate(context_, nullptr, &desc, &memory),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(virtual_memories, tell_how_they_may_be_accessed) {
  const auto memory = physical(page_);
  auto* address = reserve(2 * page_);
  ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
  size_t bytes = 0;
  ASSERT_EQ(zeVirtualMemGetAccessAttribute(context_, address, page_, &access, &bytes),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(access, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE);
  ze_device_readonly_memory_ext_properties_t read_only = {};
  read_only.stype = ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES;
  ze_device_properties_t properties = {};
  properties.pNext = &read_only;
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(read_only.readonlyCapability, ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED);
  ASSERT_EQ(
      zeVirtualMemMap(context_, address, page_, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY),
      ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeVirtualMemGetAccessAttribute(context_, address, page_, &access, &bytes),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
  EXPECT_EQ(bytes, page_);
  ASSERT_EQ(zeVirtualMemSetAccessAttribute(context_, address, page_,
                                           ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            ZE_RESULT_SUCCESS);
  std::memset(address, 1, page_);
  EXPECT_EQ(zeVirtualMemUnmap(context_, address, page_), ZE_RESULT_SUCCESS);
}

TEST_F(virtual_memories, refuse_what_does_not_fit) {
  void* address = nullptr;
  EXPECT_EQ(zeVirtualMemReserve(context_, nullptr, page_ + 1, &address),
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  auto* reserved = static_cast<char*>(reserve(page_));
  const auto memory = physical(page_);
  EXPECT_EQ(zeVirtualMemMap(context_, reserved + 1, page_, memory, 0,
                            ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
  EXPECT_EQ(zeVirtualMemMap(context_, reserved, 2 * page_, memory, 0,
                            ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  EXPECT_EQ(zeVirtualMemUnmap(context_, reserved, page_), ZE_RESULT_SUCCESS)
      << "what is not mapped may be unmapped";
  EXPECT_NE(zeVirtualMemUnmap(context_, reserved, 2 * page_), ZE_RESULT_SUCCESS);
  EXPECT_NE(zeVirtualMemFree(context_, reserved + page_, page_), ZE_RESULT_SUCCESS);
}

TEST_F(virtual_memories, are_shared_by_handle_like_any_other) {
  const auto memory = physical(3 * page_);
  auto* address = static_cast<char*>(reserve(2 * page_));
  ASSERT_EQ(zeVirtualMemMap(context_, address, 2 * page_, memory, page_,
                            ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            ZE_RESULT_SUCCESS);
  ze_ipc_mem_handle_t handle = {};
  ASSERT_EQ(zeMemGetIpcHandle(context_, address + page_, &handle), ZE_RESULT_SUCCESS);
  void* opened = nullptr;
  ASSERT_EQ(zeMemOpenIpcHandle(context_, device_, handle, 0, &opened), ZE_RESULT_SUCCESS);
  address[page_] = 42;
  EXPECT_EQ(static_cast<char*>(opened)[page_], 42);
  size_t bytes = 0;
  EXPECT_EQ(zeMemGetAddressRange(context_, opened, nullptr, &bytes), ZE_RESULT_SUCCESS);
  EXPECT_EQ(bytes, 2 * page_);
  EXPECT_EQ(zeMemCloseIpcHandle(context_, opened), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemPutIpcHandle(context_, handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeVirtualMemUnmap(context_, address, 2 * page_), ZE_RESULT_SUCCESS);
}

TEST_F(virtual_memories, physical_memory_is_shared_although_it_has_no_address) {
  const auto memory = physical(page_);
  ze_ipc_mem_handle_type_ext_desc_t kind = {ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, nullptr,
                                            ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
  ze_ipc_mem_handle_t handle = {};
  ASSERT_EQ(zeMemGetIpcHandleWithProperties(context_, memory, &kind, &handle), ZE_RESULT_SUCCESS);
  void* opened = nullptr;
  ASSERT_EQ(zeMemOpenIpcHandle(context_, device_, handle, 0, &opened), ZE_RESULT_SUCCESS);
  *static_cast<char*>(opened) = 17;
  auto* address = static_cast<char*>(reserve(page_));
  ASSERT_EQ(
      zeVirtualMemMap(context_, address, page_, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
      ZE_RESULT_SUCCESS);
  EXPECT_EQ(address[0], 17);
  EXPECT_EQ(zeMemCloseIpcHandle(context_, opened), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemPutIpcHandle(context_, handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeVirtualMemUnmap(context_, address, page_), ZE_RESULT_SUCCESS);

  kind.typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
  EXPECT_EQ(zeMemGetIpcHandleWithProperties(context_, memory, &kind, &handle),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

}  // namespace
}  // namespace zevent::driver::test
