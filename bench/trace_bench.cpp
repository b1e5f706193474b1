// The same ten million calls on disk and read again: a packed trace against what LTTng writes
// (CTF), read by babeltrace2. recorder_bench makes the calls.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "base/temporary_folder.hpp"
#include "lttng_session.hpp"
#include "trace/open_trace.hpp"
#include "trace/pack.hpp"

namespace {

namespace fs = std::filesystem;
using namespace zevent;
using bench::check;

constexpr uint64_t call_count = 10'000'000;

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

template <typename Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print_read(const char* what, double ours_s, double peers_s, const char* target) {
  fmt::print("{:<52} {:>10.2f} s {:>10.2f} s {:>7.1f}x  {}\n", what, ours_s, peers_s,
             peers_s / ours_s, target);
}

double read_calls(const fs::path& file, bool with_arguments) {
  return seconds_of([&] {
    const auto opened = trace::open_trace(file);
    check(opened.has_value(), "opening the trace");
    trace::call_reader reader(opened->trace);
    uint64_t calls = 0, sum = 0;
    while (const auto* call = reader.next()) {
      ++calls;
      sum += call->duration_ns;
      if (!with_arguments) continue;
      const auto arguments = reader.arguments();
      for (const auto byte : arguments.inputs) sum += std::to_integer<uint64_t>(byte);
    }
    check(calls >= call_count && sum > 0, "reading every call");
  });
}

}  // namespace

int main(int, char** arguments) {
  if (!bench::lttng_is_installed("trace_bench")) return 0;
  const std::string maker = fs::path(arguments[0]).parent_path() / "recorder_bench";
  const zevent::temporary_folder folder("zevent-bench");
  setenv("LTTNG_UST_ALLOW_BLOCKING", "1", 1);
  const bench::lttng_daemon daemon;

  const fs::path ctf = folder.path() / "ctf", zev = folder.path() / "calls.zev";
  {
    const bench::lttng_session session(ctf);
    bench::run(fmt::format("{} calls lttng {}", maker, call_count));
  }
  bench::run(fmt::format("ZEVENT_RECORD={} {} calls recorder {}", zev.string(), maker, call_count));
  const auto packed = trace::pack_recording(zev.string() + ".parts", zev);
  check(packed.has_value(), "packing");
  check(packed->lost_calls == 0, "recording every call");

  const double ours = static_cast<double>(packed->size_bytes) / call_count;
  const double peers = static_cast<double>(bytes_in(ctf)) / call_count;
  fmt::print("\n{:<52} {:>12} {:>12} {:>8}  {}\n", fmt::format("{} calls on disk", call_count),
             "ours", "peer", "ratio", "target");
  fmt::print("{:<52} {:>12.2f} {:>12.2f} {:>8.3f}  {}\n", "bytes a call, packed; CTF", ours, peers,
             ours / peers, "<= 0.33");

  const double peers_s =
      seconds_of([&] { bench::run(fmt::format("babeltrace2 -o dummy {}", ctf.string())); });
  print_read("reading all calls; babeltrace2, without printing", read_calls(zev, false), peers_s,
             ">= 20x");
  print_read("the same with every byte of their arguments", read_calls(zev, true), peers_s, "");
}
