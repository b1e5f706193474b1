#include "base/quirks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace zevent {
namespace {

constexpr std::nullopt_t any = std::nullopt;

constexpr std::array<quirk_description, quirk_count> quirk_table = {{
    {quirk::accepts_both_timestamp_flags, "accepts-both-timestamp-flags", any,
     intel_release{26, 31}, "",
     "an event has device timestamps or mapped ones; both flags together are refused",
     "creates the event or the pool"},
    {quirk::accepts_fence_of_another_queue, "accepts-fence-of-another-queue", any, any, "",
     "a fence belongs to the queue that it was created for; executing lists on another queue with "
     "it is INVALID_SYNCHRONIZATION_OBJECT",
     "signals the fence when the lists of the other queue have run"},
    {quirk::accepts_null_context, "accepts-null-context", any, any, "",
     "creating a counter-based event without a context is INVALID_NULL_HANDLE",
     "creates the event"},
    {quirk::accepts_partial_fill_pattern, "accepts-partial-fill-pattern", any, any, "",
     "a fill whose size is no multiple of its pattern is INVALID_SIZE",
     "fills, and cuts the last pattern short"},
    {quirk::accepts_pool_without_events, "accepts-pool-without-events", any, any, "",
     "an event pool with a count of 0 is INVALID_SIZE",
     "creates the pool, and an event in it (but crashes where there are two PVC)"},
    {quirk::accepts_unknown_counter_flags, "accepts-unknown-counter-flags", any,
     intel_release{26, 31}, "",
     "flags of a counter-based event that do not exist are INVALID_ENUMERATION",
     "creates the event and ignores them"},
    {quirk::accepts_unknown_flags, "accepts-unknown-flags", any, any, "",
     "flags of an event pool or a fence, and scopes of an event, that do not exist are "
     "INVALID_ENUMERATION",
     "creates the object and ignores them"},
    {quirk::byte_fill_on_copy_engine, "byte-fill-on-copy-engine", any, any,
     "PVC, LNL, BMG, PTL and later",
     "maxMemoryFillPatternSize of a queue group says how long a fill pattern may be",
     "says 1 for groups that only copy: a pattern of 4 bytes is INVALID_SIZE there"},
    {quirk::counter_event_stays_complete, "counter-event-stays-complete", any, any, "",
     "executing a regular list again makes the counter-based events that it signals incomplete "
     "until they are signalled again",
     "does not, once the host has seen the event complete: queries and host waits say SUCCESS "
     "while the new run is under way, and an append to an immediate list does not wait for it"},
    {quirk::crash_on_null_extension_name, "crash-on-null-extension-name", any, any, "",
     "zeDriverGetExtensionFunctionAddress without a name is INVALID_NULL_POINTER",
     "ends the program with SIGABRT"},
    {quirk::crash_on_null_handle, "crash-on-null-handle", any, any, "",
     "a null handle is INVALID_NULL_HANDLE",
     "ends the program with SIGSEGV where the handle is the one that a function is called on, an "
     "event to be signalled or reset by a command, an event that an immediate list is to wait for, "
     "a list to be executed, or a kernel to be launched. Some newer functions, and those of "
     "graphs, return an error"},
    {quirk::crash_on_null_pointer, "crash-on-null-pointer", any, any, "",
     "a null pointer in an append is INVALID_NULL_POINTER, and INVALID_SIZE where it is that of a "
     "wait list",
     "ends the program with SIGSEGV or SIGABRT in copies, launches, waits and queries of "
     "timestamps, "
     "unless there is nothing to copy or to wait for; here always with SIGSEGV"},
    {quirk::free_of_null_result, "free-of-null-result", any, any, "",
     "zeMemFree of a null pointer is INVALID_NULL_POINTER", "says INVALID_ARGUMENT"},
    {quirk::immediate_list_execution_result, "immediate-list-execution-result", any, any, "",
     "executing an immediate list on a queue is INVALID_COMMAND_LIST_TYPE",
     "says INVALID_ARGUMENT"},
    {quirk::kernel_argument_index_result, "kernel-argument-index-result", any, any, "",
     "setting a kernel argument that the kernel does not have is INVALID_KERNEL_ARGUMENT_INDEX",
     "says INVALID_ARGUMENT"},
    {quirk::no_concurrent_access, "no-concurrent-access", any, any,
     "those whose kernel driver does not migrate memory",
     "a device says which kinds of memory host and device may access at the same time, and with "
     "atomic operations (zeDeviceGetMemoryAccessProperties)",
     "says that they may access none at the same time, host memory not by atomic operations, and "
     "that devices do not share memory with each other"},
    {quirk::no_counter_maximum, "no-counter-maximum", any, intel_release{26, 31}, "",
     "zeDeviceGetCounterBasedEventMaxValue says how far a counter counts",
     "says UNSUPPORTED_FEATURE"},
    {quirk::no_event_pool_put_ipc_handle, "no-event-pool-put-ipc-handle", any,
     intel_release{26, 27}, "", "zeEventPoolPutIpcHandle releases an IPC handle of an event pool",
     "says UNSUPPORTED_FEATURE, always"},
    {quirk::no_shared_system_memory, "no-shared-system-memory", any, any,
     "DG2, MTL, ARL and older; others where the kernel driver does not handle their page faults",
     "a device says whether its commands may access memory of malloc, of the stack and so on "
     "(sharedSystemAllocCapabilities)",
     "says that they may not: a fill of such memory, or of a null pointer, is INVALID_ARGUMENT, "
     "while copies to and from "
     "it are accepted"},
    {quirk::partial_counter_flags, "partial-counter-flags", intel_release{26, 22},
     intel_release{26, 31}, "",
     "zeEventGetCounterBasedFlags says the flags that the event was created with",
     "says IMMEDIATE and NON_IMMEDIATE alone, and IMMEDIATE where the event had neither"},
    {quirk::reset_keeps_counter_mode, "reset-keeps-counter-mode", intel_release{24, 26},
     intel_release{26, 27}, "PVC, BMG", "zeEventHostReset makes a regular event unsignalled",
     "has no effect on an event that an in-order immediate list has signalled: it became "
     "counter-based. Query and host wait say SUCCESS, an append that waits for it is "
     "INVALID_ARGUMENT, a host signal UNSUPPORTED_FEATURE. Events of IPC pools are exempt, and "
     "zeCommandListAppendEventReset works"},
    {quirk::unsignalled_counter_wait_refused, "unsignalled-counter-wait-refused",
     intel_release{24, 5}, intel_release{26, 31}, "",
     "a counter-based event that nothing has signalled yet is complete: an append that waits for "
     "it does not wait",
     "refuses the append with INVALID_ARGUMENT; host query and host wait succeed"},
}};

struct build_of_release {
  uint32_t build;
  intel_release release;
};

// Sorted.
constexpr build_of_release builds[] = {
    {28454, {24, 5}},  {28717, {24, 9}},  {29138, {24, 13}}, {29377, {24, 17}}, {29735, {24, 22}},
    {30049, {24, 26}}, {30508, {24, 31}}, {30872, {24, 35}}, {31294, {24, 39}}, {31740, {24, 45}},
    {31907, {24, 48}}, {32224, {24, 52}}, {32567, {25, 5}},  {32961, {25, 9}},  {33276, {25, 13}},
    {33578, {25, 18}}, {33944, {25, 22}}, {34303, {25, 27}}, {34666, {25, 31}}, {35096, {25, 35}},
    {35563, {25, 40}}, {36015, {25, 44}}, {36300, {25, 48}}, {36711, {26, 1}},  {37020, {26, 5}},
    {37435, {26, 9}},  {37833, {26, 14}}, {38308, {26, 18}}, {38646, {26, 22}}, {39122, {26, 27}},
    {39395, {26, 31}},
};

constexpr std::string_view release_prefix = "intel-";

std::optional<uint16_t> two_digits(std::string_view text) {
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool valid = error == std::errc() && end == text.data() + text.size() && text.size() == 2;
  return valid ? std::optional(number) : std::nullopt;
}

std::optional<intel_release> parse_release(std::string_view text) {
  if (text.size() != 5 || text[2] != '.') return std::nullopt;
  const auto year = two_digits(text.substr(0, 2)), week = two_digits(text.substr(3));
  if (!year || !week || *week < 1 || *week > 53) return std::nullopt;
  return intel_release{*year, *week};
}

std::string names_of_quirks() {
  std::string names;
  for (const auto& each : quirk_table)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  return names;
}

std::string releases_of(const quirk_description& described) {
  if (described.first && described.last)
    return fmt::format("{} to {}", to_string(*described.first), to_string(*described.last));
  if (described.first) return fmt::format("from {} on", to_string(*described.first));
  if (described.last) return fmt::format("up to {}", to_string(*described.last));
  return "all that are known";
}

std::string_view devices_of(const quirk_description& described) {
  return described.devices.empty() ? "all" : described.devices;
}

}  // namespace

std::span<const quirk_description, quirk_count> quirk_descriptions() {
  return quirk_table;
}

result<quirk_set> parse_quirks(std::string_view text) {
  quirk_set set;
  while (!text.empty()) {
    const auto item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item.substr(0, release_prefix.size()) == release_prefix) {
      const auto release = parse_release(item.substr(release_prefix.size()));
      if (!release)
        return fail("'{}' is no release of Intel's driver; they are named like intel-26.27", item);
      for (const auto& each : quirk_table)
        if (each.concerns(*release)) set.add(each.id);
      continue;
    }
    const auto* described = std::find_if(quirk_table.begin(), quirk_table.end(),
                                         [&](const auto& each) { return each.name == item; });
    if (described == quirk_table.end())
      return fail("there is no quirk '{}'; there are: {}, and intel-YY.WW for all of a release",
                  item, names_of_quirks());
    set.add(described->id);
  }
  return set;
}

std::optional<intel_release> release_of_library(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto digits = name.substr(name.rfind('.') + 1);
  uint32_t build = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), build);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const auto* after = std::upper_bound(
      std::begin(builds), std::end(builds), build,
      [](uint32_t wanted, const build_of_release& each) { return wanted < each.build; });
  if (after == std::begin(builds)) return std::nullopt;
  return std::prev(after)->release;
}

std::string to_string(intel_release release) {
  return fmt::format("{:02}.{:02}", release.year, release.week);
}

std::string quirks_as_markdown() {
  std::string text =
      "# Quirks\n\n"
      "The software driver follows the specification. Intel's driver, which programs meet on a "
      "GPU, does not\nalways. `ZEVENT_QUIRKS=intel-26.27`, or `zevent run --quirks intel-26.27`, "
      "makes the software driver behave\nas that release does, so that a program that would fail "
      "there fails here first:\n\n"
      "```\nzevent run --quirks intel-26.27 -- ./program\n```\n\n"
      "A name is that of one quirk, or `intel-YY.WW` for all that the release of week WW of the "
      "year YY has, on\nwhatever device. Several names are separated by commas. Nothing is on by "
      "default. `zevent doctor` lists the\nquirks of the driver that it finds on a machine.\n\n"
      "Releases from 24.05 to 26.31 are known. Of a newer one it is assumed that it has the quirks "
      "whose end is not\nknown.\n\n"
      "This page is generated from the table in `src/base/quirks.cpp`:\n"
      "`zevent run --list-quirks=markdown`.\n";
  for (const auto& each : quirk_table)
    fmt::format_to(std::back_inserter(text),
                   "\n## {}\n\nThe specification: {}.\n\nThe driver: {}.\n\nReleases: {}. Devices: "
                   "{}.\n",
                   each.name, each.specification, each.behaviour, releases_of(each),
                   devices_of(each));
  text +=
      "\n## What needs no quirk\n\n"
      "The software driver always does these as Intel's does: a command that is appended to a "
      "closed list is taken\nand never runs, and memory is allocated at alignments that are no "
      "powers of two.\n\n"
      "## What is not imitated\n\n"
      "- Without concurrent access, a page of shared memory that the host touches while a kernel "
      "that uses it is\n  pending moves to the host, and what the kernel writes there is lost.\n"
      "- A module of garbage ends the program with exit status 10; here its build fails.\n"
      "- The first copy or fill takes some hundred microseconds longer than the next ones.\n";
  return text;
}

std::string quirks_as_text() {
  std::string text;
  for (const auto& each : quirk_table)
    fmt::format_to(std::back_inserter(text),
                   "{}\n    the specification: {}\n    the driver: {}\n    releases: {}; devices: "
                   "{}\n",
                   each.name, each.specification, each.behaviour, releases_of(each),
                   devices_of(each));
  return text;
}

}  // namespace zevent
