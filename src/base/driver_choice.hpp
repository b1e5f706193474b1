#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Which Level Zero driver a program is recorded on. The command and the recorder decide it here, so
// that a program that is recorded by its environment alone gets the same driver as under
// `zevent record`.
namespace zevent {

// What the decision depends on.
struct driver_facts {
  // --driver: "software", or libraries, separated by commas; "" where it was not given.
  std::string asked;
  std::string zevent_driver;  // ZEVENT_DRIVER, likewise
  std::string alternatives;   // ZE_ENABLE_ALT_DRIVERS: libraries, separated by commas
  bool has_render_node = false;
  bool has_dxg = false;    // WSL's device for GPUs
  bool has_accel = false;  // a compute accelerator, as NPUs are
  // Paths of the installed driver libraries, in the order of the loader.
  std::vector<std::string> gpu_drivers;
  std::vector<std::string> npu_drivers;
};

enum class driver_origin { asked, environment, installed, software };

struct driver_choice {
  std::string library;  // "" for the software driver
  driver_origin origin = driver_origin::software;
  // Drivers that the program has as well. The recorder stands in front of one: each of these is for
  // another copy of it.
  std::vector<std::string> others;
};

// In this order: --driver, ZEVENT_DRIVER, those of ZE_ENABLE_ALT_DRIVERS that are not the recorder,
// the installed drivers of devices that are here, the software driver.
driver_choice choose_driver(const driver_facts& facts);

// The recorder and its copies: a loader takes one file for one driver, however often it is named.
inline constexpr size_t max_recorders = 4;

// "" for the recorder itself and "_2" for its second copy, in libzevent_recorder_2.so.1.
std::string recorder_suffix(size_t number);
// 0 for the recorder itself, 1 for its second copy; nullopt where the library is none of them.
std::optional<size_t> recorder_number(std::string_view library);
// How many there are among libraries that are separated by commas.
size_t count_recorders(std::string_view libraries);

// "recording A, B; left out: C (choose with --driver)", where the first so many are recorded. ""
// where nothing is left out; `hint` is how the user can have another one.
std::string describe_left_out(const driver_choice& choice, size_t recorded, std::string_view hint);

// Whether the library is zevent's software driver, by its name.
bool is_software_driver(std::string_view library);

// The path of the library that the dynamic linker takes for that name; "" when there is none.
using library_search = std::string (*)(const std::string& soname);

// What this machine and the environment say; `asked` stays empty. Drivers are searched only for
// devices that are here. `device_folder` is /dev. Without `trusts_environment`, for a program that
// runs with another user's rights, no variable is read.
driver_facts read_driver_facts(const std::string& device_folder, library_search find,
                               bool trusts_environment = true);

// ZEVENT_DEVICE_FOLDER or /dev.
std::string device_folder();

}  // namespace zevent
