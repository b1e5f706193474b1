#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace zevent::replay {

// Calls the function at that address. A slot holds an argument's bits; of a struct that is passed
// by value, its address. The value is the ze_result_t, or the bits of whatever else is returned.
using invocation = uint64_t (*)(void* function, const uint64_t* slots);

// By index into the built-in model's functions.
extern const invocation invocations[];

template <typename Parameter>
Parameter from_slot(const uint64_t& slot) {
  if constexpr (std::is_class_v<Parameter> || std::is_union_v<Parameter>) {
    return *reinterpret_cast<const Parameter*>(slot);
  } else {
    static_assert(sizeof(Parameter) <= sizeof(slot) && std::is_trivially_copyable_v<Parameter>);
    Parameter out;
    std::memcpy(&out, &slot, sizeof(out));
    return out;
  }
}

template <typename Signature>
struct invoke;

template <typename Result, typename... Parameters>
struct invoke<Result(Parameters...)> {
  static uint64_t call(void* function, const uint64_t* slots) {
    return with(function, slots, std::index_sequence_for<Parameters...>());
  }

 private:
  template <size_t... I>
  static uint64_t with(void* function, [[maybe_unused]] const uint64_t* slots,
                       std::index_sequence<I...>) {
    const auto target = reinterpret_cast<Result (*)(Parameters...)>(function);
    const Result result = target(from_slot<std::remove_cv_t<Parameters>>(slots[I])...);
    uint64_t out = 0;
    std::memcpy(&out, &result, sizeof(result));
    return out;
  }
};

}  // namespace zevent::replay
