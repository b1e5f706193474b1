#include "launch/way_in.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace zevent::launch {

std::string_view name_of(way_in way) {
  return way == way_in::loader ? "loader" : "direct";
}

way_choice choose_way_in(const std::string& program_path, const std::string& loader_path) {
  if (loader_path.empty()) return {way_in::direct, "no Level Zero loader is installed"};
  return choose_way_in(read_elf_symbols(program_path), read_elf_symbols(loader_path));
}

way_choice choose_way_to_several(const std::string& program_path, const std::string& loader_path) {
  if (loader_path.empty()) return {way_in::direct, "no Level Zero loader is installed"};
  return choose_way_to_several(read_elf_symbols(program_path), read_elf_symbols(loader_path));
}

way_choice choose_way_in_as_asked(std::string_view asked, const std::string& program,
                                  bool has_several_drivers) {
  const auto choice = [&]() -> way_choice {
    if (asked == "loader") return {way_in::loader, "asked for"};
    if (asked == "direct") return {way_in::direct, "asked for"};
    const std::string path = find_in_path(program), loader = find_stock_loader();
    return has_several_drivers ? choose_way_to_several(path, loader) : choose_way_in(path, loader);
  }();
  log_info("launch", "{} goes by the way '{}': {}", program, name_of(choice.way), choice.reason);
  return choice;
}

namespace {

// A function that the program uses and the loader has not got; "" where there is none.
std::string missing_function(const elf_symbols& program, const elf_symbols& loader) {
  for (const auto& name : program.wanted)
    if (std::find(loader.offered.begin(), loader.offered.end(), name) == loader.offered.end())
      return name;
  return "";
}

way_choice too_old(const std::string& missing) {
  return {way_in::direct, fmt::format("the installed loader is too old: it has no {}", missing)};
}

}  // namespace

way_choice choose_way_to_several(const result<elf_symbols>& program,
                                 const result<elf_symbols>& loader) {
  if (!loader) return {way_in::direct, loader.error().message};
  const std::string missing = program ? missing_function(*program, *loader) : "";
  if (!missing.empty()) return too_old(missing);
  return {way_in::loader, "the program has several drivers by the loader"};
}

way_choice choose_way_in(const result<elf_symbols>& program, const result<elf_symbols>& loader) {
  if (!loader) return {way_in::direct, loader.error().message};
  if (!program) return {way_in::direct, "the program is not a binary that can be looked into"};
  const auto uses_loader = std::any_of(
      program->needed_libraries.begin(), program->needed_libraries.end(),
      [](const std::string& library) { return library.starts_with("libze_loader.so"); });
  if (!uses_loader) return {way_in::direct, "the program does not link to the loader itself"};
  if (const auto missing = missing_function(*program, *loader); !missing.empty())
    return too_old(missing);
  return {way_in::loader, "the installed loader has every function that the program uses"};
}

environment_changes environment_for(way_in way, const installation& files,
                                    const std::optional<std::string>& library_path) {
  // Set in both ways: a child that brings a loader of its own gets the same driver.
  environment_changes changes{{"ZE_ENABLE_ALT_DRIVERS", files.driver}};
  if (way == way_in::direct) {
    std::string path = files.direct_directory;
    if (library_path && !library_path->empty()) path += ":" + *library_path;
    changes.emplace_back("LD_LIBRARY_PATH", path);
  }
  return changes;
}

}  // namespace zevent::launch
