#include "launch/doctor.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <level_zero/ze_api.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "api/model.hpp"
#include "base/driver_choice.hpp"
#include "base/environment.hpp"
#include "base/quirks.hpp"
#include "launch/captured_run.hpp"
#include "launch/driver_probe.hpp"
#include "launch/elf_symbols.hpp"
#include "launch/installation.hpp"
#include "launch/library_symbol.hpp"
#include "launch/way_in.hpp"

namespace zevent::launch {
namespace {

namespace fs = std::filesystem;

examined examine_zevent() {
  return {health::good, "zevent",
          fmt::format("{}, Level Zero API {}.{}", ZEVENT_VERSION,
                      ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT),
                      ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT)),
          ""};
}

// Asks the driver itself, in this process: the name of its first device, and how many there are.
result<std::string> describe_driver(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail("{}", dlerror());
  const auto init = symbol<decltype(zeInit)>(library, "zeInit");
  const auto get_drivers = symbol<decltype(zeDriverGet)>(library, "zeDriverGet");
  const auto get_devices = symbol<decltype(zeDeviceGet)>(library, "zeDeviceGet");
  const auto get_properties =
      symbol<decltype(zeDeviceGetProperties)>(library, "zeDeviceGetProperties");
  if (init == nullptr || get_drivers == nullptr || get_devices == nullptr ||
      get_properties == nullptr)
    return fail("it lacks functions of Level Zero");

  uint32_t drivers = 1;
  ze_driver_handle_t driver = nullptr;
  uint32_t devices = 0;
  if (init(0) != ZE_RESULT_SUCCESS || get_drivers(&drivers, &driver) != ZE_RESULT_SUCCESS ||
      drivers == 0 || get_devices(driver, &devices, nullptr) != ZE_RESULT_SUCCESS || devices == 0)
    return fail("it shows no device");
  std::vector<ze_device_handle_t> handles(devices);
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (get_devices(driver, &devices, handles.data()) != ZE_RESULT_SUCCESS ||
      get_properties(handles[0], &properties) != ZE_RESULT_SUCCESS)
    return fail("it does not describe its device");
  return fmt::format("{} device{}, '{}'", devices, devices == 1 ? "" : "s", properties.name);
}

// Headers that are newer than those that zevent knows have what it does not understand.
void examine_headers(std::vector<examined>& all) {
  const auto unknown = api::not_understood();
  if (unknown.empty()) return;
  all.push_back({health::note, "Level Zero headers",
                 fmt::format("of this build, not understood: {}", fmt::join(unknown, "; ")), ""});
}

examined examine_driver(const result<installation>& files) {
  const std::string what = "software driver";
  if (!files) return {health::broken, what, "not found", files.error().message};
  const auto description = describe_driver(files->driver);
  if (!description)
    return {health::broken, what, fmt::format("{}: {}", files->driver, description.error().message),
            "build it again with 'make', or install all of zevent with 'make install'"};
  return {health::good, what, fmt::format("{} ({})", files->driver, *description), ""};
}

examined examine_direct_way(const result<installation>& files) {
  const std::string what = "direct way in";
  if (!files) return {health::broken, what, "not found", ""};
  const fs::path stand_in = fs::path(files->direct_directory) / "libze_loader.so.1";
  std::error_code error;
  if (!fs::exists(stand_in, error))
    return {health::broken, what, fmt::format("{} is missing", stand_in.string()),
            "build it again with 'make', or install all of zevent with 'make install'"};
  return {health::good, what, stand_in.string(), ""};
}

examined examine_loader() {
  const std::string what = "stock loader";
  const std::string path = find_stock_loader();
  if (path.empty())
    return {health::missing, what, "not installed; programs are run on the driver directly",
            "to run under a loader: apt-get install libze1"};
  const auto symbols = read_elf_symbols(path);
  if (!symbols) return {health::missing, what, symbols.error().message, ""};
  return {health::good, what, fmt::format("{} ({} functions)", path, symbols->offered.size()), ""};
}

constexpr char gpu_driver[] = "libze_intel_gpu.so.1";

std::string why_chosen(driver_origin origin) {
  return origin == driver_origin::environment ? " (the environment names it)" : "";
}

// What `zevent record` and the recorder would record here.
void examine_recorded_drivers(const driver_choice& choice, std::vector<examined>& all) {
  const std::string what = "recorded driver";
  if (choice.library.empty()) {
    const std::string unused = find_library(gpu_driver);
    all.push_back({health::note, what,
                   "the software driver" +
                       (choice.origin == driver_origin::environment ? why_chosen(choice.origin)
                        : unused.empty() ? std::string(": no other one is installed")
                                         : fmt::format(": there is no device for {}", unused)),
                   ""});
    return;
  }
  std::vector<std::string> drivers{choice.library};
  drivers.insert(drivers.end(), choice.others.begin(), choice.others.end());
  for (const auto& each : drivers) {
    const auto probed = probe_driver(each);
    all.push_back(probed ? examined{health::good, what, each + why_chosen(choice.origin), ""}
                         : examined{health::missing, what, probed.error().message,
                                    "to record another one: zevent record --driver LIBRARY"});
  }
}

// What programs meet on the GPU driver that is installed, and not on the software driver.
void examine_quirks(const driver_choice& choice, std::vector<examined>& all) {
  const std::string what = "driver quirks";
  const bool is_chosen = choice.library.find("libze_intel_gpu") != std::string::npos;
  const std::string path = is_chosen ? choice.library : find_library(gpu_driver);
  if (path.empty()) return;
  const auto release = release_of_library(path);
  if (!release) {
    all.push_back({health::note, what, "its release is not known; docs/quirks.md has all", ""});
    return;
  }
  std::string names;
  for (const auto& each : quirk_descriptions())
    if (each.concerns(*release)) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  all.push_back({health::note, what, fmt::format("release {}: {}", to_string(*release), names),
                 fmt::format("to try a program with them: zevent run --quirks intel-{} -- PROGRAM",
                             to_string(*release))});
}

// The compiler of kernels knows what it needs.
examined examine_kernels() {
  const std::string what = "kernels";
  const std::string absent = "modules cannot be built here";
  const auto here = find_installation();
  if (!here) return {health::missing, what, absent, here.error().message};
  captured_run_request request;
  request.command = {read_environment("ZEVENT_KERNEL_COMPILER").value_or(here->kernel_compiler),
                     "--check"};
  const auto checked = run_captured(request, {});
  if (!checked) return {health::missing, what, absent, checked.error().message};
  std::string said = checked->output;  // its last line; libraries print theirs before
  while (said.ends_with('\n')) said.pop_back();
  said.erase(0, said.rfind('\n') + 1);
  if (checked->exit_status != 0 || checked->signal != 0 || checked->hung)
    return {health::missing, what, absent, said};
  return {health::good, what, said, ""};
}

void examine_environment(std::vector<examined>& all) {
  for (const auto& variable : environment_variables()) {
    if (const auto value = read_environment(variable.name))
      all.push_back({health::note, std::string(variable.name),
                     fmt::format("'{}': {}", *value, variable.meaning), ""});
  }
  for (const char* name :
       {"ZE_ENABLE_ALT_DRIVERS", "ZE_ENABLE_VALIDATION_LAYER", "ZE_ENABLE_TRACING_LAYER",
        "ZE_ENABLE_NULL_DRIVER", "ZE_AFFINITY_MASK", "LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0')
      all.push_back({health::note, name, fmt::format("'{}'", value), ""});
  }
}

}  // namespace

std::vector<examined> examine_machine() {
  const auto files = find_installation();
  std::vector<examined> all{examine_zevent(), examine_driver(files), examine_direct_way(files),
                            examine_loader()};
  examine_headers(all);
  const auto choice = choose_driver(read_driver_facts(device_folder(), &find_library));
  examine_recorded_drivers(choice, all);
  examine_quirks(choice, all);
  all.push_back(examine_kernels());
  examine_environment(all);
  return all;
}

}  // namespace zevent::launch
