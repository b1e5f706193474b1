#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "api/recording_format.hpp"
#include "base/checked_cast.hpp"
#include "replay/argument_image.hpp"
#include "replay/call_memory.hpp"
#include "replay/meeting_place.hpp"
#include "replay/polls.hpp"
#include "replay/program.hpp"
#include "replay/turns.hpp"

namespace zevent::replay {
namespace {

// What is passed by address or by value must be the same in the trace and in this build.
bool same_signature(const api::model& a, const api::function& f, const api::model& b,
                    const api::function& g) {
  return std::equal(f.parameters.begin(), f.parameters.end(), g.parameters.begin(),
                    g.parameters.end(), [&](const api::variable& x, const api::variable& y) {
                      const auto& s = a.types[x.type_index];
                      const auto& t = b.types[y.type_index];
                      return s.name == t.name && s.size_bytes == t.size_bytes;
                    });
}

// By index into the trace's functions: the index into those of this build.
result<std::unordered_map<uint32_t, uint32_t>> match_functions(const api::model& recorded,
                                                               const std::set<uint32_t>& used) {
  const auto& own = api::builtin_model();
  std::unordered_map<uint32_t, uint32_t> out;
  std::string unknown;
  for (const uint32_t index : used) {
    const auto& function = recorded.functions[index];
    const auto* found = own.find_function(function.name);
    if (found == nullptr || !same_signature(recorded, function, own, *found)) {
      unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", function.name);
    } else {
      out.emplace(index, own.index_of(*found));
    }
  }
  if (!unknown.empty())
    return fail("the trace has functions that this build of zevent does not know: {}", unknown);
  return out;
}

call_extras& extras_of(program& what, uint32_t index) {
  auto& call = what.calls[index];
  if (call.extras == 0) {
    what.extras.emplace_back();
    call.extras = checked_cast<uint32_t>(what.extras.size());
  }
  return what.extras[call.extras - 1];
}

class compiler {
 public:
  compiler(const trace::trace_file& trace, const compile_options& options, survey& seen,
           bool is_alone)
      : trace_(trace),
        options_(options),
        seen_(seen),
        is_alone_(is_alone),
        blobs_(trace, out_.images),
        image_(trace.model(), seen.book, blobs_, out_),
        folder_(options.polls) {}

  result<program> run(reading_progress& progress);
  // By call, once it has run: the steps that they are.
  std::vector<replay_step> take_steps() { return std::move(steps_); }

 private:
  result<void> reserve_host_memory();
  void make_threads();
  void name_slots();
  result<void> add(const recorded_call& call);
  result<void> add_step(const recorded_call& call);
  result<void> add_memory_notes(const recorded_call& call, call_extras& extras);
  void complete_loop(const recorded_call& call, uint32_t index, call_extras extras);
  void settle_steps();
  result<void> add_memory(const recorded_call& call, const trace::memory_note& note,
                          const model::byte_range& part, std::span<const model::byte_range> times,
                          call_extras& extras);
  void list_written_memory();
  void add_counter(const recorded_call& call, const model::host_counter_write& write,
                   call_extras& extras);
  void note_writes(const recorded_call& call);
  bool is_written(uint64_t address, uint64_t bytes) const;
  std::optional<uint32_t> index_of_call(uint64_t number) const;
  uint32_t add_look(memory_look look);
  void leave_out_times();
  void look_at_allocations();
  void look_at_host_memory();
  void answer(const memory_question& question);
  void add_order(const added_order& order);

  const trace::trace_file& trace_;
  const compile_options& options_;
  survey& seen_;
  bool is_alone_;  // no other process is replayed
  program out_;
  blob_cache blobs_;
  argument_image image_;
  std::unordered_map<uint32_t, uint32_t> function_;  // of the trace → of this build
  std::unordered_map<uint32_t, uint32_t> thread_;    // of the trace → of the program
  poll_folder folder_;
  std::vector<replay_step> steps_;
  std::unordered_map<uint64_t, uint32_t>
      completed_;                         // number of the last ask of a loop → its index
  std::map<uint64_t, uint64_t> written_;  // by commands: address → end, apart from each other
};

result<program> compiler::run(reading_progress& progress) {
  auto matched = match_functions(trace_.model(), seen_.functions);
  if (!matched) return tl::unexpected(matched.error());
  function_ = std::move(*matched);
  if (auto done = reserve_host_memory(); !done) return tl::unexpected(done.error());
  make_threads();
  name_slots();
  recorded_calls calls(trace_, options_.selection);
  for (;;) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) break;
    if (auto done = add(**next); !done) return tl::unexpected(done.error());
    progress.call_read();
  }
  progress.reading_is_over();
  for (const auto& each : options_.questions) answer(each);
  if (options_.look_at_memory) {
    look_at_allocations();
    look_at_host_memory();
    leave_out_times();
  }
  for (const auto& each : options_.orders) add_order(each);
  settle_steps();
  out_.selection = options_.selection;
  const auto& process = trace_.run().processes[options_.selection.process];
  out_.end = process.end;
  out_.keeps_results =
      process.memory_mode == static_cast<uint32_t>(recording::memory_mode::results);
  list_written_memory();
  out_.needs = seen_.needs;
  out_.slot_count = seen_.book.slot_count();
  out_.opaque_count = seen_.book.opaque_count();
  out_.deviations.insert(out_.deviations.begin(), seen_.deviations.begin(), seen_.deviations.end());
  return std::move(out_);
}

result<void> compiler::reserve_host_memory() {
  for (const auto& range : seen_.book.host().all()) {
    auto memory = mapped_memory::make(range.bytes);
    if (!memory)
      return fail("the calls touch {} bytes of host memory at {:#x}: {}", range.bytes, range.first,
                  memory.error().message);
    out_.host_memory.push_back(std::move(*memory));
  }
  return {};
}

void compiler::make_threads() {
  for (const uint32_t thread : seen_.threads) {
    thread_.emplace(thread, checked_cast<uint32_t>(out_.threads.size()));
    out_.threads.push_back({trace_.run().threads[thread].name, thread, {}});
  }
}

void compiler::name_slots() {
  const auto& objects = trace_.objects();
  for (uint32_t i = 0; i < objects.all().size(); ++i)
    out_.slot_names.push_back(objects.name(trace::object_id{i}, trace_.model()));
  while (out_.slot_names.size() < seen_.book.slot_count())
    out_.slot_names.push_back(
        fmt::format("pointer_{}", out_.slot_names.size() - objects.all().size()));
}

namespace {

bool is_empty(const call_extras& extras) {
  return extras.memory_before.empty() && extras.memory_after.empty() &&
         extras.opaque_inputs.empty() && extras.opaque_outputs.empty() && !extras.returned &&
         extras.fetched_place == nullptr;
}

}  // namespace

result<void> compiler::add(const recorded_call& call) {
  const auto placed = folder_.add(call, seen_.book, is_pinned(call, seen_));
  if (placed.is_new) return add_step(call);
  if (!placed.completes) return {};
  call_extras extras;
  if (auto done = add_memory_notes(call, extras); !done) return done;
  complete_loop(call, placed.step, std::move(extras));
  return {};
}

result<void> compiler::add_step(const recorded_call& call) {
  compiled_call compiled;
  compiled.number = call.number();
  compiled.function = function_.at(call.call.function);
  compiled.thread = thread_.at(call.call.thread);
  compiled.duration_ns = call.call.duration_ns;
  compiled.result = call.call.result;
  compiled.returned = call.call.returned();

  call_extras extras;
  if (auto done = image_.build(call, compiled, extras); !done) return done;
  // The handle that others open is that of the process whose call it was.
  if (call.is_inherited && !is_alone_) extras.opaque_outputs.clear();
  if (extras.fetched_place != nullptr)
    if (const auto* name = call.inputs.find("name"); name != nullptr && !name->items.empty())
      extras.fetched_function = name->items.front().text();
  if (auto done = add_memory_notes(call, extras); !done) return done;
  const auto counters = seen_.host_counters.equal_range(call.number());
  for (auto each = counters.first; each != counters.second; ++each)
    add_counter(call, each->second, extras);
  if (options_.look_at_memory) note_writes(call);
  if (!is_empty(extras)) {
    out_.extras.push_back(std::move(extras));
    compiled.extras = checked_cast<uint32_t>(out_.extras.size());
  }
  out_.calls.push_back(compiled);
  return {};
}

result<void> compiler::add_memory_notes(const recorded_call& call, call_extras& extras) {
  const auto unfinished = seen_.unfinished_of(call.call.number);
  const auto times = seen_.times_of(call.call.number);
  for (size_t i = 0; i < call.memory.size(); ++i) {
    const auto& note = call.memory[i];
    // What commands may have been at work on is not what they made of it.
    if (is_after_call(note) && !unfinished[i].empty()) {
      ++out_.unfinished_results;
      if (const auto place = seen_.book.find_memory(note.address, call.time_of(note)))
        out_.unfinished_slots.insert(replay::index_of(place->slot));
      continue;
    }
    // To see what the device makes of memory, what it has written is left as it is.
    if (options_.look_at_memory && is_written(note.address, note.bytes)) continue;
    for (const auto& part : parts_of_host(note, unfinished[i], seen_.device_writes_are_noted))
      if (auto done =
              add_memory(call, note, part,
                         times.empty() ? std::span<const model::byte_range>() : times[i], extras);
          !done)
        return done;
  }
  return {};
}

// The answer on which the program went on: what it found then is there when the loop ends.
void compiler::complete_loop(const recorded_call& call, uint32_t index, call_extras extras) {
  out_.calls[index].result = call.call.result;
  completed_.emplace(call.number(), index);
  if (is_empty(extras)) return;
  auto& after = extras_of(out_, index).memory_after;
  after.insert(after.end(), std::make_move_iterator(extras.memory_after.begin()),
               std::make_move_iterator(extras.memory_after.end()));
}

// Calls are brought into the order in which they take turns, and given to their threads.
void compiler::settle_steps() {
  const auto order = turn_order(folder_.steps());
  std::vector<compiled_call> calls;
  calls.reserve(order.size());
  steps_.reserve(order.size());
  for (const uint32_t each : order) {
    const auto& step = steps_.emplace_back(folder_.steps()[each]);
    auto& call = calls.emplace_back(out_.calls[each]);
    call.asks = step.asks;
    call.first_answer = step.first_answer;
    call.until_done = step.until_done;
    call.start_ns = step.time.start_ns;
    call.span_ns = call.returned ? step.time.end_ns - step.time.start_ns : call.duration_ns;
    out_.threads[call.thread].calls.push_back(checked_cast<uint32_t>(calls.size() - 1));
  }
  out_.calls = std::move(calls);
}

result<void> compiler::add_memory(const recorded_call& call, const trace::memory_note& note,
                                  const model::byte_range& part,
                                  std::span<const model::byte_range> times, call_extras& extras) {
  const auto content = blobs_.get(note.content);
  if (!content) return fail("call {}: {}", call.number(), content.error().message);
  const uint64_t offset = std::min<uint64_t>(part.first - note.address, content->size());
  memory_restore restore{.device = {},
                         .content = content->data() + offset,
                         .bytes = std::min<uint64_t>(part.bytes, content->size() - offset),
                         .patches = {},
                         .is_copied = is_copied(note),
                         .owner = {},
                         .is_by_host = !may_be_devices(note),
                         .times = {}};
  const uint64_t time_ns = call.time_of(note);
  if (const auto place = seen_.book.find_memory(part.first, time_ns)) {
    const auto* owner = seen_.book.object_of(place->slot);
    const uint64_t room = owner == nullptr || owner->size_bytes < place->offset
                              ? 0
                              : owner->size_bytes - place->offset;
    restore.device = *place;
    restore.bytes = std::min(restore.bytes, room);
    if (restore.is_copied) restore.owner = seen_.owner_of(place->slot);
    for (const auto& each : times) {
      const uint64_t first = std::max(each.first, part.first);
      const uint64_t end = std::min(each.end(), part.first + restore.bytes);
      if (first < end) restore.times.push_back({first - part.first, end - first});
    }
    if (!restore.times.empty()) out_.held_times.insert(replay::index_of(place->slot));
  } else {
    if (restore.is_copied) return {};
    restore.host = image_.host_address(part.first);
    if (restore.host == nullptr) return {};
  }
  const auto pointers =
      seen_.book.find_argument_pointers({restore.content, restore.bytes}, time_ns);
  if (!pointers.empty()) {
    // The content is everybody's: pointers go into a copy.
    std::byte* own = out_.images.take(restore.bytes);
    std::copy_n(restore.content, restore.bytes, own);
    restore.patches = image_.place_pointers({own, restore.bytes}, pointers);
    restore.content = own;
  }
  auto& list = is_after_call(note) ? extras.memory_after : extras.memory_before;
  if (restore.bytes != 0) list.push_back(std::move(restore));
  return {};
}

// What the host wrote to the storage of a counter while a command waited for it was not recorded,
// but it must have been there when the wait was over.
void compiler::add_counter(const recorded_call& call, const model::host_counter_write& write,
                           call_extras& extras) {
  const auto place = seen_.book.find_memory(write.address, call.call.start_ns);
  if (!place || write.address % sizeof(uint64_t) != 0) return;
  const auto* owner = seen_.book.object_of(place->slot);
  if (owner == nullptr || owner->size_bytes < place->offset + sizeof(uint64_t)) return;
  std::byte* content = out_.images.take(sizeof(uint64_t));
  std::memcpy(content, &write.value, sizeof(uint64_t));
  extras.memory_before.push_back({.device = *place,
                                  .content = content,
                                  .bytes = sizeof(uint64_t),
                                  .patches = {},
                                  .at_least = true,
                                  .owner = {},
                                  .times = {}});
}

void compiler::list_written_memory() {
  for (const uint32_t slot : seen_.written) {
    const auto maker = seen_.maker.find(slot);
    if (maker != seen_.maker.end() &&
        trace_.model().functions[maker->second].name.starts_with("zeMemAlloc"))
      out_.written_memory.push_back(slot);
  }
}

void compiler::note_writes(const recorded_call& call) {
  if (call.function->name.find("Append") == std::string_view::npos) return;
  for_each_address(trace_.model(), call.inputs, [&](const address_use& use) {
    if (use.variable->name != "dstptr" && use.variable->name != "ptr") return;
    uint64_t first = use.address, end = first + std::min(use.bytes, UINT64_MAX - first);
    auto next = written_.upper_bound(end);
    while (next != written_.begin() && std::prev(next)->second >= first) {
      --next;
      first = std::min(first, next->first);
      end = std::max(end, next->second);
      next = written_.erase(next);
    }
    written_[first] = end;
  });
}

bool compiler::is_written(uint64_t address, uint64_t bytes) const {
  const auto next = written_.lower_bound(address + bytes);
  return next != written_.begin() && std::prev(next)->second > address;
}

// Before calls are brought into the order of their turns.
std::optional<uint32_t> compiler::index_of_call(uint64_t number) const {
  if (const auto loop = completed_.find(number); loop != completed_.end()) return loop->second;
  const auto found =
      std::partition_point(out_.calls.begin(), out_.calls.end(),
                           [&](const compiled_call& each) { return each.number < number; });
  if (found == out_.calls.end() || found->number != number) return std::nullopt;
  return checked_cast<uint32_t>(found - out_.calls.begin());
}

uint32_t compiler::add_look(memory_look look) {
  look.first_hash = out_.hashes;
  out_.hashes += look.pieces();
  out_.looks.push_back(std::move(look));
  return checked_cast<uint32_t>(out_.looks.size() - 1);
}

// Only what the driver allocated: reserved addresses need not have memory behind them.
void compiler::look_at_allocations() {
  const auto& functions = trace_.model().functions;
  for (const auto& [slot, maker] : seen_.maker) {
    const auto* memory = seen_.book.object_of(slot_id{slot});
    if (memory == nullptr || memory->handle.handle_class != trace::memory_class ||
        memory->size_bytes == 0 || !functions[maker].name.starts_with("zeMemAlloc"))
      continue;
    // When a process frees what it has from its parent is not known.
    if (memory->handle.process != options_.selection.process) continue;
    const uint32_t look = add_look(
        {.device = {slot_id{slot}, 0}, .bytes = memory->size_bytes, .name = out_.slot_names[slot]});
    const auto freed =
        memory->released_by ? index_of_call(trace::number_of(*memory->released_by)) : std::nullopt;
    if (freed) {
      extras_of(out_, *freed).looks_before.push_back(look);
    } else {
      out_.looks_at_end.push_back(look);
    }
  }
}

void compiler::look_at_host_memory() {
  for (const auto& each : out_.host_memory)
    out_.looks_at_end.push_back(
        add_look({.host = each.data(), .device = {}, .bytes = each.size(), .name = "host memory"}));
}

// Of what memory holds in the end.
void compiler::leave_out_times() {
  for (const auto& each : options_.times) {
    const auto place = seen_.book.find_memory(each.where.first, each.at_ns);
    const auto* const host = place ? nullptr : image_.host_address(each.where.first);
    for (auto& look : out_.looks) {
      if (place && look.host == nullptr && look.device.slot == place->slot &&
          place->offset >= look.device.offset)
        look.times.push_back({place->offset - look.device.offset, each.where.bytes});
      if (host != nullptr && look.host != nullptr && host >= look.host &&
          host < look.host + look.bytes)
        look.times.push_back({static_cast<uint64_t>(host - look.host), each.where.bytes});
    }
  }
}

void compiler::answer(const memory_question& question) {
  memory_look look{.device = {}, .bytes = question.bytes, .name = "host memory"};
  const auto index = index_of_call(question.after_call);
  const uint64_t time_ns = index ? folder_.steps()[*index].time.start_ns : 0;
  const auto place = seen_.book.find_memory(question.address, time_ns);
  if (place) {
    const auto* owner = seen_.book.object_of(place->slot);
    const uint64_t size = owner == nullptr ? 0 : owner->size_bytes;
    look.device = *place;
    look.bytes = std::min(look.bytes, size - std::min(size, place->offset));
    look.name = out_.slot_names[replay::index_of(place->slot)];
    // What is freed cannot be looked at in the end.
    if (owner == nullptr || owner->released_by) look.bytes = 0;
  } else {
    look.host = image_.host_address(question.address);
    const auto last = image_.host_address(question.address + question.bytes - 1);
    if (look.host == nullptr || last != look.host + question.bytes - 1) look.bytes = 0;
  }
  const uint32_t first = add_look(look), second = add_look(look);
  if (!index || look.bytes == 0) return;
  extras_of(out_, *index).looks_after.push_back(first);
  out_.looks_at_end.push_back(second);
}

void compiler::add_order(const added_order& order) {
  using kind = added_order::kind;
  const auto& own = api::builtin_model();
  const auto* function =
      own.find_function(order.how == kind::barrier_in_list ? "zeCommandListAppendBarrier"
                        : order.how == kind::wait_for_list ? "zeCommandListHostSynchronize"
                                                           : "zeCommandQueueSynchronize");
  const auto index = index_of_call(order.before_call);
  const auto type = trace::class_named(trace_.model(), order.how == kind::wait_for_queue
                                                           ? "ze_command_queue_handle_t"
                                                           : "ze_command_list_handle_t");
  if (!index || function == nullptr) return;
  const auto object =
      seen_.book.find_handle(type, order.handle, folder_.steps()[*index].time.start_ns);
  if (object) extras_of(out_, *index).added.push_back({own.index_of(*function), *object});
}

}  // namespace

bool program::has_results() const {
  return std::any_of(extras.begin(), extras.end(), [](const call_extras& each) {
    return std::any_of(each.memory_after.begin(), each.memory_after.end(),
                       [](const memory_restore& memory) { return !memory.is_by_host; });
  });
}

std::vector<uint32_t> program::functions() const {
  std::set<uint32_t> used;
  for (const auto& call : calls) used.insert(call.function);
  return {used.begin(), used.end()};
}

namespace {

struct placed_call {
  uint32_t program = 0, index = 0;
};

// The calls of all programs in the order of their turns.
std::vector<placed_call> order_of(std::span<const std::vector<replay_step>> steps) {
  std::vector<placed_call> out;
  for (uint32_t i = 0; i < steps.size(); ++i)
    for (uint32_t k = 0; k < steps[i].size(); ++k) out.push_back({i, k});
  const auto turn = [&](const placed_call& each) { return steps[each.program][each.index].turn; };
  if (steps.size() > 1)
    std::sort(out.begin(), out.end(), [&](const placed_call& a, const placed_call& b) {
      return std::pair(turn(a), a.program) < std::pair(turn(b), b.program);
    });
  return out;
}

// Numbers the threads of all programs, and lets them take turns where there are several.
void take_turns(std::span<program> programs, std::span<const std::vector<replay_step>> steps,
                bool free_threads) {
  uint32_t takers = 0;
  for (auto& each : programs) {
    each.first_taker = takers;
    takers += checked_cast<uint32_t>(each.threads.size());
  }
  const auto order = order_of(steps);
  for (auto& each : programs)
    each.first_start_ns = programs[order.front().program].calls[order.front().index].start_ns;
  if (takers == 1) return;
  std::vector<timed_call> timed;
  timed.reserve(order.size());
  for (const auto& each : order) timed.push_back(steps[each.program][each.index].time);
  const auto turns = order_calls(timed, free_threads);
  const auto taker_of = [&](const placed_call& each) {
    const auto& owner = programs[each.program];
    return owner.first_taker + owner.calls[each.index].thread;
  };
  for (auto& each : programs) each.turns.resize(each.calls.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    auto& owner = programs[order[i].program];
    owner.calls[order[i].index].lets_next_go = turns.lets_next_go[i];
    owner.turns[order[i].index] = {
        i, i + 1 < order.size() ? taker_of(order[i + 1]) : meeting_place::nobody};
  }
  for (const auto& [position, earlier] : turns.waits_for) {
    auto& waits = extras_of(programs[order[position].program], order[position].index).waits_for;
    for (const uint32_t each : earlier) waits.push_back({taker_of(order[each]), each});
  }
}

result<std::vector<program>> compile_all(const trace::trace_file& trace,
                                         std::span<const call_selection> selections,
                                         const compile_options& options) {
  constexpr uint64_t page_bytes = 4096;
  try {
    reading_progress progress(options.progress, trace.calls(), 2 * selections.size());
    auto seen = survey_together(trace, selections, page_bytes, progress);
    if (!seen) return tl::unexpected(seen.error());
    std::vector<program> programs;
    std::vector<std::vector<replay_step>> steps;
    for (size_t i = 0; i < selections.size(); ++i) {
      compile_options own = options;
      own.selection = selections[i];
      compiler compiles(trace, own, (*seen)[i], selections.size() == 1);
      auto compiled = compiles.run(progress);
      if (!compiled) return tl::unexpected(compiled.error());
      programs.push_back(std::move(*compiled));
      steps.push_back(compiles.take_steps());
    }
    take_turns(programs, steps, options.free_threads);
    return programs;
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory for this trace; replay a part of it with --until");
  }
}

}  // namespace

result<program> compile(const trace::trace_file& trace, const compile_options& options) {
  auto compiled = compile_all(trace, {&options.selection, 1}, options);
  if (!compiled) return tl::unexpected(compiled.error());
  return std::move(compiled->front());
}

result<std::vector<program>> compile_together(const trace::trace_file& trace,
                                              std::span<const uint32_t> processes,
                                              const compile_options& options) {
  std::vector<call_selection> selections;
  for (const uint32_t each : processes)
    selections.push_back({each, options.selection.last, options.selection.skipped});
  return compile_all(trace, selections, options);
}

}  // namespace zevent::replay
