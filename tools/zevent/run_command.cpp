#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "base/environment.hpp"
#include "base/faults.hpp"
#include "base/quirks.hpp"
#include "base/terminal.hpp"
#include "command.hpp"
#include "launch/program.hpp"
#include "launch/sweep.hpp"
#include "launch/trials.hpp"

namespace zevent::tool {
namespace {

struct run_options {
  std::string way = "auto";
  bool verbose = false;
  std::vector<std::string> faults;
  std::string list_faults;
  std::vector<std::string> quirks;
  std::string list_quirks;
  uint64_t chaos_seeds = 0;
  std::string sweep;
  uint64_t sweep_runs = 200;
  std::string seed;
  uint64_t timeout_s = 60;
  bool check = false;
  std::string fail_on = "error";
};

result<std::string> joined_faults(const run_options& options) {
  std::string joined;
  for (const auto& each : options.faults) joined += (joined.empty() ? "" : ",") + each;
  if (const auto parsed = parse_faults(joined); !parsed) return tl::unexpected(parsed.error());
  return joined;
}

result<std::string> joined_quirks(const run_options& options) {
  std::string joined;
  for (const auto& each : options.quirks) joined += (joined.empty() ? "" : ",") + each;
  if (const auto parsed = parse_quirks(joined); !parsed) return tl::unexpected(parsed.error());
  return joined;
}

result<launch::environment_changes> environment_of(const run_options& options,
                                                   const std::string& program) {
  const auto files = launch::find_installation();
  if (!files) return tl::unexpected(files.error());
  const auto faults = joined_faults(options);
  if (!faults) return tl::unexpected(faults.error());
  const auto quirks = joined_quirks(options);
  if (!quirks) return tl::unexpected(quirks.error());

  const auto choice = launch::choose_way_in_as_asked(options.way, program);
  if (options.verbose)
    fmt::print(stderr, "zevent: {} runs by the way '{}': {}\n", program,
               launch::name_of(choice.way), choice.reason);
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  launch::environment_changes changes;
  // The recorder finds its own way to the driver.
  if (!options.check) {
    changes = launch::environment_for(
        choice.way, *files,
        library_path != nullptr ? std::optional<std::string>(library_path) : std::nullopt);
  }
  if (!faults->empty()) changes.emplace_back("ZEVENT_FAULTS", *faults);
  if (!quirks->empty()) changes.emplace_back("ZEVENT_QUIRKS", *quirks);
  if (!options.seed.empty()) changes.emplace_back("ZEVENT_CHAOS", options.seed);
  return changes;
}

void print_counts(std::string_view name, const launch::trial_counts& counts, uint64_t bad) {
  fmt::print("{:<8} {:>5} runs  {:>5} bad   {:>5} {:>7} {:>5} {:>6}\n", name, counts.runs, bad,
             counts.failed, counts.crashed, counts.hung, counts.output_differs);
}

// As a shell takes it for one word.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string within;
  for (const char each : word) within += each == '\'' ? "'\\''" : std::string(1, each);
  return "'" + within + "'";
}

// The command that makes one run again: the options that hold for all runs, and what is its own.
std::string command_for_one(const run_options& options, const std::string& own,
                            const std::vector<std::string>& command) {
  std::string line = "zevent run";
  if (options.way != "auto") line += " --way " + options.way;
  for (const auto& each : options.faults) line += " --fault " + each;
  for (const auto& each : options.quirks) line += " --quirks " + each;
  if (!options.seed.empty()) line += " --seed " + options.seed;
  line += " " + own + " --";
  for (const auto& word : command) line += " " + quoted(word);
  return line;
}

// CLI::Range takes -1 for the largest number there is.
std::string is_seed(const std::string& word) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem == std::errc() && end == word.data() + word.size()) return "";
  return fmt::format("{} is not a number from 0 to {}", word, UINT64_MAX);
}

// 0: the program never failed; 1: it failed under chaos; 128 and more: interrupted.
int run_under_chaos(const run_options& options, const std::vector<std::string>& command,
                    launch::environment_changes changes) {
  changes.emplace_back("ZEVENT_CHAOS", "");  // a plain run is plain, whatever was set before
  const bool shows_progress = wants_colour(stderr);
  const launch::interruption by_user;
  const auto report = launch::run_trials(
      {{command, changes, options.timeout_s * 1000, &by_user}, options.chaos_seeds},
      [&](uint64_t done, uint64_t total) {
        if (shows_progress) fmt::print(stderr, "\r{} of {} runs", done, total);
      });
  if (shows_progress) fmt::print(stderr, "\r                    \r");
  if (!report) return complain("run", report.error(), exit_usage);

  fmt::print("                             failed crashed  hung output\n");
  print_counts("plain", report->plain, report->bad(report->plain));
  print_counts("chaos", report->chaos, report->bad(report->chaos));
  if (!report->output_counts())
    fmt::print("its output is not always the same without chaos either, and does not count\n");
  if (report->always_fails_plainly()) fmt::print("it fails each time without chaos, too\n");
  const bool interrupted = report->interrupted_by != 0;
  if (interrupted)
    fmt::print("interrupted after {} of {} runs\n", report->plain.runs + report->chaos.runs,
               options.chaos_seeds * 2);
  const auto first_bad = report->first_bad_seed();
  if (first_bad) {
    const std::string seed = std::to_string(*first_bad);
    fmt::print("first bad seed {}; to repeat it: {}\n", seed,
               command_for_one(options, "--seed " + seed, command));
  } else if (report->never_met_the_driver()) {
    return complain(
        "run",
        failure{fmt::format("{} did not use the software driver, so chaos had no part in its "
                            "runs; -v says how it should have met it",
                            command.front())},
        interrupted ? 128 + report->interrupted_by : exit_usage);
  } else {
    fmt::print("never failed under chaos{}\n", interrupted ? " so far" : "");
  }
  if (interrupted) return 128 + report->interrupted_by;
  return first_bad ? 1 : 0;
}

std::string end_of(const launch::sweep_report& report) {
  if (report.interrupted_by != 0) return "; interrupted, there may be more";
  return report.reached_the_end ? " (there are no more)" : "; --runs tries more";
}

// 0: the program ended each time; 1: it crashed or hung; 128 and more: interrupted.
int run_sweep(const run_options& options, const std::vector<std::string>& command,
              const launch::environment_changes& changes) {
  const auto faults = parse_faults(options.sweep);
  if (!faults) return complain("run", faults.error(), exit_usage);
  const fault_description* swept = nullptr;
  for (const auto& each : fault_descriptions())
    if (each.name == options.sweep) swept = &each;
  if (swept == nullptr)
    return complain("run", failure{"--sweep takes the name of one fault, without a number"},
                    exit_usage);
  const auto others = joined_faults(options);
  if (!others) return complain("run", others.error(), exit_usage);
  const bool shows_progress = wants_colour(stderr);
  const launch::interruption by_user;
  const auto report = launch::run_sweep(
      {{command, changes, options.timeout_s * 1000, &by_user},
       swept->id,
       options.sweep_runs,
       others->empty() ? read_environment("ZEVENT_FAULTS").value_or("") : *others},
      [&](uint64_t done) {
        if (shows_progress) fmt::print(stderr, "\r{} runs", done);
      });
  if (shows_progress) fmt::print(stderr, "\r                    \r");
  if (!report) return complain("run", report.error(), exit_usage);

  const auto& counts = report->counts;
  fmt::print("{} at each of {} occasions{}\n", swept->name, counts.struck, end_of(*report));
  fmt::print("  {:>5} ended with an error\n  {:>5} went on as if nothing had happened\n",
             counts.error, counts.unnoticed);
  fmt::print("  {:>5} ended well with other output\n  {:>5} crashed\n  {:>5} hung\n",
             counts.other_output, counts.crashed, counts.hung);
  if (report->first_bad)
    fmt::print(
        "to repeat the first: {}\n",
        command_for_one(options, fmt::format("--fault {}:{}", swept->name, *report->first_bad),
                        command));
  if (report->interrupted_by != 0) return 128 + report->interrupted_by;
  return report->first_bad ? 1 : 0;
}

int run(const CLI::App& line, const run_options& options) {
  if (!options.list_faults.empty()) {
    fmt::print("{}", options.list_faults == "markdown" ? faults_as_markdown() : faults_as_text());
    return 0;
  }
  if (!options.list_quirks.empty()) {
    fmt::print("{}", options.list_quirks == "markdown" ? quirks_as_markdown() : quirks_as_text());
    return 0;
  }
  const auto command = program_of(line);
  if (!command) return complain("run", command.error(), exit_usage);
  const auto changes = environment_of(options, command->front());
  if (!changes) return complain("run", changes.error(), exit_usage);
  if (!options.sweep.empty()) return run_sweep(options, *command, *changes);
  if (options.check)
    return run_checked({"--driver", "software", "--way", options.way}, *changes, *command,
                       options.fail_on);
  if (options.chaos_seeds > 0) return run_under_chaos(options, *command, *changes);

  launch::log_start(*command, *changes);
  const auto problem = launch::become_program(*command, *changes);
  return complain("run", problem, launch::exit_status_of_failed_start(command->front()));
}

}  // namespace

action declare_run(CLI::App& line) {
  auto options = std::make_shared<run_options>();
  line.footer(
      "The program becomes this process: its exit status, signals and terminal are its own.\n"
      "The driver is reached through the installed Level Zero loader where that has every\n"
      "function the program uses, and directly otherwise.\n\n"
      "With --chaos=N the program runs N times plainly and N times under chaos; a run is bad\n"
      "when it crashes, hangs, ends with an error, or prints otherwise than the first plain run\n"
      "that ended well; what it prints does not count where plain runs differ, too. Exit status\n"
      "then: 0 never bad, 1 bad under chaos, 2 could not try, or the program did not use the\n"
      "driver.\n\n"
      "With --sweep=FAULT the program runs with the fault at its first occasion, then at its\n"
      "second, and so on: every error path once. Exit status then: 0 it ended each time, 1 it\n"
      "crashed or hung, 2 could not try.\n\n"
      "Ctrl-C ends both early: what was found so far is printed, and the exit status is 130.\n\n"
      "With --check the run is recorded, and when it has ended 'zevent check' says on stderr\n"
      "what it did wrong. Exit status then: the program's unless it is 0; else 0 no errors\n"
      "found, 1 errors found (--fail-on), 2 could not check.");
  line.add_option("--way", options->way, "how the program meets the driver: docs/architecture.md")
      ->check(CLI::IsMember({"auto", "loader", "direct"}))
      ->capture_default_str();
  line.add_option("--fault", options->faults, "make the driver misbehave; may be repeated")
      ->option_text("NAME[:N]")
      ->expected(1)
      ->take_all();
  line.add_option("--list-faults", options->list_faults,
                  "the faults there are, as text or markdown")
      ->expected(0, 1)
      ->default_str("text")
      ->check(CLI::IsMember({"text", "markdown"}));
  line.add_option("--quirks", options->quirks,
                  "make the driver behave as Intel's of a release, or as one quirk says; may be "
                  "repeated")
      ->option_text("intel-YY.WW|NAME")
      ->expected(1)
      ->take_all();
  line.add_option("--list-quirks", options->list_quirks,
                  "the quirks there are, as text or markdown")
      ->expected(0, 1)
      ->default_str("text")
      ->check(CLI::IsMember({"text", "markdown"}));
  auto* chaos = line.add_option("--chaos", options->chaos_seeds, "try the program under N seeds")
                    ->expected(0, 1)
                    ->default_str("20")
                    ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}).description(""))
                    ->type_name("N");
  auto* sweep =
      line.add_option("--sweep", options->sweep, "try the program with this fault at each occasion")
          ->type_name("FAULT")
          ->excludes(chaos);
  line.add_option("--runs", options->sweep_runs, "how many occasions --sweep tries at most")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}).description(""))
      ->capture_default_str()
      ->type_name("N");
  auto* check =
      line.add_flag("--check", options->check, "check what the program did, when it has ended")
          ->excludes(chaos)
          ->excludes(sweep);
  line.add_option("--fail-on", options->fail_on,
                  "with --check, the exit status is 1 for: error, hazard or performance, and what "
                  "is worse")
      ->check(CLI::IsMember({"error", "hazard", "performance"}))
      ->capture_default_str()
      ->needs(check);
  line.add_option("--seed", options->seed, "run under chaos with this seed")
      ->check(is_seed)
      ->type_name("SEED")
      ->excludes(chaos);
  line.add_option("--timeout", options->timeout_s,
                  "seconds after which a run under --chaos or --sweep hangs")
      ->check(CLI::Range(uint64_t{1}, uint64_t{86'400}).description(""))
      ->capture_default_str()
      ->type_name("S");
  line.add_flag("-v,--verbose", options->verbose, "say which way was taken, and why");
  line.prefix_command();
  return [&line, options] { return run(line, *options); };
}

}  // namespace zevent::tool
