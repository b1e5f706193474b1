#include "base/faults.hpp"

#include <charconv>
#include <iterator>

namespace zevent {
namespace {

constexpr std::array<fault_description, fault_count> fault_table = {{
    {fault::append_blocks_on_host_event,
     "append-blocks-on-host-event",
     {},
     "an append to an immediate list returns only when the events it waits for are complete",
     "A program appends work that waits for an event, and signals the event itself a line later. "
     "It hangs in the append, although appends to asynchronous lists must not block."},
    {fault::completion_lost,
     "completion-lost",
     {"after", 100, 0, UINT64_MAX, "signals that still arrive"},
     "commands run, but their events are never signalled",
     "After twenty seconds of work a program waits for ever: the device is idle, the event of its "
     "last command was never written."},
    {fault::device_lost,
     "device-lost",
     {"after", 100, 0, UINT64_MAX, "commands that still run"},
     "the device is lost: every later call says so, every waiter returns",
     "A wait without a time limit hides that the device was reset minutes ago."},
    {fault::event_create_fails,
     "event-create-fails",
     {"at", 1, 1, UINT64_MAX, "the first creation that fails, counted from 1"},
     "creating an event fails with OUT_OF_HOST_MEMORY from then on",
     "One event pool for each event, until the process runs out of maps; the failure is "
     "unchecked."},
    {fault::handle_reuse,
     "handle-reuse",
     {"times", UINT64_MAX, 0, UINT64_MAX, "how often an address is given out again; 0: never"},
     "the address of a destroyed event is the address of the next one created (or never again)",
     "A tracer keeps state by handle. The driver hands the same address out again at once, and the "
     "state of a dead event is taken for that of a living one."},
    {fault::ipc_open_fails,
     "ipc-open-fails",
     {"at", 1, 1, UINT64_MAX, "the first open that fails, counted from 1"},
     "opening an IPC handle fails with OUT_OF_DEVICE_MEMORY from then on",
     "Each open leaks a descriptor, and after some hours every open fails."},
    {fault::ipc_owner_dies,
     "ipc-owner-dies",
     {"after", 1, 0, UINT64_MAX, "opens that still find the owner alive"},
     "the process that exported a handle counts as dead",
     "A cached IPC handle is used after its owner has ended."},
    {fault::out_of_device_memory,
     "out-of-device-memory",
     {"at", 1, 1, UINT64_MAX, "the first allocation that fails, counted from 1"},
     "device and shared allocations, and images, fail with OUT_OF_DEVICE_MEMORY from then on",
     "A program that never met a full device treats the null pointer as memory."},
    {fault::out_of_host_memory,
     "out-of-host-memory",
     {"at", 1, 1, UINT64_MAX, "the first creation that fails, counted from 1"},
     "host allocations and the creation of objects fail with OUT_OF_HOST_MEMORY from then on",
     "Error paths that nobody has ever run."},
    {fault::query_blocks_behind_barrier,
     "query-blocks-behind-barrier",
     {},
     "a status query of an event that a barrier signals returns only when the event is complete",
     "zeEventQueryStatus took 177,866 microseconds in a program that polls: the event belonged to "
     "a "
     "barrier behind a long kernel."},
    {fault::query_blocks_while_busy,
     "query-blocks-while-busy",
     {},
     "a status query of any event returns only when the device is idle",
     "Polling from a second thread makes the first one wait: the query takes the lock of the "
     "submission."},
    {fault::query_slow,
     "query-slow",
     {"us", 400, 1, 60'000'000, "microseconds"},
     "a status query of an event with timestamps takes so long",
     "A timestamp flag on the pool makes every query 0.4 ms slower."},
    {fault::reset_keeps_counter_mode,
     "reset-keeps-counter-mode",
     {},
     "a regular event that an in-order immediate list signals becomes counter-based, and a host "
     "reset does not undo that: the event stays complete, an append that waits for it is refused "
     "with INVALID_ARGUMENT and a host signal with UNSUPPORTED_FEATURE; events of IPC pools are "
     "exempt, and a reset by a command works",
     "A pool of recycled events works on one GPU. On another one it hands out events that are "
     "signalled already, and the second iteration reads the results of the first."},
    {fault::slow_engine,
     "slow-engine",
     {"factor", 10, 2, 10'000, "how much longer"},
     "every command takes so many times as long as it would",
     "What only happens on a slow device, or on a fast one under load."},
    {fault::timestamp_stale_after_reset,
     "timestamp-stale-after-reset",
     {},
     "an event that was reset and signalled again still shows the timestamps of its first use",
     "The second iteration of every loop reports the times of the first."},
    {fault::timestamp_wrap,
     "timestamp-wrap",
     {"ms", 10, 1, 3'600'000, "milliseconds from the first use of the device"},
     "the device clock starts just before it wraps around its valid bits",
     "Once in a few hours a kernel takes minus a hundred seconds."},
}};

const fault_description* find(std::string_view name) {
  for (const auto& each : fault_table)
    if (each.name == name) return &each;
  return nullptr;
}

std::string names_of_faults() {
  std::string names;
  for (const auto& each : fault_table)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  return names;
}

result<uint64_t> parse_number(const fault_description& described, std::string_view text) {
  const auto& parameter = described.parameter;
  if (parameter.name.empty()) return fail("fault {} takes no number", described.name);
  if (const auto equals = text.find('='); equals != std::string_view::npos) {
    if (text.substr(0, equals) != parameter.name)
      return fail("fault {} has no parameter '{}'; it has '{}', {}", described.name,
                  text.substr(0, equals), parameter.name, parameter.meaning);
    text.remove_prefix(equals + 1);
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < parameter.least ||
      number > parameter.most)
    return fail("fault {}: '{}' is not a number from {} to {}", described.name, text,
                parameter.least, parameter.most);
  return number;
}

std::string example_of(const fault_description& described) {
  if (described.parameter.name.empty()) return std::string(described.name);
  if (described.parameter.default_value == UINT64_MAX)
    return fmt::format("{}:{}=N", described.name, described.parameter.name);
  return fmt::format("{}:{}={}", described.name, described.parameter.name,
                     described.parameter.default_value);
}

}  // namespace

std::span<const fault_description, fault_count> fault_descriptions() {
  return fault_table;
}

void fault_set::add(fault which, uint64_t number) {
  bits_ |= 1u << static_cast<unsigned>(which);
  numbers_[static_cast<size_t>(which)] = number;
}

result<fault_set> parse_faults(std::string_view text) {
  fault_set set;
  while (!text.empty()) {
    const auto item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto colon = item.find(':');
    const auto* described = find(item.substr(0, colon));
    if (described == nullptr)
      return fail("there is no fault '{}'; there are: {}", item.substr(0, colon),
                  names_of_faults());
    uint64_t number = described->parameter.default_value;
    if (colon != std::string_view::npos) {
      const auto given = parse_number(*described, item.substr(colon + 1));
      if (!given) return tl::unexpected(given.error());
      number = *given;
    }
    set.add(described->id, number);
  }
  return set;
}

std::string faults_as_markdown() {
  std::string text =
      "# Faults\n\n"
      "`ZEVENT_FAULTS=name[:parameter=number][,...]`, or `zevent run --fault NAME`, makes the "
      "software driver\nmisbehave in a way that real drivers or real machines have been seen to. "
      "Everything else stays right.\n\n"
      "This page is generated from the table in `src/base/faults.cpp`:\n"
      "`zevent run --list-faults=markdown`.\n";
  for (const auto& each : fault_table) {
    fmt::format_to(std::back_inserter(text), "\n## {}\n\nThe driver: {}.\n\n", each.name,
                   each.effect);
    if (!each.parameter.name.empty())
      fmt::format_to(std::back_inserter(text), "`{}`: {}{}.\n\n", example_of(each),
                     each.parameter.meaning,
                     each.parameter.default_value == UINT64_MAX
                         ? "; always when not given"
                         : fmt::format("; {} when not given", each.parameter.default_value));
    fmt::format_to(std::back_inserter(text), "The report: {}\n", each.story);
  }
  return text;
}

std::string faults_as_text() {
  std::string text;
  for (const auto& each : fault_table)
    fmt::format_to(std::back_inserter(text), "{}\n    {}\n", example_of(each), each.effect);
  return text;
}

}  // namespace zevent
