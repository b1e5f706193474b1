#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_folder.hpp"
#include "kernel_fixture.hpp"
#include "kernels/alias_scopes_spv.h"
#include "kernels/arguments_spv.h"
#include "kernels/client_capabilities_spv.h"
#include "kernels/function_pointers_spv.h"
#include "kernels/half_functions_spv.h"
#include "kernels/linkage_export_spv.h"
#include "kernels/linkage_import_spv.h"
#include "kernels/spec_constants_spv.h"
#include "kernels/sub_group_flow_spv.h"
#include "kernels/translator_slips_spv.h"
#include "kernels/variables_spv.h"
#include "kernels/vector_add_spv.h"

namespace zevent::driver::test {
namespace {

namespace fs = std::filesystem;

class modules : public kernel_fixture {
 protected:
  std::vector<uint8_t> native_binary(ze_module_handle_t module) {
    size_t size = 0;
    EXPECT_EQ(zeModuleGetNativeBinary(module, &size, nullptr), ZE_RESULT_SUCCESS);
    std::vector<uint8_t> bytes(size);
    EXPECT_EQ(zeModuleGetNativeBinary(module, &size, bytes.data()), ZE_RESULT_SUCCESS);
    return bytes;
  }

  static ze_module_desc_t native_desc(const std::vector<uint8_t>& bytes) {
    ze_module_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = ZE_MODULE_FORMAT_NATIVE;
    desc.inputSize = bytes.size();
    desc.pInputModule = bytes.data();
    return desc;
  }

  void expect_adds(ze_module_handle_t module) {
    auto* a = shared_memory<float>(32);
    std::fill(a, a + 32, 1.0F);
    const auto kernel = kernel_of(module, "vector_add");
    set_all(kernel, a, a, a, uint32_t{32});
    run(kernel, 32, 1);
    EXPECT_EQ(std::count(a, a + 32, 2.0F), 32);
  }

  int run_and_read(ze_kernel_handle_t kernel, uint32_t out_index) {
    auto* out = shared_memory<int>(4);
    set(kernel, out_index, out);
    run(kernel, 1, 1);
    return *out;
  }
};

// A folder and an environment variable for one test.
class scoped_cache {
 public:
  explicit scoped_cache(const std::string& folder) {
    const char* before = std::getenv("ZEVENT_CACHE_DIR");
    if (before != nullptr) before_ = before;
    setenv("ZEVENT_CACHE_DIR", folder.c_str(), 1);
  }
  ~scoped_cache() { setenv("ZEVENT_CACHE_DIR", before_.c_str(), 1); }
  scoped_cache(const scoped_cache&) = delete;
  scoped_cache& operator=(const scoped_cache&) = delete;

 private:
  std::string before_;
};

TEST_F(modules, name_their_kernels) {
  const auto module = module_of(variables_spv);
  uint32_t count = 0;
  ASSERT_EQ(zeModuleGetKernelNames(module, &count, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 3U);
  std::vector<const char*> names(count);
  ASSERT_EQ(zeModuleGetKernelNames(module, &count, names.data()), ZE_RESULT_SUCCESS);
  EXPECT_STREQ(names[0], "add_to_counter");
  EXPECT_STREQ(names[1], "read_counter");
  EXPECT_STREQ(names[2], "read_through_pointer");

  const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "no_such_kernel"};
  ze_kernel_handle_t kernel = nullptr;
  EXPECT_EQ(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
}

TEST_F(modules, take_values_for_specialisation_constants) {
  const auto values = [&](const ze_module_constants_t* constants) {
    ze_module_desc_t desc = spirv_desc(spec_constants_spv);
    desc.pConstants = constants;
    const auto outcome = build(desc);
    EXPECT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
    auto* out = shared_memory<uint64_t>(4);
    const auto kernel = kernel_of(outcome.module, "specialised");
    set_all(kernel, out);
    run(kernel, 1, 1);
    return std::vector<uint64_t>(out, out + 4);
  };
  EXPECT_EQ(values(nullptr), (std::vector<uint64_t>{10, 20, 1, 30}));

  const uint32_t small = 7;
  const uint64_t large = uint64_t{1} << 33;
  const uint8_t flag = 0;
  const uint64_t unknown = 1;
  const uint32_t ids[] = {2, 1, 99, 3};
  const void* pointers[] = {&large, &small, &unknown, &flag};
  const ze_module_constants_t constants = {4, ids, pointers};
  EXPECT_EQ(values(&constants), (std::vector<uint64_t>{7, large, 0, large + 7}));

  const void* missing[] = {&large, nullptr};
  for (const ze_module_constants_t& bad :
       {ze_module_constants_t{2, nullptr, pointers}, ze_module_constants_t{2, ids, nullptr},
        ze_module_constants_t{2, ids, missing}}) {
    ze_module_desc_t desc = spirv_desc(spec_constants_spv);
    desc.pConstants = &bad;
    EXPECT_EQ(build(desc).result, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  }
}

TEST_F(modules, have_variables_that_kernels_and_the_host_share) {
  const auto module = module_of(variables_spv);
  size_t size = 0;
  void* address = nullptr;
  ASSERT_EQ(zeModuleGetGlobalPointer(module, "counter", &size, &address), ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, sizeof(int));
  auto* counter = static_cast<int*>(address);
  EXPECT_EQ(*counter, 40);

  const auto add = kernel_of(module, "add_to_counter");
  set(add, 0, int{2});
  EXPECT_EQ(run_and_read(add, 1), 42);
  EXPECT_EQ(*counter, 42);
  *counter = 100;
  EXPECT_EQ(run_and_read(kernel_of(module, "read_counter"), 0), 100);

  auto* out = shared_memory<int>(4);
  const auto read = kernel_of(module, "read_through_pointer");
  set_all(read, out);
  run(read, 1, 1);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 10);
  EXPECT_EQ(out[2], 20);
  EXPECT_EQ(out[3], 1);

  ASSERT_EQ(zeModuleGetGlobalPointer(module, "values", &size, &address), ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, 4 * sizeof(int));
  static_cast<int*>(address)[2] = 33;
  run(read, 1, 1);
  EXPECT_EQ(out[0], 33);
  ASSERT_EQ(zeModuleGetGlobalPointer(module, "counter", nullptr, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeModuleGetGlobalPointer(module, "missing", &size, &address),
            ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
}

TEST_F(modules, of_the_same_spirv_have_variables_of_their_own) {
  const auto first = module_of(variables_spv);
  const auto second = module_of(variables_spv);
  const auto add = kernel_of(first, "add_to_counter");
  set(add, 0, int{5});
  EXPECT_EQ(run_and_read(add, 1), 45);
  EXPECT_EQ(run_and_read(kernel_of(second, "read_counter"), 0), 40);
}

TEST_F(modules, tell_where_their_functions_are) {
  const auto module = module_of(function_pointers_spv);
  void* address = nullptr;
  ASSERT_EQ(zeModuleGetFunctionPointer(module, "add_one", &address), ZE_RESULT_SUCCESS);
  ASSERT_NE(address, nullptr);
  const auto kernel = kernel_of(module, "call_it");
  set(kernel, 0, address);
  EXPECT_EQ(run_and_read(kernel, 1), 42);
  void* same = nullptr;
  ASSERT_EQ(zeModuleGetFunctionPointer(module, "add_one", &same), ZE_RESULT_SUCCESS);
  EXPECT_EQ(same, address);
  EXPECT_EQ(zeModuleGetFunctionPointer(module, "missing", &address),
            ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
}

TEST_F(modules, survive_the_way_through_their_native_binary) {
  const auto original = module_of(vector_add_spv, "-ze-opt-level=2");
  const auto bytes = native_binary(original);
  const auto outcome = build(native_desc(bytes));
  ASSERT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
  expect_adds(outcome.module);
  EXPECT_EQ(native_binary(outcome.module), bytes);
  EXPECT_NE(std::string(bytes.begin(), bytes.end()).find("-ze-opt-level=O2"), std::string::npos);

  ze_module_handle_t both[] = {original, outcome.module};
  EXPECT_EQ(zeModuleDynamicLink(2, both, nullptr), ZE_RESULT_SUCCESS);

  size_t size = bytes.size() - 1;
  std::vector<uint8_t> room(bytes.size());
  EXPECT_EQ(zeModuleGetNativeBinary(original, &size, room.data()), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(modules, from_a_damaged_native_binary_are_refused_with_a_log) {
  const auto whole = native_binary(module_of(vector_add_spv));
  const auto expect_refused = [&](const std::vector<uint8_t>& bytes, const std::string& what) {
    const auto outcome = build(native_desc(bytes));
    EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY) << what;
    EXPECT_FALSE(outcome.log.empty()) << what;
  };
  for (const size_t kept : {size_t{1}, size_t{7}, size_t{8}, size_t{31}, size_t{32}, size_t{40},
                            whole.size() / 2, whole.size() - 1}) {
    expect_refused({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(kept)},
                   "cut after " + std::to_string(kept));
  }
  for (const size_t place : {size_t{0}, size_t{8}, size_t{12}, size_t{16}, size_t{23}, size_t{24},
                             size_t{32}, whole.size() - 1}) {
    auto changed = whole;
    changed[place] ^= 0x80;
    expect_refused(changed, "changed at " + std::to_string(place));
  }
  auto longer = whole;
  longer.push_back(0);
  expect_refused(longer, "one byte too many");
  expect_refused(std::vector<uint8_t>(64, 0xff), "noise");
}

TEST_F(modules, that_are_not_spirv_are_refused_with_a_log) {
  const auto expect_refused = [&](std::span<const uint8_t> bytes, const std::string& what) {
    ze_module_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    desc.inputSize = bytes.size();
    desc.pInputModule = bytes.data();
    const auto outcome = build(desc);
    EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) << what;
    EXPECT_NE(outcome.log.find("error: "), std::string::npos) << what;
  };
  const std::span<const uint8_t> good(reinterpret_cast<const uint8_t*>(vector_add_spv),
                                      sizeof(vector_add_spv));
  const std::string text = "kernel void k() {} // source, not SPIR-V";
  expect_refused({reinterpret_cast<const uint8_t*>(text.data()), text.size() / 4 * 4}, "text");
  expect_refused(good.first(3), "less than a word");
  expect_refused(good.first(4), "the magic number alone");
  expect_refused(good.first(16), "half a header");
  expect_refused(good.first(20), "a header alone");
  for (size_t kept = 24; kept < good.size(); kept += 52) {
    expect_refused(good.first(kept), "cut after " + std::to_string(kept));
  }
  expect_refused(good.first(good.size() - 1), "not whole words");
  std::vector<uint8_t> changed(good.begin(), good.end());
  changed[15] = 0x7f;  // the id bound
  expect_refused(changed, "a huge id bound");
  changed.assign(good.begin(), good.end());
  changed[22] = 0;  // the length of the first instruction
  changed[23] = 0;
  expect_refused(changed, "an instruction of no words");
}

TEST_F(modules, that_break_a_rule_of_spirv_are_refused_with_the_rule) {
  std::vector<uint32_t> words(std::begin(vector_add_spv), std::end(vector_add_spv));
  // Give the function another type than the one its parameters have: OpFunction is opcode 54.
  for (size_t i = 5; i < words.size(); i += words[i] >> 16) {
    if ((words[i] & 0xffff) == 54) {
      words[i + 4] = words[i + 1];
      break;
    }
  }
  const auto outcome = build(spirv_desc(words));
  EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  EXPECT_NE(outcome.log.find("OpFunction"), std::string::npos) << outcome.log;
}

TEST_F(modules, with_changed_words_end_nothing_but_themselves) {
  const std::vector<std::vector<uint32_t>> goods = {
      {std::begin(variables_spv), std::end(variables_spv)},
      {std::begin(sub_group_flow_spv), std::end(sub_group_flow_spv)},
      {std::begin(half_functions_spv), std::end(half_functions_spv)},
  };
  uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return state >> 8;
  };
  // Whatever gets that far is not really compiled, which would take too long here.
  setenv("ZEVENT_KERNEL_COMPILER", "/bin/true", 1);
  for (size_t round = 0; round < 900; ++round) {
    std::vector<uint32_t> words = goods[round % goods.size()];
    for (int changes = 0; changes < 2; ++changes) {
      words[3 + next() % (words.size() - 3)] = next() % 600;
    }
    const auto outcome = build(spirv_desc(words));
    EXPECT_TRUE(outcome.result == ZE_RESULT_SUCCESS || !outcome.log.empty());
  }
  unsetenv("ZEVENT_KERNEL_COMPILER");
}

TEST_F(modules, without_kernels_are_empty_not_wrong) {
  // OpCapability Kernel, Addresses, Linkage; OpMemoryModel Physical64 OpenCL.
  const uint32_t words[] = {
      0x07230203, 0x00010000,     0, 1, 0, (2 << 16) | 17, 6, (2 << 16) | 17, 4, (2 << 16) | 17,
      5,          (3 << 16) | 14, 2, 2};
  const auto outcome = build(spirv_desc(words));
  ASSERT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
  uint32_t count = 9;
  ASSERT_EQ(zeModuleGetKernelNames(outcome.module, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 0U);
}

// A module program of two SPIR-V inputs.
struct two_inputs {
  two_inputs(std::span<const uint32_t> first, std::span<const uint32_t> second)
      : modules{reinterpret_cast<const uint8_t*>(first.data()),
                reinterpret_cast<const uint8_t*>(second.data())},
        sizes{first.size_bytes(), second.size_bytes()} {
    program.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC;
    program.count = 2;
    program.inputSizes = sizes.data();
    program.pInputModules = modules.data();
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.pNext = &program;
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  }
  two_inputs(const two_inputs&) = delete;
  two_inputs& operator=(const two_inputs&) = delete;

  std::array<const uint8_t*, 2> modules;
  std::array<size_t, 2> sizes;
  ze_module_program_exp_desc_t program = {};
  ze_module_desc_t desc = {};
};

TEST_F(modules, of_several_inputs_are_linked_into_one) {
  two_inputs inputs(linkage_import_spv, linkage_export_spv);
  const auto outcome = build(inputs.desc);
  ASSERT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
  ze_module_properties_t properties = {};
  ASSERT_EQ(zeModuleGetProperties(outcome.module, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.flags, 0U);
  const auto kernel = kernel_of(outcome.module, "call_imported");
  set_all(kernel, int{10}, int{20});
  EXPECT_EQ(run_and_read(kernel, 2), 37);

  auto* ids = shared_memory<uint64_t>(8);
  const auto ids_of_one = kernel_of(outcome.module, "export_local_ids");
  const auto ids_of_both = kernel_of(outcome.module, "import_local_ids");
  set_all(ids_of_one, ids);
  run(ids_of_one, 4, 2);
  EXPECT_EQ(std::vector(ids, ids + 8), (std::vector<uint64_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  set_all(ids_of_both, ids);
  run(ids_of_both, 4, 2);
  EXPECT_EQ(std::vector(ids, ids + 8), (std::vector<uint64_t>{0, 101, 202, 303, 0, 101, 202, 303}));

  inputs.desc.format = ZE_MODULE_FORMAT_NATIVE;
  EXPECT_EQ(build(inputs.desc).result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

// HIP's compiler notes what does not alias, and its runtime links several inputs.
TEST_F(modules, of_several_inputs_may_note_what_does_not_alias) {
  const two_inputs inputs(alias_scopes_spv, linkage_export_spv);
  const auto outcome = build(inputs.desc);
  ASSERT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
  auto* numbers = shared_memory<uint64_t>(2);
  numbers[0] = 41;
  const auto kernel = kernel_of(outcome.module, "add_one");
  set_all(kernel, numbers, numbers + 1);
  run(kernel, 1, 1);
  EXPECT_EQ(numbers[1], 42u);
}

TEST_F(modules, in_a_format_that_is_not_there_have_a_build_log_too) {
  auto desc = spirv_desc(vector_add_spv);
  desc.format = static_cast<ze_module_format_t>(3);
  ze_module_handle_t made = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  ASSERT_EQ(zeModuleCreate(context_, device_, &desc, &made, &log),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  ASSERT_NE(log, nullptr);
  size_t bytes = 0;
  ASSERT_EQ(zeModuleBuildLogGetString(log, &bytes, nullptr), ZE_RESULT_SUCCESS);
  std::string text(bytes, ' ');
  ASSERT_EQ(zeModuleBuildLogGetString(log, &bytes, text.data()), ZE_RESULT_SUCCESS);
  EXPECT_NE(text.find("format 3"), text.npos) << text;
  EXPECT_EQ(zeModuleBuildLogDestroy(log), ZE_RESULT_SUCCESS);
}

TEST_F(modules, of_every_version_declare_what_clients_compilers_declare) {
  std::vector<uint32_t> oldest(std::begin(vector_add_spv), std::end(vector_add_spv));
  oldest[1] = 0x10000;
  expect_adds(module_of(oldest));
  for (const uint32_t minor : {1U, 2U, 3U, 4U}) {
    std::vector<uint32_t> words(std::begin(client_capabilities_spv),
                                std::end(client_capabilities_spv));
    words[1] = 0x10000 | minor << 8;
    const auto kernel = kernel_of(module_of(words), "count_on");
    auto* out = shared_memory<uint64_t>(64);
    set_all(kernel, out);
    run(kernel, 32, 2);
    for (uint64_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], i + 1) << "SPIR-V 1." << minor;
  }
}

TEST_F(modules, from_native_binaries_are_linked_too) {
  const auto importer_bytes = native_binary(module_of(linkage_import_spv));
  const auto exporter_bytes = native_binary(module_of(linkage_export_spv));
  const auto importer = build(native_desc(importer_bytes));
  const auto exporter = build(native_desc(exporter_bytes));
  ASSERT_EQ(importer.result, ZE_RESULT_SUCCESS) << importer.log;
  ASSERT_EQ(exporter.result, ZE_RESULT_SUCCESS) << exporter.log;
  ze_module_handle_t both[] = {importer.module, exporter.module};
  ASSERT_EQ(zeModuleDynamicLink(2, both, nullptr), ZE_RESULT_SUCCESS);
  const auto kernel = kernel_of(importer.module, "call_imported");
  set_all(kernel, int{10}, int{20});
  EXPECT_EQ(run_and_read(kernel, 2), 37);
}

TEST_F(modules, that_import_are_linked_before_they_have_kernels) {
  const auto importer = module_of(linkage_import_spv);
  const auto exporter = module_of(linkage_export_spv);
  ze_module_properties_t properties = {};
  ASSERT_EQ(zeModuleGetProperties(importer, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.flags, uint32_t{ZE_MODULE_PROPERTY_FLAG_IMPORTS});
  const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "call_imported"};
  ze_kernel_handle_t refused = nullptr;
  EXPECT_EQ(zeKernelCreate(importer, &desc, &refused), ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);

  ze_module_handle_t alone[] = {importer};
  ze_module_build_log_handle_t log = nullptr;
  EXPECT_EQ(zeModuleDynamicLink(1, alone, &log), ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
  EXPECT_NE(text_of(log).find("add_exported"), std::string::npos);

  ze_module_handle_t both[] = {importer, exporter};
  ze_linkage_inspection_ext_desc_t inspect = {};
  inspect.stype = ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC;
  inspect.flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS |
                  ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS |
                  ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS;
  ASSERT_EQ(zeModuleInspectLinkageExt(&inspect, 2, both, &log), ZE_RESULT_SUCCESS);
  EXPECT_EQ(text_of(log).rfind(
                "imports:\n  add_exported\n  own_local_id\nunresolvable imports:\nexports:\n", 0),
            0U);

  ASSERT_EQ(zeModuleDynamicLink(2, both, &log), ZE_RESULT_SUCCESS) << text_of(log);
  EXPECT_EQ(zeModuleBuildLogDestroy(log), ZE_RESULT_SUCCESS);
  const auto kernel = kernel_of(importer, "call_imported");
  set_all(kernel, int{1}, int{2});
  EXPECT_EQ(run_and_read(kernel, 2), 10);

  // The exporter's variable is one and the same for both.
  const auto change = kernel_of(exporter, "set_exported");
  set_all(change, int{100});
  run(change, 1, 1);
  EXPECT_EQ(run_and_read(kernel, 2), 103);
}

TEST_F(modules, accept_the_build_flags_that_clients_use) {
  for (const char* flags : {"", "-ze-opt-disable", "-ze-opt-level=0", "-ze-opt-level=1",
                            "-ze-opt-greater-than-4GB-buffer-required -ze-opt-large-register-file",
                            "-g,-ze-opt-level=2", "-cl-fast-relaxed-math -cl-denorms-are-zero"}) {
    SCOPED_TRACE(flags);
    expect_adds(module_of(vector_add_spv, flags));
  }
  ze_module_desc_t desc = spirv_desc(vector_add_spv);
  desc.pBuildFlags = "-no-such-flag";
  const auto outcome = build(desc);
  EXPECT_EQ(outcome.result, ZE_RESULT_SUCCESS);
  EXPECT_NE(outcome.log.find("-no-such-flag"), std::string::npos);
}

TEST_F(modules, are_compiled_by_several_threads_at_once) {
  const temporary_folder cache;
  const scoped_cache use(cache.path());
  const std::span<const uint32_t> sources[] = {vector_add_spv, vector_add_spv, variables_spv,
                                               vector_add_spv};
  std::vector<std::thread> threads;
  for (const auto& source : sources) {
    threads.emplace_back([&] {
      ze_module_handle_t module = nullptr;
      const ze_module_desc_t desc = spirv_desc(source);
      ASSERT_EQ(zeModuleCreate(context_, device_, &desc, &module, nullptr), ZE_RESULT_SUCCESS);
      EXPECT_EQ(zeModuleDestroy(module), ZE_RESULT_SUCCESS);
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST_F(modules, come_from_the_cache_the_second_time) {
  const temporary_folder cache;
  const scoped_cache use(cache.path());
  expect_adds(module_of(vector_add_spv));
  // Whatever is not in the cache now cannot be made.
  setenv("ZEVENT_KERNEL_COMPILER", "/nonexistent", 1);
  expect_adds(module_of(vector_add_spv));
  const auto outcome = build(spirv_desc(variables_spv));
  EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  EXPECT_NE(outcome.log.find("/nonexistent"), std::string::npos) << outcome.log;
  unsetenv("ZEVENT_KERNEL_COMPILER");
}

TEST_F(modules, are_compiled_again_when_the_cache_is_damaged) {
  const temporary_folder cache;
  const scoped_cache use(cache.path());
  { expect_adds(module_of(vector_add_spv)); }
  int damaged = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cache.path())) {
    if (entry.path().extension() != ".so") continue;
    // A new file, for the old one is mapped.
    const std::string name = entry.path().string();
    fs::remove(entry.path());
    std::ofstream(name) << "not machine code";
    ++damaged;
  }
  EXPECT_EQ(damaged, 1);
  expect_adds(module_of(vector_add_spv));
}

TEST_F(modules, are_compiled_without_a_cache_where_there_can_be_none) {
  const temporary_folder elsewhere;
  const fs::path file = elsewhere.path() / "file";
  std::ofstream(file) << "in the way";
  const scoped_cache use(file / "cache");
  expect_adds(module_of(vector_add_spv));
}

TEST_F(modules, leave_no_temporary_folder_when_a_program_ends_without_destroying_them) {
  const temporary_folder elsewhere;
  const fs::path file = elsewhere.path() / "file";
  std::ofstream(file) << "in the way";
  const scoped_cache use(file / "cache");
  const fs::path place = elsewhere.path() / "tmp";
  fs::create_directory(place);
  const char* const before = getenv("TMPDIR");
  const std::string restored = before != nullptr ? before : "";
  setenv("TMPDIR", place.c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    const auto outcome = build(spirv_desc(vector_add_spv));
    std::exit(outcome.result == ZE_RESULT_SUCCESS && !fs::is_empty(place) ? 0 : 1);
  }
  before != nullptr ? setenv("TMPDIR", restored.c_str(), 1) : unsetenv("TMPDIR");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_empty(place));
}

TEST_F(modules, are_not_taken_from_a_cache_that_others_can_write) {
  const temporary_folder cache;
  fs::create_directories(cache.path() / "kernels");
  chmod((cache.path() / "kernels").c_str(), 0777);
  const scoped_cache use(cache.path());
  expect_adds(module_of(vector_add_spv));
  EXPECT_TRUE(fs::is_empty(cache.path() / "kernels"));
}

TEST_F(modules, are_compiled_though_the_application_ignores_or_reaps_its_children) {
  struct sigaction before {};
  sigaction(SIGCHLD, nullptr, &before);
  for (const bool reaps : {false, true}) {
    const temporary_folder cache;
    const scoped_cache use(cache.path());
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    if (reaps) {
      action.sa_handler = [](int) {
        const int before_errno = errno;
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        errno = before_errno;
      };
    }
    sigaction(SIGCHLD, &action, nullptr);
    expect_adds(module_of(vector_add_spv));
    sigaction(SIGCHLD, &before, nullptr);
  }
}

TEST_F(modules, say_so_if_they_crash_the_kernel_compiler) {
  const temporary_folder folder;
  const scoped_cache use(folder.path() / "cache");
  const fs::path fake = folder.path() / "compiler";
  std::ofstream(fake) << "#!/bin/sh\nkill -SEGV $$\n";
  chmod(fake.c_str(), 0700);
  setenv("ZEVENT_KERNEL_COMPILER", fake.c_str(), 1);
  const auto outcome = build(spirv_desc(vector_add_spv));
  unsetenv("ZEVENT_KERNEL_COMPILER");
  EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  EXPECT_NE(outcome.log.find("ended by SIGSEGV"), std::string::npos) << outcome.log;
}

TEST_F(modules, are_compiled_without_what_the_application_has_open_or_in_its_environment) {
  const temporary_folder folder;
  const scoped_cache use(folder.path() / "cache");
  // A compiler that only tells what it was given.
  const fs::path fake = folder.path() / "compiler";
  std::ofstream(fake) << "#!/bin/sh\nls /proc/self/fd; env\n";
  chmod(fake.c_str(), 0700);
  const int open_file = open("/dev/null", O_RDONLY);
  setenv("ZEVENT_KERNEL_COMPILER", fake.c_str(), 1);
  setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
  const auto outcome = build(spirv_desc(vector_add_spv));
  unsetenv("ZE_ENABLE_TRACING_LAYER");
  unsetenv("ZEVENT_KERNEL_COMPILER");
  close(open_file);
  EXPECT_EQ(outcome.result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  EXPECT_EQ(outcome.log.find("ZE_"), std::string::npos) << outcome.log;
  EXPECT_EQ(outcome.log.find("ZEVENT_"), std::string::npos) << outcome.log;
  EXPECT_NE(outcome.log.find("PATH="), std::string::npos) << outcome.log;
  EXPECT_EQ(outcome.log.find("error: 0\n1\n2\n"), 0U) << outcome.log;
}

TEST_F(modules, are_compiled_by_others_though_a_program_forked_while_it_compiled) {
  const temporary_folder folder;
  const scoped_cache use(folder.path() / "cache");
  // A compiler that says that it has begun, and goes on when it is told to.
  const fs::path slow = folder.path() / "compiler";
  const fs::path begun = folder.path() / "begun", go_on = folder.path() / "go_on";
  std::ofstream(slow) << "#!/bin/sh\n: > " << begun.string() << "\nwhile ! [ -e " << go_on.string()
                      << " ]; do sleep 0.01; done\n";
  chmod(slow.c_str(), 0700);
  setenv("ZEVENT_KERNEL_COMPILER", slow.c_str(), 1);
  std::thread compiling([&] {
    EXPECT_EQ(build(spirv_desc(vector_add_spv)).result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  });
  while (!fs::exists(begun)) std::this_thread::yield();
  // The child has everything open that the program has, for as long as it lives.
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char nothing = 0;
    while (read(ends[0], &nothing, 1) > 0) {
    }
    _exit(0);
  }
  close(ends[0]);
  std::ofstream(go_on) << "";
  compiling.join();
  unsetenv("ZEVENT_KERNEL_COMPILER");
  expect_adds(module_of(vector_add_spv));
  close(ends[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST_F(modules, are_compiled_and_run_in_the_child_of_a_fork) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
  expect_adds(module_of(vector_add_spv));
  const temporary_folder cache;
  const pid_t child = fork();
  if (child == 0) {
    const scoped_cache use(cache.path());
    expect_adds(module_of(vector_add_spv));
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(modules, are_taken_with_the_slips_of_the_translator) {
  const build_outcome outcome = build(spirv_desc(translator_slips_spv));
  ASSERT_EQ(outcome.result, ZE_RESULT_SUCCESS) << outcome.log;
  EXPECT_NE(outcome.log.find("warning"), std::string::npos) << "nothing to be put up with";
  EXPECT_EQ(build(spirv_desc(translator_slips_spv)).log, outcome.log)
      << "made again, it is told again";
  const auto kernel = kernel_of(outcome.module, "add_by_exchange");
  auto* out = shared_memory<int>(2);
  out[0] = out[1] = 0;
  set_all(kernel, out);
  run(kernel, 8, 4);
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(out[1], 32);
}

}  // namespace
}  // namespace zevent::driver::test
