#include "repro/project.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "api/call_codec.hpp"
#include "replay/recorded_environment.hpp"
#include "repro/c_render.hpp"
#include "repro/escape.hpp"

namespace zevent::repro {
namespace {

namespace fs = std::filesystem;

result<void> write_file(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return fail("cannot write {}", path.string());
  return {};
}

std::vector<std::string> c_files(const c_program& program) {
  std::vector<std::string> names;
  for (const auto& each : program.sources)
    if (each.name.ends_with(".c")) names.push_back(each.name);
  return names;
}

std::string listed(const std::vector<std::string>& words, std::string_view suffix = "") {
  std::string out;
  for (const auto& each : words) {
    const std::string stem = suffix.empty() ? each : each.substr(0, each.rfind('.'));
    out += fmt::format("{}{}{}", out.empty() ? "" : " ", stem, suffix);
  }
  return out;
}

std::string libraries(const c_program& program) {
  std::string out = "-lze_loader";
  if (program.threads > 1) out += " -pthread";
  if (program.needs.helpers.contains("find_symbol")) out += " -ldl";
  return out;
}

std::string makefile(const c_program& program) {
  const auto files = c_files(program);
  const bool has_header = program.sources.size() > files.size();
  return fmt::format(
      "# make            builds ./repro\n"
      "# make run        builds and runs it\n"
      "# LEVEL_ZERO=DIR  where include/level_zero/ze_api.h and lib/libze_loader.so are, if the\n"
      "#                 compiler does not find them by itself\n"
      "CC ?= cc\n"
      "CFLAGS ?= -O1 -Wall -Wextra\n"
      "LEVEL_ZERO ?=\n"
      "ifneq ($(LEVEL_ZERO),)\n"
      "LEVEL_ZERO_INCLUDE ?= $(LEVEL_ZERO)/include\n"
      "LEVEL_ZERO_LIB ?= $(LEVEL_ZERO)/lib\n"
      "endif\n"
      "override CPPFLAGS += $(if $(LEVEL_ZERO_INCLUDE),-isystem \"$(LEVEL_ZERO_INCLUDE)\")\n"
      "override LDFLAGS += $(if $(LEVEL_ZERO_LIB),-L\"$(LEVEL_ZERO_LIB)\")\n"
      "\n"
      "OBJECTS = {}\n"
      "\n"
      "repro: $(OBJECTS)\n"
      "\t$(CC) $(LDFLAGS) -o $@ $(OBJECTS) {}\n"
      "\n"
      "%.o: %.c{}\n"
      "\t$(CC) -std=c99 $(CPPFLAGS) $(CFLAGS){} -c -o $@ $<\n"
      "\n"
      "run: repro\n"
      "\t./repro\n"
      "\n"
      "clean:\n"
      "\trm -f repro $(OBJECTS)\n"
      "\n"
      ".PHONY: run clean\n",
      listed(files, ".o"), libraries(program), has_header ? " repro.h" : "",
      program.threads > 1 ? " -pthread" : "");
}

std::string cmake_file(const c_program& program) {
  return fmt::format(
      "cmake_minimum_required(VERSION 3.10)\n"
      "project(repro C)\n"
      "set(CMAKE_C_STANDARD 99)\n"
      "find_path(LEVEL_ZERO_INCLUDE_DIR level_zero/ze_api.h REQUIRED)\n"
      "find_library(LEVEL_ZERO_LIBRARY ze_loader REQUIRED)\n"
      "{}"
      "add_executable(repro {})\n"
      "target_include_directories(repro SYSTEM PRIVATE ${{LEVEL_ZERO_INCLUDE_DIR}})\n"
      "target_compile_options(repro PRIVATE -Wall -Wextra)\n"
      "target_link_libraries(repro PRIVATE ${{LEVEL_ZERO_LIBRARY}}{})\n"
      "# Kernels and data are found beside the program.\n"
      "set_target_properties(repro PROPERTIES RUNTIME_OUTPUT_DIRECTORY "
      "${{CMAKE_CURRENT_SOURCE_DIR}})\n",
      program.threads > 1 ? "find_package(Threads REQUIRED)\n" : "", listed(c_files(program)),
      std::string(program.threads > 1 ? " Threads::Threads" : "") +
          (program.needs.helpers.contains("find_symbol") ? " ${CMAKE_DL_LIBS}" : ""));
}

struct told_fact {
  std::string title, value;
};

// What the driver told the program of itself and of its devices, each thing once.
std::vector<told_fact> told_by_driver(const trace::trace_file& trace) {
  std::vector<told_fact> out;
  const auto add = [&](std::string title, std::string text) {
    for (const auto& each : out)
      if (each.title == title && each.value == text) return;
    out.push_back({std::move(title), std::move(text)});
  };
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    const auto& function = trace.function(*call);
    const bool is_about_device = function.name == "zeDeviceGetProperties";
    const bool is_about_driver = function.name == "zeDriverGetProperties";
    if (call->failed() || !(is_about_device || is_about_driver)) continue;
    const auto told = api::decode_outputs(trace.model(), function, reader.arguments().outputs);
    const api::value* about =
        told ? told->find(is_about_device ? "pDeviceProperties" : "pDriverProperties") : nullptr;
    if (about == nullptr) continue;
    if (const auto* version = about->find("driverVersion"); version != nullptr)
      add("driver version", fmt::format("{:#x}", version->bits));
    const auto* name = about->find("name");
    const auto* id = about->find("deviceId");
    if (is_about_device && name != nullptr && id != nullptr)
      add("device",
          fmt::format("{} (id {:#x})", name->text().substr(0, name->text().find('\0')), id->bits));
  }
  return out;
}

class readme_writer {
 public:
  readme_writer(const c_program& program, const trace::trace_file& trace,
                const project_facts& facts)
      : program_(program), trace_(trace), facts_(facts) {}

  std::string write() {
    symptom();
    usage();
    recording();
    needs();
    files();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void line() { out_ += "\n"; }

  const trace::process_info& process() const {
    return trace_.run().processes[facts_.processes.front()];
  }

  void symptom() {
    line("# A reproducer in pure Level Zero");
    line();
    if (std::holds_alternative<model::no_symptom>(facts_.symptom)) {
      line("The recorded calls; nothing in the recording looked like a symptom{}.",
           facts_.crashes.empty() ? "" : " that they are sure to show again");
      crashes();
      return;
    }
    line("Symptom: {}", markdown_code(model::to_text(facts_.symptom)));
    line();
    if (!facts_.reason.empty()) line("In the recording, {}.", facts_.reason);
    for (const auto& each : program_.symptom_calls)
      line("- call {}, `{}`: {}", each.number, each.function, model::time_text(each.duration_ns));
    crashes();
  }

  void crashes() {
    for (const auto& each : facts_.crashes) {
      line();
      line("In the recording, {}.", each);
    }
  }

  void usage() {
    line();
    line("## To see it");
    line();
    line("```");
    line("make");
    std::string environment;
    for (const auto& [name, value] : replay::recorded_environment(process()))
      environment += fmt::format("{}={} ", name, shell_word(value));
    line("{}./repro", environment);
    line("```");
    line();
    line("It makes the {} recorded calls {}, each once and in the recorded order, with the same",
         program_.calls,
         program_.processes > 1  ? fmt::format("in {} processes", program_.processes)
         : program_.threads == 1 ? std::string("on one thread")
                                 : fmt::format("on {} threads", program_.threads));
    if (std::holds_alternative<model::rule_finding>(facts_.symptom)) {
      line("flags, waits and signals. `zevent check -- ./repro` finds the symptom in them. Exit");
      line(
          "status: 0 when all were made, 125 when they could not be. `--repeat N` does it N "
          "times.");
    } else if (std::holds_alternative<model::no_symptom>(facts_.symptom)) {
      line(
          "flags, waits and signals. Exit status: 0 when all were made, 125 when they could not "
          "be.");
      line("`--repeat N` does it N times.");
    } else {
      line("flags, waits and signals. Exit status: 0 without the symptom, 1 with it, 125 when it");
      line("could not be run, so that it suits `git bisect run`. `--repeat N` runs it N times and");
      line("prints the least, the median and the greatest times.");
    }
    line(
        "A run that takes longer than {} s is ended, with {}; `--timeout SECONDS` sets another "
        "limit.",
        program_.limits.run_s, std::holds_alternative<model::hang>(facts_.symptom) ? 1 : 125);
    hanging_calls();
    if (!program_.deviations.empty()) {
      line();
      line("What is not as it was recorded:");
      for (const auto& each : program_.deviations) line("- call {}: {}", each.call, each.what);
    }
  }

  void hanging_calls() {
    if (!program_.needs.helpers.contains("HANGS")) return;
    const auto limit = fmt::format("A call that did not return in the recording is given {} s.",
                                   program_.limits.hang_s);
    if (std::holds_alternative<model::hang>(facts_.symptom)) {
      line("{}", limit);
    } else if (std::holds_alternative<model::crash>(facts_.symptom)) {
      line("{} Where it hangs instead of crashing, that is", limit);
      line("without the symptom, 0; a crash by another signal than the symptom's is 125.");
    } else {
      line("{} What was seen before it decides.", limit);
    }
  }

  void fact(std::string_view title, const std::string& value) {
    if (!value.empty()) line("| {} | {} |", title, markdown_code(value));
  }

  void recording() {
    line();
    line("## The recording");
    line();
    line("| | |");
    line("|---|---|");
    for (const uint32_t each : facts_.processes) {
      const auto& one = trace_.run().processes[each];
      fact("program", one.fact("executable"));
      if (!one.end.is_uneventful()) fact("how it ended", to_text(one.end));
    }
    fact("driver", process().fact("driver"));
    for (const auto& [title, value] : told_by_driver(trace_)) fact(title, value);
    fact("way in", process().fact("way in"));
    fact("loader", process().fact("loader"));
    fact("kernel", process().fact("kernel"));
    fact("recorder", process().fact("recorder"));
    const auto start = static_cast<std::time_t>(trace_.run().start_realtime_ns / 1'000'000'000);
    std::tm calendar{};
    gmtime_r(&start, &calendar);
    fact("time", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", calendar));
    for (const auto& [name, value] : replay::recorded_environment(process())) fact(name, value);
  }

  void needs() {
    line();
    line("## What it needs");
    line();
    // It is known of functions when they came, of flags and structures only that these headers have
    // them.
    const uint32_t loader = std::max(program_.needs.api_version, 0x10000u);
    const uint32_t headers = std::max(trace_.model().version, loader);
    line("- a Level Zero loader of API {}.{} or later", loader >> 16, loader & 0xffff);
    line("- Level Zero headers of API {}.{} or later; older ones if they have every flag and",
         headers >> 16, headers & 0xffff);
    line("  structure that it uses");
    line("- a C99 compiler and make, or CMake");
    const auto& driver = program_.of_driver;
    if (driver.drivers > 1) line("- {} drivers", driver.drivers);
    if (driver.devices > 1)
      line("- {} devices, parts of devices included, as the program saw", driver.devices);
    for (const auto& [ordinal, index] : driver.queues)
      if (ordinal != 0 || index != 0) line("- queue {} of queue group {}", index, ordinal);
    for (const auto& each : driver.by_name)
      line("- {}, which it asks the driver for by this name", markdown_code(each));
  }

  void files() {
    line();
    line("## Files");
    line();
    for (const auto& each : program_.sources) line("- `{}`", each.name);
    for (const auto& each : program_.data.all())
      line("- `{}`: {} bytes", each.name, each.content.size());
    line();
    line("Written by {}.", markdown_code("zevent repro " + facts_.trace));
  }

  const c_program& program_;
  const trace::trace_file& trace_;
  const project_facts& facts_;
  std::string out_;
};

// Whether a file is what is written here, by its first words; somebody may have one of that name.
bool is_ours(const fs::path& source) {
  std::string line;
  std::ifstream file(source);
  return std::getline(file, line) && line.starts_with(opening_words);
}

// A folder is ours to write to when it is new, empty, or has a reproducer in it.
result<void> prepare_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty()) return fail("the folder to write has no name");
  if (fs::exists(folder, error)) {
    if (!fs::is_directory(folder, error)) return fail("{} is not a folder", folder.string());
    if (!fs::is_empty(folder, error) && !is_ours(folder / "repro.c"))
      return fail("{} has other things in it; name a folder that is new or empty", folder.string());
    for (const char* part : {"data", "kernels"}) fs::remove_all(folder / part, error);
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const auto name = entry.path().filename().string();
      if (name == "repro" || name == "repro.c" || name == "repro.h" || name.ends_with(".o") ||
          (name.starts_with("calls_") && name.ends_with(".c")))
        fs::remove(entry.path(), error);
    }
  }
  fs::create_directories(folder, error);
  if (error) return fail("cannot make {}: {}", folder.string(), error.message());
  return {};
}

}  // namespace

result<void> write_project(const fs::path& folder, const c_program& program,
                           const trace::trace_file& trace, const project_facts& facts) {
  if (auto done = prepare_folder(folder); !done) return done;
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& each : program.sources) files.emplace_back(each.name, each.text);
  files.emplace_back("Makefile", makefile(program));
  files.emplace_back("CMakeLists.txt", cmake_file(program));
  files.emplace_back("README.md", readme_writer(program, trace, facts).write());
  for (const auto& each : program.data.all()) {
    std::error_code error;
    fs::create_directories((folder / each.name).parent_path(), error);
    if (auto done =
            write_file(folder / each.name,
                       {reinterpret_cast<const char*>(each.content.data()), each.content.size()});
        !done)
      return done;
  }
  for (const auto& [name, text] : files)
    if (auto done = write_file(folder / name, text); !done) return done;
  return {};
}

}  // namespace zevent::repro
