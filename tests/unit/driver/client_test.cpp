// What real clients take for granted: OpenCL and HIP on Level Zero, topology and message-passing
// libraries. One test for each expectation.

#include <level_zero/loader/ze_loader.h>
#include <level_zero/zer_api.h>
#include <level_zero/zes_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <string>

#include "driver_fixture.hpp"

namespace zevent::driver::test {
namespace {

class clients : public driver_fixture {
 protected:
  std::set<std::string> extensions() {
    uint32_t count = 0;
    EXPECT_EQ(zeDriverGetExtensionProperties(driver_, &count, nullptr), ZE_RESULT_SUCCESS);
    std::vector<ze_driver_extension_properties_t> all(count);
    EXPECT_EQ(zeDriverGetExtensionProperties(driver_, &count, all.data()), ZE_RESULT_SUCCESS);
    std::set<std::string> names;
    for (const auto& each : all) names.insert(each.name);
    return names;
  }
};

TEST_F(clients, find_a_gpu_with_parts_that_can_be_counted) {
  ze_device_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_DEVICE_TYPE_GPU);
  EXPECT_GT(properties.numSlices, 0u);
  EXPECT_GT(properties.numSubslicesPerSlice, 0u);
  EXPECT_GT(properties.numEUsPerSubslice, 0u);
  EXPECT_GT(properties.numThreadsPerEU, 0u);
  EXPECT_EQ(properties.timerResolution, 1'000'000'000u) << "ticks a second since API 1.2";
  EXPECT_GT(properties.maxMemAllocSize, 0u);
  EXPECT_STRNE(properties.name, "");
}

TEST_F(clients, leave_the_type_of_property_structures_unset) {
  ze_device_properties_t properties;
  std::memset(&properties, 0xcd, sizeof properties);
  properties.pNext = nullptr;
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_DEVICE_TYPE_GPU);
  ze_device_compute_properties_t compute;
  std::memset(&compute, 0xcd, sizeof compute);
  compute.pNext = nullptr;
  ASSERT_EQ(zeDeviceGetComputeProperties(device_, &compute), ZE_RESULT_SUCCESS);
  EXPECT_GT(compute.maxTotalGroupSize, 0u);
}

TEST_F(clients, want_group_sizes_local_memory_and_sub_groups_of_32) {
  ze_device_compute_properties_t properties = {};
  ASSERT_EQ(zeDeviceGetComputeProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_GT(properties.maxTotalGroupSize, 0u);
  EXPECT_GT(properties.maxSharedLocalMemory, 0u);
  const std::set<uint32_t> sizes(properties.subGroupSizes,
                                 properties.subGroupSizes + properties.numSubGroupSizes);
  EXPECT_TRUE(sizes.contains(32));
}

TEST_F(clients, want_to_know_the_newest_spirv) {
  ze_device_module_properties_t properties = {};
  ASSERT_EQ(zeDeviceGetModuleProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_GE(properties.spirvVersionSupported, ZE_MAKE_VERSION(1, 2));
}

TEST_F(clients, want_a_queue_group_that_computes_and_copies) {
  uint32_t count = 0;
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(device_, &count, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_GT(count, 0u);
  std::vector<ze_command_queue_group_properties_t> groups(count);
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(device_, &count, groups.data()),
            ZE_RESULT_SUCCESS);
  constexpr auto both =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  EXPECT_EQ(groups[0].flags & both, both);
  for (const auto& each : groups) {
    EXPECT_GE(each.numQueues, 1u);
    EXPECT_GE(each.maxMemoryFillPatternSize, 16u);
  }
}

TEST_F(clients, get_the_real_number_in_every_count) {
  uint32_t count = 100;
  std::vector<ze_driver_handle_t> drivers(count);
  ASSERT_EQ(zeDriverGet(&count, drivers.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
  count = 100;
  ze_init_driver_type_desc_t desc = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr, UINT32_MAX};
  ASSERT_EQ(zeInitDrivers(&count, drivers.data(), &desc), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(drivers[0], driver_);
  count = 100;
  std::vector<ze_device_handle_t> devices(count);
  ASSERT_EQ(zeDeviceGet(driver_, &count, devices.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
  count = 100;
  ASSERT_EQ(zeDeviceGetSubDevices(device_, &count, devices.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 0u);
}

TEST_F(clients, who_want_other_processors_get_no_driver) {
  uint32_t count = 7;
  ze_init_driver_type_desc_t desc = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr,
                                     ZE_INIT_DRIVER_TYPE_FLAG_NPU};
  ASSERT_EQ(zeInitDrivers(&count, nullptr, &desc), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(zeInit(ZE_INIT_FLAG_VPU_ONLY), ZE_RESULT_SUCCESS) << "all is initialised already";
}

TEST(first_call, that_wants_other_processors_finds_no_driver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process in which nothing was called yet
  EXPECT_EXIT(std::_Exit(zeInit(ZE_INIT_FLAG_VPU_ONLY) == ZE_RESULT_ERROR_UNINITIALIZED ? 0 : 1),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(clients, know_a_device_by_its_uuid_and_pci_address_in_sysman_too) {
  ze_device_properties_t properties = {};
  ASSERT_EQ(zeDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zesInit(0), ZE_RESULT_SUCCESS);
  uint32_t count = 1;
  zes_driver_handle_t driver = nullptr;
  ASSERT_EQ(zesDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
  zes_uuid_t uuid = {};
  std::memcpy(uuid.id, properties.uuid.id, sizeof uuid.id);
  zes_device_handle_t device = nullptr;
  ze_bool_t on_subdevice = 1;
  uint32_t subdevice = 1;
  ASSERT_EQ(zesDriverGetDeviceByUuidExp(driver, uuid, &device, &on_subdevice, &subdevice),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(on_subdevice, 0);

  zes_device_properties_t system_properties = {};
  system_properties.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  ASSERT_EQ(zesDeviceGetProperties(device, &system_properties), ZE_RESULT_SUCCESS);
  EXPECT_STREQ(system_properties.core.name, properties.name);
  ze_pci_ext_properties_t core_pci = {};
  zes_pci_properties_t system_pci = {};
  ASSERT_EQ(zeDevicePciGetPropertiesExt(device_, &core_pci), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zesDevicePciGetProperties(device, &system_pci), ZE_RESULT_SUCCESS);
  EXPECT_EQ(core_pci.address.domain, system_pci.address.domain);
  EXPECT_EQ(core_pci.address.bus, system_pci.address.bus);

  zes_mem_handle_t memory = nullptr;
  count = 1;
  ASSERT_EQ(zesDeviceEnumMemoryModules(device, &count, &memory), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  zes_mem_state_t before = {};
  zes_mem_state_t after = {};
  ASSERT_EQ(zesMemoryGetState(memory, &before), ZE_RESULT_SUCCESS);
  shared_memory<char>(1 << 20);
  ASSERT_EQ(zesMemoryGetState(memory, &after), ZE_RESULT_SUCCESS);
  EXPECT_EQ(after.free, before.free - (1 << 20)) << "memory in use is told truthfully";
}

TEST_F(clients, find_each_device_as_a_vertex_without_edges) {
  uint32_t count = 0;
  ASSERT_EQ(zeFabricVertexGetExp(driver_, &count, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  ze_fabric_vertex_handle_t vertex = nullptr;
  ASSERT_EQ(zeFabricVertexGetExp(driver_, &(count = 5), &vertex), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  ze_device_handle_t of = nullptr;
  ASSERT_EQ(zeFabricVertexGetDeviceExp(vertex, &of), ZE_RESULT_SUCCESS);
  EXPECT_EQ(of, device_);
  ze_fabric_vertex_exp_properties_t told = {};
  told.stype = ZE_STRUCTURE_TYPE_FABRIC_VERTEX_EXP_PROPERTIES;
  ASSERT_EQ(zeFabricVertexGetPropertiesExp(vertex, &told), ZE_RESULT_SUCCESS);
  EXPECT_EQ(told.type, ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE);
  EXPECT_EQ(told.remote, 0);
  ze_pci_ext_properties_t pci = {};
  ASSERT_EQ(zeDevicePciGetPropertiesExt(device_, &pci), ZE_RESULT_SUCCESS);
  EXPECT_EQ(told.address.bus, pci.address.bus);
  EXPECT_EQ(zeFabricVertexGetSubVerticesExp(vertex, &(count = 3), nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(zeFabricEdgeGetExp(vertex, vertex, &(count = 3), nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 0u);
}

TEST_F(clients, look_for_extensions_by_name) {
  const auto names = extensions();
  for (const char* wanted :
       {"ZE_extension_pci_properties", "ZE_extension_memory_free_policies",
        "ZE_extension_relaxed_allocation_limits", "ZE_extension_device_ip_version",
        "ZE_extension_float_atomics", "ZE_extension_linkonce_odr", "ZE_experimental_global_offset",
        "ZE_experimental_module_program", "ZE_experimental_event_pool_counter_based",
        "ZE_extension_subgroups", "ZEX_counter_based_event"}) {
    EXPECT_TRUE(names.contains(wanted)) << wanted;
  }
}

TEST_F(clients, call_functions_found_by_name) {
  for (const char* name : {"zexDriverImportExternalPointer", "zexDriverReleaseImportedPointer",
                           "zexDriverGetHostPointerBaseAddress", "zexCounterBasedEventCreate2",
                           "zexEventGetDeviceAddress", "zeEventCounterBasedCreate"}) {
    void* address = nullptr;
    EXPECT_EQ(zeDriverGetExtensionFunctionAddress(driver_, name, &address), ZE_RESULT_SUCCESS);
    EXPECT_NE(address, nullptr) << name;
  }
  void* address = nullptr;
  EXPECT_NE(zeDriverGetExtensionFunctionAddress(driver_, "zexNoSuchFunction", &address),
            ZE_RESULT_SUCCESS);
}

TEST_F(clients, create_contexts_for_some_devices) {
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t made = nullptr;
  ASSERT_EQ(zeContextCreateEx(driver_, &desc, 1, &device_, &made), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeContextGetStatus(made), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeContextDestroy(made), ZE_RESULT_SUCCESS);
}

TEST_F(clients, use_the_context_that_is_there_by_default) {
  const auto context = zeDriverGetDefaultContext(driver_);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(context, zerGetDefaultContext());
  const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
  ze_event_pool_handle_t made = nullptr;
  ASSERT_EQ(zeEventPoolCreate(context, &desc, 0, nullptr, &made), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventPoolDestroy(made), ZE_RESULT_SUCCESS);
}

TEST_F(clients, translate_devices_to_numbers_and_back) {
  const uint32_t number = zerTranslateDeviceHandleToIdentifier(device_);
  EXPECT_EQ(zerTranslateIdentifierToDeviceHandle(number), device_);
  EXPECT_EQ(zerTranslateIdentifierToDeviceHandle(1000), nullptr);
  EXPECT_EQ(zerTranslateDeviceHandleToIdentifier(nullptr), UINT32_MAX);
}

TEST_F(clients, ask_for_the_last_error) {
  const char* text = nullptr;
  ASSERT_EQ(zeDriverGetLastErrorDescription(driver_, &text), ZE_RESULT_SUCCESS);
  EXPECT_NE(text, nullptr);
}

TEST_F(clients, ask_what_can_be_shared) {
  ze_driver_ipc_properties_t properties = {};
  ASSERT_EQ(zeDriverGetIpcProperties(driver_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.flags, ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL);
}

TEST_F(clients, ask_the_loader_for_its_versions) {
  size_t count = 0;
  ASSERT_EQ(zelLoaderGetVersions(&count, nullptr), ZE_RESULT_SUCCESS);
  std::vector<zel_component_version_t> versions(count);
  ASSERT_EQ(zelLoaderGetVersions(&count, versions.data()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(versions[0].component_name, "loader");
  EXPECT_FALSE(zelCheckIsLoaderInTearDown());
}

TEST_F(clients, translate_handles_through_the_loader) {
  void* translated = nullptr;
  ASSERT_EQ(zelLoaderTranslateHandle(ZEL_HANDLE_DEVICE, device_, &translated), ZE_RESULT_SUCCESS);
  EXPECT_EQ(translated, device_);
}

TEST_F(clients, tell_the_loader_that_drivers_go_and_ask_for_its_version) {
  zel_component_version_t version = {};
  ASSERT_EQ(zelGetLoaderVersion(&version), ZE_RESULT_SUCCESS);
  EXPECT_STREQ(version.component_name, "loader");
  EXPECT_EQ(zelSetDriverTeardown(), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeDeviceGetStatus(device_), ZE_RESULT_SUCCESS) << "nothing is gone";
}

TEST_F(clients, ask_which_memory_can_be_imported) {
  ze_device_external_memory_properties_t properties;
  std::memset(&properties, 0xcd, sizeof properties);
  properties.pNext = nullptr;
  ASSERT_EQ(zeDeviceGetExternalMemoryProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.imageImportTypes, 0u) << "images are not shared";
  EXPECT_EQ(properties.imageExportTypes, 0u);
}

// A feature that is not there is not reported, and whoever tries it all the same is told.
TEST_F(clients, find_no_graphs_and_are_told_so) {
  const auto names = extensions();
  for (const char* missing : {ZE_IMAGE_VIEW_PLANAR_EXT_NAME, ZE_BINDLESS_IMAGE_EXP_NAME,
                              ZE_RAYTRACING_EXT_NAME, ZE_RECORD_REPLAY_GRAPH_EXT_NAME}) {
    EXPECT_FALSE(names.contains(missing)) << missing;
  }
}

TEST_F(clients, create_pools_of_2048_events_without_any_flag) {
  const auto events = pool(2048, 0);
  std::vector<ze_event_handle_t> each;
  for (uint32_t i = 0; i < 2048; ++i) each.push_back(event_of(events, i));
  const auto list = in_order_list();
  for (const auto event : each) {
    ASSERT_EQ(zeCommandListAppendSignalEvent(list, event), ZE_RESULT_SUCCESS);
  }
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(list, 2048, each.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

TEST_F(clients, wait_one_nanosecond_at_a_time_and_poll_fences) {
  auto gate = regular_event();
  const auto done = regular_event();
  const auto list = regular_list();
  ASSERT_EQ(zeCommandListAppendBarrier(list, done, 1, &gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  const auto on = queue();
  const ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  ASSERT_EQ(zeFenceCreate(on, &desc, &fence), ZE_RESULT_SUCCESS);
  execute(on, list, fence);
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(zeEventHostSynchronize(done, 1), ZE_RESULT_NOT_READY);
    ASSERT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
  }
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  while (zeEventHostSynchronize(done, 1) == ZE_RESULT_NOT_READY) continue;
  while (zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY) continue;
  EXPECT_EQ(zeEventQueryStatus(done), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceDestroy(fence), ZE_RESULT_SUCCESS);
}

TEST_F(clients, ask_about_memory_of_another_context) {
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t other = nullptr;
  ASSERT_EQ(zeContextCreate(driver_, &desc, &other), ZE_RESULT_SUCCESS);
  auto* memory = shared_memory<char>(1000);
  ze_memory_allocation_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  ze_device_handle_t of = nullptr;
  ASSERT_EQ(zeMemGetAllocProperties(other, memory + 500, &properties, &of), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_SHARED);
  void* base = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(zeMemGetAddressRange(other, memory + 500, &base, &bytes), ZE_RESULT_SUCCESS);
  EXPECT_EQ(base, memory);
  EXPECT_GE(bytes, 1000u);
  EXPECT_EQ(zeContextDestroy(other), ZE_RESULT_SUCCESS);
}

TEST_F(clients, create_thousands_of_events_at_start_up) {
  for (int i = 0; i < 60'000; ++i) {
    const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_pool_handle_t made = nullptr;
    ASSERT_EQ(zeEventPoolCreate(context_, &desc, 0, nullptr, &made), ZE_RESULT_SUCCESS)
        << "one pool per event, number " << i;
    at_end([made] { zeEventPoolDestroy(made); });
  }
}

// Runs in a child, since what happens at the end of a process ends it.
template <typename Body>
void expect_child_succeeds(Body&& body) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not follow threads into a child";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    std::exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

TEST_F(clients, fork_and_use_the_driver_in_the_child) {
  // Work in the parent first, so that there are threads that the child does not have.
  const auto event = regular_event();
  ASSERT_EQ(zeCommandListAppendSignalEvent(in_order_list(), event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostSynchronize(event, forever), ZE_RESULT_SUCCESS);
  expect_child_succeeds([&] {
    const auto list = in_order_list();
    const auto done = regular_event();
    uint32_t from = 3;
    uint32_t to = 0;
    if (copy(list, &to, &from, done) != ZE_RESULT_SUCCESS) std::_Exit(2);
    if (zeEventHostSynchronize(done, forever) != ZE_RESULT_SUCCESS) std::_Exit(3);
    std::_Exit(to == 3 ? 0 : 4);
  });
}

TEST_F(clients, fork_while_the_parent_is_busy_and_go_on_with_its_list) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's allocator stays locked in a child if a thread was in it";
#endif
  const auto list = in_order_list();
  auto gate = regular_event();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(list, 1, &gate), ZE_RESULT_SUCCESS);
  std::atomic<bool> done{false};
  std::thread busy([&] {
    const auto other = in_order_list();
    while (!done) {
      EXPECT_EQ(zeCommandListAppendBarrier(other, nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
      EXPECT_EQ(zeCommandListHostSynchronize(other, forever), ZE_RESULT_SUCCESS);
    }
  });
  for (int round = 0; round < 20; ++round) {
    expect_child_succeeds([&] {
      uint32_t from = 3;
      uint32_t to = 0;
      if (copy(list, &to, &from) != ZE_RESULT_SUCCESS) std::_Exit(2);
      if (zeCommandListHostSynchronize(list, forever) != ZE_RESULT_SUCCESS) std::_Exit(3);
      std::_Exit(to == 3 ? 0 : 4);
    });
  }
  done = true;
  busy.join();
  EXPECT_EQ(zeCommandListHostSynchronize(list, 0), ZE_RESULT_NOT_READY)
      << "the parent's is its own";
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListHostSynchronize(list, forever), ZE_RESULT_SUCCESS);
}

TEST_F(clients, destroy_lists_and_contexts_from_late_exit_handlers) {
  expect_child_succeeds([&] {
    static ze_context_handle_t context;
    static ze_command_list_handle_t list;
    // Registered before the driver's own first call in this process would be: runs after it.
    std::atexit([] {
      if (zeCommandListHostSynchronize(list, forever) != ZE_RESULT_SUCCESS) std::_Exit(2);
      if (zeCommandListDestroy(list) != ZE_RESULT_SUCCESS) std::_Exit(3);
      if (zeContextDestroy(context) != ZE_RESULT_SUCCESS) std::_Exit(4);
    });
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    if (zeContextCreate(driver_, &desc, &context) != ZE_RESULT_SUCCESS) std::_Exit(5);
    ze_command_queue_desc_t queue = {};
    queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    if (zeCommandListCreateImmediate(context, device_, &queue, &list) != ZE_RESULT_SUCCESS) {
      std::_Exit(6);
    }
    if (zeCommandListAppendBarrier(list, nullptr, 0, nullptr) != ZE_RESULT_SUCCESS) std::_Exit(7);
  });
}

}  // namespace
}  // namespace zevent::driver::test
