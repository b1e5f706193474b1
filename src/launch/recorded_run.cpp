#include "launch/recorded_run.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "api/recording_format.hpp"
#include "base/driver_choice.hpp"
#include "base/log.hpp"
#include "base/message.hpp"
#include "launch/driver_probe.hpp"
#include "launch/host_name.hpp"
#include "launch/process_end_watch.hpp"
#include "launch/process_stat.hpp"

namespace zevent::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto first_look = 2ms;
constexpr auto slowest_look = 100ms;
constexpr auto silence = 1s;

std::optional<recording::file_header> read_header(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  recording::file_header header{};
  const ssize_t bytes = pread(file, &header, sizeof(header), 0);
  close(file);
  if (bytes != static_cast<ssize_t>(sizeof(header)) || header.magic != recording::file_magic)
    return std::nullopt;
  return header;
}

}  // namespace

std::string parts_folder_of(const std::string& output) {
  return output + recording::parts_suffix;
}

std::vector<std::string> find_drivers_as_asked(const std::string& asked) {
  driver_facts facts;
  if (asked.empty()) facts = read_driver_facts(device_folder(), &find_library);
  facts.asked = asked;
  auto choice = choose_driver(facts);
  if (choice.library.empty()) return {};
  choice.others.insert(choice.others.begin(), std::move(choice.library));
  return std::move(choice.others);
}

void leave_out_drivers(way_in way, recording_options& options) {
  const size_t recorded = way == way_in::loader ? max_recorders : 1;
  if (options.drivers.size() <= recorded) return;
  const driver_choice choice{options.drivers.front(),
                             driver_origin::asked,
                             {options.drivers.begin() + 1, options.drivers.end()}};
  say("{}", describe_left_out(choice, recorded,
                              way == way_in::loader
                                  ? "choose with --driver"
                                  : "only one is recorded without the loader; choose with "
                                    "--driver"));
  options.drivers.resize(recorded);
}

result<void> prepare_parts_folder(const std::string& output) {
  const std::string folder = parts_folder_of(output);
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno == EEXIST)
    return fail(
        "{} belongs to a recording that is being made or was not packed; look at it with 'zevent "
        "show {}', remove it, or give another name with -o",
        folder, folder);
  return fail("cannot make {}: {}; give another place with -o", folder, std::strerror(errno));
}

result<void> prepare_recording(recording_options& options, unrecordable otherwise) {
  if (otherwise == unrecordable::refuse)
    for (const auto& each : options.drivers)
      if (auto probed = probe_driver(each); !probed) return probed;
  auto prepared = prepare_parts_folder(options.output);
  std::error_code error;
  if (prepared || otherwise == unrecordable::refuse ||
      fs::exists(parts_folder_of(options.output), error))
    return prepared;
  say("nothing is recorded: {}; the program goes on", prepared.error().message);
  options.output.clear();
  return {};
}

bool remove_if_unused(const std::string& parts_folder) {
  std::error_code error;
  return fs::is_empty(parts_folder, error) && !error && fs::remove(parts_folder, error);
}

void remove_older_trace(const std::string& output) {
  std::error_code error;
  if (fs::remove(output, error)) say("removed {}, the trace of an earlier run", output);
}

namespace {

std::string libraries_to_record(const installation& files, const recording_options& options) {
  return options.drivers.empty() ? files.driver
                                 : fmt::format("{}", fmt::join(options.drivers, ","));
}

}  // namespace

environment_changes environment_for_recording(way_in way, const installation& files,
                                              const recording_options& options,
                                              const std::optional<std::string>& library_path) {
  // Set in both ways: a child that brings a loader of its own is recorded too.
  environment_changes changes{
      {"ZE_ENABLE_ALT_DRIVERS", files.recorders_for(options.drivers.size())},
      // Else a loader with layers goes past the recorder, through tables in the driver's handles.
      {"ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0"},
      {"ZEVENT_RECORD", options.output},
      {"ZEVENT_RECORD_MEMORY", options.memory},
      // The software driver by its path, too: the recorder would choose again.
      {"ZEVENT_DRIVER", libraries_to_record(files, options)},
  };
  if (!options.max_size.empty()) changes.emplace_back("ZEVENT_RECORD_MAX_SIZE", options.max_size);
  changes.emplace_back("ZEVENT_PROFILE", options.profile ? "1" : "");
  changes.emplace_back("ZEVENT_PROFILE_KERNELS", options.kernels);
  if (way == way_in::direct) {
    std::string path = files.record_directory;
    if (library_path && !library_path->empty()) path += ":" + *library_path;
    changes.emplace_back("LD_LIBRARY_PATH", path);
  }
  return changes;
}

std::vector<int> processes_still_recording(const std::string& parts_folder) {
  std::vector<int> running;
  const std::string own_host = host_name();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts_folder, error)) {
    if (entry.path().extension() != recording::part_suffix) continue;
    const auto header = read_header(entry.path());
    if (!header || header->state == recording::part_state::stopped) continue;
    if (strncmp(header->host, own_host.c_str(), sizeof(header->host)) != 0) continue;
    if (is_alive(header->process_id, header->process_start))
      running.push_back(static_cast<int>(header->process_id));
  }
  return running;
}

namespace {

// False when some still run.
bool wait_for_recording_processes(const std::string& parts_folder, process_end_watch& ends) {
  const unsigned requests = signal_relay::requests_to_end();
  const auto begin = std::chrono::steady_clock::now();
  auto pause = std::chrono::milliseconds(first_look);
  bool told = false;
  while (true) {
    const auto running = processes_still_recording(parts_folder);
    ends.look();
    if (running.empty()) return true;
    if (signal_relay::requests_to_end() != requests) return false;
    if (!told && std::chrono::steady_clock::now() - begin >= silence) {
      told = true;
      say("{} process{} of this recording still run{} (first: {}); interrupt to pack what is there",
          running.size(), running.size() == 1 ? "" : "es", running.size() == 1 ? "s" : "",
          running.front());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::milliseconds>(2 * pause, slowest_look);
  }
}

}  // namespace

result<program_end> run_recorded(const std::vector<std::string>& command, way_in way,
                                 const installation& files, const recording_options& options,
                                 signal_relay& relay) {
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  const auto changes = environment_for_recording(
      way, files, options,
      library_path != nullptr ? std::optional<std::string>(library_path) : std::nullopt);
  const std::string folder = options.output.empty() ? "" : parts_folder_of(options.output);
  log_info("launch", "records the driver {} to {}", libraries_to_record(files, options),
           options.output.empty() ? "nothing" : options.output);
  process_end_watch ends(folder);
  auto end = run_program(command, changes, relay, {ends.descriptor(), [&] { ends.look(); }});
  if (folder.empty()) return end;
  std::error_code error;
  if (end) {
    ends.note(*end);
    wait_for_recording_processes(folder, ends);
    ends.finish();
  } else {
    fs::remove(folder, error);
  }
  return end;
}

}  // namespace zevent::launch
