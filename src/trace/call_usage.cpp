#include "trace/call_usage.hpp"

#include <algorithm>
#include <type_traits>

#include "trace/column.hpp"
#include "trace/trace_file.hpp"

namespace zevent::trace {
namespace {

enum column : column_id {
  call_column = 1,
  before_column = 2,
  after_column = 3,
  processor_column = 4,
  run_delay_column = 5,
  minor_faults_column = 6,
  major_faults_column = 7,
  voluntary_switches_column = 8,
  involuntary_switches_column = 9,
  others_before_column = 10,
  other_run_delay_column = 11,
  other_processor_column = 12,
  other_threads_column = 13,
  runnable_tasks_column = 14,
  processors_column = 15,
  flags_column = 16,
};
constexpr size_t usage_notes_per_chunk = 16384;

// Every column but the call's, with the field that it holds.
template <typename Visit>
bool for_each_field(Visit visit) {
  using note = call_usage;
  return visit(before_column, &note::before_ns) && visit(after_column, &note::after_ns) &&
         visit(processor_column, &note::processor_ns) &&
         visit(run_delay_column, &note::run_delay_ns) &&
         visit(minor_faults_column, &note::minor_faults) &&
         visit(major_faults_column, &note::major_faults) &&
         visit(voluntary_switches_column, &note::voluntary_switches) &&
         visit(involuntary_switches_column, &note::involuntary_switches) &&
         visit(others_before_column, &note::others_before_ns) &&
         visit(other_run_delay_column, &note::other_run_delay_ns) &&
         visit(other_processor_column, &note::other_processor_ns) &&
         visit(other_threads_column, &note::other_threads) &&
         visit(runnable_tasks_column, &note::runnable_tasks) &&
         visit(processors_column, &note::processors) && visit(flags_column, &note::flags);
}

// Whoever adds two times need not think of overflow.
template <typename T>
T bounded(T value) {
  if constexpr (std::is_same_v<T, uint64_t>) return std::min(value, latest_time_ns);
  return value;
}

}  // namespace

result<void> call_usage_writer::add(const call_usage& note, chunk_writer& file) {
  notes_.push_back(note);
  return notes_.size() == usage_notes_per_chunk ? flush(file) : result<void>();
}

result<void> call_usage_writer::flush(chunk_writer& file) {
  if (notes_.empty()) return {};
  const uint64_t first = number_of(notes_.front().call);
  std::vector<column_planes> columns;
  std::vector<uint64_t> values;
  uint64_t last = first;
  for (const auto& each : notes_) {
    values.push_back(number_of(each.call) - last);
    last = number_of(each.call);
  }
  columns.emplace_back(call_column, values);
  for_each_field([&](column_id which, auto field) {
    values.clear();
    for (const auto& each : notes_) values.push_back(each.*field);
    columns.emplace_back(which, values);
    return true;
  });
  std::vector<stream_source> streams;
  for (const auto& each : columns) each.append_streams(streams);
  const uint64_t count = notes_.size();
  notes_.clear();
  return file.append(chunk_kind::call_usage, first, count, streams);
}

result<std::vector<call_usage>> read_call_usage(const chunk& source, const chunk_entry& entry,
                                                uint64_t calls) {
  if (entry.items > max_calls_per_chunk)
    return fail("the chunk at byte {} says it holds {} notes of threads", entry.offset,
                entry.items);
  const auto count = static_cast<size_t>(entry.items);
  std::vector<uint64_t> numbers(count);
  if (auto decoded = decode_column(source, call_column, std::span(numbers)); !decoded)
    return tl::unexpected(decoded.error());
  if (!undo_delta(numbers, entry.first_item)) return fail("the numbers of calls overflow");

  std::vector<call_usage> notes(count);
  result<void> decoded;
  for_each_field([&]<typename T>(column_id which, T call_usage::*field) {
    std::vector<T> values(count);
    decoded = decode_column(source, which, std::span(values));
    if (!decoded) return false;
    for (size_t i = 0; i < count; ++i) notes[i].*field = bounded(values[i]);
    return true;
  });
  if (!decoded) return tl::unexpected(decoded.error());
  for (size_t i = 0; i < count; ++i) notes[i].call = call_number{numbers[i]};
  std::erase_if(notes, [&](const call_usage& each) { return number_of(each.call) >= calls; });
  // The distances of a file that was made to mislead may be 0.
  const auto is_same = [](const call_usage& a, const call_usage& b) { return a.call == b.call; };
  notes.erase(std::unique(notes.begin(), notes.end(), is_same), notes.end());
  return notes;
}

const call_usage* call_usage_reader::find(call_number call) {
  const auto wanted = trace_->usage_chunk_of(call);
  if (!wanted) return nullptr;
  if (*wanted != chunk_) {
    chunk_ = *wanted;
    next_ = 0;
    notes_ = trace_->read_usage_chunk(chunk_).value_or(std::vector<call_usage>());
  }
  const auto is_before = [](const call_usage& each, call_number number) {
    return each.call < number;
  };
  if (next_ >= notes_.size() || call < notes_[next_].call) {
    // In front of the next one, and behind the one before it: as most calls of a trace in order.
    if (next_ != 0 && next_ <= notes_.size() && notes_[next_ - 1].call < call) return nullptr;
    next_ = 0;
  }
  const auto found = std::lower_bound(notes_.begin() + static_cast<ptrdiff_t>(next_), notes_.end(),
                                      call, is_before);
  next_ = static_cast<size_t>(found - notes_.begin());
  if (found == notes_.end() || found->call != call) return nullptr;
  return &*found;
}

}  // namespace zevent::trace
