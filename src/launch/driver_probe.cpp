#include "launch/driver_probe.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <level_zero/ze_ddi.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/signal_name.hpp"
#include "launch/library_symbol.hpp"

namespace zevent::launch {
namespace {

// What is wrong with the library; "" when nothing is.
std::string problem_of(const std::string& library) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return dlerror();
  if (dlsym(opened, "zevent_recorder_is_here") != nullptr)
    return "it is the recorder itself; give the driver to record";
  if (dlsym(opened, "zeInit") == nullptr && dlsym(opened, "zeGetGlobalProcAddrTable") == nullptr)
    return "it is not a Level Zero driver: it has neither zeInit nor zeGetGlobalProcAddrTable";
  return "";
}

// A driver need not export its functions, but has to fill in the loader's tables.
template <typename Table>
Table table(void* library, const char* getter) {
  Table filled{};
  auto* get = symbol<ze_result_t(ze_api_version_t, Table*)>(library, getter);
  if (get == nullptr) return filled;
  // The newest version that it knows.
  for (uint32_t minor = ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT) + 1; minor-- > 0;)
    if (get(static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1, minor)), &filled) == ZE_RESULT_SUCCESS)
      break;
  return filled;
}

// The names of the devices, or what is in the way.
result<std::string> ask_for_devices(const std::string& library) {
  if (const auto problem = problem_of(library); !problem.empty()) return fail("{}", problem);
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* init = symbol<decltype(zeInit)>(opened, "zeInit");
  auto* get_drivers = symbol<decltype(zeDriverGet)>(opened, "zeDriverGet");
  auto* get_devices = symbol<decltype(zeDeviceGet)>(opened, "zeDeviceGet");
  auto* get_properties = symbol<decltype(zeDeviceGetProperties)>(opened, "zeDeviceGetProperties");
  if (init == nullptr)
    init = table<ze_global_dditable_t>(opened, "zeGetGlobalProcAddrTable").pfnInit;
  if (get_drivers == nullptr)
    get_drivers = table<ze_driver_dditable_t>(opened, "zeGetDriverProcAddrTable").pfnGet;
  if (get_devices == nullptr || get_properties == nullptr) {
    const auto filled = table<ze_device_dditable_t>(opened, "zeGetDeviceProcAddrTable");
    get_devices = filled.pfnGet;
    get_properties = filled.pfnGetProperties;
  }
  if (init == nullptr || get_drivers == nullptr || get_devices == nullptr ||
      get_properties == nullptr)
    return fail("it lacks functions of Level Zero");
  if (init(0) != ZE_RESULT_SUCCESS) return fail("it shows no device");

  constexpr uint32_t most = 16;
  ze_driver_handle_t drivers[most] = {};
  uint32_t driver_count = most;
  if (get_drivers(&driver_count, drivers) != ZE_RESULT_SUCCESS) driver_count = 0;
  std::string names;
  for (uint32_t i = 0; i < std::min(driver_count, most); ++i) {
    ze_device_handle_t devices[most] = {};
    uint32_t device_count = most;
    if (get_devices(drivers[i], &device_count, devices) != ZE_RESULT_SUCCESS) continue;
    for (uint32_t k = 0; k < std::min(device_count, most); ++k) {
      ze_device_properties_t properties{};
      properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
      if (get_properties(devices[k], &properties) != ZE_RESULT_SUCCESS) continue;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", properties.name);
    }
  }
  if (names.empty()) return fail("it shows no device");
  return names;
}

// Nullopt when nothing comes for that long.
std::optional<std::string> read_all(int from, int timeout_ms) {
  std::string text;
  char piece[512];
  for (;;) {
    pollfd watched{from, POLLIN, 0};
    const int ready = poll(&watched, 1, timeout_ms);
    if (ready == 0) return std::nullopt;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = read(from, piece, sizeof piece);
    if (got > 0) text.append(piece, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

// What the question answers in a child process. The error is how the child ended.
result<std::string> ask_in_child(const std::string& library, int timeout_ms,
                                 std::string (*question)(const std::string&)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return fail("cannot start a process: {}", std::strerror(errno));
  }
  if (child == 0) {
    const std::string answer = question(library);
    [[maybe_unused]] const auto told = write(ends[1], answer.data(), answer.size());
    _exit(0);  // the library's destructors belong to nobody
  }
  close(ends[1]);
  auto answer = read_all(ends[0], timeout_ms);
  close(ends[0]);
  if (!answer) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer) return fail("it hangs");
  if (WIFSIGNALED(status)) return fail("it crashed with {}", signal_name(WTERMSIG(status)));
  return std::move(*answer);
}

// First a letter: whether names or a problem follow.
constexpr char devices_follow = 'd';
constexpr char problem_follows = 'p';

}  // namespace

result<void> probe_driver(const std::string& library) {
  const auto problem = ask_in_child(library, probe_timeout_ms, &problem_of);
  if (!problem) return fail("cannot load the driver {}: {}", library, problem.error().message);
  if (!problem->empty()) return fail("cannot load the driver {}: {}", library, *problem);
  return {};
}

result<std::string> probe_device(const std::string& library, int timeout_ms) {
  const auto answer = ask_in_child(library, timeout_ms, [](const std::string& asked) {
    const auto devices = ask_for_devices(asked);
    return devices ? devices_follow + *devices : problem_follows + devices.error().message;
  });
  if (!answer) return answer;
  if (answer->empty()) return fail("it ended the process");
  if (answer->front() == problem_follows) return fail("{}", answer->substr(1));
  return answer->substr(1);
}

}  // namespace zevent::launch
