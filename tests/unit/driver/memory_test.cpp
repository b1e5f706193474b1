#include <sys/mman.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

#include "api/zex_api.h"
#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class memory : public driver_fixture {
 protected:
  ze_result_t allocate(size_t bytes, size_t alignment, void** out, const void* next = nullptr) {
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    desc.pNext = next;
    return zeMemAllocDevice(context_, &desc, bytes, alignment, device_, out);
  }

  uint64_t largest() {
    ze_device_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    EXPECT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
    return properties.maxMemAllocSize;
  }

  static size_t count_maps() {
    std::ifstream maps("/proc/self/maps");
    size_t lines = 0;
    for (std::string line; std::getline(maps, line);) ++lines;
    return lines;
  }
};

TEST_F(memory, is_aligned_as_asked) {
  for (size_t alignment = 1; alignment <= size_t{64} << 20; alignment *= 2) {
    void* address = nullptr;
    ASSERT_EQ(allocate(100, alignment, &address), ZE_RESULT_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % alignment, 0u);
    ASSERT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
  }
  void* address = nullptr;
  EXPECT_EQ(allocate(100, size_t{1} << 30, &address), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

TEST_F(memory, is_aligned_to_numbers_that_are_no_powers_of_two) {
  for (const size_t alignment : {size_t{3}, size_t{12}, size_t{100}, size_t{65'535}}) {
    void* first = nullptr;
    void* second = nullptr;
    ASSERT_EQ(allocate(12, alignment, &first), ZE_RESULT_SUCCESS) << alignment;
    ASSERT_EQ(allocate(100'000, alignment, &second), ZE_RESULT_SUCCESS) << alignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % alignment, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % alignment, 0u);
    ASSERT_EQ(zeMemFree(context_, first), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeMemFree(context_, second), ZE_RESULT_SUCCESS);
  }
  void* address = nullptr;
  constexpr size_t prime = 1'000'003;
  EXPECT_EQ(allocate(100, prime, &address), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

TEST_F(memory, is_known_by_every_address_in_it) {
  void* base = nullptr;
  ASSERT_EQ(allocate(10'000, 0, &base), ZE_RESULT_SUCCESS);
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{9'999}}) {
    const void* address = static_cast<char*>(base) + offset;
    ze_memory_allocation_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t on = nullptr;
    ASSERT_EQ(zeMemGetAllocProperties(context_, address, &properties, &on), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_DEVICE);
    EXPECT_EQ(on, device_);
    EXPECT_GT(properties.id, 0u);
    void* found = nullptr;
    size_t bytes = 0;
    ASSERT_EQ(zeMemGetAddressRange(context_, address, &found, &bytes), ZE_RESULT_SUCCESS);
    EXPECT_EQ(found, base);
    EXPECT_EQ(bytes, 10'000u);
  }
  // Also from another context.
  ze_memory_allocation_properties_t properties = {};
  ASSERT_EQ(zeMemGetAllocProperties(zeDriverGetDefaultContext(driver_), base, &properties, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_DEVICE);
  ASSERT_EQ(zeMemFree(context_, base), ZE_RESULT_SUCCESS);
}

TEST_F(memory, of_the_programs_own_is_of_unknown_type) {
  int own = 0;
  ze_memory_allocation_properties_t properties = {};
  properties.type = ZE_MEMORY_TYPE_DEVICE;
  ze_device_handle_t on = device_;
  ASSERT_EQ(zeMemGetAllocProperties(context_, &own, &properties, &on), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
  EXPECT_EQ(on, nullptr);
  EXPECT_NE(zeMemFree(context_, &own), ZE_RESULT_SUCCESS);
}

TEST_F(memory, has_ids_that_are_not_used_again) {
  uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    void* address = nullptr;
    ASSERT_EQ(allocate(64, 0, &address), ZE_RESULT_SUCCESS);
    ze_memory_allocation_properties_t properties = {};
    ASSERT_EQ(zeMemGetAllocProperties(context_, address, &properties, nullptr), ZE_RESULT_SUCCESS);
    EXPECT_GT(properties.id, last);
    last = properties.id;
    ASSERT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
  }
}

TEST_F(memory, beyond_the_largest_allocation_needs_relaxed_limits) {
  void* address = nullptr;
  EXPECT_EQ(allocate(largest() + 1, 0, &address), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  const ze_relaxed_allocation_limits_exp_desc_t relaxed = {
      ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, nullptr,
      ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
  ASSERT_EQ(allocate(largest() + 1, 0, &address, &relaxed), ZE_RESULT_SUCCESS);
  static_cast<char*>(address)[largest()] = 1;
  EXPECT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
}

TEST_F(memory, beyond_what_the_device_has_is_out_of_memory) {
  uint32_t count = 1;
  ze_device_memory_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  ASSERT_EQ(zeDeviceGetMemoryProperties(device_, &count, &properties), ZE_RESULT_SUCCESS);
  const ze_relaxed_allocation_limits_exp_desc_t relaxed = {
      ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, nullptr,
      ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
  void* address = nullptr;
  EXPECT_EQ(allocate(properties.totalSize + 1, 0, &address, &relaxed),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(memory, comes_in_tens_of_thousands_of_pieces_without_as_many_maps) {
  const size_t before = count_maps();
  std::vector<void*> pieces(60'000);
  for (auto& each : pieces) ASSERT_EQ(allocate(64, 0, &each), ZE_RESULT_SUCCESS);
  EXPECT_LT(count_maps(), before + 100);
  for (auto* each : pieces) ASSERT_EQ(zeMemFree(context_, each), ZE_RESULT_SUCCESS);
}

TEST_F(memory, that_is_freed_never_becomes_the_programs_own) {
  constexpr size_t bytes = size_t{300} << 20;  // more than the heap's first piece has
  void* small = nullptr;
  void* large = nullptr;
  ASSERT_EQ(allocate(100, 0, &small), ZE_RESULT_SUCCESS);
  ASSERT_EQ(allocate(bytes, 0, &large), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemFree(context_, large), ZE_RESULT_SUCCESS);
  const auto freed = reinterpret_cast<uintptr_t>(large);
  for (int i = 0; i < 4; ++i) {
    void* const mapped =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    const auto own = reinterpret_cast<uintptr_t>(mapped);
    EXPECT_TRUE(own + bytes <= freed || freed + bytes <= own);
  }
  void* again = nullptr;
  ASSERT_EQ(allocate(bytes, 0, &again), ZE_RESULT_SUCCESS);
  EXPECT_EQ(again, large) << "the driver did not use the addresses again";
  static_cast<char*>(again)[bytes - 1] = 1;
  ASSERT_EQ(zeMemFree(context_, again), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemFree(context_, small), ZE_RESULT_SUCCESS);
}

TEST_F(memory, shared_needs_no_device) {
  const ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void* address = nullptr;
  ASSERT_EQ(zeMemAllocShared(context_, &device_desc, &host_desc, 64, 0, nullptr, &address),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
}

TEST_F(memory, freed_blocking_waits_for_the_commands_before) {
  auto gate = regular_event();
  const auto list = in_order_list();
  void* address = nullptr;
  ASSERT_EQ(allocate(4, 0, &address), ZE_RESULT_SUCCESS);
  const uint32_t number = 1;
  ASSERT_EQ(zeCommandListAppendMemoryCopy(list, address, &number, 4, nullptr, 1, &gate),
            ZE_RESULT_SUCCESS);
  std::atomic<bool> freed{false};
  std::thread freeing([&] {
    const ze_memory_free_ext_desc_t desc = {ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
                                            ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    EXPECT_EQ(zeMemFreeExt(context_, &desc, address), ZE_RESULT_SUCCESS);
    freed = true;
  });
  EXPECT_EQ(zeCommandListHostSynchronize(list, 1'000'000), ZE_RESULT_NOT_READY);
  EXPECT_FALSE(freed);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  freeing.join();
}

TEST_F(memory, freed_deferred_returns_at_once) {
  auto gate = regular_event();
  const auto list = in_order_list();
  void* address = nullptr;
  ASSERT_EQ(allocate(4, 0, &address), ZE_RESULT_SUCCESS);
  const uint32_t number = 1;
  ASSERT_EQ(zeCommandListAppendMemoryCopy(list, address, &number, 4, nullptr, 1, &gate),
            ZE_RESULT_SUCCESS);
  const ze_memory_free_ext_desc_t desc = {ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
                                          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
  EXPECT_EQ(zeMemFreeExt(context_, &desc, address), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

TEST_F(memory, may_be_made_resident_and_evicted) {
  void* address = nullptr;
  ASSERT_EQ(allocate(64, 0, &address), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeContextMakeMemoryResident(context_, device_, address, 64), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeContextEvictMemory(context_, device_, address, 64), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
}

TEST_F(memory, of_the_program_can_be_imported_and_released) {
  std::vector<char> own(4096);
  void* base = nullptr;
  EXPECT_NE(zexDriverGetHostPointerBaseAddress(driver_, &own[100], &base), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zexDriverImportExternalPointer(driver_, own.data(), own.size()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zexDriverGetHostPointerBaseAddress(driver_, &own[100], &base), ZE_RESULT_SUCCESS);
  EXPECT_EQ(base, own.data());
  EXPECT_EQ(zexDriverGetHostPointerBaseAddress(driver_, &own[100], nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zexDriverReleaseImportedPointer(driver_, own.data()), ZE_RESULT_SUCCESS);
  EXPECT_NE(zexDriverReleaseImportedPointer(driver_, own.data()), ZE_RESULT_SUCCESS);
}

TEST_F(memory, is_allocated_and_freed_by_many_threads_at_once) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 1; i < 300; ++i) {
        void* address = nullptr;
        const size_t bytes = i * static_cast<size_t>(t + 1) * 97;
        ASSERT_EQ(allocate(bytes, 0, &address), ZE_RESULT_SUCCESS);
        static_cast<char*>(address)[bytes - 1] = 1;
        ASSERT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
      }
    });
  }
  for (auto& each : threads) each.join();
}

TEST_F(memory, is_shared_by_the_number_of_a_descriptor) {
  void* address = nullptr;
  ASSERT_EQ(allocate(5000, 0, &address), ZE_RESULT_SUCCESS);
  ze_external_memory_export_fd_t descriptor = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr,
                                               ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, -1};
  ze_memory_allocation_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  properties.pNext = &descriptor;
  ASSERT_EQ(zeMemGetAllocProperties(context_, address, &properties, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_GE(descriptor.fd, 0);

  ze_ipc_mem_handle_t handle = {};
  const auto number = static_cast<uint64_t>(descriptor.fd);
  ASSERT_EQ(zeMemGetIpcHandleFromFileDescriptorExp(context_, number, &handle), ZE_RESULT_SUCCESS);
  uint64_t same = 0;
  EXPECT_EQ(zeMemGetFileDescriptorFromIpcHandleExp(context_, handle, &same), ZE_RESULT_SUCCESS);
  EXPECT_EQ(same, number);
  void* opened = nullptr;
  ASSERT_EQ(zeMemOpenIpcHandle(context_, device_, handle, 0, &opened), ZE_RESULT_SUCCESS);
  static_cast<char*>(address)[4999] = 3;
  EXPECT_EQ(static_cast<char*>(opened)[4999], 3);
  EXPECT_EQ(zeMemCloseIpcHandle(context_, opened), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemPutIpcHandle(context_, handle), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemFree(context_, address), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemGetIpcHandleFromFileDescriptorExp(context_, number, &handle),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeMemGetIpcHandleFromFileDescriptorExp(context_, 0, &handle),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(memory, remembers_what_is_said_about_atomics_in_it) {
  constexpr auto none = ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS;
  constexpr auto all = ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS;
  auto* bytes = shared_memory<char>(1000);
  const auto attributes = [&](size_t offset) {
    ze_memory_atomic_attr_exp_flags_t found = 99;
    EXPECT_EQ(zeMemGetAtomicAccessAttributeExp(context_, device_, bytes + offset, 1, &found),
              ZE_RESULT_SUCCESS);
    return found;
  };
  EXPECT_EQ(attributes(0), 0u);
  ASSERT_EQ(zeMemSetAtomicAccessAttributeExp(context_, device_, bytes, 1000, none),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeMemSetAtomicAccessAttributeExp(context_, device_, bytes + 100, 100, all),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(attributes(99), none);
  EXPECT_EQ(attributes(100), all);
  EXPECT_EQ(attributes(199), all);
  EXPECT_EQ(attributes(200), none);
  ASSERT_EQ(zeMemSetAtomicAccessAttributeExp(context_, device_, bytes + 50, 900, 0),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(attributes(49), none);
  EXPECT_EQ(attributes(150), 0u);
  EXPECT_EQ(attributes(950), none);

  int own = 0;
  EXPECT_EQ(zeMemSetAtomicAccessAttributeExp(context_, device_, &own, sizeof own, all),
            ZE_RESULT_SUCCESS);
  void* of_device = nullptr;
  ASSERT_EQ(allocate(100, 0, &of_device), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeMemSetAtomicAccessAttributeExp(context_, device_, of_device, 100, all),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(zeMemFree(context_, of_device), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace zevent::driver::test
