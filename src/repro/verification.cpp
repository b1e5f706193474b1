#include "repro/verification.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

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
    if (auto done = is_rule() ? check_runs() : watch_runs(); !done)
      return tl::unexpected(done.error());
    fs::remove_all(work_, error);
    out_.reached = judge(options_.symptom, out_.runs);
    return std::move(out_);
  }

 private:
  result<void> build() {
    if (auto done = make_stand_in_for_loader(); !done) return done;
    // As seen from the folder, whose own name may be anything.
    std::vector<std::string> command{"make", "-j2", "LEVEL_ZERO_LIB=verify/lib"};
    if (!files_.include_directory.empty())
      command.push_back("LEVEL_ZERO_INCLUDE=" + files_.include_directory);
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

  // As the program was recorded, unless the loader that is here is missing or lacks functions that
  // the reproducer calls: the recording may come from a machine with a newer one.
  launch::way_in way() const {
    const std::string recorded = trace_.run().processes[selections_.front().process].fact("way in");
    if (recorded != "loader") return launch::way_in::direct;
    return launch::choose_way_in((folder_ / "repro").string(), launch::find_stock_loader()).way;
  }

  bool is_rule() const { return std::holds_alternative<model::rule_finding>(options_.symptom); }

  launch::environment_changes with_recorded(launch::environment_changes environment) const {
    environment.insert(environment.end(), options_.environment.begin(), options_.environment.end());
    return environment;
  }

  // The symptom is what the reproducer says of it; its calls are recorded once.
  result<void> watch_runs() {
    const auto environment = environment_to_run_in();
    if (!environment) return tl::unexpected(environment.error());
    const auto recorded_calls = calls_that_show_it();
    do {
      const auto ran = run_once(*environment, "run.log");
      if (!ran) return tl::unexpected(ran.error());
      out_.runs.push_back(observe(ran->status, ran->output));
      for (auto& each : out_.runs.back().calls)
        each.recorded = recorded_calls.contains(each.number);
      note_output(*ran);
      tell_progress();
    } while (!is_enough());
    if (auto done = expect_runs(); !done) return done;
    const auto recorded = record_it();
    if (!recorded) return tl::unexpected(recorded.error());
    tell_progress();
    return compare(recorded->trace);
  }

  result<launch::environment_changes> environment_to_run_in() const {
    // Without a loader it is the recorder that leads to another driver.
    if (!options_.driver.empty() && way() == launch::way_in::direct)
      return environment_to_record_in("off");
    auto environment = launch::environment_for(way(), files_, library_path());
    if (!options_.driver.empty())
      environment.emplace_back("ZE_ENABLE_ALT_DRIVERS", options_.driver);
    return with_recorded(std::move(environment));
  }

  // With an empty folder for the recording, which is there until the next one.
  result<launch::environment_changes> environment_to_record_in(const char* memory) const {
    std::error_code error;
    launch::recording_options recording;
    recording.output = recording_path();
    recording.memory = memory;
    if (!options_.driver.empty()) recording.drivers = {options_.driver};
    fs::remove_all(launch::parts_folder_of(recording.output), error);
    if (auto done = launch::prepare_parts_folder(recording.output); !done)
      return tl::unexpected(done.error());
    return with_recorded(
        launch::environment_for_recording(way(), files_, recording, library_path()));
  }

  std::string recording_path() const {
    std::error_code error;
    return fs::absolute(work_ / "repro.zev", error).string();
  }

  std::set<uint64_t> calls_that_show_it() const {
    std::set<uint64_t> out;
    if (const auto shown = model::find_shown(trace_, options_.symptom))
      for (const auto& each : *shown) out.insert(each.call);
    return out;
  }

  // The symptom is what the checker finds in recordings of the reproducer.
  result<void> check_runs() {
    const auto recorded = recorded_findings();
    if (!recorded) return tl::unexpected(recorded.error());
    do {
      const auto again = record_it();
      if (!again) return tl::unexpected(again.error());
      if (out_.runs.empty())
        if (auto done = compare(again->trace); !done) return done;
      if (auto done = check_run(again->trace, again->status, *recorded); !done) return done;
      tell_progress();
    } while (!is_enough());
    return expect_runs();
  }

  // Of the processes that the reproducer has.
  result<std::vector<model::found_symptom>> recorded_findings() const {
    auto found = options_.find_rule(trace_, std::get<model::rule_finding>(options_.symptom));
    if (!found) return found;
    std::erase_if(*found, [&](const model::found_symptom& each) {
      trace::call_reader reader(trace_, trace::call_number{each.call});
      const auto* call = reader.next();
      return call == nullptr ||
             std::none_of(selections_.begin(), selections_.end(), [&](const auto& selected) {
               return selected.process == trace_.process_of(*call) && each.call <= selected.last;
             });
    });
    return found;
  }

  result<void> check_run(const trace::trace_file& again, int status,
                         const std::vector<model::found_symptom>& recorded) {
    const auto& wanted = std::get<model::rule_finding>(options_.symptom);
    const auto found = options_.find_rule(again, {std::nullopt, wanted.rule});
    if (!found) return tl::unexpected(found.error());
    const auto pairs = counterparts_in(again);
    if (!pairs) return tl::unexpected(pairs.error());
    observed_run seen;
    using end = observed_run::end;
    seen.how = status > 1 ? end::could_not_run : found->empty() ? end::not_shown : end::shown;
    for (const auto& each : recorded) {
      trace::call_reader reader(trace_, trace::call_number{each.call});
      const auto* call = reader.next();
      const auto counterpart = pairs->find(each.call);
      observed_call& noted = seen.calls.emplace_back();
      noted.number = each.call;
      if (call != nullptr) noted.function = trace_.function(*call).name;
      noted.shows = counterpart != pairs->end() &&
                    std::any_of(found->begin(), found->end(), [&](const auto& finding) {
                      return finding.call == counterpart->second;
                    });
      noted.outcome = noted.shows ? fmt::format("EV-{}", wanted.rule) : "no finding";
    }
    out_.runs.push_back(std::move(seen));
    return {};
  }

  result<finished_run> run_once(const launch::environment_changes& environment, const char* log) {
    const auto began = std::chrono::steady_clock::now();
    auto ran = run({"./repro"}, environment, folder_, work_ / log, options_.timeout_ns);
    if (!ran) return ran;
    if (ran->timed_out)
      return fail("the reproducer did not end in {} s", options_.timeout_ns / 1'000'000'000);
    spent_ns_ += static_cast<uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
    last_output_ = last_lines(ran->output);
    last_status_ = ran->status;
    return ran;
  }

  // Once the verdict cannot change, more runs would only give more figures.
  bool is_enough() const {
    if (out_.runs.size() >= options_.repeat) return true;
    if (std::holds_alternative<model::no_symptom>(options_.symptom)) return false;
    if (needs_figures(options_.symptom) && spent_ns_ < options_.enough_ns) return false;
    return is_decided(options_.symptom, out_.runs, options_.repeat);
  }

  result<void> expect_runs() const {
    if (judge(options_.symptom, out_.runs).what != verdict::kind::could_not_run) return {};
    return fail("the reproducer could not be run (status {}):{}", last_status_, last_output_);
  }

  void note_output(const finished_run& ran) {
    if (!out_.output.empty() || ran.status > 1) return;
    for (const auto& each : ran.output)
      if (!parse_call_line(each) && !each.starts_with("symptom ")) out_.output.push_back(each);
  }

  void tell_progress() const {
    if (options_.progress)
      options_.progress(out_.runs.size(), std::max<uint64_t>(options_.repeat, out_.runs.size()));
  }

  struct recorded_run {
    trace::trace_file trace;
    int status = 0;  // of the reproducer
  };

  result<recorded_run> record_it() {
    // Rules look at contents too.
    const auto environment = environment_to_record_in(is_rule() ? "results" : "off");
    if (!environment) return tl::unexpected(environment.error());
    const auto ran = run_once(*environment, "record.log");
    if (!ran) return tl::unexpected(ran.error());
    auto opened = trace::open_trace(launch::parts_folder_of(recording_path()));
    if (!opened) return fail("the reproducer could not be recorded: {}", opened.error().message);
    return recorded_run{std::move(opened->trace), ran->status};
  }

  using sequences = std::vector<std::vector<sequence_line>>;

  result<sequences> sequences_of(const trace::trace_file& trace,
                                 std::span<const replay::call_selection> selections) const {
    sequences out;
    for (const auto& each : selections) {
      auto calls = call_sequence(trace, each, options_.polls);
      if (!calls) return tl::unexpected(calls.error());
      out.push_back(std::move(*calls));
    }
    return out;
  }

  struct sequence_pair {
    sequences first, second;
  };

  // Of the recording and of the reproducer, processes in the same order.
  result<sequence_pair> sequences_with(const trace::trace_file& again) const {
    const auto processes = replay::processes_with_calls(again);
    if (!processes) return tl::unexpected(processes.error());
    auto first = sequences_of(trace_, selections_);
    if (!first) return tl::unexpected(first.error());
    auto second = sequences_of(again, select_calls(again, *processes, UINT64_MAX));
    if (!second) return tl::unexpected(second.error());
    match_sequences(*first, *second);
    return sequence_pair{std::move(*first), std::move(*second)};
  }

  result<std::map<uint64_t, uint64_t>> counterparts_in(const trace::trace_file& again) const {
    const auto both = sequences_with(again);
    if (!both) return tl::unexpected(both.error());
    std::map<uint64_t, uint64_t> out;
    for (size_t i = 0; i < std::min(both->first.size(), both->second.size()); ++i)
      out.merge(counterparts(both->first[i], both->second[i]));
    return out;
  }

  result<void> compare(const trace::trace_file& again) {
    const auto both = sequences_with(again);
    if (!both) return tl::unexpected(both.error());
    const auto* first = &both->first;
    const auto* second = &both->second;
    if (first->size() != second->size())
      out_.deviations.push_back(fmt::format("calls of {} processes were recorded, of {} now",
                                            first->size(), second->size()));
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
  uint64_t spent_ns_ = 0;  // by runs
  int last_status_ = 0;
  std::string last_output_;
};

}  // namespace

result<verification> verify(const fs::path& folder, const trace::trace_file& trace,
                            std::span<const replay::call_selection> selections,
                            const launch::installation& files,
                            const verification_options& options) {
  return verifier(folder, trace, selections, files, options).run_all();
}

}  // namespace zevent::repro
