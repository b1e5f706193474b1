#include "recorder/process_facts.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace zevent::recorder {
namespace {

constexpr std::array environment_prefixes = {
    std::string_view("ZE"),    std::string_view("NEO"),  std::string_view("IGC_"),
    std::string_view("SYCL_"), std::string_view("UR_"),  std::string_view("ONEAPI_"),
    std::string_view("CHIP_"), std::string_view("HIP_"), std::string_view("LIBOMPTARGET_"),
};

// As the launchers of MPI programs tell them, in the order of trust.
constexpr std::array rank_variables = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                       "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
constexpr std::array size_variables = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                       "SLURM_NTASKS"};

std::string read_file(const char* path) {
  std::string text;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = read(file, buffer, sizeof(buffer))) > 0)
    text.append(buffer, static_cast<size_t>(bytes));
  close(file);
  return text;
}

std::string link_target(const char* path) {
  char target[PATH_MAX];
  const ssize_t bytes = readlink(path, target, sizeof(target));
  return bytes > 0 ? std::string(target, static_cast<size_t>(bytes)) : std::string();
}

std::string level_zero_environment() {
  std::string text;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const bool concerns_us =
        std::any_of(environment_prefixes.begin(), environment_prefixes.end(),
                    [&](std::string_view prefix) { return variable.starts_with(prefix); });
    if (!concerns_us) continue;
    if (!text.empty()) text += '\0';
    text += variable;
  }
  return text;
}

template <size_t N>
std::string first_set(const std::array<const char*, N>& names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

std::vector<process_fact> collect_process_facts() {
  std::string command_line = read_file("/proc/self/cmdline");
  if (!command_line.empty() && command_line.back() == '\0') command_line.pop_back();
  std::string boot = read_file("/proc/sys/kernel/random/boot_id");
  if (!boot.empty() && boot.back() == '\n') boot.pop_back();
  utsname system{};
  uname(&system);

  std::vector<process_fact> facts = {
      {"command line", std::move(command_line)},
      {"executable", link_target("/proc/self/exe")},
      {"working directory", link_target("/proc/self/cwd")},
      {"environment", level_zero_environment()},
      {"boot", std::move(boot)},
      {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine},
      {"mpi rank", first_set(rank_variables)},
      {"mpi size", first_set(size_variables)},
      {"recorder", ZEVENT_VERSION},
  };
  std::erase_if(facts, [](const process_fact& fact) { return fact.value.empty(); });
  return facts;
}

}  // namespace zevent::recorder
