#include "api/print.hpp"

#include <gtest/gtest.h>
#include <level_zero/ze_ddi_common.h>

#include <array>
#include <cstring>

#include "api/zex_api.h"
#include "encoded_call.hpp"

namespace zevent::api {
namespace {

const auto context = handle_of<ze_context_handle_t>(0x1000);
const auto list = handle_of<ze_command_list_handle_t>(0x3000);
const auto event = handle_of<ze_event_handle_t>(0x4000);

// The pool of the project's own example.
struct pool_arguments {
  ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                            ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                            2};
  const ze_event_pool_desc_t* desc_pointer = &desc;
  uint32_t devices = 0;
  ze_device_handle_t* no_devices = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  ze_event_pool_handle_t* pool_pointer = &pool;

  encoded_call call() const {
    return encoded_call("zeEventPoolCreate", context, desc_pointer, devices, no_devices,
                        pool_pointer);
  }
};

TEST(print, call_with_what_went_in_and_what_came_out) {
  pool_arguments a;
  encoded_call call = a.call();
  call.enter();
  a.pool = handle_of<ze_event_pool_handle_t>(0x5000);
  call.leave();
  EXPECT_EQ(call.print(0),
            "zeEventPoolCreate(hContext=0x1000, desc={flags=HOST_VISIBLE|KERNEL_TIMESTAMP, "
            "count=2}, numDevices=0, phDevices=null, phEventPool=→0x5000) → SUCCESS");
}

TEST(print, failed_call_has_no_outputs) {
  pool_arguments a;
  encoded_call call = a.call();
  call.enter();
  const std::string text = call.print(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_NE(text.find(") → ERROR_INVALID_NULL_HANDLE"), std::string::npos) << text;
  EXPECT_EQ(text.find("phEventPool=→"), std::string::npos) << text;
}

TEST(print, call_that_did_not_return_says_so) {
  encoded_call call("zeEventQueryStatus", event);
  call.enter();
  EXPECT_EQ(call.print(std::nullopt), "zeEventQueryStatus(hEvent=0x4000) → (did not return)");
}

TEST(print, result_that_is_not_known_is_a_number) {
  encoded_call call("zeEventQueryStatus", event);
  call.enter();
  EXPECT_EQ(call.print(1), "zeEventQueryStatus(hEvent=0x4000) → NOT_READY");
  EXPECT_EQ(call.print(0x70123456), "zeEventQueryStatus(hEvent=0x4000) → 0x70123456");
}

TEST(print, names_may_differ_between_what_went_in_and_what_came_out) {
  print_options options;
  options.handle_name = [](const handle_class&, uint64_t, call_side side) {
    return side == call_side::went_in ? "old" : "new";
  };
  options.address_name = [](uint64_t address, call_side side) {
    return side == call_side::went_in ? "" : fmt::format("memory+{}", address & 0xf);
  };
  const ze_host_mem_alloc_desc_t desc{};
  const auto* desc_pointer = &desc;
  const size_t size = 64, alignment = 0;
  void* memory = nullptr;
  void** memory_pointer = &memory;
  encoded_call call("zeMemAllocHost", context, desc_pointer, size, alignment, memory_pointer);
  call.enter();
  memory = handle_of<void*>(0x1003);
  call.leave();
  const auto text = call.print(0, options);
  EXPECT_NE(text.find("hContext=old"), std::string::npos) << text;
  EXPECT_NE(text.find("pptr=→memory+3"), std::string::npos) << text;
}

TEST(print, objects_may_be_called_by_name) {
  print_options options;
  options.handle_name = [](const handle_class& kind, uint64_t bits, call_side) {
    return fmt::format("{}#{}", kind.short_name, bits & 0xff);
  };
  std::array<ze_event_handle_t, 2> waits = {handle_of<ze_event_handle_t>(0x400c), nullptr};
  ze_event_handle_t* waits_pointer = waits.data();
  const uint32_t count = 2;
  encoded_call call("zeCommandListAppendBarrier", list, event, count, waits_pointer);
  call.enter();
  EXPECT_EQ(call.print(0, options),
            "zeCommandListAppendBarrier(hCommandList=command_list#0, hSignalEvent=event#0, "
            "numWaitEvents=2, phWaitEvents=[event#12, null]) → SUCCESS");
}

TEST(print, count_goes_in_and_comes_out) {
  uint32_t count = 0;
  uint32_t* count_pointer = &count;
  ze_driver_handle_t* none = nullptr;
  encoded_call call("zeDriverGet", count_pointer, none);
  call.enter();
  count = 2;
  call.leave();
  EXPECT_EQ(call.print(0), "zeDriverGet(pCount=0→2, phDrivers=null) → SUCCESS");
}

TEST(print, infinite_timeout_is_named) {
  const uint64_t timeout = UINT64_MAX;
  encoded_call call("zeEventHostSynchronize", event, timeout);
  call.enter();
  EXPECT_EQ(call.print(0), "zeEventHostSynchronize(hEvent=0x4000, timeout=UINT64_MAX) → SUCCESS");
}

TEST(print, properties_come_out_as_a_struct) {
  ze_event_pool_handle_t pool = handle_of<ze_event_pool_handle_t>(0x5000);
  ze_event_pool_flags_t flags = 0;
  ze_event_pool_flags_t* flags_pointer = &flags;
  encoded_call call("zeEventPoolGetFlags", pool, flags_pointer);
  call.enter();
  flags = ZE_EVENT_POOL_FLAG_IPC | 0x40000;
  call.leave();
  EXPECT_EQ(call.print(0), "zeEventPoolGetFlags(hEventPool=0x5000, pFlags=→IPC|0x40000) → SUCCESS");
}

TEST(print, long_arrays_are_shortened) {
  std::array<ze_event_handle_t, 20> waits;
  waits.fill(event);
  ze_event_handle_t* waits_pointer = waits.data();
  const uint32_t count = 20;
  encoded_call call("zeCommandListAppendWaitOnEvents", list, count, waits_pointer);
  call.enter();
  print_options options;
  options.max_items = 2;
  EXPECT_EQ(call.print(0, options),
            "zeCommandListAppendWaitOnEvents(hCommandList=0x3000, numEvents=20, "
            "phEvents=[0x4000, 0x4000, … 18 more]) → SUCCESS");
}

TEST(print, function_that_returns_a_handle) {
  const ze_context_handle_t returned = context;
  encoded_call call("zerGetDefaultContext");
  call.enter();
  EXPECT_EQ(call.print(std::nullopt), "zerGetDefaultContext() → (did not return)");
  call.leave(&returned);
  EXPECT_EQ(call.print(std::nullopt), "zerGetDefaultContext() → 0x1000");
}

std::string print_live(std::string_view name, const void* address) {
  return print_struct(builtin_model(), *builtin_model().find_record(name), address);
}

TEST(print_struct, chain_names_its_structs) {
  const ze_event_pool_counter_based_exp_desc_t counter{
      ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, nullptr,
      ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE};
  const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, &counter, 0, 1};
  EXPECT_EQ(print_live("ze_event_pool_desc_t", &desc),
            "{pNext=ze_event_pool_counter_based_exp_desc_t{flags=IMMEDIATE}, flags=0, count=1}");
}

TEST(print_struct, wrong_stype_is_shown) {
  const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 1};
  EXPECT_EQ(print_live("ze_event_pool_desc_t", &desc), "{stype=EVENT_DESC, flags=0, count=1}");
}

TEST(print_struct, unknown_struct_in_a_chain_is_shown_with_its_stype) {
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x1234567), nullptr};
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, &unknown, 0};
  EXPECT_EQ(print_live("ze_context_desc_t", &desc),
            "{pNext=(unknown struct, stype 0x1234567), flags=0}");
}

TEST(print_struct, module_with_code_flags_and_escapes) {
  std::array<uint8_t, 20> code{};
  code[0] = 3;
  const ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                              nullptr,
                              ZE_MODULE_FORMAT_IL_SPIRV,
                              code.size(),
                              code.data(),
                              "-D X=\"1\"\n",
                              nullptr};
  EXPECT_EQ(print_live("ze_module_desc_t", &desc),
            "{format=IL_SPIRV, inputSize=20, pInputModule=<20 bytes: 03 00 00 00 00 00 00 00 00 00 "
            "00 00 00 00 00 00 …>, pBuildFlags=\"-D X=\\\"1\\\"\\n\", pConstants=null}");
}

TEST(print_struct, names_booleans_numbers_and_nested_structs) {
  ze_image_desc_t desc{ZE_STRUCTURE_TYPE_IMAGE_DESC};
  desc.type = ZE_IMAGE_TYPE_2D;
  desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8;
  desc.width = 640;
  const std::string text = print_live("ze_image_desc_t", &desc);
  EXPECT_NE(text.find("type=2D, format={layout=8_8_8_8, type=UINT"), std::string::npos) << text;
  EXPECT_NE(text.find("width=640"), std::string::npos) << text;

  ze_device_properties_t properties{ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  properties.uuid.id[0] = 0xab;
  std::strcpy(properties.name, "a \"device\"");
  const std::string device = print_live("ze_device_properties_t", &properties);
  EXPECT_NE(device.find("uuid={id=<16 bytes: ab 00"), std::string::npos) << device;
  EXPECT_NE(device.find("name=\"a \\\"device\\\"\""), std::string::npos) << device;
}

TEST(print_struct, union_is_shown_as_its_bytes) {
  zet_typed_value_t typed{ZET_VALUE_TYPE_UINT32, {}};
  typed.value.ui64 = 0x0102;
  EXPECT_EQ(print_live("zet_typed_value_t", &typed),
            "{type=UINT32, value=<8 bytes: 02 01 00 00 00 00 00 00>}");
}

}  // namespace
}  // namespace zevent::api
