#include "repro/verification.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "launch/recorded_run.hpp"
#include "launch/way_in.hpp"
#include "repro/call_sequence.hpp"
#include "repro/merged_calls.hpp"
#include "trace/open_trace.hpp"

namespace zevent::repro {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t build_timeout_ns = 600'000'000'000;

struct finished_run {
  int status = 0;  // as $? shows it
  bool timed_out = false;
  std::vector<std::string> output;
};

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

[[noreturn]] void become(const std::vector<std::string>& command,
                         const launch::environment_changes& environment, const fs::path& folder,
                         const fs::path& log) {
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (output < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || chdir(folder.c_str()) != 0)
    _exit(127);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const auto& each : command) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

// Runs a command in a folder, with what it says in a file.
result<finished_run> run(const std::vector<std::string>& command,
                         const launch::environment_changes& environment, const fs::path& folder,
                         const fs::path& log, uint64_t timeout_ns) {
  const pid_t child = fork();
  if (child < 0) return fail("cannot start a process: {}", std::strerror(errno));
  if (child == 0) become(command, environment, folder, log);
  constexpr uint64_t look_ns = 5'000'000;
  finished_run out;
  int status = 0;
  uint64_t waited_ns = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (waited_ns > timeout_ns) {
      out.timed_out = true;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    const timespec pause{0, static_cast<long>(look_ns)};
    nanosleep(&pause, nullptr);
    waited_ns += look_ns;
  }
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  out.output = lines_of(log);
  return out;
}

std::string last_lines(const std::vector<std::string>& lines) {
  constexpr size_t most = 12;
  std::string out;
  for (size_t i = lines.size() > most ? lines.size() - most : 0; i < lines.size(); ++i)
    out += "\n  " + lines[i];
  return out;
}

class verifier {
 public:
  verifier(fs::path folder, const trace::trace_file& trace,
           std::span<const replay::call_selection> selections, const launch::installation& files,
           const verification_options& options)
      : folder_(std::move(folder)),
        work_(folder_ / "verify"),
        trace_(trace),
        selections_(selections),
        files_(files),
        options_(options) {}

  result<verification> run_all() {
    std::error_code error;
    fs::create_directories(work_, error);
    if (error) return fail("cannot make {}: {}", work_.string(), error.message());
    if (auto done = build(); !done) return tl::unexpected(done.error());
    if (auto done = run_it(); !done) return tl::unexpected(done.error());
    if (auto done = record_it(); !done) return tl::unexpected(done.error());
    fs::remove_all(work_, error);
    return std::move(out_);
  }

 private:
  result<void> build() {
    if (auto done = make_stand_in_for_loader(); !done) return done;
    // As seen from the folder, whose own name may be anything.
    std::vector<std::string> command{"make", "-j2", "LEVEL_ZERO_LIB=verify/lib"};
    if (!options_.include_directory.empty())
      command.push_back("LEVEL_ZERO_INCLUDE=" + options_.include_directory);
    const auto built =
        run(command, {}, folder_, fs::absolute(work_ / "make.log"), build_timeout_ns);
    if (!built) return tl::unexpected(built.error());
    if (built->status != 0)
      return fail("the reproducer does not build:{}", last_lines(built->output));
    return {};
  }

  // A stand-in for the loader that has every name and no code: which loader the program gets is
  // decided when it runs, and the one that is here may lack newer functions.
  result<void> make_stand_in_for_loader() const {
    std::error_code error;
    const fs::path folder = fs::absolute(work_ / "lib", error);
    fs::create_directories(folder, error);
    std::ofstream names(folder / "names.c");
    for (const auto& function : trace_.model().functions)
      if (function.api != api::api_name::zex) names << "void " << function.name << "(void) {}\n";
    names.close();
    const auto compiled = run({"cc", "-shared", "-fPIC", "-w", "-fno-builtin",
                               "-Wl,-soname,libze_loader.so.1", "-o", "libze_loader.so", "names.c"},
                              {}, folder, folder / "cc.log", build_timeout_ns);
    if (!compiled) return tl::unexpected(compiled.error());
    if (compiled->status != 0) return fail("cannot compile:{}", last_lines(compiled->output));
    return {};
  }

  std::optional<std::string> library_path() const {
    const char* path = std::getenv("LD_LIBRARY_PATH");
    return path != nullptr ? std::optional<std::string>(path) : std::nullopt;
  }

  launch::way_in way() const {
    const std::string recorded = trace_.run().processes[selections_.front().process].fact("way in");
    return recorded == "loader" && !launch::find_stock_loader().empty() ? launch::way_in::loader
                                                                        : launch::way_in::direct;
  }

  result<void> run_it() {
    auto environment = launch::environment_for(way(), files_, library_path());
    if (!options_.driver.empty())
      environment.emplace_back("ZE_ENABLE_ALT_DRIVERS", options_.driver);
    environment.insert(environment.end(), options_.environment.begin(), options_.environment.end());
    const auto ran = run({"./repro"}, environment, folder_, work_ / "run.log", options_.timeout_ns);
    if (!ran) return tl::unexpected(ran.error());
    if (ran->timed_out)
      return fail("the reproducer did not end in {} s", options_.timeout_ns / 1'000'000'000);
    if (ran->status > 1)
      return fail("the reproducer could not be run (status {}):{}", ran->status,
                  last_lines(ran->output));
    out_.status = ran->status;
    out_.symptom_is_shown = ran->status == 1;
    out_.output = ran->output;
    return {};
  }

  result<void> record_it() {
    std::error_code error;
    launch::recording_options recording;
    recording.output = fs::absolute(work_ / "repro.zev", error).string();
    recording.memory = "off";
    recording.driver = options_.driver;
    fs::remove_all(launch::parts_folder_of(recording.output), error);
    if (auto done = launch::prepare_parts_folder(recording.output); !done) return done;
    auto environment = launch::environment_for_recording(way(), files_, recording, library_path());
    environment.insert(environment.end(), options_.environment.begin(), options_.environment.end());
    const auto ran =
        run({"./repro"}, environment, folder_, work_ / "record.log", options_.timeout_ns);
    if (!ran) return tl::unexpected(ran.error());
    const auto opened = trace::open_trace(launch::parts_folder_of(recording.output));
    if (!opened) return fail("the reproducer could not be recorded: {}", opened.error().message);
    return compare(opened->trace);
  }

  using sequences = std::vector<std::vector<sequence_line>>;

  static result<sequences> sequences_of(const trace::trace_file& trace,
                                        std::span<const replay::call_selection> selections) {
    sequences out;
    for (const auto& each : selections) {
      auto calls = call_sequence(trace, each);
      if (!calls) return tl::unexpected(calls.error());
      out.push_back(std::move(*calls));
    }
    return out;
  }

  result<void> compare(const trace::trace_file& again) {
    const auto processes = replay::processes_with_calls(again);
    if (!processes) return tl::unexpected(processes.error());
    const auto first = sequences_of(trace_, selections_);
    if (!first) return tl::unexpected(first.error());
    auto second = sequences_of(again, select_calls(again, *processes, UINT64_MAX));
    if (!second) return tl::unexpected(second.error());
    if (first->size() != second->size())
      out_.deviations.push_back(fmt::format("calls of {} processes were recorded, of {} now",
                                            first->size(), second->size()));
    match_sequences(*first, *second);
    for (size_t i = 0; i < std::min(first->size(), second->size()); ++i) {
      const auto differences = sequence_difference((*first)[i], (*second)[i]);
      if (selections_.size() > 1 && !differences.empty())
        out_.deviations.push_back(fmt::format("process {}:", selections_[i].process + 1));
      out_.deviations.insert(out_.deviations.end(), differences.begin(), differences.end());
    }
    return {};
  }

  fs::path folder_, work_;
  const trace::trace_file& trace_;
  std::span<const replay::call_selection> selections_;
  const launch::installation& files_;
  const verification_options& options_;
  verification out_;
};

}  // namespace

result<verification> verify(const fs::path& folder, const trace::trace_file& trace,
                            std::span<const replay::call_selection> selections,
                            const launch::installation& files,
                            const verification_options& options) {
  return verifier(folder, trace, selections, files, options).run_all();
}

}  // namespace zevent::repro
