#include "trace/open_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "api/recording_format.hpp"
#include "base/temporary_folder.hpp"

namespace zevent::trace {
namespace {

namespace fs = std::filesystem;

// A file that goes away by itself.
result<int> make_temporary_file() {
  std::string name = temporary_place() / "zevent-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0)
    return fail("cannot make a file in {}: {}", temporary_place().string(), strerror(errno));
  unlink(name.c_str());
  return descriptor;
}

// Packs parts into a file that nobody else sees, and opens that.
result<trace_file> open_packed(std::span<const recording_part> parts, pack_options options,
                               std::vector<std::string>& warnings) {
  options.compression_level = 1;
  const auto descriptor = make_temporary_file();
  if (!descriptor) return tl::unexpected(descriptor.error());
  const auto report = pack_parts(parts, *descriptor, options);
  auto bytes = map_descriptor(*descriptor, "the packed recording");
  close(*descriptor);
  if (!report) return tl::unexpected(report.error());
  if (!bytes) return tl::unexpected(bytes.error());
  warnings.insert(warnings.end(), report->damage.begin(), report->damage.end());
  return trace_file::parse(std::move(*bytes));
}

result<trace_file> open_folder(const fs::path& folder, const pack_options& options,
                               std::vector<std::string>& warnings) {
  const auto parts = open_parts(folder, warnings);
  if (!parts) return tl::unexpected(parts.error());
  return open_packed(*parts, options, warnings);
}

result<trace_file> open_any(const fs::path& path, const pack_options& options,
                            std::vector<std::string>& warnings) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_folder(path, options, warnings);
  const fs::path folder = path.string() + recording::parts_suffix;
  if (!fs::exists(path, ignored) && fs::is_directory(folder, ignored))
    return open_folder(folder, options, warnings);
  if (path.extension() == recording::part_suffix) {
    const auto part = recording_part::open(path);
    if (!part) return tl::unexpected(part.error());
    warnings.insert(warnings.end(), part->damage().begin(), part->damage().end());
    return open_packed({&*part, 1}, options, warnings);
  }
  return trace_file::open(path);
}

void warn_of_processes(const run_info& run, std::vector<std::string>& warnings) {
  for (const auto& process : run.processes) {
    const auto who = fmt::format("process {}", process.process_id);
    if (process.state == process_state::stopped)
      warnings.push_back(fmt::format("{}: recording stopped: {}", who, process.stop_reason));
    if (process.lost_calls != 0)
      warnings.push_back(fmt::format("{}: {} calls were not recorded", who, process.lost_calls));
    for (const auto& [name, count] : process.counters)
      if (count != 0) warnings.push_back(fmt::format("{}: {}: {}", who, name, count));
  }
}

}  // namespace

result<opened_trace> open_trace(const fs::path& path, const pack_options& options) {
  std::vector<std::string> warnings;
  auto trace = open_any(path, options, warnings);
  if (!trace) return tl::unexpected(trace.error());
  for (const auto& each : trace->damage()) warnings.push_back(each.what);
  warn_of_processes(trace->run(), warnings);
  return opened_trace{std::move(*trace), std::move(warnings)};
}

}  // namespace zevent::trace
