#include "recorder/next_driver.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "api/model.hpp"
#include "base/driver_choice.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "recorder/memory_capture.hpp"
#include "recorder/pass_through.hpp"
#include "recorder/process_recording.hpp"

namespace zevent::recorder {
namespace {

constexpr char software_driver[] = "libze_zevent.so.1";

// More than any version of any table has.
constexpr size_t most_slots = 512;
using slot_array = std::array<void*, most_slots>;

using table_getter = ze_result_t(ze_api_version_t, void*);

// Written by the one thread that loads, before `loaded` is stored.
void* library = nullptr;
std::atomic<bool> loaded{false};  // release and acquire: who sees it sees `library`
std::once_flag load_once;

std::string own_path() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&load_next_driver), &own) == 0) return {};
  char resolved[PATH_MAX];
  return realpath(own.dli_fname, resolved) != nullptr ? resolved : own.dli_fname;
}

// The path of a library that is opened, with links resolved.
std::string path_of(void* opened) {
  const link_map* map = nullptr;
  if (dlinfo(opened, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  char resolved[PATH_MAX];
  return realpath(map->l_name, resolved) != nullptr ? resolved : map->l_name;
}

// It stays loaded: it is the next driver, or one that a loader would have loaded too.
std::string find_driver(const std::string& soname) {
  void* opened = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL);
  return opened != nullptr ? path_of(opened) : std::string();
}

void complain(const std::string& message) {
  const std::string line = "zevent: " + message + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

// Of several drivers the first is for the recorder itself, and the next ones for its copies.
std::string choose_library(const driver_choice& choice, size_t number) {
  if (number > 0) return number <= choice.others.size() ? choice.others[number - 1] : "";
  if (!choice.library.empty()) return choice.library;
  const std::string own = own_path();
  return own.substr(0, own.rfind('/') + 1) + software_driver;
}

std::string wanted_library(std::string_view way_in) {
  // A program with another user's rights must not load what that user's environment names.
  const bool trusts_environment = getauxval(AT_SECURE) == 0;
  const driver_choice choice = choose_driver(read_driver_facts(
      trusts_environment ? device_folder() : "/dev", &find_driver, trusts_environment));
  const size_t number = recorder_number(own_path()).value_or(0);
  const bool is_recording = trusts_environment && read_environment("ZEVENT_RECORD").has_value();
  if (is_recording && number == 0) {
    const char* libraries = way_in == "loader" ? std::getenv("ZE_ENABLE_ALT_DRIVERS") : nullptr;
    const size_t recorders =
        libraries != nullptr ? std::max<size_t>(count_recorders(libraries), 1) : 1;
    if (const auto text = describe_left_out(choice, recorders, "choose with ZEVENT_DRIVER");
        !text.empty())
      complain(text);
    if (choice.origin == driver_origin::software)
      complain(
          "recording on the software driver: no GPU driver found (ZEVENT_DRIVER names another)");
  }
  return choose_library(choice, number);
}

// The loader that the program has, by a path that mostly ends with its version.
std::string loader_path() {
  void* loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (loader == nullptr) return {};
  std::string path = path_of(loader);
  dlclose(loader);
  return path;
}

bool is_own_library(void* candidate) {
  return dlsym(candidate, "zevent_recorder_is_here") != nullptr;
}

void* open_library(const std::string& path) {
  if (path.empty()) {
    log_info("recorder", "there is no driver for {}", own_path());
    return nullptr;
  }
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    complain("the driver to record cannot be loaded: " + std::string(dlerror()));
    return nullptr;
  }
  if (is_own_library(opened)) {
    complain("ZEVENT_DRIVER=" + path + " names the recorder itself; name the driver to record");
    return nullptr;
  }
  return opened;
}

// The newest table that the driver knows, up to our own version.
bool ask_for_table(const api::dispatch_table& table, slot_array& slots) {
  auto* getter = reinterpret_cast<table_getter*>(next_symbol(std::string(table.getter).c_str()));
  if (getter == nullptr) return false;
  for (uint32_t version = api::builtin_model().version; version >= 0x10000; --version) {
    slots.fill(nullptr);
    const auto status = getter(static_cast<ze_api_version_t>(version), slots.data());
    if (status == ZE_RESULT_SUCCESS) return true;
    if (status != ZE_RESULT_ERROR_UNSUPPORTED_VERSION) return false;
  }
  return false;
}

void fill_in_addresses() {
  const auto& model = api::builtin_model();
  for (size_t i = 0; i < model.functions.size(); ++i) {
    // Functions in no table are found by name, here or when the program asks for them.
    void* address = model.functions[i].table == api::no_index
                        ? next_symbol(std::string(model.functions[i].name).c_str())
                        : nullptr;
    next_addresses[i].store(address != nullptr ? address : absent_addresses[i],
                            std::memory_order_relaxed);
  }
  slot_array slots;
  for (const auto& table : model.tables) {
    if (!ask_for_table(table, slots)) continue;
    for (size_t slot = 0; slot < table.functions.size(); ++slot)
      if (slots[slot] != nullptr && table.functions[slot] != api::no_index)
        next_addresses[table.functions[slot]].store(slots[slot], std::memory_order_relaxed);
  }
}

api::memory_copy_calls copy_calls() {
  const auto& model = api::builtin_model();
  api::memory_copy_calls found;
#define ZEVENT_FIND_CALL(name)                           \
  if (const auto* function = model.find_function(#name)) \
    found.name = reinterpret_cast<decltype(&::name)>(    \
        next_addresses[model.index_of(*function)].load(std::memory_order_relaxed));
  ZEVENT_MEMORY_COPY_CALLS(ZEVENT_FIND_CALL)
#undef ZEVENT_FIND_CALL
  return found;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const char zevent_recorder_is_here = 1;

void load_next_driver(const char* way_in) noexcept {
  std::call_once(load_once, [way_in] {
    const std::string path = wanted_library(way_in);
    note_process_fact("way in", way_in);
    if (std::string_view(way_in) == "loader") note_process_fact("loader", loader_path());
    note_process_fact("driver", path);
    library = open_library(path);
    log_info("recorder", "in front of the driver {}, entered by way of {}", path, way_in);
    loaded.store(library != nullptr, std::memory_order_release);
    fill_in_addresses();
    memory_capture::use_driver(copy_calls());
  });
}

bool next_driver_is_loaded() noexcept {
  return loaded.load(std::memory_order_acquire);
}

void* next_symbol(const char* name) noexcept {
  return library != nullptr ? dlsym(library, name) : nullptr;
}

ze_result_t hand_out_table(ze_api_version_t version, void* slots, uint16_t table) noexcept {
  if (slots == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  load_next_driver("loader");
  log_trace("recorder", "the loader asks for table {} of version {:#x}",
            api::builtin_model().tables[table].name, static_cast<uint32_t>(version));
  const auto& model = api::builtin_model();
  const auto& known = model.tables[table];
  auto* getter = reinterpret_cast<table_getter*>(next_symbol(std::string(known.getter).c_str()));
  if (getter == nullptr) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;

  static const char untouched_mark = 0;
  void* const untouched = const_cast<char*>(&untouched_mark);
  slot_array filled;
  filled.fill(untouched);
  if (const auto status = getter(version, filled.data()); status != ZE_RESULT_SUCCESS)
    return status;

  // Of a version that we know we know where the caller's table ends; of a newer one the driver
  // does.
  const auto asked = static_cast<uint32_t>(version);
  const size_t most = asked <= model.version ? api::slots_at(known.sizes, asked) : filled.size();
  auto* out = static_cast<void**>(slots);
  for (size_t slot = 0; slot < most; ++slot) {
    if (filled[slot] == untouched) continue;
    if (filled[slot] == nullptr)
      out[slot] = nullptr;
    else if (slot < known.functions.size() && known.functions[slot] != api::no_index)
      out[slot] = hook_addresses[known.functions[slot]];
    else
      out[slot] = count_and_pass_through(
          "slot " + std::to_string(slot) + " of " + std::string(known.name), filled[slot]);
  }
  return ZE_RESULT_SUCCESS;
}

void* hook_for(const char* name, void* address) noexcept {
  const auto& model = api::builtin_model();
  const auto* function = model.find_function(name);
  if (function == nullptr) return count_and_pass_through(name, address);
  const uint16_t index = model.index_of(*function);
  void* absent = absent_addresses[index];
  next_addresses[index].compare_exchange_strong(absent, address, std::memory_order_relaxed);
  return hook_addresses[index];
}

}  // namespace zevent::recorder
