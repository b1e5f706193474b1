#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/model.hpp"
#include "driver_entry.hpp"

// What a driver that implements these three functions would define.
namespace zevent::driver::entry {

ze_result_t zeInit(ze_init_flags_t flags) {
  if (flags == ZE_INIT_FLAG_GPU_ONLY) throw std::bad_alloc();
  if (flags == ZE_INIT_FLAG_VPU_ONLY) throw std::runtime_error("no such thing");
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventQueryStatus(ze_event_handle_t) noexcept {
  return ZE_RESULT_NOT_READY;
}

ze_context_handle_t zerGetDefaultContext() {
  throw std::runtime_error("no context");
}

}  // namespace zevent::driver::entry

namespace zevent {
namespace {

template <typename Handle>
Handle some_handle() {
  static int object;
  return reinterpret_cast<Handle>(&object);
}

TEST(driver_entries, implemented_function_is_called) {
  EXPECT_EQ(zeInit(0), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(some_handle<ze_event_handle_t>()), ZE_RESULT_NOT_READY);
}

TEST(driver_entries, other_functions_are_unsupported_but_still_check_their_arguments) {
  EXPECT_EQ(zeEventHostReset(some_handle<ze_event_handle_t>()),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_EQ(zeEventHostReset(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(zerTranslateDeviceHandleToIdentifier(nullptr), UINT32_MAX);
  EXPECT_EQ(zerTranslateIdentifierToDeviceHandle(7), nullptr);
}

TEST(driver_entries, no_exception_leaves_a_function) {
  EXPECT_EQ(zeInit(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(zeInit(ZE_INIT_FLAG_VPU_ONLY), ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_EQ(zerGetDefaultContext(), nullptr);
}

TEST(driver_entries, bad_arguments_get_the_documented_result) {
  const auto context = some_handle<ze_context_handle_t>();
  ze_event_pool_handle_t pool = nullptr;
  ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
  EXPECT_EQ(zeEventPoolCreate(nullptr, &desc, 0, nullptr, &pool),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(zeEventPoolCreate(context, nullptr, 0, nullptr, &pool),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeEventPoolCreate(context, &desc, 0, nullptr, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeEventPoolCreate(context, &desc, 1, nullptr, &pool), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(zeEventPoolCreate(context, &desc, 0, nullptr, &pool),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  desc.flags = 0x40000000;
  EXPECT_EQ(zeEventPoolCreate(context, &desc, 0, nullptr, &pool),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 0};
  EXPECT_EQ(zeEventPoolCreate(context, &desc, 0, nullptr, &pool), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST(driver_entries, what_clients_pass_as_null_is_accepted) {
  const auto context = some_handle<ze_context_handle_t>();
  const ze_device_mem_alloc_desc_t device_desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t host_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void* memory = nullptr;
  EXPECT_EQ(zeMemAllocShared(context, &device_desc, &host_desc, 64, 0, nullptr, &memory),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_EQ(zeKernelSetArgumentValue(some_handle<ze_kernel_handle_t>(), 0, 8, nullptr),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  ze_event_handle_t event = nullptr;
  EXPECT_EQ(
      zexCounterBasedEventCreate2(context, some_handle<ze_device_handle_t>(), nullptr, &event),
      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST(driver_entries, exported_functions_are_found_by_name) {
  EXPECT_EQ(driver::find_exported_function("zeEventQueryStatus"),
            reinterpret_cast<void*>(&zeEventQueryStatus));
  EXPECT_EQ(driver::find_exported_function("zexCounterBasedEventCreate2"),
            reinterpret_cast<void*>(&zexCounterBasedEventCreate2));
  EXPECT_EQ(driver::find_exported_function("zesDeviceGet"), reinterpret_cast<void*>(&zesDeviceGet));
  for (const char* unknown : {"", "ze", "zeEventQueryStatu", "zeEventQueryStatusX", "zzz"})
    EXPECT_EQ(driver::find_exported_function(unknown), nullptr) << unknown;
  for (const auto& function : api::builtin_model().functions) {
    if (function.table == api::no_index) continue;
    EXPECT_NE(driver::find_exported_function(function.name), nullptr) << function.name;
  }
}

TEST(driver_entries, functions_of_other_drivers_are_in_the_model_and_not_handed_out) {
  for (const char* name : {"zexCommandListAppendWaitOnMemory", "zexMemGetIpcHandles"}) {
    EXPECT_NE(api::builtin_model().find_function(name), nullptr) << name;
    EXPECT_EQ(driver::find_exported_function(name), nullptr) << name;
  }
}

TEST(driver_entries, handles_carry_the_tables) {
  const ze_handle_t& tables = driver::handle_tables();
  EXPECT_EQ(tables.pCore->version, ZE_API_VERSION_CURRENT);
  EXPECT_EQ(tables.pCore->isValidFlag, 1);
  EXPECT_EQ(tables.pCore->Event->pfnQueryStatus, &zeEventQueryStatus);
  EXPECT_EQ(tables.pTools->Module->pfnGetDebugInfo, &zetModuleGetDebugInfo);
  EXPECT_EQ(tables.pSysman->Device->pfnGet, &zesDeviceGet);
  EXPECT_EQ(tables.pRuntime->Global->pfnGetDefaultContext, &zerGetDefaultContext);
}

using table_getter = ze_result_t (*)(ze_api_version_t, void*);

constexpr uintptr_t guard = 0x5a5a5a5a5a5a5a5a;

// What the getter wrote: the number of slots before the first untouched one.
size_t written_slots(const std::vector<uintptr_t>& table) {
  const auto end = std::find(table.begin(), table.end(), guard);
  EXPECT_TRUE(std::all_of(end, table.end(), [](uintptr_t slot) { return slot == guard; }));
  return static_cast<size_t>(end - table.begin());
}

TEST(dispatch_tables, never_write_past_the_table_of_the_version_asked_for) {
  for (const auto& table : api::builtin_model().tables) {
    const auto getter =
        reinterpret_cast<table_getter>(dlsym(RTLD_DEFAULT, std::string(table.getter).c_str()));
    ASSERT_NE(getter, nullptr) << table.getter << " is not exported";
    for (uint32_t minor = 0; minor <= (ZE_API_VERSION_CURRENT & 0xffffu); ++minor) {
      std::vector<uintptr_t> slots(100, guard);
      const auto version = static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1u, minor));
      ASSERT_EQ(getter(version, slots.data()), ZE_RESULT_SUCCESS) << table.getter;
      EXPECT_EQ(written_slots(slots), api::slots_at(table.sizes, version))
          << table.getter << " of version 1." << minor;
    }
  }
}

TEST(dispatch_tables, old_and_new_sizes_are_those_of_the_published_headers) {
  std::vector<uintptr_t> slots(100, guard);
  zeGetEventProcAddrTable(ZE_API_VERSION_1_4, reinterpret_cast<ze_event_dditable_t*>(slots.data()));
  EXPECT_EQ(written_slots(slots), 7u);
  zeGetEventProcAddrTable(ZE_API_VERSION_CURRENT,
                          reinterpret_cast<ze_event_dditable_t*>(slots.data()));
  EXPECT_EQ(written_slots(slots), sizeof(ze_event_dditable_t) / sizeof(void*));
}

TEST(dispatch_tables, table_that_came_later_is_left_alone) {
  std::vector<uintptr_t> slots(100, guard);
  EXPECT_EQ(
      zeGetRTASBuilderExpProcAddrTable(
          ZE_API_VERSION_1_4, reinterpret_cast<ze_rtas_builder_exp_dditable_t*>(slots.data())),
      ZE_RESULT_SUCCESS);
  EXPECT_EQ(written_slots(slots), 0u);
}

TEST(dispatch_tables, newer_minor_version_gets_all_that_is_there) {
  std::vector<uintptr_t> slots(100, guard);
  const auto later = static_cast<ze_api_version_t>(ZE_API_VERSION_CURRENT + 3);
  EXPECT_EQ(zeGetEventProcAddrTable(later, reinterpret_cast<ze_event_dditable_t*>(slots.data())),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(written_slots(slots), sizeof(ze_event_dditable_t) / sizeof(void*));
}

TEST(dispatch_tables, another_major_version_and_a_null_table_are_refused) {
  ze_event_dditable_t table;
  const auto two = static_cast<ze_api_version_t>(ZE_MAKE_VERSION(2u, 0u));
  EXPECT_EQ(zeGetEventProcAddrTable(two, &table), ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
  EXPECT_EQ(zeGetEventProcAddrTable(ZE_API_VERSION_1_0, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

}  // namespace
}  // namespace zevent
