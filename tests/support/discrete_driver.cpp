// The software driver with the device memory of a discrete GPU: its addresses are canonical-high
// (0xffffd5…), other ones in every process, and the host cannot touch it. Level Zero functions that
// take an address of it get the memory behind it; so do pointers in kernel arguments and in plain
// memory that is copied to the device. What was copied from there has the addresses of the program
// again when the host has waited for the list.
//
//   DISCRETE_SHARED      shared memory migrates: once a command was given to the device, the host
//   has
//                        no access to it until it touches it
//   DISCRETE_WRONG_FILL  fills of device memory write another pattern
//   DISCRETE_NO_COPY     nothing is copied from device memory to an allocation of the host
//   DISCRETE_THROW       a fill of device memory throws
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace {

struct device_allocation {
  char* memory = nullptr;
  size_t bytes = 0;
};

std::mutex guard;                                   // of both below
std::map<uint64_t, device_allocation> allocations;  // by the address that the program has
uint64_t next_address = 0;

template <typename Function>
Function next(Function, const char* name) {
  // Found through what is linked, whatever else in the process has these names.
  static void* const driver = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(driver, name));
}
#define NEXT(function) next(&::function, #function)

uint64_t add_allocation(void* memory, size_t bytes) {
  constexpr uint64_t page_bytes = 0x10000;
  const std::lock_guard lock(guard);
  if (next_address == 0)
    next_address = 0xffff'd500'0000'0000 + (static_cast<uint64_t>(getpid()) % 4096 << 24);
  const uint64_t address = next_address;
  // Neighbours do not touch, so that one past the end of an allocation is in none.
  next_address += (bytes + 2 * page_bytes - 1) / page_bytes * page_bytes;
  allocations[address] = {static_cast<char*>(memory), bytes};
  return address;
}

// Shared memory that migrates: one file, mapped for the host, and once more for the device. The
// host has access to its mapping or it has not.
struct migrating_allocation {
  char* for_host = nullptr;
  char* for_device = nullptr;
  size_t bytes = 0;
};
// Read by a signal handler: only ever grows, and the count is stored last.
migrating_allocation migrating[64];
std::atomic<size_t> migrating_count{0};
struct sigaction fault_action_before;

migrating_allocation* find_migrating(uint64_t address) {
  for (size_t i = 0; i < migrating_count.load(); ++i) {
    const auto begin = reinterpret_cast<uint64_t>(migrating[i].for_host);
    if (address >= begin && address - begin < migrating[i].bytes) return &migrating[i];
  }
  return nullptr;
}

void migrate_to_host(int signal, siginfo_t* info, void*) {
  auto* found = find_migrating(reinterpret_cast<uint64_t>(info->si_addr));
  if (found != nullptr)
    mprotect(found->for_host, found->bytes, PROT_READ | PROT_WRITE);
  else
    sigaction(signal, &fault_action_before, nullptr);  // it faults again
}

void migrate_to_device() {
  for (size_t i = 0; i < migrating_count.load(); ++i)
    mprotect(migrating[i].for_host, migrating[i].bytes, PROT_NONE);
}

ze_result_t allocate_migrating(size_t bytes, void** pointer) {
  const std::lock_guard lock(guard);
  const size_t count = migrating_count.load();
  if (count == std::size(migrating)) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  constexpr size_t page_bytes = 4096;
  const size_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  const int file = memfd_create("migrating", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(whole)) != 0)
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  void* views[2];
  for (void*& view : views)
    view = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (count == 0) {
    struct sigaction action {};
    action.sa_sigaction = migrate_to_host;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &fault_action_before);
  }
  migrating[count] = {static_cast<char*>(views[0]), static_cast<char*>(views[1]), whole};
  migrating_count.store(count + 1);
  *pointer = views[0];
  return ZE_RESULT_SUCCESS;
}

// Null where the host has the memory at that address, too.
void* find_memory(uint64_t address) {
  if (const auto* found = find_migrating(address))
    return found->for_device + (address - reinterpret_cast<uint64_t>(found->for_host));
  const std::lock_guard lock(guard);
  const auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  const auto& [begin, known] = *std::prev(after);
  return address - begin < known.bytes ? known.memory + (address - begin) : nullptr;
}

bool is_of_device(const void* pointer) {
  return find_memory(reinterpret_cast<uint64_t>(pointer)) != nullptr;
}

template <typename T>
T* real(T* pointer) {
  void* const memory = find_memory(reinterpret_cast<uint64_t>(pointer));
  return memory != nullptr ? static_cast<T*>(memory) : pointer;
}

bool is_wanted(const char* variable) {
  return std::getenv(variable) != nullptr;
}

// The same bytes with the addresses that a kernel can use.
std::vector<char> translated(const void* content, size_t bytes) {
  std::vector<char> out(static_cast<const char*>(content),
                        static_cast<const char*>(content) + bytes);
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, out.data() + at, sizeof(word));
    if (void* const memory = find_memory(word))
      std::memcpy(out.data() + at, &memory, sizeof(memory));
  }
  return out;
}

struct copy_to_host {
  char* target = nullptr;
  size_t bytes = 0;
};
std::map<ze_command_list_handle_t, std::vector<copy_to_host>> copies_to_host;  // guard guards it

// Addresses of the memory behind become those that the program has.
void translate_back(const copy_to_host& copied) {
  for (size_t at = 0; at + sizeof(uint64_t) <= copied.bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, copied.target + at, sizeof(word));
    for (const auto& [address, known] : allocations) {
      const uint64_t behind = reinterpret_cast<uint64_t>(known.memory);
      if (word < behind || word - behind >= known.bytes) continue;
      word = address + (word - behind);
      std::memcpy(copied.target + at, &word, sizeof(word));
      break;
    }
  }
}

// For a copy that reads it later: lives as long as the process.
const void* lasting_source(const void* source, size_t bytes) {
  if (find_memory(reinterpret_cast<uint64_t>(source)) != nullptr) return real(source);
  const auto content = translated(source, bytes);
  if (std::memcmp(content.data(), source, bytes) == 0) return source;
  return (new std::vector<char>(content))->data();
}

}  // namespace

extern "C" {

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t context,
                                                     const ze_device_mem_alloc_desc_t* desc,
                                                     size_t bytes, size_t alignment,
                                                     ze_device_handle_t device, void** pointer) {
  const auto result = NEXT(zeMemAllocDevice)(context, desc, bytes, alignment, device, pointer);
  if (result == ZE_RESULT_SUCCESS)
    *pointer = reinterpret_cast<void*>(add_allocation(*pointer, bytes));
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemAllocShared(ze_context_handle_t context,
                                                     const ze_device_mem_alloc_desc_t* device_desc,
                                                     const ze_host_mem_alloc_desc_t* host_desc,
                                                     size_t bytes, size_t alignment,
                                                     ze_device_handle_t device, void** pointer) {
  if (is_wanted("DISCRETE_SHARED")) return allocate_migrating(bytes, pointer);
  return NEXT(zeMemAllocShared)(context, device_desc, host_desc, bytes, alignment, device, pointer);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t context, void* pointer) {
  if (find_migrating(reinterpret_cast<uint64_t>(pointer)) != nullptr) return ZE_RESULT_SUCCESS;
  const auto result = NEXT(zeMemFree)(context, real(pointer));
  const std::lock_guard lock(guard);
  if (result == ZE_RESULT_SUCCESS) allocations.erase(reinterpret_cast<uint64_t>(pointer));
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL
zeMemGetAllocProperties(ze_context_handle_t context, const void* pointer,
                        ze_memory_allocation_properties_t* properties, ze_device_handle_t* device) {
  return NEXT(zeMemGetAllocProperties)(context, real(pointer), properties, device);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemGetAddressRange(ze_context_handle_t context,
                                                         const void* pointer, void** base,
                                                         size_t* bytes) {
  const auto* const memory = real(pointer);
  const auto result = NEXT(zeMemGetAddressRange)(context, memory, base, bytes);
  // As far before the given address as in the memory behind it.
  if (result == ZE_RESULT_SUCCESS && memory != pointer && base != nullptr)
    *base = const_cast<char*>(static_cast<const char*>(pointer)) -
            (static_cast<const char*>(memory) - static_cast<char*>(*base));
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(
    ze_command_list_handle_t list, void* to, const void* from, size_t bytes,
    ze_event_handle_t signal, uint32_t waits, ze_event_handle_t* wait_events) {
  migrate_to_device();
  if (is_wanted("DISCRETE_NO_COPY") && is_of_device(from) && !is_of_device(to))
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (is_of_device(from) && !is_of_device(to)) {
    const std::lock_guard lock(guard);
    copies_to_host[list].push_back({static_cast<char*>(to), bytes});
  }
  return NEXT(zeCommandListAppendMemoryCopy)(list, real(to), lasting_source(from, bytes), bytes,
                                             signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendMemoryFill(
    ze_command_list_handle_t list, void* to, const void* pattern, size_t pattern_bytes,
    size_t bytes, ze_event_handle_t signal, uint32_t waits, ze_event_handle_t* wait_events) {
  migrate_to_device();
  if (is_of_device(to) && is_wanted("DISCRETE_THROW")) throw std::runtime_error("a driver's own");
  std::vector<char> own(static_cast<const char*>(pattern),
                        static_cast<const char*>(pattern) + pattern_bytes);
  if (is_of_device(to) && is_wanted("DISCRETE_WRONG_FILL")) own.front() = '?';
  return NEXT(zeCommandListAppendMemoryFill)(list, real(to), own.data(), pattern_bytes, bytes,
                                             signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t list, void* to, const ze_copy_region_t* to_region, uint32_t to_pitch,
    uint32_t to_slice_pitch, const void* from, const ze_copy_region_t* from_region,
    uint32_t from_pitch, uint32_t from_slice_pitch, ze_event_handle_t signal, uint32_t waits,
    ze_event_handle_t* wait_events) {
  return NEXT(zeCommandListAppendMemoryCopyRegion)(
      list, real(to), to_region, to_pitch, to_slice_pitch, real(from), from_region, from_pitch,
      from_slice_pitch, signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListHostSynchronize(ze_command_list_handle_t list,
                                                                 uint64_t timeout) {
  const auto result = NEXT(zeCommandListHostSynchronize)(list, timeout);
  if (result != ZE_RESULT_SUCCESS) return result;
  const std::lock_guard lock(guard);
  for (const auto& each : copies_to_host[list]) translate_back(each);
  copies_to_host.erase(list);
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendLaunchKernel(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t* groups,
    ze_event_handle_t signal, uint32_t waits, ze_event_handle_t* wait_events) {
  migrate_to_device();
  return NEXT(zeCommandListAppendLaunchKernel)(list, kernel, groups, signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t list, uint64_t* to, ze_event_handle_t signal, uint32_t waits,
    ze_event_handle_t* wait_events) {
  return NEXT(zeCommandListAppendWriteGlobalTimestamp)(list, real(to), signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t list, uint32_t count, ze_event_handle_t* events, void* to,
    const size_t* offsets, ze_event_handle_t signal, uint32_t waits,
    ze_event_handle_t* wait_events) {
  return NEXT(zeCommandListAppendQueryKernelTimestamps)(list, count, events, real(to), offsets,
                                                        signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t kernel,
                                                             uint32_t index, size_t bytes,
                                                             const void* value) {
  if (value == nullptr) return NEXT(zeKernelSetArgumentValue)(kernel, index, bytes, value);
  const auto content = translated(value, bytes);
  return NEXT(zeKernelSetArgumentValue)(kernel, index, bytes, content.data());
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeGetMemProcAddrTable(ze_api_version_t version,
                                                          ze_mem_dditable_t* table) {
  const auto result = NEXT(zeGetMemProcAddrTable)(version, table);
  if (result != ZE_RESULT_SUCCESS) return result;
  table->pfnAllocDevice = zeMemAllocDevice;
  table->pfnAllocShared = zeMemAllocShared;
  table->pfnFree = zeMemFree;
  table->pfnGetAllocProperties = zeMemGetAllocProperties;
  table->pfnGetAddressRange = zeMemGetAddressRange;
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL
zeGetCommandListProcAddrTable(ze_api_version_t version, ze_command_list_dditable_t* table) {
  const auto result = NEXT(zeGetCommandListProcAddrTable)(version, table);
  if (result != ZE_RESULT_SUCCESS) return result;
  table->pfnAppendMemoryCopy = zeCommandListAppendMemoryCopy;
  table->pfnAppendMemoryFill = zeCommandListAppendMemoryFill;
  table->pfnAppendMemoryCopyRegion = zeCommandListAppendMemoryCopyRegion;
  table->pfnHostSynchronize = zeCommandListHostSynchronize;
  table->pfnAppendLaunchKernel = zeCommandListAppendLaunchKernel;
  table->pfnAppendWriteGlobalTimestamp = zeCommandListAppendWriteGlobalTimestamp;
  table->pfnAppendQueryKernelTimestamps = zeCommandListAppendQueryKernelTimestamps;
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeGetKernelProcAddrTable(ze_api_version_t version,
                                                             ze_kernel_dditable_t* table) {
  const auto result = NEXT(zeGetKernelProcAddrTable)(version, table);
  if (result == ZE_RESULT_SUCCESS) table->pfnSetArgumentValue = zeKernelSetArgumentValue;
  return result;
}

}  // extern "C"
