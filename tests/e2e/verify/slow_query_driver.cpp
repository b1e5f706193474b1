// The software driver with status queries that take long where a test wants it:
//
//   TEST_SLOW_QUERY=2     the second query of a process is slow, and no other
//   TEST_SLOW_RUNS=14     only in the first and the fourth process that asks, as counted in the
//   TEST_RUNS_FILE=FILE   file, to which each process adds a byte
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

template <typename Function>
Function next(Function, const char* name) {
  static void* const driver = dlopen(SOFTWARE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(driver, name));
}
#define NEXT(function) next(&::function, #function)

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_slow_run() {
  const std::string file = variable("TEST_RUNS_FILE");
  if (file.empty()) return true;
  std::ofstream(file, std::ios::app) << 'x';
  const auto run = std::filesystem::file_size(file);
  return variable("TEST_SLOW_RUNS").find(std::to_string(run)) != std::string::npos;
}

}  // namespace

extern "C" {

ZE_APIEXPORT ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t event) {
  static const bool is_slow = is_slow_run();
  static int asked = 0;
  if (is_slow && std::to_string(++asked) == variable("TEST_SLOW_QUERY"))
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return NEXT(zeEventQueryStatus)(event);
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeGetEventProcAddrTable(ze_api_version_t version,
                                                            ze_event_dditable_t* table) {
  const auto result = NEXT(zeGetEventProcAddrTable)(version, table);
  if (result == ZE_RESULT_SUCCESS) table->pfnQueryStatus = zeEventQueryStatus;
  return result;
}

}  // extern "C"
