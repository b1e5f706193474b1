#include "base/driver_choice.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "base/environment.hpp"

namespace zevent {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

constexpr std::string_view recorder_stem = "libzevent_recorder";

void add_once(std::vector<std::string>& list, std::string_view each) {
  if (std::find(list.begin(), list.end(), each) == list.end()) list.emplace_back(each);
}

template <typename Visit>  // void(std::string_view)
void for_each_library(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (end != 0) visit(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

std::vector<std::string> drivers_in(std::string_view list) {
  std::vector<std::string> out;
  for_each_library(list, [&](std::string_view each) {
    if (!recorder_number(each)) add_once(out, each);
  });
  return out;
}

driver_choice choose_first(std::vector<std::string> drivers, driver_origin origin) {
  driver_choice out{std::move(drivers.front()), origin, {}};
  drivers.erase(drivers.begin());
  out.others = std::move(drivers);
  return out;
}

// The recorder itself can be named: it is refused where it is loaded.
driver_choice choose_named(const std::string& names, driver_origin origin) {
  if (names == "software") return {"", origin, {}};
  std::vector<std::string> drivers;
  for_each_library(names, [&](std::string_view each) { add_once(drivers, each); });
  return drivers.empty() ? driver_choice{} : choose_first(std::move(drivers), origin);
}

bool has_entry(const std::string& folder, std::string_view prefix) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(entries))
    found = found || std::string_view(entry->d_name).starts_with(prefix);
  closedir(entries);
  return found;
}

std::vector<std::string> find_all(library_search find, std::initializer_list<const char*> names) {
  std::vector<std::string> out;
  for (const char* name : names)
    if (const std::string path = find(name); !path.empty()) add_once(out, path);
  return out;
}

}  // namespace

driver_choice choose_driver(const driver_facts& facts) {
  if (!facts.asked.empty()) return choose_named(facts.asked, driver_origin::asked);
  if (!facts.zevent_driver.empty())
    return choose_named(facts.zevent_driver, driver_origin::environment);
  if (auto named = drivers_in(facts.alternatives); !named.empty())
    return choose_first(std::move(named), driver_origin::environment);
  std::vector<std::string> installed;
  if (facts.has_render_node || facts.has_dxg)
    for (const auto& each : facts.gpu_drivers) add_once(installed, each);
  if (facts.has_accel)
    for (const auto& each : facts.npu_drivers) add_once(installed, each);
  if (!installed.empty()) return choose_first(std::move(installed), driver_origin::installed);
  return {};
}

std::string recorder_suffix(size_t number) {
  return number == 0 ? "" : "_" + std::to_string(number + 1);
}

std::optional<size_t> recorder_number(std::string_view library) {
  std::string_view name = file_name(library);
  if (!name.starts_with(recorder_stem)) return std::nullopt;
  name.remove_prefix(recorder_stem.size());
  for (size_t number = 0; number < max_recorders; ++number)
    if (name.starts_with(recorder_suffix(number) + ".so")) return number;
  return std::nullopt;
}

size_t count_recorders(std::string_view libraries) {
  size_t count = 0;
  for_each_library(libraries, [&](std::string_view each) {
    if (recorder_number(each)) ++count;
  });
  return count;
}

std::string describe_left_out(const driver_choice& choice, size_t recorded, std::string_view hint) {
  if (choice.others.size() < recorded) return "";
  std::string text = "recording " + choice.library;
  for (size_t i = 0; i < choice.others.size(); ++i)
    text += (i + 1 == recorded ? "; left out: " : ", ") + choice.others[i];
  return text + " (" + std::string(hint) + ")";
}

bool is_software_driver(std::string_view library) {
  return file_name(library).starts_with("libze_zevent.so");
}

driver_facts read_driver_facts(const std::string& device_folder, library_search find,
                               bool trusts_environment) {
  driver_facts facts;
  if (trusts_environment) {
    facts.zevent_driver = read_environment("ZEVENT_DRIVER").value_or("");
    const char* alternatives = std::getenv("ZE_ENABLE_ALT_DRIVERS");
    if (alternatives != nullptr) facts.alternatives = alternatives;
  }
  facts.has_render_node = has_entry(device_folder + "/dri", "renderD");
  facts.has_dxg = access((device_folder + "/dxg").c_str(), F_OK) == 0;
  facts.has_accel = has_entry(device_folder + "/accel", "accel");
  // A search loads the libraries: not where the environment decides.
  if (!facts.zevent_driver.empty() || !drivers_in(facts.alternatives).empty()) return facts;
  if (facts.has_render_node || facts.has_dxg)
    facts.gpu_drivers = find_all(find, {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1"});
  if (facts.has_accel) {
    // Two names of one driver, the newer first.
    facts.npu_drivers = find_all(find, {"libze_intel_npu.so.1", "libze_intel_vpu.so.1"});
    if (facts.npu_drivers.size() > 1) facts.npu_drivers.resize(1);
  }
  return facts;
}

std::string device_folder() {
  return read_environment("ZEVENT_DEVICE_FOLDER").value_or("/dev");
}

}  // namespace zevent
