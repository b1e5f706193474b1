#pragma once

#include <string>
#include <string_view>
#include <vector>

// Which Level Zero driver a program is recorded on. The command and the recorder decide it here, so
// that a program that is recorded by its environment alone gets the same driver as under
// `zevent record`.
namespace zevent {

// What the decision depends on.
struct driver_facts {
  std::string asked;          // --driver: a library, "software", or "" where it was not given
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
  // Drivers that the program would have had as well. The recorder stands in front of one.
  std::vector<std::string> left_out;
};

// In this order: --driver, ZEVENT_DRIVER, the first of ZE_ENABLE_ALT_DRIVERS that is not the
// recorder, the installed driver of a device that is here, the software driver.
driver_choice choose_driver(const driver_facts& facts);

// "recording A; left out: B, C (one driver is recorded at a time; choose with --driver)". "" where
// nothing is left out; `option` is how the user can choose.
std::string describe_left_out(const driver_choice& choice, std::string_view option);

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
