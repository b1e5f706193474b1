#include "driver/quirks.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/environment.hpp"
#include "driver/made_with_driver.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {

constinit std::atomic<uint32_t> active_quirk_bits{0};

namespace {

bool read_quirks() {
  const auto text = read_environment("ZEVENT_QUIRKS");
  if (!text) return true;
  const auto parsed = parse_quirks(*text);
  if (parsed) {
    active_quirk_bits.store(parsed->bits(), std::memory_order_relaxed);
  } else {
    std::fprintf(stderr, "zevent: ZEVENT_QUIRKS: %s\n", parsed.error().message.c_str());
  }
  return parsed.has_value();
}

const made_with_driver quirks([] { quirks_are_valid(); });

// Ends the program where the driver that is imitated would have.
[[noreturn]] void crash(quirk which, const char* function) {
  const auto name = quirk_descriptions()[static_cast<size_t>(which)].name;
  std::fprintf(stderr, "zevent: %s crashes here by the quirk %.*s\n", function,
               static_cast<int>(name.size()), name.data());
  if (which == quirk::crash_on_null_extension_name) std::abort();
  // A handler that returns meets the same fault again.
  for (;;) std::raise(SIGSEGV);
}

}  // namespace

bool quirks_are_valid() {
  static const bool valid = read_quirks();
  return valid;
}

ze_result_t answer_misuse(quirk which, ze_result_t documented, const char* function) noexcept {
  if (!has_quirk(which)) return documented;
  switch (which) {
    case quirk::crash_on_null_extension_name:
    case quirk::crash_on_null_handle:
    case quirk::crash_on_null_pointer:
      crash(which, function);
    case quirk::free_of_null_result:
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    default:
      return ZE_RESULT_SUCCESS;  // it is accepted
  }
}

}  // namespace zevent::driver
