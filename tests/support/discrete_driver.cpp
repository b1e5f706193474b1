// The software driver with the device memory of a discrete GPU: its addresses are canonical-high
// (0xffffd5…), other ones in every process, and the host cannot touch it. Level Zero functions that
// take an address of it get the memory behind it; so do pointers in kernel arguments and in plain
// memory that is copied to the device.
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
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

// Null where the address is not of device memory.
void* find_memory(uint64_t address) {
  const std::lock_guard lock(guard);
  const auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  const auto& [begin, known] = *std::prev(after);
  return address - begin < known.bytes ? known.memory + (address - begin) : nullptr;
}

template <typename T>
T* real(T* pointer) {
  void* const memory = find_memory(reinterpret_cast<uint64_t>(pointer));
  return memory != nullptr ? static_cast<T*>(memory) : pointer;
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

ZE_APIEXPORT ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t context, void* pointer) {
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
  return NEXT(zeCommandListAppendMemoryCopy)(list, real(to), lasting_source(from, bytes), bytes,
                                             signal, waits, wait_events);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeCommandListAppendMemoryFill(
    ze_command_list_handle_t list, void* to, const void* pattern, size_t pattern_bytes,
    size_t bytes, ze_event_handle_t signal, uint32_t waits, ze_event_handle_t* wait_events) {
  return NEXT(zeCommandListAppendMemoryFill)(list, real(to), pattern, pattern_bytes, bytes, signal,
                                             waits, wait_events);
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
  return result;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeGetKernelProcAddrTable(ze_api_version_t version,
                                                             ze_kernel_dditable_t* table) {
  const auto result = NEXT(zeGetKernelProcAddrTable)(version, table);
  if (result == ZE_RESULT_SUCCESS) table->pfnSetArgumentValue = zeKernelSetArgumentValue;
  return result;
}

}  // extern "C"
