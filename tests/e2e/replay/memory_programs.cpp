#include <cstring>
#include <numeric>

#include "small_program.hpp"

namespace small_programs {
namespace {

void kinds_of_memory() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* kinds[] = {m.device_memory(), m.host_memory(), m.shared_memory()};
  std::vector<char> plain(page, 'p');
  for (char* each : kinds) copy(list, each, plain.data());
  for (char* from : kinds)
    for (char* to : kinds)
      if (from != to) copy(list, to, from, 64);
  copy(list, plain.data(), kinds[0]);
  finish(list);
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  for (char* each : kinds) {
    ze_device_handle_t owner = nullptr;
    void* base = nullptr;
    size_t bytes = 0;
    MUST(zeMemGetAllocProperties(m.context, each, &properties, &owner));
    MUST(zeMemGetAddressRange(m.context, each + 100, &base, &bytes));
    MUST(zeMemFree(m.context, each));
  }
}

// Data that is no progression and no fill.
void data_from_the_host() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* there = m.device_memory();
  char* shared = m.shared_memory();
  uint32_t noise = 1;
  for (int round = 0; round < 3; ++round) {
    std::vector<char> data(page);
    for (char& each : data)
      each = static_cast<char>((noise = noise * 1664525u + 1013904223u) >> 24);
    std::memcpy(shared, data.data() + 100, 1000);
    copy(list, there, data.data(), 777);
    copy(list, there + 1000, shared + 3, 997);
    finish(list);
  }
}

// The driver hands out memory again as it was left; the program clears it by itself.
void cleared_memory() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* result = m.host_memory();
  for (int round = 0; round < 3; ++round) {
    char* again = m.shared_memory();
    std::memset(again, round % 2 == 0 ? 0x77 : 0, page);
    copy(list, result, again);
    finish(list);
    MUST(zeMemFree(m.context, again));
  }
}

// The host writes to a page of which a copy that is under way reads another part.
void written_beside_a_copy() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* source = m.host_memory();
  char* result = m.host_memory();
  std::memset(source, 1, page);
  copy(list, result, source, page / 2);
  std::memset(source + page / 2, 2, page / 2);
  finish(list);
  copy(list, result, source);
  finish(list);
}

void regions(uint32_t depth) {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* from = m.shared_memory(16 * page);
  char* to = m.shared_memory(16 * page);
  std::iota(from, from + 16 * page, '\0');
  const ze_copy_region_t source = {3, 5, depth > 1 ? 1u : 0u, 40, 10, depth};
  const ze_copy_region_t target = {0, 2, 0, 40, 10, depth};
  MUST(zeCommandListAppendMemoryCopyRegion(list, to, &target, 100, 2000, from, &source, 128, 3000,
                                           nullptr, 0, nullptr));
  finish(list);
}

void region_2d() {
  regions(0);
}

void region_3d() {
  regions(4);
}

void region_from_plain_memory() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* to = m.shared_memory();
  std::vector<char> from(64 * 64, 'r');
  const ze_copy_region_t region = {4, 4, 0, 16, 16, 0};
  MUST(zeCommandListAppendMemoryCopyRegion(list, to, &region, 64, 0, from.data(), &region, 64, 0,
                                           nullptr, 0, nullptr));
  finish(list);
}

void fills() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* memory = m.shared_memory(8 * page);
  const uint8_t pattern[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (size_t bytes = 1; bytes <= 64; bytes *= 2)
    MUST(zeCommandListAppendMemoryFill(list, memory + 64 * bytes, pattern, bytes, 64 * bytes,
                                       nullptr, 0, nullptr));
  finish(list);
}

// What the host never reads: two pages of one allocation, and one of another.
void only_on_the_device() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* filled = m.device_memory(4 * page);
  char* copied = m.device_memory();
  fill(list, filled + page, 0x01020304, 2 * page);
  copy(list, copied, filled + page);
  finish(list);
}

// Times, copies of them, and what lies beside them.
void times_on_the_device() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* times = m.device_memory();
  char* copied = m.device_memory();
  char* shared = m.shared_memory();
  const auto pool = m.pool(1, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  auto timed = event(pool);
  fill(list, times, 0x01020304, page, timed);
  MUST(zeCommandListAppendWriteGlobalTimestamp(list, reinterpret_cast<uint64_t*>(times + 64),
                                               nullptr, 0, nullptr));
  MUST(zeCommandListAppendQueryKernelTimestamps(list, 1, &timed, times + 128, nullptr, nullptr, 0,
                                                nullptr));
  copy(list, copied + 1024, times, 1024);
  copy(list, shared, copied, page);
  finish(list);
}

void several_contexts() {
  const machine m;
  const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  machine other = m;
  MUST(zeContextCreate(m.driver, &desc, &other.context));
  for (const machine* each : {&m, static_cast<const machine*>(&other)}) {
    const auto list = each->immediate();
    fill(list, each->shared_memory(), 1);
    finish(list);
  }
  MUST(zeContextDestroy(other.context));
}

// A driver gives the same addresses out again.
void reused_handles() {
  const machine m;
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  for (uint32_t i = 0; i < 6; ++i) {
    const auto pool = m.pool(2);
    const auto done = event(pool, i % 2);
    char* memory = m.shared_memory(page * (1 + i % 3));
    fill(list, memory, i, page, done);
    wait(done);
    MUST(zeMemFree(m.context, memory));
    MUST(zeEventDestroy(done));
    MUST(zeEventPoolDestroy(pool));
  }
}

void memory_over_ipc() {
  const machine m;
  char* memory = m.device_memory();
  ze_ipc_mem_handle_t handle{};
  MUST(zeMemGetIpcHandle(m.context, memory, &handle));
  void* opened = nullptr;
  MUST(zeMemOpenIpcHandle(m.context, m.device, handle, 0, &opened));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, opened, 5);
  copy(list, m.host_memory(), memory);
  finish(list);
  MUST(zeMemCloseIpcHandle(m.context, opened));
}

void virtual_memory() {
  const machine m;
  size_t granule = 0;
  MUST(zeVirtualMemQueryPageSize(m.context, m.device, page, &granule));
  void* reserved = nullptr;
  MUST(zeVirtualMemReserve(m.context, nullptr, 2 * granule, &reserved));
  const ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr,
                                       ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE, granule};
  ze_physical_mem_handle_t physical = nullptr;
  MUST(zePhysicalMemCreate(m.context, m.device, const_cast<ze_physical_mem_desc_t*>(&desc),
                           &physical));
  char* second = static_cast<char*>(reserved) + granule;
  MUST(zeVirtualMemMap(m.context, second, granule, physical, 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, second + 256, 5, 256);
  finish(list);
  MUST(zeVirtualMemUnmap(m.context, second, granule));
  MUST(zePhysicalMemDestroy(m.context, physical));
  MUST(zeVirtualMemFree(m.context, reserved, 2 * granule));
}

// Memory without an address is exported by its handle.
void physical_memory_over_ipc() {
  const machine m;
  size_t granule = 0;
  MUST(zeVirtualMemQueryPageSize(m.context, m.device, page, &granule));
  ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr,
                                 ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE, granule};
  ze_physical_mem_handle_t physical = nullptr;
  MUST(zePhysicalMemCreate(m.context, m.device, &desc, &physical));
  ze_ipc_mem_handle_t handle{};
  MUST(zeMemGetIpcHandleWithProperties(m.context, physical, nullptr, &handle));
  void* opened = nullptr;
  MUST(zeMemOpenIpcHandle(m.context, m.device, handle, 0, &opened));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, opened, 5);
  copy(list, m.host_memory(), opened);
  finish(list);
  MUST(zeMemCloseIpcHandle(m.context, opened));
  MUST(zeMemPutIpcHandle(m.context, handle));
  MUST(zePhysicalMemDestroy(m.context, physical));
}

// The same again and again, with objects of its own each time.
void many_alike() {
  const machine m;
  const auto pool = m.pool(64);
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  char* memory = m.device_memory(64 * page);
  std::vector<ze_event_handle_t> events;
  for (uint32_t i = 0; i < 64; ++i) events.push_back(event(pool, i));
  for (uint32_t i = 0; i < 64; ++i) {
    fill(list, memory + i * page, i, page, events[i]);
    wait(events[i]);
  }
  for (const auto each : events) MUST(zeEventDestroy(each));
}

// Fills that write the same again, in whatever order; and one copy that takes what a fill has
// written, or what was there before.
void one_of_many_pairs() {
  const machine m;
  const auto list = m.immediate();
  char* memory = m.device_memory(16 * page);
  fill(list, memory, 1, 16 * page);
  barrier(list);
  for (int i = 0; i < 4; ++i) fill(list, memory, 1);
  fill(list, memory + 4 * page, 2, 4 * page);
  copy(list, memory + 8 * page, memory + 4 * page, 4 * page);
  for (int i = 0; i < 4; ++i) fill(list, memory, 1);
  finish(list);
}

constexpr program programs[] = {
    {"kinds_of_memory", kinds_of_memory},
    {"cleared_memory", cleared_memory},
    {"written_beside_a_copy", written_beside_a_copy},
    {"data_from_the_host", data_from_the_host},
    {"region_2d", region_2d},
    {"region_3d", region_3d},
    {"region_from_plain_memory", region_from_plain_memory},
    {"fills", fills},
    {"only_on_the_device", only_on_the_device},
    {"times_on_the_device", times_on_the_device},
    {"several_contexts", several_contexts},
    {"reused_handles", reused_handles},
    {"memory_over_ipc", memory_over_ipc},
    {"physical_memory_over_ipc", physical_memory_over_ipc},
    {"virtual_memory", virtual_memory},
    {"many_alike", many_alike},
    {"one_of_many_pairs", one_of_many_pairs},
};

}  // namespace

std::span<const program> memory_programs() {
  return programs;
}

}  // namespace small_programs
