#include "trace/device_times.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "trace/column.hpp"

namespace zevent::trace {
namespace {

enum column : column_id {
  call_column = 1,
  execution_column = 2,
  start_column = 3,
  duration_column = 4,
  device_column = 5,
  flags_column = 6,
};
constexpr size_t times_per_chunk = 65536;

result<void> write_chunk(std::span<const device_time> times, chunk_writer& file) {
  std::vector<uint64_t> calls, executions, starts, durations, devices, flags;
  const uint64_t first = number_of(times.front().call);
  uint64_t last = first;
  for (const auto& each : times) {
    calls.push_back(number_of(each.call) - last);
    last = number_of(each.call);
    executions.push_back(number_of(each.execution) - last);
    starts.push_back(each.start_ns);
    durations.push_back(each.duration_ns);
    devices.push_back(each.device);
    flags.push_back(each.flags);
  }
  const column_planes columns[] = {{call_column, calls},     {execution_column, executions},
                                   {start_column, starts},   {duration_column, durations},
                                   {device_column, devices}, {flags_column, flags}};
  std::vector<stream_source> streams;
  for (const auto& each : columns) each.append_streams(streams);
  return file.append(chunk_kind::device_times, first, times.size(), streams);
}

}  // namespace

result<void> write_device_times(std::vector<device_time> times, chunk_writer& file) {
  std::sort(times.begin(), times.end(), [](const device_time& a, const device_time& b) {
    return std::tie(a.call, a.execution, a.start_ns) < std::tie(b.call, b.execution, b.start_ns);
  });
  for (size_t at = 0; at < times.size(); at += times_per_chunk) {
    const auto part = std::span(times).subspan(at, std::min(times_per_chunk, times.size() - at));
    if (auto written = write_chunk(part, file); !written) return written;
  }
  return {};
}

result<std::vector<device_time>> read_device_times(const chunk& source, const chunk_entry& entry,
                                                   uint64_t calls) {
  if (entry.items > max_calls_per_chunk)
    return fail("the chunk at byte {} says it holds {} device times", entry.offset, entry.items);
  const auto count = static_cast<size_t>(entry.items);
  std::vector<uint64_t> numbers(count), executions(count), starts(count), durations(count);
  std::vector<uint32_t> devices(count);
  std::vector<uint8_t> flags(count);
  for (auto decoded : {decode_column(source, call_column, std::span(numbers)),
                       decode_column(source, execution_column, std::span(executions)),
                       decode_column(source, start_column, std::span(starts)),
                       decode_column(source, duration_column, std::span(durations)),
                       decode_column(source, device_column, std::span(devices)),
                       decode_column(source, flags_column, std::span(flags))})
    if (!decoded) return tl::unexpected(decoded.error());
  if (!undo_delta(numbers, entry.first_item)) return fail("the numbers of calls overflow");

  std::vector<device_time> times;
  times.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] >= calls || executions[i] >= calls - numbers[i]) continue;
    if (starts[i] > latest_time_ns || durations[i] > latest_time_ns) continue;
    times.push_back({call_number{numbers[i]}, call_number{numbers[i] + executions[i]}, starts[i],
                     durations[i], devices[i], flags[i]});
  }
  return times;
}

}  // namespace zevent::trace
