// What commands read is in the recording, as it was when they read it.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "event_program.hpp"
#include "recorded_child.hpp"

namespace zevent::recorder_test {
namespace {

constexpr size_t bytes = 10'000;

struct copy_program : event_program {
  void* device_memory = nullptr;
  std::vector<unsigned char> plain = std::vector<unsigned char>(bytes);

  copy_program() {
    const ze_device_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    check(zeMemAllocDevice(context, &desc, bytes, 64, device, &device_memory));
  }

  ze_command_list_handle_t immediate_list(
      ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
      ze_command_queue_flags_t flags = 0) const {
    const ze_command_queue_desc_t desc{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, flags, mode,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_list_handle_t list = nullptr;
    check(zeCommandListCreateImmediate(context, device, &desc, &list));
    return list;
  }

  ze_command_list_handle_t regular_list() const {
    const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    ze_command_list_handle_t list = nullptr;
    check(zeCommandListCreate(context, device, &desc, &list));
    return list;
  }

  ze_command_queue_handle_t queue() const {
    const ze_command_queue_desc_t desc{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_DEFAULT,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_queue_handle_t made = nullptr;
    check(zeCommandQueueCreate(context, device, &desc, &made));
    return made;
  }

  void* host_memory() const {
    const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void* memory = nullptr;
    check(zeMemAllocHost(context, &desc, bytes, 64, &memory));
    return memory;
  }

  void fill(unsigned char value) { std::fill(plain.begin(), plain.end(), value); }
};

class RecordedMemory : public RecordedChild {
 protected:
  struct noted {
    std::string function;  // of the call
    uint8_t flags;
    uint64_t address;
    std::vector<std::byte> content;
  };

  std::vector<noted> run_and_read(const std::function<void()>& program) {
    EXPECT_EQ(run(program), 0);
    const auto part = only_part();
    std::map<uint64_t, uint16_t> function_at;
    for (const auto& [thread, calls] : part.calls)
      for (const auto& call : calls) function_at[call.position] = call.function;
    std::vector<noted> all;
    for (const auto& each : part.memory) {
      EXPECT_TRUE(function_at.contains(each.call));
      all.push_back(
          {function_name(function_at[each.call]), each.flags, each.address, each.content});
    }
    return all;
  }

  static std::vector<std::byte> filled(size_t size, unsigned char value) {
    return std::vector<std::byte>(size, std::byte{value});
  }
};

TEST_F(RecordedMemory, PlainSourceOfAnImmediateCopyIsKeptAtTheAppend) {
  const auto all = run_and_read([] {
    copy_program program;
    const auto list = program.immediate_list();
    program.fill(1);
    program.check(zeCommandListAppendMemoryCopy(list, program.device_memory, program.plain.data(),
                                                bytes, nullptr, 0, nullptr));
    program.fill(2);
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].function, "zeCommandListAppendMemoryCopy");
  EXPECT_EQ(all[0].flags, recording::memory_is_copy_source);
  EXPECT_EQ(all[0].content, filled(bytes, 1));
}

TEST_F(RecordedMemory, PlainSourceOfARegularListIsKeptAtEachExecution) {
  const auto all = run_and_read([] {
    copy_program program;
    auto list = program.regular_list();
    const auto queue = program.queue();
    program.fill(1);
    program.check(zeCommandListAppendMemoryCopy(list, program.device_memory, program.plain.data(),
                                                bytes, nullptr, 0, nullptr));
    program.check(zeCommandListClose(list));
    for (const uint8_t value : {uint8_t{2}, uint8_t{3}}) {
      program.fill(value);
      program.check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
      program.check(zeCommandQueueSynchronize(queue, UINT64_MAX));
    }
  });
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].function, "zeCommandQueueExecuteCommandLists");
  EXPECT_EQ(all[0].content, filled(bytes, 2));
  EXPECT_EQ(all[1].content, filled(bytes, 3));
}

TEST_F(RecordedMemory, ARegionReachesFromItsFirstToItsLastByte) {
  const auto all = run_and_read([] {
    copy_program program;
    const auto list = program.immediate_list();
    program.fill(1);
    const ze_copy_region_t source{4, 2, 0, 8, 3, 1};
    const ze_copy_region_t target{0, 0, 0, 8, 3, 1};
    program.check(zeCommandListAppendMemoryCopyRegion(list, program.device_memory, &target, 8, 0,
                                                      program.plain.data(), &source, 100, 0,
                                                      nullptr, 0, nullptr));
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].content.size(), 208u);
}

TEST_F(RecordedMemory, WhatTheHostWroteToAnAllocationIsKeptBeforeACommandReadsIt) {
  const auto all = run_and_read([] {
    copy_program program;
    const auto list = program.immediate_list();
    auto* memory = static_cast<unsigned char*>(program.host_memory());
    for (const uint8_t value : {uint8_t{5}, uint8_t{6}}) {
      std::fill(memory, memory + bytes, value);
      program.check(zeCommandListAppendMemoryCopy(list, program.device_memory, memory, bytes,
                                                  nullptr, 0, nullptr));
    }
    // Nothing new to tell.
    program.check(zeCommandListAppendMemoryCopy(list, program.device_memory, memory, bytes, nullptr,
                                                0, nullptr));
  });
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].content, filled(bytes, 5));
  EXPECT_EQ(all[1].content, filled(bytes, 6));
  EXPECT_EQ(all[0].flags, recording::memory_is_dirty_pages);
}

TEST_F(RecordedMemory, WhatACommandWroteIsToldApartFromWhatTheHostWrote) {
  const auto all = run_and_read([] {
    setenv("ZEVENT_RECORD_MEMORY", "results", 1);
    copy_program program;
    auto list = program.regular_list();
    const auto queue = program.queue();
    auto* memory = static_cast<unsigned char*>(program.host_memory());
    const unsigned char pattern = 9;
    program.check(
        zeCommandListAppendMemoryFill(list, memory, &pattern, 1, bytes, nullptr, 0, nullptr));
    program.check(zeCommandListClose(list));
    program.check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    program.check(zeCommandQueueSynchronize(queue, UINT64_MAX));
    memory[0] = 1;
    program.check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    program.check(zeCommandQueueSynchronize(queue, UINT64_MAX));
  });
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].function, "zeCommandQueueSynchronize");
  EXPECT_EQ(all[0].flags, recording::memory_is_dirty_pages | recording::memory_is_after_call |
                              recording::memory_may_be_devices);
  EXPECT_EQ(all[0].content, filled(bytes, 9));
  EXPECT_EQ(all[1].function, "zeCommandQueueExecuteCommandLists");
  EXPECT_EQ(all[1].flags, recording::memory_is_dirty_pages);
  EXPECT_EQ(all[1].content.front(), std::byte{1});
}

constexpr auto in_order = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
constexpr auto asynchronous = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
// Memory of the device, after a wait.
constexpr unsigned copied_result = recording::memory_is_dirty_pages |
                                   recording::memory_is_after_call |
                                   recording::memory_may_be_devices | recording::memory_is_copied;

TEST_F(RecordedMemory, ThePlainSourceOfACopyIsLookedAtAgainWhereResultsAreWanted) {
  const auto all = run_and_read([] {
    setenv("ZEVENT_RECORD_MEMORY", "results", 1);
    copy_program program;
    const auto list = program.immediate_list(asynchronous);
    program.fill(1);
    program.check(zeCommandListAppendMemoryCopy(list, program.device_memory, program.plain.data(),
                                                bytes, nullptr, 0, nullptr));
    program.fill(2);
    program.check(zeCommandListHostSynchronize(list, UINT64_MAX));
    program.fill(3);
    program.check(zeCommandListHostSynchronize(list, UINT64_MAX));
  });
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].flags, recording::memory_is_copy_source);
  EXPECT_EQ(all[0].content, filled(bytes, 1));
  EXPECT_EQ(all[1].function, "zeCommandListHostSynchronize");
  EXPECT_EQ(all[1].flags, recording::memory_is_copy_source | recording::memory_is_snapshot);
  EXPECT_EQ(all[1].content, filled(bytes, 2));
  EXPECT_EQ(all[2].flags, copied_result);
}

TEST_F(RecordedMemory, TheTargetOfACopyIsLookedAtAroundTheWaitWhereResultsAreWanted) {
  const auto all = run_and_read([] {
    setenv("ZEVENT_RECORD_MEMORY", "results", 1);
    copy_program program;
    const auto list = program.immediate_list(asynchronous, in_order);
    const unsigned char pattern = 7;
    program.check(zeCommandListAppendMemoryFill(list, program.device_memory, &pattern, 1, bytes,
                                                nullptr, 0, nullptr));
    program.check(zeCommandListHostSynchronize(list, UINT64_MAX));
    program.fill(1);
    program.check(zeCommandListAppendMemoryCopy(list, program.plain.data(), program.device_memory,
                                                bytes, nullptr, 0, nullptr));
    program.check(zeCommandListHostSynchronize(list, UINT64_MAX));
  });
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].flags, copied_result);
  EXPECT_EQ(all[1].function, "zeCommandListAppendMemoryCopy");
  EXPECT_EQ(all[1].flags, recording::memory_is_snapshot);
  EXPECT_EQ(all[1].content, filled(bytes, 1));
  EXPECT_EQ(all[2].function, "zeCommandListHostSynchronize");
  EXPECT_EQ(all[2].flags, recording::memory_is_snapshot);
  EXPECT_EQ(all[3].flags, recording::memory_is_snapshot | recording::memory_is_after_call);
  EXPECT_EQ(all[3].content, filled(bytes, 7));
}

TEST_F(RecordedMemory, WhatOnlyTheDeviceSeesIsReadAfterAWaitWhereResultsAreWanted) {
  const auto all = run_and_read([] {
    setenv("ZEVENT_RECORD_MEMORY", "results", 1);
    copy_program program;
    auto list = program.regular_list();
    const auto queue = program.queue();
    const unsigned char pattern = 7;
    program.check(zeCommandListAppendMemoryFill(list, program.device_memory, &pattern, 1, bytes,
                                                nullptr, 0, nullptr));
    program.check(zeCommandListClose(list));
    program.check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    program.check(zeCommandQueueSynchronize(queue, UINT64_MAX));
    // Nothing was given to the device since.
    program.check(zeCommandQueueSynchronize(queue, UINT64_MAX));
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].function, "zeCommandQueueSynchronize");
  EXPECT_EQ(all[0].flags, copied_result);
  EXPECT_EQ(all[0].content, filled(bytes, 7));
}

TEST_F(RecordedMemory, AnAppendToASynchronousListIsAWait) {
  const auto all = run_and_read([] {
    setenv("ZEVENT_RECORD_MEMORY", "results", 1);
    copy_program program;
    const auto list = program.immediate_list();
    // Zeros, as before: what a command writes counts all the same.
    const unsigned char pattern = 0;
    program.check(zeCommandListAppendMemoryFill(list, program.device_memory, &pattern, 1, bytes,
                                                nullptr, 0, nullptr));
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].function, "zeCommandListAppendMemoryFill");
  EXPECT_EQ(all[0].flags, copied_result);
  EXPECT_EQ(all[0].content, filled(bytes, 0));
}

TEST_F(RecordedMemory, AWaitCopiesNothingUntilTheNextSubmission) {
  const auto all = run_and_read([] {
    copy_program program;
    auto list = program.regular_list();
    const auto queue = program.queue();
    auto* memory = static_cast<unsigned char*>(program.host_memory());
    const unsigned char pattern = 9;
    program.check(
        zeCommandListAppendMemoryFill(list, memory, &pattern, 1, bytes, nullptr, 0, nullptr));
    program.check(zeCommandListClose(list));
    program.check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    program.check(zeCommandQueueSynchronize(queue, UINT64_MAX));
    memory[0] = 1;
    program.check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
  });
  ASSERT_FALSE(all.empty());
  if ((all[0].flags & recording::memory_is_after_call) != 0)
    GTEST_SKIP() << "the kernel does not tell which pages changed";
  // The first page was written by the host since, the others were not.
  ASSERT_EQ(all.size(), 2u);
  for (const auto& each : all) EXPECT_EQ(each.function, "zeCommandQueueExecuteCommandLists");
  EXPECT_EQ(all[0].flags, recording::memory_is_dirty_pages);
  EXPECT_EQ(all[0].content.front(), std::byte{1});
  EXPECT_EQ(all[1].flags, recording::memory_is_dirty_pages | recording::memory_may_be_devices |
                              recording::memory_before_wait);
  EXPECT_EQ(all[0].content.size() + all[1].content.size(), bytes);
  EXPECT_EQ(all[1].content, filled(all[1].content.size(), 9));
}

TEST_F(RecordedMemory, ContentIsStoredOnce) {
  EXPECT_EQ(run([] {
              copy_program program;
              const auto list = program.immediate_list();
              program.fill(1);
              for (int i = 0; i < 10; ++i)
                program.check(zeCommandListAppendMemoryCopy(
                    list, program.device_memory, program.plain.data(), bytes, nullptr, 0, nullptr));
            }),
            0);
  const auto part = only_part();
  EXPECT_EQ(part.memory.size(), 10u);
  EXPECT_EQ(part.blobs.size(), 2u);  // the schema is the other one
}

TEST_F(RecordedMemory, IsKeptAsFarAsAskedFor) {
  const auto copy_once = [](const char* mode) {
    setenv("ZEVENT_RECORD_MEMORY", mode, 1);
    copy_program program;
    const auto list = program.immediate_list();
    auto* memory = static_cast<unsigned char*>(program.host_memory());
    memory[0] = 1;
    program.check(zeCommandListAppendMemoryCopy(list, program.device_memory, program.plain.data(),
                                                bytes, nullptr, 0, nullptr));
  };
  const std::map<std::string, size_t> notes = {{"off", 0}, {"copies", 1}, {"full", 2}};
  for (const auto& each : notes) {
    EXPECT_EQ(run([&] { copy_once(each.first.c_str()); }), 0);
    EXPECT_EQ(only_part().memory.size(), each.second) << each.first;
    std::filesystem::remove_all(output() + recording::parts_suffix);
  }
}

}  // namespace
}  // namespace zevent::recorder_test
