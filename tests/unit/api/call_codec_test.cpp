#include "api/call_codec.hpp"

#include <gtest/gtest.h>
#include <level_zero/ze_ddi_common.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "api/result_code.hpp"
#include "api/zex_api.h"
#include "encoded_call.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace zevent::api {
namespace {

const auto context = handle_of<ze_context_handle_t>(0x1000);
const auto device = handle_of<ze_device_handle_t>(0x2000);
const auto list = handle_of<ze_command_list_handle_t>(0x3000);
const auto event = handle_of<ze_event_handle_t>(0x4000);

TEST(call_codec, query_is_the_eight_bytes_of_its_handle) {
  encoded_call call("zeEventQueryStatus", event);
  const call_values& in = call.enter();
  EXPECT_EQ(call.input_bytes().size(), 8u);
  EXPECT_EQ(in.find("hEvent")->bits, 0x4000u);
  call.leave();
  EXPECT_TRUE(call.output_bytes().empty());
}

TEST(call_codec, descriptor_is_followed_and_the_new_handle_comes_out) {
  const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                  ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
  const ze_event_pool_desc_t* desc_pointer = &desc;
  const uint32_t devices = 0;
  ze_device_handle_t* no_devices = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  ze_event_pool_handle_t* pool_pointer = &pool;
  encoded_call call("zeEventPoolCreate", context, desc_pointer, devices, no_devices, pool_pointer);
  const call_values& in = call.enter();
  EXPECT_EQ(in.find("desc")->find("count")->bits, 2u);
  EXPECT_EQ(in.find("desc")->find("flags")->bits, uint64_t{ZE_EVENT_POOL_FLAG_HOST_VISIBLE});
  EXPECT_EQ(in.find("desc")->bits, reinterpret_cast<uint64_t>(&desc));
  EXPECT_EQ(in.find("phDevices")->bits, 0u);
  EXPECT_TRUE(in.find("phEventPool")->items.empty()) << "an output has no content before the call";
  pool = handle_of<ze_event_pool_handle_t>(0x5000);
  EXPECT_EQ(call.leave().find("phEventPool")->items.front().bits, 0x5000u);
}

TEST(call_codec, wait_list_has_as_many_events_as_the_call_says) {
  std::array<ze_event_handle_t, 3> events = {event, nullptr, handle_of<ze_event_handle_t>(0x4002)};
  ze_event_handle_t* events_pointer = events.data();
  const uint32_t count = 3;
  encoded_call call("zeCommandListAppendBarrier", list, event, count, events_pointer);
  const value& waits = call.enter().find("phWaitEvents")->items.front();
  ASSERT_EQ(waits.element_count(), 3u);
  EXPECT_EQ(waits.element(0), 0x4000u);
  EXPECT_EQ(waits.element(1), 0u);
  EXPECT_EQ(waits.element(2), 0x4002u);
}

TEST(call_codec, two_call_array_is_read_up_to_the_shorter_of_capacity_and_count) {
  std::array<ze_device_handle_t, 4> found{};
  uint32_t count = 2;  // capacity that the caller gives
  uint32_t* count_pointer = &count;
  ze_device_handle_t* found_pointer = found.data();
  const auto driver = handle_of<ze_driver_handle_t>(1);
  encoded_call call("zeDeviceGet", driver, count_pointer, found_pointer);
  EXPECT_EQ(call.enter().find("pCount")->items.front().bits, 2u);
  found = {device, device, device, device};
  count = 4;  // a driver that tells the real number although less was asked for
  const call_values& out = call.leave();
  EXPECT_EQ(out.find("pCount")->items.front().bits, 4u);
  EXPECT_EQ(out.find("phDevices")->items.front().element_count(), 2u);
  call.enter();
  count = 1;
  EXPECT_EQ(call.leave().find("phDevices")->items.front().element_count(), 1u);
}

TEST(call_codec, count_query_has_no_array) {
  uint32_t count = 0;
  uint32_t* count_pointer = &count;
  ze_device_handle_t* none = nullptr;
  const auto driver = handle_of<ze_driver_handle_t>(1);
  encoded_call call("zeDeviceGet", driver, count_pointer, none);
  call.enter();
  count = 3;
  const call_values& out = call.leave();
  EXPECT_EQ(out.find("pCount")->items.front().bits, 3u);
  EXPECT_EQ(out.find("phDevices"), nullptr);
}

TEST(call_codec, properties_go_in_with_their_chain_and_come_out_filled) {
  ze_device_ip_version_ext_t ip{ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT, nullptr, 0};
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.pNext = &ip;
  ze_device_properties_t* pointer = &properties;
  encoded_call call("zeDeviceGetProperties", device, pointer);
  const call_values& in = call.enter();
  EXPECT_EQ(in.find("pDeviceProperties")->find("name"), nullptr) << "not known before the call";
  EXPECT_EQ(in.find("pDeviceProperties")->find("pNext")->find("stype")->bits,
            uint64_t{ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT});
  std::strcpy(properties.name, "software");
  properties.type = ZE_DEVICE_TYPE_GPU;
  ip.ipVersion = 77;
  const value& out = *call.leave().find("pDeviceProperties");
  EXPECT_EQ(out.find("type")->bits, uint64_t{ZE_DEVICE_TYPE_GPU});
  EXPECT_STREQ(out.find("name")->text().data(), "software");
  EXPECT_EQ(out.find("pNext")->find("ipVersion")->bits, 77u);
}

TEST(call_codec, chain_of_a_struct_that_is_put_out_as_a_whole_is_not_followed) {
  zes_device_properties_t properties{};
  properties.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.core.pNext = reinterpret_cast<void*>(0xbad);  // nobody sets it
  zes_device_properties_t* pointer = &properties;
  const auto sysman_device = handle_of<zes_device_handle_t>(0x2000);
  encoded_call call("zesDeviceGetProperties", sysman_device, pointer);
  call.enter();
  properties.core.vendorId = 5;
  const value& core = *call.leave().find("pProperties")->find("core");
  EXPECT_EQ(core.find("vendorId")->bits, 5u);
  EXPECT_TRUE(core.find("pNext")->items.empty());
}

TEST(call_codec, properties_with_a_wrong_stype_are_read_by_the_functions_contract) {
  ze_device_properties_t properties{};
  properties.stype = static_cast<ze_structure_type_t>(0x1234);
  ze_device_properties_t* pointer = &properties;
  encoded_call call("zeDeviceGetProperties", device, pointer);
  EXPECT_EQ(call.enter().find("pDeviceProperties")->find("stype")->bits, 0x1234u);
  properties.vendorId = 9;
  EXPECT_EQ(call.leave().find("pDeviceProperties")->find("vendorId")->bits, 9u);
}

TEST(call_codec, unknown_struct_in_a_chain_is_kept_as_address_and_stype) {
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x7777777), nullptr};
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, &unknown, 0};
  const ze_context_desc_t* desc_pointer = &desc;
  ze_context_handle_t created = nullptr;
  ze_context_handle_t* created_pointer = &created;
  const auto driver = handle_of<ze_driver_handle_t>(1);
  encoded_call call("zeContextCreate", driver, desc_pointer, created_pointer);
  const value& link = *call.enter().find("desc")->find("pNext");
  EXPECT_EQ(link.bits, reinterpret_cast<uint64_t>(&unknown));
  EXPECT_EQ(link.items.front().form, value_form::unknown_chain);
  EXPECT_EQ(link.items.front().bits, 0x7777777u);
}

TEST(call_codec, chain_that_bites_its_tail_ends) {
  ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  desc.pNext = &desc;
  const ze_context_desc_t* desc_pointer = &desc;
  ze_context_handle_t* created = nullptr;
  const auto driver = handle_of<ze_driver_handle_t>(1);
  encoded_call call("zeContextCreate", driver, desc_pointer, created);
  call.enter();
  EXPECT_LT(call.input_bytes().size(), 2000u);
}

struct module_arguments {
  std::array<uint8_t, 6> code = {1, 2, 3, 4, 5, 6};
  ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                        nullptr,
                        ZE_MODULE_FORMAT_IL_SPIRV,
                        code.size(),
                        code.data(),
                        "-ze-opt-level=2",
                        nullptr};
  const ze_module_desc_t* desc_pointer = &desc;
  ze_module_handle_t module = nullptr;
  ze_module_handle_t* module_pointer = &module;
  ze_module_build_log_handle_t* no_log = nullptr;
};

TEST(call_codec, module_comes_with_its_code_and_flags) {
  module_arguments a;
  encoded_call call("zeModuleCreate", context, device, a.desc_pointer, a.module_pointer, a.no_log);
  const value& desc = *call.enter().find("desc");
  EXPECT_EQ(desc.find("pInputModule")->items.front().bytes.size(), 6u);
  EXPECT_EQ(desc.find("pInputModule")->items.front().bytes[5], std::byte{6});
  EXPECT_EQ(desc.find("pBuildFlags")->items.front().text(), "-ze-opt-level=2");
  EXPECT_EQ(desc.find("pConstants")->bits, 0u);
}

TEST(call_codec, module_program_comes_with_all_its_parts) {
  const std::array<uint8_t, 3> first = {1, 2, 3};
  const std::array<uint8_t, 2> second = {4, 5};
  const std::array<size_t, 2> sizes = {first.size(), second.size()};
  const std::array<const uint8_t*, 2> modules = {first.data(), second.data()};
  const std::array<const char*, 2> flags = {"-a", nullptr};
  const std::array<uint32_t, 1> ids = {7};
  const uint32_t constant = 42;
  const std::array<const void*, 1> values = {&constant};
  const ze_module_constants_t constants{1, ids.data(), const_cast<const void**>(values.data())};
  const std::array<const ze_module_constants_t*, 2> all_constants = {nullptr, &constants};
  ze_module_program_exp_desc_t program{ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC};
  program.count = 2;
  program.inputSizes = sizes.data();
  program.pInputModules = const_cast<const uint8_t**>(modules.data());
  program.pBuildFlags = const_cast<const char**>(flags.data());
  program.pConstants = const_cast<const ze_module_constants_t**>(all_constants.data());
  module_arguments a;
  a.desc.pNext = &program;
  encoded_call call("zeModuleCreate", context, device, a.desc_pointer, a.module_pointer, a.no_log);
  const value& link = *call.enter().find("desc")->find("pNext");
  const value& parts = link.find("pInputModules")->items.front();
  ASSERT_EQ(parts.items.size(), 2u);
  EXPECT_EQ(parts.items[0].items.front().bytes.size(), 3u);
  EXPECT_EQ(parts.items[1].items.front().bytes.size(), 2u);
  EXPECT_EQ(parts.items[1].items.front().bytes[0], std::byte{4});
  const value& texts = link.find("pBuildFlags")->items.front();
  EXPECT_EQ(texts.items[0].items.front().text(), "-a");
  EXPECT_EQ(texts.items[1].bits, 0u);
  const value& second_constants = link.find("pConstants")->items.front().items[1];
  EXPECT_EQ(second_constants.find("pConstantIds")->items.front().element(0), 7u);
}

class keeping_policy : public capture_policy {
 public:
  std::span<const std::byte> keep_blob(std::span<const std::byte> bytes) override {
    kept.assign(bytes.begin(), bytes.end());
    return hash;
  }
  bool external_runs(const variable& v, const void*, size_t,
                     std::vector<std::span<const std::byte>>& runs) override {
    asked_for = v.name;
    runs = {std::as_bytes(std::span(argument)), {}};
    return true;
  }

  std::array<std::byte, blob_hash_bytes> hash{std::byte{0xaa}};
  std::vector<std::byte> kept;
  std::array<uint32_t, 1> argument = {42};
  std::string_view asked_for;
};

TEST(call_codec, large_content_may_be_kept_elsewhere) {
  module_arguments a;
  keeping_policy policy;
  encoded_call call("zeModuleCreate", context, device, a.desc_pointer, a.module_pointer, a.no_log);
  const value& code = call.with(policy).enter().find("desc")->find("pInputModule")->items.front();
  EXPECT_EQ(code.form, value_form::blob);
  EXPECT_EQ(code.bits, 6u);
  EXPECT_TRUE(std::equal(code.bytes.begin(), code.bytes.end(), policy.hash.begin()));
  EXPECT_EQ(policy.kept.size(), 6u);
}

TEST(call_codec, sizes_that_only_the_kernel_knows_are_asked_for) {
  const auto kernel = handle_of<ze_kernel_handle_t>(6);
  const ze_group_count_t groups{1, 1, 1};
  const ze_group_size_t group_size{1, 1, 1};
  std::array<void*, 2> arguments{};
  void** arguments_pointer = arguments.data();
  const void* no_chain = nullptr;
  const ze_event_handle_t no_event = nullptr;
  const uint32_t no_waits = 0;
  ze_event_handle_t* waits = nullptr;
  keeping_policy policy;
  encoded_call call("zeCommandListAppendLaunchKernelWithArguments", list, kernel, groups,
                    group_size, arguments_pointer, no_chain, no_event, no_waits, waits);
  const call_values& plain = call.enter();
  EXPECT_TRUE(plain.find("pArguments")->items.empty());
  EXPECT_EQ(plain.find("groupCounts")->find("groupCountX")->bits, 1u);
  const value& runs = call.with(policy).enter().find("pArguments")->items.front();
  EXPECT_EQ(policy.asked_for, "pArguments");
  ASSERT_EQ(runs.items.size(), 2u);
  EXPECT_EQ(runs.items[0].bytes.size(), 4u);
  EXPECT_TRUE(runs.items[1].bytes.empty());
}

TEST(call_codec, device_memory_is_an_address) {
  void* target = reinterpret_cast<void*>(0xdead0000);
  const uint32_t pattern = 0x01020304;
  const void* pattern_pointer = &pattern;
  const size_t pattern_size = 4, size = 4096;
  const ze_event_handle_t no_event = nullptr;
  const uint32_t no_waits = 0;
  ze_event_handle_t* waits = nullptr;
  encoded_call call("zeCommandListAppendMemoryFill", list, target, pattern_pointer, pattern_size,
                    size, no_event, no_waits, waits);
  const call_values& in = call.enter();
  EXPECT_EQ(in.find("ptr")->bits, 0xdead0000u);
  EXPECT_EQ(in.find("pattern")->items.front().bytes.size(), 4u);
}

TEST(call_codec, value_that_a_function_returns_comes_first) {
  const uint32_t identifier = 5;
  encoded_call call("zerTranslateDeviceHandleToIdentifier", device);
  call.enter();
  EXPECT_EQ(call.leave(&identifier).returned, 5u);
}

TEST(call_codec, struct_passed_by_value_and_struct_behind_a_pointer_are_the_same_bytes) {
  ze_ipc_event_pool_handle_t ipc{};
  for (size_t i = 0; i < sizeof(ipc.data); ++i) ipc.data[i] = static_cast<char>(i);
  ze_event_pool_handle_t pool = nullptr;
  ze_event_pool_handle_t* pool_pointer = &pool;
  encoded_call open("zeEventPoolOpenIpcHandle", context, ipc, pool_pointer);
  const auto given = open.enter().find("hIpc")->find("data")->bytes;
  EXPECT_EQ(std::memcmp(given.data(), ipc.data, sizeof(ipc.data)), 0);
  ze_ipc_event_pool_handle_t* ipc_pointer = &ipc;
  encoded_call get("zeEventPoolGetIpcHandle", pool, ipc_pointer);
  get.enter();
  const auto got = get.leave().find("phIpc")->find("data")->bytes;
  EXPECT_EQ(std::memcmp(got.data(), ipc.data, sizeof(ipc.data)), 0);
}

TEST(call_codec, names_of_kernels_come_out_as_text) {
  std::array<const char*, 2> names{};
  uint32_t count = 2;
  uint32_t* count_pointer = &count;
  const char** names_pointer = names.data();
  const auto module = handle_of<ze_module_handle_t>(8);
  encoded_call call("zeModuleGetKernelNames", module, count_pointer, names_pointer);
  call.enter();
  names = {"first", "second"};
  const value& out = call.leave().find("pNames")->items.front();
  EXPECT_EQ(out.items[1].items.front().text(), "second");
}

TEST(call_codec, field_takes_its_length_from_the_call) {
  std::array<ze_kernel_timestamp_result_t, 2> results{};
  ze_event_query_kernel_timestamps_results_ext_properties_t properties{
      ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES, nullptr,
      results.data(), nullptr};
  auto* properties_pointer = &properties;
  uint32_t count = 1;
  uint32_t* count_pointer = &count;
  encoded_call call("zeEventQueryKernelTimestampsExt", event, device, count_pointer,
                    properties_pointer);
  call.enter();
  results[0].global.kernelEnd = 99;
  const value& list_of_properties = call.leave().find("pResults")->items.front();
  const value& buffer = list_of_properties.items.front().find("pKernelTimestampsBuffer")->items[0];
  ASSERT_EQ(buffer.items.size(), 1u);
  EXPECT_EQ(buffer.items[0].find("global")->find("kernelEnd")->bits, 99u);
}

TEST(call_codec, every_function_with_null_pointers_survives_the_round_trip) {
  const std::array<std::byte, 256> zeros{};
  for (const function& f : builtin_model().functions) {
    const std::vector<const void*> arguments(f.parameters.size(), zeros.data());
    call_encoder encoder(builtin_model());
    byte_writer in, out;
    encoder.inputs(f, arguments, in);
    const bool returns_result = builtin_model().types[f.result_type].name == "ze_result_t";
    encoder.outputs(f, arguments, returns_result ? nullptr : zeros.data(), out);
    EXPECT_TRUE(decode_inputs(builtin_model(), f, in.view())) << f.name;
    EXPECT_TRUE(decode_outputs(builtin_model(), f, out.view())) << f.name;
  }
}

TEST(call_codec, call_cut_anywhere_is_refused) {
  module_arguments a;
  encoded_call call("zeModuleCreate", context, device, a.desc_pointer, a.module_pointer, a.no_log);
  call.enter();
  const auto& bytes = call.input_bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_inputs(builtin_model(), call.callee(), std::span(bytes).first(size)))
        << size;
}

TEST(call_codec, bytes_left_over_are_refused) {
  const std::array<std::byte, 9> bytes{};
  const auto& query = *builtin_model().find_function("zeEventQueryStatus");
  const auto decoded = decode_inputs(builtin_model(), query, bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message,
            "the inputs of a zeEventQueryStatus cannot be read: bytes are left over");
}

TEST(call_codec, huge_counts_are_refused_before_memory_is_taken) {
  const auto& get = *builtin_model().find_function("zeDeviceGetMemoryProperties");
  byte_writer out;
  out.number(uint8_t{1});            // pCount: here
  out.number(uint32_t{1});           // one
  out.number(uint8_t{1});            // pMemProperties: here
  out.number(uint32_t{0xffffffff});  // so many structs
  EXPECT_FALSE(decode_outputs(builtin_model(), get, out.view()));
}

TEST(call_codec, random_bytes_never_crash_it) {
  std::mt19937_64 random(1);
  std::vector<uint8_t> bytes;
  for (int round = 0; round < 20'000; ++round) {
    bytes.resize(random() % 200);
    // Small numbers are likelier to be a valid form or count than random ones.
    const unsigned mask = round % 2 == 0 ? 0xff : 0x03;
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(random() & (i < 2 ? 0xff : mask));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

TEST(call_codec, damaged_calls_never_crash_it) {
  module_arguments a;
  encoded_call call("zeModuleCreate", context, device, a.desc_pointer, a.module_pointer, a.no_log);
  call.enter();
  std::mt19937_64 random(2);
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = call.input_bytes();
    for (int change = 0; change < 3; ++change)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto decoded = decode_inputs(builtin_model(), call.callee(), bytes);
    if (decoded) print_call(builtin_model(), *decoded, nullptr, std::nullopt);
  }
}

TEST(result_code, errors_are_those_whose_name_says_so) {
  const auto& results =
      *std::find_if(builtin_model().enumerations.begin(), builtin_model().enumerations.end(),
                    [](const enumeration& e) { return e.name == "ze_result_t"; });
  for (const enumerator& each : results.values)
    EXPECT_EQ(is_error(each.value), each.name.find("ERROR") != std::string_view::npos) << each.name;
  EXPECT_TRUE(has_outputs(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE)) << "the build log is an output";
  EXPECT_FALSE(has_outputs(ZE_RESULT_ERROR_INVALID_ARGUMENT));
}

}  // namespace
}  // namespace zevent::api
