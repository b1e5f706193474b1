#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace zevent::recorder {

// The driver that the recorder stands in front of: the one that base/driver_choice.hpp chooses from
// the environment and the devices here; the software driver is the one beside the recorder. It is
// loaded with the first call, or when a loader asks for the first table.

// Address of each function of the next driver, by the function's index in api::builtin_model():
// `load` of its next_stub before the driver is loaded, `absent` where it has no such function.
// relaxed: an address never becomes wrong, and what it points at was there before.
extern std::atomic<void*> next_addresses[];

// The recorder's own function of each index, which is what the program gets to see.
extern void* const hook_addresses[];

// Loads the driver if that has not been tried, and fills in next_addresses.
void load_next_driver(const char* way_in) noexcept;
bool next_driver_is_loaded() noexcept;

// A symbol of the driver's library; null where there is none.
void* next_symbol(const char* name) noexcept;

// What the recorder's z*Get*ProcAddrTable functions do: asks the next driver for the table of that
// version, and puts hooks in the place of what it filled in. Slots that the driver left alone are
// left alone; `table` is the index in api::builtin_model().
ze_result_t hand_out_table(ze_api_version_t version, void* slots, uint16_t table) noexcept;

// The hook for a function that the program asked for by name and whose address is the driver's. A
// function that the model does not know is passed through, and its calls are counted.
void* hook_for(const char* name, void* address) noexcept;

template <uint16_t Index, typename Signature>
auto next_function() {
  return reinterpret_cast<Signature*>(next_addresses[Index].load(std::memory_order_relaxed));
}

// What stands for a function of the next driver while there is none to call.
template <uint16_t Index, typename Signature>
struct next_stub;

template <uint16_t Index, typename Result, typename... Parameters>
struct next_stub<Index, Result(Parameters...)> {
  static Result load(Parameters... arguments) {
    load_next_driver("direct");
    return next_function<Index, Result(Parameters...)>()(arguments...);
  }
  static Result absent(Parameters...) {
    if constexpr (std::is_same_v<Result, ze_result_t>)
      return next_driver_is_loaded() ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
                                     : ZE_RESULT_ERROR_UNINITIALIZED;
    else if constexpr (std::is_same_v<Result, uint32_t>)
      return UINT32_MAX;
    else
      return {};
  }
};

// For functions that programs begin with: the driver is loaded before the call starts, as it is
// under a loader.
template <uint16_t Index, typename Signature>
void load_before_first_call() {
  if (next_function<Index, Signature>() == &next_stub<Index, Signature>::load) [[unlikely]]
    load_next_driver("direct");
}

// The `absent` of each index.
extern void* const absent_addresses[];

}  // namespace zevent::recorder
