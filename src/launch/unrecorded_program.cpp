#include "launch/unrecorded_program.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "launch/captured_run.hpp"
#include "launch/elf_symbols.hpp"

namespace zevent::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view loader_name = "libze_loader.so.1";
constexpr uint64_t listing_timeout_ms = 10'000;

std::string first_bytes(const std::string& path, size_t count) {
  std::string bytes(count, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

// "set-uid", "set-gid" or "file capabilities": then the dynamic linker and the recorder heed no
// environment. "" where it has only our own rights.
std::string_view privilege_of(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return "";
  if ((about.st_mode & S_ISUID) != 0 && about.st_uid != getuid()) return "set-uid";
  if ((about.st_mode & S_ISGID) != 0 && about.st_gid != getgid()) return "set-gid";
  std::array<char, 64> capabilities{};
  if (getuid() != 0 &&
      getxattr(path.c_str(), "security.capability", capabilities.data(), capabilities.size()) > 0)
    return "file capabilities";
  return "";
}

bool names_the_loader(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.view().find("libze_loader") != std::string_view::npos;
}

// The file that the dynamic linker takes for the loader in this program's environment, as ldd has
// it: the linker lists the libraries and runs nothing. "" when it loads none at its start.
std::string loader_found_by(const std::string& program, const std::string& linker, way_in way,
                            const installation& files) {
  environment_changes changes;
  if (way == way_in::direct) {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    std::string path = files.record_directory;
    if (before != nullptr && *before != '\0') path += std::string(":") + before;
    changes.emplace_back("LD_LIBRARY_PATH", path);
  }
  const auto listed = run_captured(
      {{linker, "--list", fs::absolute(program).string()}, changes, listing_timeout_ms, nullptr},
      {});
  if (!listed) return "";
  std::istringstream lines(listed->output);
  for (std::string line; std::getline(lines, line);) {
    // "	libze_loader.so.1 => /usr/lib/libze_loader.so.1 (0x00007f...)"
    const size_t arrow = line.find(" => ");
    if (line.find(loader_name) == line.npos || arrow == line.npos) continue;
    const std::string path = line.substr(arrow + 4);
    return path.substr(0, path.rfind(" ("));
  }
  return "";
}

std::string explain_dynamic(const std::string& name, const std::string& path,
                            const elf_symbols& program, way_in way, const installation& files) {
  const std::string found = loader_found_by(path, program.interpreter, way, files);
  std::error_code error;
  const fs::path recorder = fs::path(files.record_directory) / loader_name;
  if (found == "not found")
    return fmt::format("{} needs {}, which is not installed", name, loader_name);
  if (!found.empty() && way == way_in::direct && !fs::equivalent(found, recorder, error))
    return fmt::format(
        "{} loads {} instead of the recorder{}; '--way loader' goes through it", name, found,
        program.rpath.empty() ? "" : fmt::format(" (its RPATH is {})", program.rpath));
  if (!found.empty())
    return fmt::format("{} loads {}, but ended before its first call", name, found);
  for (const auto& each : program.needed_libraries)
    if (each.starts_with("libze_"))
      return fmt::format("{} is linked to {} itself, not to {}", name, each, loader_name);
  if (names_the_loader(path))
    return fmt::format("{} opens {} itself (dlopen), but called nothing in it", name, loader_name);
  return fmt::format(
      "neither {} nor a library that it is linked to uses {}, nor did a program that it started",
      name, loader_name);
}

}  // namespace

std::string explain_unrecorded(const std::vector<std::string>& command, way_in way,
                               const installation& files) {
  const std::string& name = command.front();
  const std::string path = find_in_path(name);
  const std::string first = first_bytes(path, 128);
  if (first.starts_with("#!")) {
    const std::string line = first.substr(2, first.find('\n') - 2);
    return fmt::format("{} is a script ({}), and nothing that it ran used {}", name,
                       line.substr(std::min(line.find_first_not_of(' '), line.size())),
                       loader_name);
  }
  if (const auto privilege = privilege_of(path); !privilege.empty())
    return fmt::format("{} runs with other rights ({}), and such programs are not recorded", name,
                       privilege);
  const auto symbols = read_elf_symbols(path);
  if (!symbols) {
    constexpr char class_of_32_bits = 1;
    if (first.starts_with("\x7f"
                          "ELF") &&
        first.size() > 4 && first[4] == class_of_32_bits)
      return fmt::format("{} is a 32-bit program, and the recorder is not", name);
    return symbols.error().message;
  }
  if (symbols->interpreter.empty())
    return fmt::format("{} is statically linked: no library can be put in front of its driver",
                       name);
  return explain_dynamic(name, path, *symbols, way, files);
}

}  // namespace zevent::launch
