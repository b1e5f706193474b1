#include "replay/needs.hpp"

#include <level_zero/ze_api.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "replay/arena.hpp"
#include "replay/driver_library.hpp"

namespace zevent::replay {
namespace {

constexpr uint32_t most_groups = 32;

// What a driver says of itself, in memory shared with the process that asks it.
struct driver_facts {
  bool complete;
  char problem[512];
  uint32_t drivers, devices;     // of all drivers, the parts of devices too
  uint32_t groups;               // of the first device
  uint32_t queues[most_groups];  // of each group
  uint64_t largest_allocation_bytes;
  bool missing[4096];  // by function of the built-in model
};

template <typename Function>
Function* typed(driver_library& driver, std::string_view name) {
  return reinterpret_cast<Function*>(driver.find(*api::builtin_model().find_function(name)));
}

void ask_device(driver_library& driver, ze_device_handle_t device, driver_facts& facts) {
  const auto properties = typed<decltype(zeDeviceGetProperties)>(driver, "zeDeviceGetProperties");
  const auto groups = typed<decltype(zeDeviceGetCommandQueueGroupProperties)>(
      driver, "zeDeviceGetCommandQueueGroupProperties");
  if (properties == nullptr || groups == nullptr) return;
  ze_device_properties_t about{};
  about.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (properties(device, &about) == ZE_RESULT_SUCCESS)
    facts.largest_allocation_bytes = about.maxMemAllocSize;
  ze_command_queue_group_properties_t found[most_groups] = {};
  for (auto& each : found) each.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  facts.groups = most_groups;
  if (groups(device, &facts.groups, found) != ZE_RESULT_SUCCESS) facts.groups = 0;
  facts.groups = std::min(facts.groups, most_groups);
  for (uint32_t i = 0; i < facts.groups; ++i) facts.queues[i] = found[i].numQueues;
}

uint32_t parts_of(driver_library& driver, ze_device_handle_t device) {
  const auto get = typed<decltype(zeDeviceGetSubDevices)>(driver, "zeDeviceGetSubDevices");
  uint32_t count = 0;
  return get != nullptr && get(device, &count, nullptr) == ZE_RESULT_SUCCESS ? count : 0;
}

const char* ask_driver(driver_library& driver, driver_facts& facts) {
  const auto init = typed<decltype(zeInit)>(driver, "zeInit");
  const auto get_drivers = typed<decltype(zeDriverGet)>(driver, "zeDriverGet");
  const auto get_devices = typed<decltype(zeDeviceGet)>(driver, "zeDeviceGet");
  if (init == nullptr || get_drivers == nullptr || get_devices == nullptr)
    return "it lacks the functions every driver has";
  if (init(0) != ZE_RESULT_SUCCESS) return "zeInit fails: it finds no device";
  ze_driver_handle_t drivers[16] = {};
  facts.drivers = 16;
  if (get_drivers(&facts.drivers, drivers) != ZE_RESULT_SUCCESS) return "zeDriverGet fails";
  for (uint32_t i = 0; i < std::min(facts.drivers, 16u); ++i) {
    ze_device_handle_t devices[64] = {};
    uint32_t count = 64;
    if (get_devices(drivers[i], &count, devices) != ZE_RESULT_SUCCESS) continue;
    if (facts.devices == 0 && count != 0) ask_device(driver, devices[0], facts);
    facts.devices += count;
    for (uint32_t k = 0; k < std::min(count, 64u); ++k)
      facts.devices += parts_of(driver, devices[k]);
  }
  return nullptr;
}

// Of the functions that the program calls and had fetched by their names.
void ask_for_functions_by_name(const program& what, driver_library& driver, driver_facts& facts) {
  const auto get_drivers = typed<decltype(zeDriverGet)>(driver, "zeDriverGet");
  const auto get_function = typed<decltype(zeDriverGetExtensionFunctionAddress)>(
      driver, "zeDriverGetExtensionFunctionAddress");
  ze_driver_handle_t first = nullptr;
  uint32_t count = 1;
  if (get_function == nullptr || get_drivers(&count, &first) != ZE_RESULT_SUCCESS || count == 0)
    return;
  const auto& model = api::builtin_model();
  for (const uint32_t function : what.functions()) {
    const std::string name(model.functions[function].name);
    void* address = nullptr;
    if (function < std::size(facts.missing) && what.needs.by_name.contains(name) &&
        driver.find(model.functions[function]) == nullptr)
      facts.missing[function] = get_function(first, name.c_str(), &address) != ZE_RESULT_SUCCESS;
  }
}

[[noreturn]] void ask_in_child(const program& what, const std::string& path, driver_facts& facts) {
  auto driver = driver_library::open(path);
  if (!driver) {
    std::strncpy(facts.problem, driver.error().message.c_str(), sizeof(facts.problem) - 1);
    _exit(1);
  }
  const auto& model = api::builtin_model();
  for (const uint32_t function : what.functions())
    if (function < std::size(facts.missing) && driver->find(model.functions[function]) == nullptr &&
        !what.needs.by_name.contains(std::string(model.functions[function].name)))
      facts.missing[function] = true;
  if (const char* problem = ask_driver(*driver, facts))
    std::strncpy(facts.problem, problem, sizeof(facts.problem) - 1);
  else
    ask_for_functions_by_name(what, *driver, facts);
  facts.complete = true;
  _exit(0);
}

std::vector<std::string> compare_needs(const program& what, const driver_facts& facts) {
  std::vector<std::string> out;
  const auto& model = api::builtin_model();
  for (const uint32_t function : what.functions())
    if (function < std::size(facts.missing) && facts.missing[function])
      out.push_back(fmt::format("the function {}", model.functions[function].name));
  const auto& needs = what.needs;
  if (facts.drivers < needs.drivers)
    out.push_back(fmt::format("{} drivers; there are {}", needs.drivers, facts.drivers));
  if (facts.devices < needs.devices)
    out.push_back(fmt::format("{} devices, parts of devices included; there are {}", needs.devices,
                              facts.devices));
  for (const auto& [ordinal, index] : needs.queues)
    if (ordinal >= facts.groups || index >= facts.queues[ordinal])
      out.push_back(fmt::format("queue {} of group {}; groups: {}, queues in that one: {}", index,
                                ordinal, facts.groups,
                                ordinal < facts.groups ? facts.queues[ordinal] : 0));
  if (needs.largest_allocation_bytes > facts.largest_allocation_bytes)
    out.push_back(fmt::format("an allocation of {} bytes; {} are possible",
                              needs.largest_allocation_bytes, facts.largest_allocation_bytes));
  return out;
}

// Whether the process ends by itself; else it is ended.
bool ends_in_time(pid_t child, uint64_t timeout_ns) {
  constexpr uint64_t longest_look_ns = 20'000'000;
  uint64_t waited_ns = 0, look_ns = 200'000;
  for (;;) {
    const pid_t ended = waitpid(child, nullptr, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    if (waited_ns > timeout_ns) break;
    const timespec length{0, static_cast<long>(look_ns)};
    nanosleep(&length, nullptr);
    waited_ns += look_ns;
    look_ns = std::min(2 * look_ns, longest_look_ns);
  }
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return false;
}

}  // namespace

result<std::vector<std::string>> unmet_needs(
    const program& what, const std::string& driver,
    const std::vector<std::pair<std::string, std::string>>& environment, uint64_t timeout_ns) {
  auto memory = mapped_memory::make(sizeof(driver_facts), /*shared=*/true);
  if (!memory) return tl::unexpected(memory.error());
  auto& facts = *reinterpret_cast<driver_facts*>(memory->data());
  const pid_t child = fork();
  if (child < 0) return fail("cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    ask_in_child(what, driver, facts);
  }
  if (!ends_in_time(child, timeout_ns))
    return fail("{} does not answer when it is asked what devices it has", driver);
  if (facts.problem[0] != '\0') return fail("{}: {}", driver, facts.problem);
  if (!facts.complete) return fail("{} crashes when it is asked what devices it has", driver);
  return compare_needs(what, facts);
}

}  // namespace zevent::replay
