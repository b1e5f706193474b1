#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_size.hpp"
#include "command.hpp"
#include "file_kind.hpp"
#include "help_text.hpp"
#include "similar_word.hpp"

namespace zevent::tool {
namespace {

// Sorted as a newcomer meets them.
constexpr std::array verbs = {
    verb{"run", "[options] -- PROGRAM [arguments]", "run a program on the software driver",
         declare_run},
    verb{"record", "[options] -- PROGRAM [arguments]", "record what a program does",
         declare_record},
    verb{"profile", "[options] -- PROGRAM [arguments]", "time every command on the device",
         declare_profile},
    verb{"show", "[options] TRACE [FILTER]", "print the calls of a trace", declare_show},
    verb{"summary", "[options] TRACE [FILTER]", "where the time of a trace went", declare_summary},
    verb{"check", "[options] TRACE | -- PROGRAM [arguments]", "find what a program did wrong",
         declare_check},
    verb{"replay", "[options] TRACE", "make the recorded calls again and compare the results",
         declare_replay},
    verb{"repro", "[options] TRACE", "write a C program that makes the recorded calls",
         declare_repro},
    verb{"export", "[options] TRACE [FILTER]", "write a trace for other programs to read",
         declare_export},
    verb{"doctor", "[options]", "say what is installed here and what is missing", declare_doctor},
};

std::string overview() {
  std::string text =
      "zevent records, checks, reproduces and runs programs that synchronise through Level Zero "
      "events, with or without a GPU.\n\n"
      "usage: zevent VERB [options] [-- PROGRAM [arguments]]\n\nverbs:\n";
  for (const auto& each : verbs) text += fmt::format("  {:<10} {}\n", each.name, each.summary);
  text += "\n'zevent VERB --help' explains a verb; 'zevent --version' names this one.\n";
  return wrapped_paragraphs(text, help_width());
}

int usage_error(std::string_view where, std::string_view message) {
  fmt::print(stderr, "zevent: {}; see '{} --help'\n", message, where);
  return exit_usage;
}

std::string no_such_option(const CLI::App& line, std::string_view word) {
  std::vector<std::string> known;
  for (const auto* each : line.get_options())
    for (const auto& name : each->get_lnames()) known.push_back("--" + name);
  return fmt::format("there is no option {}{}", word, suggestion(word, known));
}

// What the parser says of an option without its value is of use to its author.
std::string reason_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  const size_t required = text.find(": 1 required ");
  return required == text.npos ? text : text.substr(0, required) + " needs a value";
}

// The first option that the verb does not know; what comes after "--" is not its own.
std::optional<std::string> unknown_option(const CLI::App& line) {
  for (const auto& word : line.remaining()) {
    if (word == "--") break;
    if (word.size() > 1 && word.starts_with("-")) return word;
  }
  return std::nullopt;
}

int run_verb(const verb& chosen, int argument_count, char** arguments) {
  CLI::App line(std::string(chosen.summary), fmt::format("zevent {}", chosen.name));
  line.formatter(std::make_shared<help_formatter>(chosen, help_width()));
  line.set_help_flag("-h,--help", "print this and do nothing");
  const action act = chosen.declare(line);
  try {
    line.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", line.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    // An unknown option is the better reason than an argument that is missing for its sake.
    if (const auto unknown = unknown_option(line))
      return usage_error(line.get_name(),
                         fmt::format("{}: {}", chosen.name, no_such_option(line, *unknown)));
    return usage_error(line.get_name(), fmt::format("{}: {}", chosen.name, reason_of(error)));
  }
  return act();
}

int run_tool(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "{}", overview());
    return exit_usage;
  }
  const std::string_view first = arguments[1];
  const bool asks_for_verb = first == "help" && argument_count > 2;
  if (!asks_for_verb && (first == "--help" || first == "-h" || first == "help")) {
    fmt::print("{}", overview());
    return 0;
  }
  if (first == "--version") {
    fmt::print("zevent {}\n", ZEVENT_VERSION);
    return 0;
  }
  const std::string_view wanted = arguments[asks_for_verb ? 2 : 1];
  std::string help = "--help";
  std::array<char*, 2> help_line = {arguments[0], help.data()};
  std::vector<std::string> names;
  for (const auto& each : verbs) {
    if (each.name == wanted)
      return asks_for_verb ? run_verb(each, 2, help_line.data())
                           : run_verb(each, argument_count - 1, arguments + 1);
    names.emplace_back(each.name);
  }
  return usage_error("zevent",
                     fmt::format("there is no verb '{}'{}", wanted, suggestion(wanted, names)));
}

}  // namespace

int complain(std::string_view verb_name, const failure& problem, int status) {
  fmt::print(stderr, "zevent: {}: {}\n", verb_name, problem.message);
  return status;
}

CLI::Validator is_whole_number() {
  return CLI::Validator(
      [](const std::string& text) {
        const bool is_one = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
          return c >= '0' && c <= '9';
        });
        return is_one ? std::string() : fmt::format("'{}' is not a whole number", text);
      },
      "");
}

CLI::Validator is_recording_size() {
  return CLI::Validator(
      [](const std::string& text) {
        // Less is taken by the description of the API and by one segment a thread.
        constexpr uint64_t least_bytes = 4'000'000;
        const auto bytes = parse_byte_size(text);
        if (!bytes) return bytes.error().message;
        return *bytes >= least_bytes ? std::string()
                                     : fmt::format("{} is too little; 4M is the least", text);
      },
      "SIZE");
}

result<void> may_be_replaced(const std::string& path) {
  std::error_code error;
  // Not what a link leads to: the link itself would be replaced, and that may be /dev/stdout.
  const auto there = std::filesystem::symlink_status(path, error);
  if (std::filesystem::is_directory(there)) return fail("{} is a folder; give a file", path);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return fail("{} is {}, and would be replaced by a file; give another name", path,
                std::filesystem::is_symlink(there) ? "a link" : "no file");
  return {};
}

result<std::vector<std::string>> program_of(const CLI::App& line) {
  auto words = line.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().starts_with("-")) {
    return fail("{}; see '{} --help'", no_such_option(line, words.front()), line.get_name());
  }
  if (words.empty() || words.front().empty())
    return fail("no program is given; see '{} --help'", line.get_name());
  if (kind_of(words.front()) == file_kind::trace)
    return fail("{} is a trace, not a program; 'zevent --help' lists what reads traces",
                words.front());
  return words;
}

}  // namespace zevent::tool

// A file that gets the number of a standard stream that is closed would be written to by whoever
// means the stream. The program that is run has them closed, as they were.
static void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

// What is said here is said without fmt, which throws where stderr cannot be written either.
int main(int argument_count, char** arguments) {
  try {
    occupy_closed_streams();
    const int status = zevent::tool::run_tool(argument_count, arguments);
    if (std::fflush(stdout) == 0) return status;
    if (errno == EPIPE) return 128 + SIGPIPE;
    std::fprintf(stderr, "zevent: cannot write the output: %s\n", std::strerror(errno));
  } catch (const std::system_error& error) {
    // A reader that has seen enough closes its end; that is not a failure.
    if (error.code() == std::errc::broken_pipe) return 128 + SIGPIPE;
    std::fprintf(stderr, "zevent: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zevent: %s\n", error.what());
  }
  return zevent::tool::exit_cannot;
}
