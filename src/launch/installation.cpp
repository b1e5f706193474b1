#include "launch/installation.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/driver_choice.hpp"

namespace zevent::launch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

fs::path own_directory() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string find_headers(const fs::path& bin) {
  const fs::path folder = (bin / "../include/zevent-level-zero").lexically_normal();
  std::error_code error;
  return fs::exists(folder / "level_zero" / "ze_api.h", error) ? folder.string() : "";
}

}  // namespace

result<installation> find_installation() {
  const fs::path bin = own_directory();
  std::string tried;
  for (const char* relative : {"../lib", "../lib/x86_64-linux-gnu", "../lib64"}) {
    const fs::path lib = (bin / relative).lexically_normal();
    std::error_code error;
    if (fs::exists(lib / "libze_zevent.so.1", error))
      return installation{lib / "libze_zevent.so.1",
                          lib / "zevent" / "direct",
                          lib / "libzevent_recorder.so.1",
                          lib / "zevent" / "record",
                          (bin / "../libexec/zevent/zevent-kernelc").lexically_normal(),
                          find_headers(bin)};
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", lib.string());
  }
  return fail(
      "the software driver libze_zevent.so.1 is not beside this program (looked in {}); "
      "build it with 'make', or install all of zevent with 'make install'",
      tried);
}

std::string installation::recorders_for(size_t drivers) const {
  std::string list = recorder;
  for (size_t number = 1; number < std::min(drivers, max_recorders); ++number)
    list += fmt::format(",{}/libzevent_recorder{}.so.1", record_directory, recorder_suffix(number));
  return list;
}

std::string find_library(const std::string& soname) {
  // The dynamic linker itself knows best. The library's constructors run in this short-lived tool.
  void* library = dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "";
  std::string path;
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) {
    std::error_code error;
    path = fs::canonical(map->l_name, error).string();
  }
  dlclose(library);
  return path;
}

std::string find_stock_loader() {
  const std::string path = find_library("libze_loader.so.1");
  // Under `zevent run` the software driver answers to the loader's name.
  return path.find("libze_zevent") == std::string::npos ? path : "";
}

std::string find_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  for (const auto& directory : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const fs::path candidate = fs::path(directory.empty() ? "." : directory) / program;
    std::error_code error;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, error))
      return candidate.string();
  }
  return "";
}

}  // namespace zevent::launch
