#include "base/environment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/invariant.hpp"

namespace zevent {
namespace {

// Sorted by name.
constexpr std::array declared_variables = {
    environment_variable{"ZEVENT_CACHE_DIR", "a folder",
                         "$XDG_CACHE_HOME/zevent or ~/.cache/zevent",
                         "where the software driver keeps compiled kernels"},
    environment_variable{"ZEVENT_CHAOS", "a number, the seed", "",
                         "the software driver chooses from the seed wherever order is open", true},
    environment_variable{"ZEVENT_CHAOS_PATIENCE", "forever", "",
                         "under chaos, commands are held back until they are wanted, however long "
                         "the program takes: one that only looks at memory would never end",
                         true},
    environment_variable{"ZEVENT_DEVICES", "1 to 16", "1",
                         "how many devices the software driver shows", true},
    environment_variable{"ZEVENT_DEVICE_FOLDER", "a folder", "/dev",
                         "where GPUs and NPUs are looked for when the driver to record is chosen"},
    environment_variable{"ZEVENT_DRIVER", "libraries, software",
                         "the driver of the GPU or NPU here, else software",
                         "the Level Zero driver that is recorded, or several, separated by commas"},
    environment_variable{"ZEVENT_FAULTS", "name[:number],...", "",
                         "misbehaviours of the software driver; 'zevent run --list-faults'", true},
    environment_variable{"ZEVENT_IPC_EVENTS", "one-way, two-way", "two-way",
                         "whether a counter-based event opened from another process only waits for "
                         "the signal that was exported, or may also be signalled",
                         true},
    environment_variable{"ZEVENT_KERNEL_COMPILER", "a program", "",
                         "the program that compiles kernels, where it is not beside the driver"},
    environment_variable{"ZEVENT_KERNEL_TIMER_BITS", "8 to 64", "56",
                         "how many bits of a kernel timestamp the software driver's devices keep",
                         true},
    environment_variable{
        "ZEVENT_LOG", "error, info, trace", "error",
        "what the command, the software driver and the recorder say on stderr: what "
        "was chosen and why something failed (info), every step (trace)"},
    environment_variable{"ZEVENT_MEMORY_MIB", "16 to 16777216", "",
                         "memory of each of the software driver's devices; unset: the machine's",
                         true},
    environment_variable{"ZEVENT_PROFILE", "1", "",
                         "the recorder takes the device time of every command; set by zevent "
                         "profile"},
    environment_variable{
        "ZEVENT_PROFILE_KERNELS", "a pattern with * and ?", "",
        "of which kernels the recorder takes the device time, and of nothing else"},
    environment_variable{"ZEVENT_QUIRKS", "name,... or intel-YY.WW", "",
                         "where the software driver behaves as Intel's does; 'zevent run "
                         "--list-quirks'",
                         true},
    environment_variable{"ZEVENT_RECORD", "a file", "",
                         "where the recorder records to; set by zevent record"},
    environment_variable{"ZEVENT_RECORD_MAX_SIZE", "a size: 500M, 2G", "",
                         "how large a recording may become until it stops, of all processes "
                         "together"},
    environment_variable{"ZEVENT_RECORD_MEMORY", "off, copies, full, results", "full",
                         "what the recorder keeps of memory that commands read"},
    environment_variable{"ZEVENT_SUBDEVICES", "0 to 16", "0",
                         "how many sub-devices each of the software driver's devices has", true},
    environment_variable{"ZEVENT_TIMER_BITS", "8 to 64", "56",
                         "how many bits of a global timestamp the software driver's devices keep",
                         true},
    environment_variable{"ZEVENT_TIMER_FREQUENCY", "1000 to 1000000000", "1000000000",
                         "ticks a second of the software driver's device clock", true},
    environment_variable{"ZEVENT_TRIAL_NOTE", "a file", "",
                         "where the software driver notes that a fault struck, or that it was used "
                         "under chaos; set by zevent run --sweep and --chaos"},
};

}  // namespace

std::span<const environment_variable> environment_variables() {
  return declared_variables;
}

std::optional<std::string> read_environment(std::string_view name) {
  const bool declared = std::any_of(declared_variables.begin(), declared_variables.end(),
                                    [&](const auto& variable) { return variable.name == name; });
  ZEVENT_INVARIANT(declared);
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

uint64_t read_environment_number(std::string_view name, uint64_t default_value, uint64_t least,
                                 uint64_t most) {
  const auto text = read_environment(name);
  if (!text) return default_value;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < least ||
      number > most) {
    std::fprintf(stderr, "zevent: %.*s=%s is not a number from %llu to %llu; using %llu\n",
                 static_cast<int>(name.size()), name.data(), text->c_str(),
                 static_cast<unsigned long long>(least), static_cast<unsigned long long>(most),
                 static_cast<unsigned long long>(default_value));
    return default_value;
  }
  return number;
}

}  // namespace zevent
