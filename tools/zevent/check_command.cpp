#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "base/message.hpp"
#include "base/temporary_folder.hpp"
#include "check/finding_report.hpp"
#include "check/grouping.hpp"
#include "check/kernel_names.hpp"
#include "check/rule_symptom.hpp"
#include "check/selection.hpp"
#include "check/trace_check.hpp"
#include "command.hpp"
#include "launch/program.hpp"
#include "model/symptom_search.hpp"
#include "report/call_text.hpp"
#include "report/progress_bar.hpp"
#include "report/recorded_driver.hpp"
#include "report_target.hpp"
#include "trace_argument.hpp"

namespace zevent::tool {
namespace {

namespace fs = std::filesystem;

// With --all, and with findings that are known and not to be shown, so many of a kind are looked
// at: others may come after them.
constexpr size_t max_of_a_kind_with_suppressions = 100'000;

struct check_line {
  check::check_options limits;
  std::vector<std::string> only, ignored;
  std::string least = "performance";
  std::string fail_on = "error";
  std::string suppressions;
  std::string output;
  std::string blocking, overrun;
  std::string symptom;
  bool json = false;
  bool sarif = false;
  bool list_rules = false;
  bool rules_markdown = false;
  bool all = false;
};

result<std::set<check::rule_id>> rules_named(const std::vector<std::string>& names) {
  std::set<check::rule_id> found;
  for (const auto& each : names) {
    const auto id = check::parse_rule_id(each);
    if (!id) return fail("there is no rule '{}'; 'zevent check --list-rules' lists them", each);
    found.insert(*id);
  }
  return found;
}

result<void> read_duration(const std::string& text, std::string_view option, uint64_t& into_ns) {
  if (text.empty()) return {};
  const auto duration = trace::parse_duration_ns(text);
  if (!duration) return fail("{}: '{}' is no duration; write 100us, 1ms, 2s", option, text);
  into_ns = *duration;
  return {};
}

result<check::selection> selection_of(check_line& line) {
  check::selection wanted;
  auto only = rules_named(line.only);
  if (!only) return tl::unexpected(only.error());
  auto ignored = rules_named(line.ignored);
  if (!ignored) return tl::unexpected(ignored.error());
  wanted.only = std::move(*only);
  wanted.ignored = std::move(*ignored);
  // What makes the status 1 is shown.
  wanted.least = std::max(*check::parse_severity(line.least), *check::parse_severity(line.fail_on));
  if (line.all) line.limits.max_of_a_kind = max_of_a_kind_with_suppressions;
  for (const auto& [text, option, into] :
       {std::tuple{line.blocking, "--blocking", &line.limits.blocking_ns},
        std::tuple{line.overrun, "--overrun", &line.limits.overrun_ns}}) {
    if (auto read = read_duration(text, option, *into); !read) return tl::unexpected(read.error());
  }
  if (!line.suppressions.empty()) {
    std::ifstream file(line.suppressions);
    if (!file) return fail("cannot read {}", line.suppressions);
    std::stringstream text;
    text << file.rdbuf();
    auto parsed = check::parse_suppressions(text.str(), line.suppressions);
    if (!parsed) return tl::unexpected(parsed.error());
    wanted.suppressions = std::move(*parsed);
    line.limits.max_of_a_kind = max_of_a_kind_with_suppressions;
  }
  return wanted;
}

// The calls that findings speak of, as `zevent show` prints them. Each block of the trace is
// unpacked once.
class call_printer {
 public:
  call_printer(const trace::trace_file& trace, const std::vector<check::finding>& findings,
               bool with_kernels) {
    if (with_kernels) kernels_ = check::kernel_names(trace);
    std::set<trace::call_number> wanted;
    for (const auto& each : findings) {
      wanted.insert(each.call);
      for (const auto& involved : each.calls) wanted.insert(involved.call);
    }
    const report::call_text printed(trace, {});
    std::optional<trace::call_reader> reader;
    size_t block = 0;
    for (const auto number : wanted) {
      if (!reader || trace.block_of(number) != block) reader.emplace(trace, number);
      block = trace.block_of(number);
      const trace::call* call = reader->next();
      while (call != nullptr && call->number < number) call = reader->next();
      if (call == nullptr || call->number != number) {
        reader.reset();
        continue;
      }
      lines_[number] = {printed.line(*call, reader->arguments()),
                        std::string(trace.function(*call).name)};
    }
  }

  const std::string& text(trace::call_number number) const { return line(number).text; }

  check::finding_subjects subjects_of(const check::finding& which) const {
    check::finding_subjects about;
    about.function = line(which.call).function;
    add_subjects(which.call, about);
    for (const auto& involved : which.calls) add_subjects(involved.call, about);
    return about;
  }

 private:
  struct printed_call {
    std::string text, function;
  };

  void add_subjects(trace::call_number number, check::finding_subjects& about) const {
    check::add_object_names(line(number).text, about.objects);
    for (const auto& each : about.objects) {
      const auto name = kernels_.find(each);
      if (name != kernels_.end()) about.kernels.insert(name->second);
    }
  }

  const printed_call& line(trace::call_number number) const {
    static const printed_call unreadable{"(this call cannot be read)", ""};
    const auto found = lines_.find(number);
    return found != lines_.end() ? found->second : unreadable;
  }

  std::map<trace::call_number, printed_call> lines_;
  std::map<std::string, std::string> kernels_;  // "kernel_1" is "reverse_add"
};

// Leaves what the user wants to see, and notes what the user's file has left out.
void leave_out(check::check_result& checked, const check::selection& wanted,
               const call_printer& printer, const std::string& file) {
  check::selection without_file = wanted;
  without_file.suppressions.clear();
  uint64_t suppressed = 0;
  std::vector<bool> is_used(wanted.suppressions.size(), false);
  std::erase_if(checked.findings, [&](const check::finding& each) {
    const auto about = printer.subjects_of(each);
    bool is_known = false;
    for (size_t i = 0; i < wanted.suppressions.size(); ++i) {
      if (!applies(wanted.suppressions[i], each, about)) continue;
      is_used[i] = is_known = true;
    }
    const bool is_wanted = selects(without_file, each, about);
    if (is_wanted && is_known) suppressed += 1 + each.more;
    return !is_wanted || is_known;
  });
  if (suppressed > 0)
    checked.notes.push_back(fmt::format("{} known finding{} left out ({})", suppressed,
                                        suppressed == 1 ? " is" : "s are", file));
  for (size_t i = 0; i < is_used.size(); ++i) {
    const auto& each = wanted.suppressions[i];
    const bool is_checked = !wanted.ignored.contains(each.rule) &&
                            (wanted.only.empty() || wanted.only.contains(each.rule));
    if (is_checked && !is_used[i])
      checked.notes.push_back(fmt::format("{}:{}: suppresses nothing here", file, each.line));
  }
}

// Instead of the rules: whether the recording shows a symptom.
int check_symptom(const check_line& line, const trace::trace_file& trace,
                  const report_target& target) {
  const auto wanted = model::parse_symptom(line.symptom);
  if (!wanted) return complain("check", wanted.error(), exit_usage);
  const auto* rule = std::get_if<model::rule_finding>(&*wanted);
  const auto shown =
      rule != nullptr ? check::find_shown(trace, *rule) : model::find_shown(trace, *wanted);
  if (!shown) return complain("check", shown.error(), exit_cannot);
  std::string text;
  for (const auto& each : *shown) text += each.why + "\n";
  text += fmt::format("the symptom {} {}\n", model::to_text(*wanted),
                      shown->empty() ? "is not there" : "is there");
  if (const auto written = target.write(text); !written)
    return complain("check", written.error(), exit_cannot);
  return shown->empty() ? 0 : exit_found;
}

check::check_result check_calls(const trace::trace_file& trace,
                                const check::check_options& limits) {
  report::progress_bar bar("checking");
  return check::check_trace(trace, limits,
                            [&](uint64_t done, uint64_t all) { bar.update(done, all); });
}

int check_opened(const check_line& line, const check::selection& wanted,
                 const result<trace::opened_trace>& opened, const std::string& name,
                 const report_target& target) {
  if (!opened) return complain("check", opened.error(), exit_cannot);
  if (!line.symptom.empty()) return check_symptom(line, opened->trace, target);
  auto checked = check_calls(opened->trace, line.limits);
  checked.notes.insert(checked.notes.begin(), opened->warnings.begin(), opened->warnings.end());

  const call_printer printer(opened->trace, checked.findings, !wanted.suppressions.empty());
  leave_out(checked, wanted, printer, line.suppressions);
  if (!line.all) {
    check::group_findings(checked.findings);
    check::keep_few_of_a_kind(checked.findings);
  }
  check::report_input input{name, checked.calls, checked.findings, checked.notes, {}, {}};
  input.call_text = [&](trace::call_number number) { return printer.text(number); };
  input.call_line = [](trace::call_number number) { return trace::number_of(number) + 1; };

  std::string text;
  if (line.sarif) {
    text = check::as_sarif(input, ZEVENT_VERSION);
  } else if (line.json) {
    text = check::as_json(input);
  } else {
    text = check::as_text(input, {target.wants_colour(), target.columns(100)});
  }
  if (const auto written = target.write(text); !written)
    return complain("check", written.error(), exit_cannot);
  const auto fails = *check::parse_severity(line.fail_on);
  const bool failed = std::any_of(checked.findings.begin(), checked.findings.end(),
                                  [&](const auto& each) { return each.level <= fails; });
  return failed ? exit_found : 0;
}

// What came of a program that was recorded with this very tool.
struct checked_run {
  launch::program_end end;
  std::optional<int> status;  // of the check; none where there was nothing to check
};

// The recording of the program, which is in no file any more: whatever ends the check, be it a
// reader that has seen enough or Ctrl-C, leaves nothing behind. Nullopt where nothing was recorded.
struct recorded_run {
  launch::program_end end;
  std::optional<result<trace::opened_trace>> recording;
};

result<recorded_run> record_for_check(const std::vector<std::string>& recording,
                                      const launch::environment_changes& changes,
                                      const std::vector<std::string>& program) {
  const temporary_folder folder("zevent-check");
  if (folder.path().empty()) return fail("cannot make a temporary folder");
  const fs::path trace = folder.path() / "trace.zev";
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  // EV-47 compares what memory held before and after the host has waited.
  std::vector<std::string> command = {self.string(), "record",   "--quiet",     "--memory",
                                      "results",     "--output", trace.string()};
  command.insert(command.end(), recording.begin(), recording.end());
  command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());
  const auto end = launch::run_program(command, changes);
  if (!end) return tl::unexpected(end.error());
  recorded_run out{*end, std::nullopt};
  if (fs::exists(trace, error)) out.recording = trace::open_trace(trace);
  return out;
}

result<checked_run> record_and_check(const check_line& line, const check::selection& wanted,
                                     const std::vector<std::string>& recording,
                                     const launch::environment_changes& changes,
                                     const std::vector<std::string>& program) {
  const report_target target(line.output, stderr);
  if (const auto possible = target.check(); !possible) return tl::unexpected(possible.error());
  const auto run = record_for_check(recording, changes, program);
  if (!run) return tl::unexpected(run.error());
  checked_run out{run->end, std::nullopt};
  if (run->recording && *run->recording)
    for (const auto& each : report::describe_hardware_drivers((*run->recording)->trace.run()))
      say("check: recorded on {}", each);
  // Why there is no recording was said by `zevent record`.
  if (run->recording)
    out.status = check_opened(line, wanted, *run->recording,
                              fs::path(program.front()).filename().string(), target);
  return out;
}

int check_program(const check_line& line, const check::selection& wanted,
                  const std::vector<std::string>& program) {
  const auto run = record_and_check(line, wanted, {}, {}, program);
  if (!run) return complain("check", run.error(), exit_cannot);
  const int ended_with = run->end.exit_status;
  if (!run->status) {
    const bool was_started =
        ended_with != launch::exit_not_executable && ended_with != launch::exit_not_found;
    return complain("check", {"there is nothing to check"}, was_started ? exit_cannot : ended_with);
  }
  if (ended_with != 0)
    fmt::print(stderr, "zevent: check: {} ended with status {}\n", program.front(), ended_with);
  return *run->status;
}

// What is to be checked: the words from the first that is no option on. A trace may have options
// behind it; a program, which stands behind --, has its own.
struct target {
  std::string trace;  // empty: a program
  std::vector<std::string> program;
};

result<target> target_of(CLI::App& app) {
  auto words = app.remaining();
  if (words.empty() || words.front().starts_with("-")) {
    if (words.empty())
      return fail("neither a trace nor a program is given; see 'zevent check --help'");
    auto program = program_of(app);
    if (!program) return tl::unexpected(program.error());
    return target{"", std::move(*program)};
  }
  const std::string trace = words.front();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ParseError& error) {
    return fail("{}", error.what());
  }
  if (!app.remaining().empty() && app.remaining().front() == "--")
    return fail("a trace is checked, or a program behind --, not both at a time");
  if (!app.remaining().empty())
    return fail("unexpected argument '{}'; to run a program: zevent check -- PROGRAM",
                app.remaining().front());
  return target{trace, {}};
}

int check(CLI::App& app, check_line& line) {
  if (line.list_rules || line.rules_markdown) {
    fmt::print("{}", line.list_rules ? check::rules_as_text() : check::rules_as_markdown());
    return 0;
  }
  const auto what = target_of(app);
  if (!what) return complain("check", what.error(), exit_usage);
  const auto wanted = selection_of(line);
  if (!wanted) return complain("check", wanted.error(), exit_usage);
  if (what->trace.empty()) return check_program(line, *wanted, what->program);
  const report_target target(line.output, stdout);
  if (const auto possible = target.check(); !possible)
    return complain("check", possible.error(), exit_cannot);
  std::error_code error;
  if (!line.output.empty() && fs::equivalent(line.output, what->trace, error))
    return complain("check",
                    {fmt::format("{} is the trace itself; give another file", what->trace)},
                    exit_usage);
  return check_opened(line, *wanted, open_named("check", what->trace), what->trace, target);
}

}  // namespace

int run_checked(const std::vector<std::string>& recording,
                const launch::environment_changes& changes, const std::vector<std::string>& program,
                const std::string& fail_on) {
  check_line line;
  line.fail_on = fail_on;
  const auto wanted = selection_of(line);
  if (!wanted) return complain("run", wanted.error(), exit_usage);
  const auto run = record_and_check(line, *wanted, recording, changes, program);
  if (!run) return complain("run", run.error(), exit_cannot);
  if (run->end.exit_status != 0) launch::end_like(run->end);
  return run->status.value_or(exit_cannot);
}

action declare_check(CLI::App& line) {
  auto options = std::make_shared<check_line>();
  line.footer(
      "Checks a trace, or records the program and checks that. The report goes to standard "
      "output;\n"
      "with a program, whose standard output is its own, to standard error, unless -o says\n"
      "otherwise. Exit status: 0 no errors found, 1 errors found (--fail-on), 2 could not check.\n"
      "docs/rules.md explains the rules.");
  line.add_option("--rule", options->only, "only this rule (again for more): EV-25")
      ->type_name("RULE")
      ->allow_extra_args(false);
  line.add_option("--ignore", options->ignored, "not this rule (again for more)")
      ->type_name("RULE")
      ->allow_extra_args(false);
  line.add_option("--severity", options->least,
                  "what is shown: error, hazard, performance or note, and what is worse")
      ->check(CLI::IsMember({"error", "hazard", "performance", "note"}))
      ->capture_default_str();
  line.add_flag("--all", options->all, "each finding by itself, also those that have one cause");
  line.add_option("--fail-on", options->fail_on,
                  "the exit status is 1 for: error, hazard or performance, and what is worse")
      ->check(CLI::IsMember({"error", "hazard", "performance"}))
      ->capture_default_str();
  line.add_option("--suppressions", options->suppressions,
                  "a file with one rule a line, and perhaps a function, object or kernel")
      ->type_name("FILE");
  line.add_option("--blocking", options->blocking,
                  "how long a call that should not block may take (default 100us)")
      ->type_name("DURATION");
  line.add_option("--overrun", options->overrun,
                  "how much longer than its timeout a wait may take (default 1ms)")
      ->type_name("DURATION");
  line.add_option("--polls", options->limits.polls,
                  "how often the same query may be repeated with nothing in between")
      ->check([](const std::string& text) {
        return text == "0" || text.starts_with('-') ? "'" + text + "' is not 1 or more"
                                                    : std::string();
      })
      ->capture_default_str();
  line.add_flag("--leaks", options->limits.leaks,
                "report objects that are never destroyed as hazards");
  line.add_flag("--importer-may-signal", options->limits.importer_may_signal,
                "counter-based events may be signalled by the process that opened them");
  line.add_option("--symptom", options->symptom,
                  "instead of the rules: whether it shows 'CALL>DURATION', 'CALL result=NAME', "
                  "hang, crash, crash=SIGNAL, exit=N or '[CALL ]EV-NN'")
      ->type_name("SYMPTOM");
  line.add_option("-o,--output", options->output,
                  "write the report to this file; - is standard output")
      ->type_name("FILE");
  auto* json = line.add_flag("--json", options->json, "the report as JSON");
  line.add_flag("--sarif", options->sarif, "the report as SARIF 2.1.0")->excludes(json);
  line.add_flag("--list-rules", options->list_rules, "one line a rule, and nothing else");
  line.add_flag("--rules-markdown", options->rules_markdown, "docs/rules.md");
  line.prefix_command();
  return [&line, options] { return check(line, *options); };
}

}  // namespace zevent::tool
