#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/way_in.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace zevent::tool {

// What a verb does once its command line is read; the value is the exit status.
using action = std::function<int()>;

// A verb of the command: one file <verb>_command.cpp, one line in main.cpp's table.
struct verb {
  std::string_view name;
  std::string_view arguments;         // what follows the verb, for its usage line
  std::string_view summary;           // one line, for `zevent --help`
  action (*declare)(CLI::App& line);  // adds the options, returns the action
};

action declare_check(CLI::App& line);
action declare_doctor(CLI::App& line);
action declare_export(CLI::App& line);
action declare_profile(CLI::App& line);
action declare_record(CLI::App& line);
action declare_replay(CLI::App& line);
action declare_repro(CLI::App& line);
action declare_run(CLI::App& line);
action declare_show(CLI::App& line);
action declare_summary(CLI::App& line);

// `zevent run --check`: records the program, with these options of `zevent record` and these
// changes to its environment, and checks the recording when it has ended. The report goes to
// stderr. The status is the program's own unless that is 0, then that of `zevent check --fail-on`.
int run_checked(const std::vector<std::string>& recording,
                const launch::environment_changes& changes, const std::vector<std::string>& program,
                const std::string& fail_on);

// Exit statuses, the same in all verbs: docs/exit-status.md.
inline constexpr int exit_found = 1;   // a finding, a difference, something broken or damaged
inline constexpr int exit_usage = 2;   // wrong words on the command line
inline constexpr int exit_cannot = 2;  // cannot open, cannot write, refused

// Prints "zevent: VERB: message" on stderr and returns the status.
int complain(std::string_view verb_name, const failure& problem, int status);

// What an option for a number that may not be negative checks: a number too small would be taken
// for a very large one.
CLI::Validator is_whole_number();

// What --max-size of a recording checks.
CLI::Validator is_recording_size();

// Fails where something other than a file is in the place of a file that is to be written under
// another name first: the file would replace it, be it a pipe, a link or, for root, a device.
result<void> may_be_replaced(const std::string& path);

// The words after the verb's own options: the program to run and its arguments. An option that the
// verb does not know, or no program at all, is a failure.
result<std::vector<std::string>> program_of(const CLI::App& line);

}  // namespace zevent::tool
