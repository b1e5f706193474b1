#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "command.hpp"
#include "launch/program.hpp"

namespace zevent::tool {
namespace {

struct run_options {
  std::string way = "auto";
  bool verbose = false;
};

launch::way_choice choose(const run_options& options, const std::string& program) {
  if (options.way == "loader") return {launch::way_in::loader, "asked for"};
  if (options.way == "direct") return {launch::way_in::direct, "asked for"};
  return launch::choose_way_in(launch::find_in_path(program), launch::find_stock_loader());
}

int run(const CLI::App& line, const run_options& options) {
  const auto command = program_of(line);
  if (!command) return complain("run", command.error(), exit_usage);
  const auto files = launch::find_installation();
  if (!files) return complain("run", files.error(), 1);

  const auto choice = choose(options, command->front());
  if (options.verbose)
    fmt::print(stderr, "zevent: {} runs by the way '{}': {}\n", command->front(),
               launch::name_of(choice.way), choice.reason);
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  const auto changes = launch::environment_for(
      choice.way, *files,
      library_path != nullptr ? std::optional<std::string>(library_path) : std::nullopt);

  const auto problem = launch::become_program(*command, changes);
  return complain("run", problem,
                  launch::find_in_path(command->front()).empty() ? launch::exit_not_found
                                                                 : launch::exit_not_executable);
}

}  // namespace

action declare_run(CLI::App& line) {
  auto options = std::make_shared<run_options>();
  line.footer(
      "The program becomes this process: its exit status, signals and terminal are its own.\n"
      "The driver is reached through the installed Level Zero loader where that has every\n"
      "function the program uses, and directly otherwise.");
  line.add_option("--way", options->way, "auto, loader or direct")
      ->check(CLI::IsMember({"auto", "loader", "direct"}))
      ->capture_default_str();
  line.add_flag("-v,--verbose", options->verbose, "say which way was taken, and why");
  line.prefix_command();
  return [&line, options] { return run(line, *options); };
}

}  // namespace zevent::tool
