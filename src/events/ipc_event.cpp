#include "zevent/ipc_event.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "events/check.hpp"
#include "events/counter_based_calls.hpp"

namespace zevent {
namespace {

static_assert(sizeof(ipc_handle) == sizeof(ze_ipc_event_counter_based_handle_t));
static_assert(ipc_event::immediate_lists == ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE);
static_assert(ipc_event::regular_lists == ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
static_assert(ipc_event::graph_external == ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL);

constexpr uint32_t known_flags = 0x7f;
constexpr uint32_t timestamp_flags =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;

constexpr uint32_t shared_flags(uint32_t flags) {
  return flags | ZE_EVENT_COUNTER_BASED_FLAG_IPC | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
}

[[noreturn]] void throw_unsupported(const char* call) {
  throw error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call,
              "the driver cannot share counter-based events between processes");
}

// Calls that are given no device: those of the loader, else those of the only driver that has any.
// With several drivers it is not known whose function may see the handle.
template <typename Function>
bool any_sharing_calls(Function&& f) {
  const auto all = all_counter_based_calls();
  const auto first = std::find_if(all.begin(), all.end(), [](const auto& c) { return c.driver; });
  const bool one_driver = std::all_of(all.begin(), all.end(), [&](const auto& c) {
    return !c.driver || c.driver == first->driver;
  });
  return std::any_of(all.begin(), all.end(), [&](const auto& calls) {
    return calls.shares_events() && (calls.driver == nullptr || one_driver) && f(calls);
  });
}

// What the device says of itself; nothing when its driver does not know the question.
std::optional<bool> device_property(ze_device_handle_t device) {
  constexpr uint32_t unanswered = 0xffffffff;
  ze_device_event_properties_t event_properties{};
  event_properties.stype = ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES;
  event_properties.flags = unanswered;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  properties.pNext = &event_properties;
  check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
  if (event_properties.flags == unanswered) return std::nullopt;
  return (event_properties.flags & ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC) != 0;
}

// Whether an event for sharing can be made, found out by making one.
bool can_create(ze_driver_handle_t driver, ze_device_handle_t device) {
  ze_context_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  ze_context_handle_t context = nullptr;
  check(zeContextCreate(driver, &desc, &context), "zeContextCreate");
  const bool created = any_counter_based_calls_of(driver, [&](const counter_based_calls& calls) {
    ze_event_handle_t event = nullptr;
    if (!calls.shares_events() ||
        calls.create_event(context, device, shared_flags(ipc_event::immediate_lists), {}, &event) !=
            ZE_RESULT_SUCCESS) {
      return false;
    }
    zeEventDestroy(event);
    return true;
  });
  zeContextDestroy(context);
  return created;
}

bool ask_support(ze_device_handle_t device) {
  const ze_driver_handle_t driver = driver_of(device);
  const bool has_calls = any_counter_based_calls_of(
      driver, [](const counter_based_calls& calls) { return calls.shares_events(); });
  if (!has_calls) return false;
  if (const auto answer = device_property(device)) return *answer;
  return driver != nullptr && can_create(driver, device);
}

}  // namespace

bool ipc_event::supported(ze_device_handle_t device) {
  if (device == nullptr) {
    throw error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "ipc_event::supported", "the device is null");
  }
  // Never destroyed: asked even while static objects are.
  static auto& mutex = *new std::mutex;  // guards answers
  static auto& answers = *new std::map<ze_device_handle_t, bool>;
  const std::lock_guard lock(mutex);
  const auto known = answers.find(device);
  if (known != answers.end()) return known->second;
  return answers[device] = ask_support(device);
}

ipc_event ipc_event::create(ze_context_handle_t context, ze_device_handle_t device, uint32_t flags,
                            event_scopes scopes) {
  constexpr auto call = "ipc_event::create";
  if (context == nullptr || device == nullptr) {
    throw error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call,
                context == nullptr ? "the context is null" : "the device is null");
  }
  if ((flags & ~known_flags) != 0) {
    throw error(ZE_RESULT_ERROR_INVALID_ENUMERATION, call, "reserved flag bits are set");
  }
  if ((flags & timestamp_flags) != 0) {
    throw error(ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                "an event with timestamps cannot be shared between processes");
  }
  if (!supported(device)) throw_unsupported(call);
  owned_event created;
  any_counter_based_calls_of(driver_of(device), [&](const counter_based_calls& calls) {
    if (!calls.shares_events()) return false;
    ze_event_handle_t event = nullptr;
    const ze_result_t result =
        calls.create_event(context, device, shared_flags(flags), scopes, &event);
    if (means_unsupported(result)) return false;
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
      throw error(result, calls.create_name, "the device is probably not of the context");
    }
    check(result, calls.create_name);
    created.reset(event);
    return true;
  });
  if (created == nullptr) throw_unsupported(call);
  return ipc_event(std::move(created));
}

ipc_event ipc_event::adopt(ze_event_handle_t event) {
  if (event == nullptr) {
    throw error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "ipc_event::adopt", "the event is null");
  }
  return ipc_event(owned_event(event));
}

ipc_event ipc_event::open(ze_context_handle_t context, std::span<const std::byte> bytes) {
  constexpr auto call = "ipc_event::open";
  if (context == nullptr) {
    throw error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call, "the context is null");
  }
  ze_ipc_event_counter_based_handle_t handle{};
  if (bytes.size() != sizeof handle) {
    throw error(ZE_RESULT_ERROR_INVALID_SIZE, call,
                "a handle has " + std::to_string(sizeof handle) + " bytes, not " +
                    std::to_string(bytes.size()));
  }
  if (bytes.data() == nullptr) {
    throw error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, call, "the handle is null");
  }
  std::memcpy(&handle, bytes.data(), sizeof handle);
  imported_event opened;
  any_sharing_calls([&](const counter_based_calls& calls) {
    ze_event_handle_t event = nullptr;
    const ze_result_t result = calls.open(context, handle, &event);
    if (means_unsupported(result)) return false;
    if (result != ZE_RESULT_SUCCESS) {
      throw error(
          result, calls.open_name,
          "the handle names no event that this process can reach; its producer may be gone");
    }
    opened = imported_event(event, close_event{calls.close});
    return true;
  });
  if (opened == nullptr) throw_unsupported(call);
  return ipc_event(std::move(opened));
}

ipc_handle ipc_event::export_handle() const {
  constexpr auto call = "ipc_event::export_handle";
  const ze_event_handle_t event = live_handle(call);
  if (imported()) {
    throw error(ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                "the event was imported; only its producer can export it");
  }
  ipc_handle bytes{};
  const bool exported = any_sharing_calls([&](const counter_based_calls& calls) {
    ze_ipc_event_counter_based_handle_t handle{};
    const ze_result_t result = calls.export_handle(event, &handle);
    if (means_unsupported(result)) return false;
    if (result != ZE_RESULT_SUCCESS) {
      throw error(result, calls.export_name,
                  "the event was not made for sharing, has timestamps, or, where the driver shares "
                  "one way only, no command that signals it has been appended yet");
    }
    std::memcpy(bytes.data(), &handle, sizeof handle);
    return true;
  });
  if (!exported) throw_unsupported(call);
  return bytes;
}

}  // namespace zevent
