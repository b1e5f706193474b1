#include "trace/run_info.hpp"

#include <algorithm>

#include "api/recording_format.hpp"
#include "base/byte_writer.hpp"
#include "base/signal_name.hpp"
#include "base/untrusted_reader.hpp"

namespace zevent::trace {
namespace {

// Numbers of fields; never given another meaning.
enum run_field : uint64_t { run_start = 1, run_process = 2, run_thread = 3 };
enum process_field : uint64_t {
  process_id = 1,
  process_parent = 2,
  process_host = 3,
  process_ending = 4,
  process_stop_reason = 5,
  process_lost_calls = 6,
  process_memory_mode = 7,
  process_fact = 8,
  process_counter = 9,
  process_how_it_ended = 10,
  process_forked = 11,
};
enum end_field : uint64_t { end_kind_of_it = 1, end_status = 2, end_time = 3 };
enum fork_field : uint64_t { fork_parent = 1, fork_time = 2 };
enum thread_field : uint64_t { thread_process = 1, thread_kernel_id = 2, thread_name = 3 };
enum pair_field : uint64_t { pair_name = 1, pair_value = 2 };

class field_writer {
 public:
  void number(uint64_t field, uint64_t value) {
    byte_writer content;
    content.varint(value);
    bytes(field, content.view());
  }
  void text(uint64_t field, std::string_view value) {
    bytes(field, std::as_bytes(std::span(value)));
  }
  void bytes(uint64_t field, std::span<const std::byte> content) {
    out_.varint(field);
    out_.varint(content.size());
    out_.bytes(content);
  }
  void group(uint64_t field, const field_writer& inner) { bytes(field, inner.out_.view()); }
  std::vector<std::byte> take() { return out_.take(); }

 private:
  byte_writer out_;
};

struct field {
  uint64_t number = 0;
  std::span<const std::byte> content;

  std::string text() const {
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }
  uint64_t value() const { return untrusted_reader(content).varint(); }
  uint32_t value32() const { return static_cast<uint32_t>(value()); }
};

// Calls `use` for each field; false when the bytes are not fields.
template <typename Use>
bool each_field(std::span<const std::byte> bytes, Use use) {
  untrusted_reader reader(bytes);
  while (!reader.at_end()) {
    field next;
    next.number = reader.varint();
    next.content = reader.take(reader.varint());
    if (!reader.ok()) return false;
    use(next);
  }
  return true;
}

field_writer encode_process(const process_info& process) {
  field_writer out;
  out.number(process_id, process.process_id);
  out.number(process_parent, process.parent_process_id);
  out.text(process_host, process.host);
  out.number(process_ending, static_cast<uint64_t>(process.state));
  if (!process.stop_reason.empty()) out.text(process_stop_reason, process.stop_reason);
  out.number(process_lost_calls, process.lost_calls);
  out.number(process_memory_mode, process.memory_mode);
  for (const auto& [name, value] : process.facts) {
    field_writer pair;
    pair.text(pair_name, name);
    pair.text(pair_value, value);
    out.group(process_fact, pair);
  }
  for (const auto& [name, value] : process.counters) {
    field_writer pair;
    pair.text(pair_name, name);
    pair.number(pair_value, value);
    out.group(process_counter, pair);
  }
  if (process.end.kind != end_kind::unknown) {
    field_writer end;
    end.number(end_kind_of_it, static_cast<uint64_t>(process.end.kind));
    end.number(end_status, process.end.status);
    if (process.end.at_ns) end.number(end_time, *process.end.at_ns);
    out.group(process_how_it_ended, end);
  }
  if (process.fork) {
    field_writer fork;
    fork.number(fork_parent, process.fork->parent);
    fork.number(fork_time, process.fork->at_ns);
    out.group(process_forked, fork);
  }
  return out;
}

// A kind of a later version is one that is not known here.
end_kind end_kind_from(uint64_t number) {
  return number <= static_cast<uint64_t>(end_kind::replaced) ? static_cast<end_kind>(number)
                                                             : end_kind::unknown;
}

bool decode_process(std::span<const std::byte> bytes, process_info& process) {
  bool pairs_whole = true;
  const bool whole = each_field(bytes, [&](const field& each) {
    switch (each.number) {
      case process_id:
        process.process_id = each.value32();
        break;
      case process_parent:
        process.parent_process_id = each.value32();
        break;
      case process_host:
        process.host = each.text();
        break;
      case process_ending:
        process.state = static_cast<process_state>(std::clamp<uint64_t>(each.value(), 1, 3));
        break;
      case process_stop_reason:
        process.stop_reason = each.text();
        break;
      case process_lost_calls:
        process.lost_calls = each.value();
        break;
      case process_memory_mode:
        process.memory_mode = each.value32();
        break;
      case process_how_it_ended:
        pairs_whole &= each_field(each.content, [&end = process.end](const field& part) {
          if (part.number == end_kind_of_it) end.kind = end_kind_from(part.value());
          if (part.number == end_status) end.status = part.value32();
          if (part.number == end_time) end.at_ns = part.value();
        });
        break;
      case process_forked:
        process.fork.emplace();
        pairs_whole &= each_field(each.content, [&fork = *process.fork](const field& part) {
          if (part.number == fork_parent) fork.parent = part.value32();
          if (part.number == fork_time) fork.at_ns = part.value();
        });
        break;
      case process_fact: {
        auto& [name, value] = process.facts.emplace_back();
        pairs_whole &= each_field(each.content, [&, &n = name, &v = value](const field& part) {
          if (part.number == pair_name) n = part.text();
          if (part.number == pair_value) v = part.text();
        });
        break;
      }
      case process_counter: {
        auto& [name, value] = process.counters.emplace_back();
        pairs_whole &= each_field(each.content, [&, &n = name, &v = value](const field& part) {
          if (part.number == pair_name) n = part.text();
          if (part.number == pair_value) v = part.value();
        });
        break;
      }
    }
  });
  return whole && pairs_whole;
}

bool decode_thread(std::span<const std::byte> bytes, thread_info& thread) {
  return each_field(bytes, [&](const field& each) {
    if (each.number == thread_process) thread.process = each.value32();
    if (each.number == thread_kernel_id) thread.thread_id = each.value32();
    if (each.number == thread_name) thread.name = each.text();
  });
}

}  // namespace

bool process_end::is_crash() const {
  return kind == end_kind::by_signal && is_crash_signal(static_cast<int>(status));
}

std::string to_text(const process_end& end) {
  switch (end.kind) {
    case end_kind::exited:
      return fmt::format("exit status {}", end.status);
    case end_kind::by_signal:
      return fmt::format("ended by {}", signal_name(static_cast<int>(end.status)));
    case end_kind::replaced:
      return "became another program";
    case end_kind::unknown:
      break;
  }
  return {};
}

std::vector<passed_through> process_info::functions_passed_through() const {
  std::vector<passed_through> out;
  for (const auto& [name, calls] : counters)
    if (name.starts_with(recording::passed_through_counter))
      out.push_back({name.substr(recording::passed_through_counter.size()), calls});
  return out;
}

std::string process_info::fact(std::string_view name) const {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == facts.end() ? std::string() : found->second;
}

std::vector<std::byte> encode_run_info(const run_info& run) {
  field_writer out;
  out.number(run_start, run.start_realtime_ns);
  for (const auto& process : run.processes) out.group(run_process, encode_process(process));
  for (const auto& thread : run.threads) {
    field_writer inner;
    inner.number(thread_process, thread.process);
    inner.number(thread_kernel_id, thread.thread_id);
    inner.text(thread_name, thread.name);
    out.group(run_thread, inner);
  }
  return out.take();
}

result<run_info> decode_run_info(std::span<const std::byte> bytes) {
  run_info run;
  bool parts_whole = true;
  const bool whole = each_field(bytes, [&](const field& each) {
    if (each.number == run_start) run.start_realtime_ns = each.value();
    if (each.number == run_process) {
      auto& process = run.processes.emplace_back();
      parts_whole &= decode_process(each.content, process);
      // Processes are in the order of their start; so none is its own ancestor.
      if (process.fork && process.fork->parent + 1 >= run.processes.size()) process.fork.reset();
    }
    if (each.number == run_thread)
      parts_whole &= decode_thread(each.content, run.threads.emplace_back());
  });
  const bool threads_have_processes =
      std::all_of(run.threads.begin(), run.threads.end(),
                  [&](const auto& each) { return each.process < run.processes.size(); });
  if (!whole || !parts_whole || !threads_have_processes)
    return fail("the description of the run is damaged");
  return run;
}

}  // namespace zevent::trace
