#include "repro/c_program.hpp"

#include <algorithm>
#include <unordered_map>

#include "api/print.hpp"
#include "api/recording_format.hpp"
#include "base/checked_cast.hpp"
#include "replay/turns.hpp"
#include "repro/block_functions.hpp"
#include "repro/c_main.hpp"
#include "repro/c_prelude.hpp"
#include "repro/c_render.hpp"
#include "repro/escape.hpp"
#include "repro/merged_calls.hpp"

namespace zevent::repro {
namespace {

using replay::recorded_call;

// So many calls that show the symptom are told apart; the others are watched.
constexpr size_t most_symptom_calls = 64;
constexpr uint64_t host_granule_bytes = 1;
// A loop over objects takes their names from them; it has to be worth it.
constexpr uint64_t least_changing_iterations = 16;

// What has to be known of all steps before the first is written: of calls, and of loops of polls.
struct step_outline {
  uint32_t thread = 0;   // of the run
  uint32_t process = 0;  // index of its selection
  bool is_work = false;
  bool releases = false;
  // Turns, where there are several threads.
  uint64_t turn = 0;         // number of its turn
  bool begins_turn = false;  // it is the first of it
  bool ends_turn = false;    // it is the last of it, and another one follows
  bool lets_next_go = false;
  std::vector<uint32_t> waits_for;  // steps that have to have returned
};

bool is_work(std::string_view function) {
  for (const std::string_view part : {"Append", "Execute", "HostSignal", "Synchronize", "Query"})
    if (function.find(part) != function.npos) return true;
  return false;
}

bool releases(std::string_view function) {
  for (const std::string_view part : {"Destroy", "MemFree", "Close"})
    if (function.find(part) != function.npos) return true;
  return false;
}

class program_writer {
 public:
  program_writer(const trace::trace_file& trace, const program_options& options,
                 const std::vector<replay::survey>& seen, const object_names& names,
                 replay::reading_progress& progress)
      : trace_(trace), options_(options), seen_(seen), names_(names), progress_(progress) {
    const bool compares = std::holds_alternative<model::memory_differs>(options.symptom);
    process_place place;
    if (seen.size() > 1) place.handle_owners = &handle_owners_;
    for (const auto& each : seen) {
      calls_.emplace_back(trace, each, names, out_.data, out_.needs, compares, place);
      ++place.process;
      place.first_range += checked_cast<uint32_t>(each.book.host().all().size());
      note_requirements(each.needs);
    }
  }

  result<c_program> run();

 private:
  std::string_view why_no_memory() const;
  void note_requirements(const replay::requirements& own);
  result<void> outline();
  void find_phases();
  std::string name_of_calls(size_t thread) const;
  result<void> write_calls();
  result<void> write_call(const recorded_call& call, uint32_t index);
  result<void> write_memory_after(const recorded_call& call, uint32_t index);
  bool has_processes() const { return options_.selections.size() > 1; }
  void need_helper(std::string_view name) {
    out_.needs.helpers.insert((has_processes() ? "process_" : "") + std::string(name));
  }
  call_style style_of(const recorded_call& call, uint32_t index);
  void add(step_sequence& to, const shaped_text& text, const step_note& note,
           std::string_view origin = "");
  step_sequence& sequence_of(uint32_t index);
  void order_turns();
  void take_turn(uint32_t index);
  void pass_pending_turn(step_sequence& sequence);
  result<void> render_all();
  uint64_t call_after(const std::vector<std::vector<folded_step>>& folded,
                      uint64_t statements) const;
  tl::unexpected<failure> too_large(const std::vector<std::vector<folded_step>>& folded) const;
  result<void> write_sources();
  bool needs_helper(std::string_view name) const;
  std::string includes() const;
  std::string opening_comment() const;
  std::string objects_code() const;
  std::vector<process_code> process_functions(std::string& code) const;

  const trace::trace_file& trace_;
  const program_options& options_;
  const std::vector<replay::survey>& seen_;  // by process
  const object_names& names_;
  replay::reading_progress& progress_;
  c_program out_;
  std::map<replay::opaque_id, uint32_t> handle_owners_;
  std::vector<c_call_writer> calls_;  // by process

  uint64_t recorded_calls_ = 0;
  std::vector<replay::replay_step> steps_;
  std::vector<step_outline> outline_;  // by step
  bool has_threads_ = false;
  size_t first_work_ = 0, first_release_ = 0;  // indices, of a program with one thread
  std::vector<uint32_t> threads_;              // in the order of their first calls
  std::vector<uint32_t> process_of_thread_;    // by thread
  std::vector<step_sequence> sequences_;       // of phases, or of threads
  std::unordered_map<std::string, uint32_t> shape_of_;
  std::vector<std::string> shapes_;
  std::vector<std::string> origins_;                    // by shape: the API function it calls
  std::unordered_map<uint32_t, uint64_t> finished_;     // step that lets others go → its number
  std::map<const step_sequence*, uint64_t> next_turn_;  // to be passed before the next step
  std::vector<std::vector<c_function>> functions_;      // by sequence
  std::optional<object_layout> layout_;
  std::string blocks_code_;
};

result<c_program> program_writer::run() {
  if (std::holds_alternative<model::exit_status>(options_.symptom))
    return fail("a reproducer only makes calls: it cannot show the symptom {}",
                model::to_text(options_.symptom));
  if (auto done = outline(); !done) return tl::unexpected(done.error());
  find_phases();
  order_turns();
  if (auto done = write_calls(); !done) return tl::unexpected(done.error());
  if (std::holds_alternative<model::memory_differs>(options_.symptom) &&
      !out_.needs.helpers.contains("compare"))
    return fail("there is no memory to compare: {}", why_no_memory());
  if (auto done = render_all(); !done) return tl::unexpected(done.error());
  if (auto done = write_sources(); !done) return tl::unexpected(done.error());
  out_.calls = recorded_calls_;
  out_.threads = threads_.size();
  out_.processes = options_.selections.size();
  for (const auto& each : seen_)
    out_.deviations.insert(out_.deviations.end(), each.deviations.begin(), each.deviations.end());
  return std::move(out_);
}

std::string_view program_writer::why_no_memory() const {
  const auto& process = trace_.run().processes[options_.selections.front().process];
  if (process.memory_mode == static_cast<uint32_t>(recording::memory_mode::results))
    return "whenever the program had waited, something had changed only in memory of the device, "
           "or nowhere, or commands may have been writing there";
  return "the recording has nothing of what host and shared allocations held after waits; 'zevent "
         "record --memory=results' keeps that";
}

void program_writer::note_requirements(const replay::requirements& own) {
  auto& all = out_.of_driver;
  all.drivers = std::max(all.drivers, own.drivers);
  all.devices = std::max(all.devices, own.devices);
  all.queues.insert(own.queues.begin(), own.queues.end());
  all.largest_allocation_bytes =
      std::max(all.largest_allocation_bytes, own.largest_allocation_bytes);
  all.by_name.insert(own.by_name.begin(), own.by_name.end());
}

// Times of a damaged recording may be anything.
uint64_t ten_times_s(uint64_t first_ns, uint64_t last_ns) {
  constexpr uint64_t longest_s = 1'000'000;
  const uint64_t recorded_s = last_ns > first_ns ? (last_ns - first_ns) / 1'000'000'000 : 0;
  return std::min(10 * recorded_s, longest_s);
}

result<void> program_writer::outline() {
  merged_calls calls(trace_, options_.selections);
  replay::poll_folder folder(replay::polls_for(options_.polls, options_.symptom));
  uint64_t first_ns = UINT64_MAX, first_hang_ns = UINT64_MAX, last_ns = 0;
  for (;;) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (next->call == nullptr) break;
    const auto& call = *next->call;
    first_ns = std::min(first_ns, call.call.start_ns);
    if (!call.call.returned()) first_hang_ns = std::min(first_hang_ns, call.call.start_ns);
    last_ns = std::max(last_ns, call.call.returned() ? call.call.end_ns() : call.call.start_ns);
    progress_.call_read();
    ++recorded_calls_;
    const auto& seen = seen_[next->process];
    if (!folder.add(call, seen.book, replay::is_pinned(call, seen)).is_new) continue;
    outline_.push_back({.thread = call.call.thread,
                        .process = next->process,
                        .is_work = is_work(call.function->name),
                        .releases = releases(call.function->name),
                        .waits_for = {}});
    if (std::find(threads_.begin(), threads_.end(), call.call.thread) != threads_.end()) continue;
    threads_.push_back(call.call.thread);
    process_of_thread_.push_back(next->process);
  }
  progress_.reading_is_over();
  steps_ = folder.steps();
  out_.limits = {60 + ten_times_s(first_ns, last_ns), 10 + ten_times_s(first_hang_ns, last_ns)};
  return {};
}

std::string program_writer::name_of_calls(size_t thread) const {
  if (!has_processes()) return fmt::format("calls_of_thread_{}", thread + 1);
  const uint32_t process = process_of_thread_[thread];
  const auto own = [&](size_t end) {
    return std::count(process_of_thread_.begin(),
                      process_of_thread_.begin() + static_cast<std::ptrdiff_t>(end), process);
  };
  if (own(threads_.size()) == 1) return fmt::format("calls_of_process_{}", process + 1);
  return fmt::format("calls_of_process_{}_thread_{}", process + 1, own(thread) + 1);
}

// A program with one thread makes its objects, works with them, and destroys them.
void program_writer::find_phases() {
  has_threads_ = threads_.size() > 1;
  if (has_threads_) {
    for (size_t i = 0; i < threads_.size(); ++i)
      sequences_.push_back({.function = name_of_calls(i),
                            .shapes = {},
                            .numbers = {},
                            .first_number = {},
                            .notes = {}});
    return;
  }
  const auto work =
      std::find_if(outline_.begin(), outline_.end(), [](const auto& each) { return each.is_work; });
  first_work_ = static_cast<size_t>(work - outline_.begin());
  first_release_ = outline_.size();
  while (first_release_ > first_work_ && outline_[first_release_ - 1].releases) --first_release_;
  for (const std::string_view name : {"create_objects", "do_the_work", "destroy_objects"})
    sequences_.push_back({.function = std::string(name),
                          .shapes = {},
                          .numbers = {},
                          .first_number = {},
                          .notes = {}});
}

step_sequence& program_writer::sequence_of(uint32_t index) {
  if (has_threads_) {
    const auto thread = std::find(threads_.begin(), threads_.end(), outline_[index].thread);
    return sequences_[static_cast<size_t>(thread - threads_.begin())];
  }
  return sequences_[index < first_work_ ? 0 : index < first_release_ ? 1 : 2];
}

// A stretch of steps of one thread is a turn; turns are numbered through.
void program_writer::order_turns() {
  if (!has_threads_) return;
  const auto order = replay::turn_order(steps_);
  std::vector<replay::timed_call> times;
  times.reserve(order.size());
  for (const uint32_t each : order) times.push_back(steps_[each].time);
  const auto turns = replay::order_calls(times, false);
  uint64_t turn = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    auto& step = outline_[order[i]];
    const auto differs = [&](size_t other) { return outline_[order[other]].thread != step.thread; };
    step.begins_turn = i == 0 || differs(i - 1);
    step.ends_turn = i + 1 < order.size() && differs(i + 1);
    if (step.begins_turn && i != 0) ++turn;
    step.turn = turn;
    step.lets_next_go = turns.lets_next_go[i];
  }
  for (const auto& [position, earlier] : turns.waits_for)
    for (const uint32_t each : earlier) outline_[order[position]].waits_for.push_back(order[each]);
  for (uint32_t i = 0; i < outline_.size(); ++i)
    if (outline_[i].lets_next_go) finished_.emplace(i, finished_.size());
}

// The calls are placed as they were for the outline.
result<void> program_writer::write_calls() {
  merged_calls calls(trace_, options_.selections);
  replay::poll_folder folder(replay::polls_for(options_.polls, options_.symptom));
  for (;;) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (next->call == nullptr) break;
    const auto& seen = seen_[next->process];
    const auto placed = folder.add(*next->call, seen.book, replay::is_pinned(*next->call, seen));
    if (placed.is_new)
      if (auto done = write_call(*next->call, placed.step); !done) return done;
    if (placed.completes)
      if (auto done = write_memory_after(*next->call, placed.step); !done) return done;
    progress_.call_read();
  }
  for (auto& each : sequences_) pass_pending_turn(each);
  return {};
}

void program_writer::add(step_sequence& to, const shaped_text& text, const step_note& note,
                         std::string_view origin) {
  const auto [found, is_new] =
      shape_of_.try_emplace(text.shape, checked_cast<uint32_t>(shapes_.size()));
  if (is_new) {
    shapes_.push_back(text.shape);
    origins_.emplace_back(origin);
  }
  to.add(found->second, text.numbers, note);
}

void program_writer::take_turn(uint32_t index) {
  if (!has_threads_) return;
  need_helper("turns");
  const auto& step = outline_[index];
  auto& sequence = sequence_of(index);
  pass_pending_turn(sequence);
  if (step.begins_turn) {
    text_builder text;
    add(sequence,
        text.finish(fmt::format("take_turn({});", text.number(step.turn, number_form::u8))), {});
  }
  if (!step.waits_for.empty()) need_helper("wait_for_call");
  for (const uint32_t call : step.waits_for) {
    text_builder waiting;
    add(sequence,
        waiting.finish(
            fmt::format("wait_for_call({});", waiting.number(finished_.at(call), number_form::u8))),
        {});
  }
}

// What memory holds after the last ask of a loop comes before it.
void program_writer::pass_pending_turn(step_sequence& sequence) {
  const auto pending = next_turn_.find(&sequence);
  if (pending == next_turn_.end()) return;
  text_builder passing;
  add(sequence,
      passing.finish(
          fmt::format("pass_turn({});", passing.number(pending->second, number_form::u8))),
      {});
  next_turn_.erase(pending);
}

call_style program_writer::style_of(const recorded_call& call, uint32_t index) {
  call_style style;
  const std::string name =
      call.call.returned() ? api::print_result(trace_.model(), call.call.result) : std::string();
  const model::call_facts facts{call.number(), call.function->name, call.call.duration_ns,
                                call.call.returned(), name};
  // A call that the symptom names by its number is timed whatever it took.
  const auto* slow = std::get_if<model::slow_call>(&options_.symptom);
  const auto* failed = std::get_if<model::call_with_result>(&options_.symptom);
  const bool is_named = (slow != nullptr && slow->call.number == call.number()) ||
                        (failed != nullptr && failed->call.number == call.number());
  if ((is_named || model::shows(options_.symptom, facts)) && call.call.returned() &&
      out_.symptom_calls.size() < most_symptom_calls) {
    style.watch = call_watch::timed;
    style.timed_index = static_cast<uint32_t>(out_.symptom_calls.size());
    out_.symptom_calls.push_back(
        {call.number(), std::string(call.function->name), call.call.duration_ns});
  } else if (model::is_about(options_.symptom, facts)) {
    style.watch = call_watch::watched;
  }
  style.until_done = steps_[index].until_done;
  if (outline_[index].lets_next_go) {
    style.pass_turn = outline_[index].turn + 1;
    style.finished = finished_.at(index);
    need_helper("finished");
  }
  return style;
}

result<void> program_writer::write_call(const recorded_call& call, uint32_t index) {
  take_turn(index);
  auto& sequence = sequence_of(index);
  auto& writer = calls_[outline_[index].process];
  const auto before = writer.write_memory(call, c_call_writer::moment::before_call);
  if (!before) return tl::unexpected(before.error());
  for (const auto& each : *before) add(sequence, each, {});
  const auto style = style_of(call, index);
  const auto text = writer.write(call, style);
  if (!text) return tl::unexpected(text.error());
  add(sequence, *text,
      {call.number(), call.call.duration_ns, true, call.call.returned(), steps_[index].asks},
      call.function->name);
  if (outline_[index].ends_turn && !style.pass_turn)
    next_turn_[&sequence] = outline_[index].turn + 1;
  return write_memory_after(call, index);
}

result<void> program_writer::write_memory_after(const recorded_call& call, uint32_t index) {
  const auto after =
      calls_[outline_[index].process].write_memory(call, c_call_writer::moment::after_call);
  if (!after) return tl::unexpected(after.error());
  for (const auto& each : *after) add(sequence_of(index), each, {});
  return {};
}

result<void> program_writer::render_all() {
  layout_.emplace(names_);
  std::vector<std::vector<folded_step>> folded;
  for (const auto& each : sequences_) {
    std::vector<sequence_step> steps;
    for (size_t i = 0; i < each.size(); ++i) {
      const size_t end = i + 1 < each.size() ? each.first_number[i + 1] : each.numbers.size();
      steps.push_back(
          {each.shapes[i],
           std::span(each.numbers).subspan(each.first_number[i], end - each.first_number[i])});
    }
    folded.push_back(fold_loops(steps, {.least_changing_iterations = least_changing_iterations}));
    out_.statements += written_steps(folded.back());
    layout_->look_at(folded.back(), shapes_);
  }
  if (out_.statements > options_.most_statements) return too_large(folded);
  layout_->settle();
  block_functions blocks(shapes_, origins_);
  for (const auto& each : folded) blocks.look_at(each);
  blocks.settle(names_, *layout_);
  blocks_code_ = blocks.definitions();
  for (size_t i = 0; i < sequences_.size(); ++i)
    functions_.push_back(folded[i].empty() ? std::vector<c_function>{}
                                           : render(sequences_[i], folded[i], shapes_, *layout_,
                                                    blocks, options_.lines_per_function));
  return {};
}

namespace {

uint64_t run_steps(const folded_step& step) {
  if (!step.is_loop()) return 1;
  uint64_t count = 0;
  for (const auto& each : step.body) count += run_steps(each);
  return count * step.iterations;
}

}  // namespace

// The number of the last call before which so many statements have been written; of several threads
// each has its share.
uint64_t program_writer::call_after(const std::vector<std::vector<folded_step>>& folded,
                                    uint64_t statements) const {
  uint64_t last_call = 0, written = 0;
  const uint64_t share = has_threads_ ? statements / folded.size() : statements;
  for (size_t i = 0; i < folded.size(); ++i) {
    if (has_threads_) written = 0;
    size_t step = 0;
    uint64_t reached = 0;
    for (const auto& each : folded[i]) {
      written += written_steps({&each, 1});
      if (written > share) break;
      const size_t end = step + run_steps(each);
      for (; step < end; ++step)
        if (sequences_[i].notes[step].is_call) reached = sequences_[i].notes[step].call_number;
    }
    last_call =
        has_threads_ && i != 0 ? std::min(last_call, reached) : std::max(last_call, reached);
  }
  return last_call;
}

tl::unexpected<failure> program_writer::too_large(
    const std::vector<std::vector<folded_step>>& folded) const {
  const uint64_t fits = call_after(folded, options_.most_statements);
  std::string advice = fmt::format("'--until {}' writes as many as fit", fits);
  if (!out_.symptom_calls.empty()) {
    const auto& first = out_.symptom_calls.front();
    advice =
        first.number <= fits
            ? fmt::format("'--until {}' keeps the first call that shows the symptom", first.number)
            : advice + fmt::format(
                           ", but the first call that shows the symptom is {}: record "
                           "a shorter run",
                           first.number);
  }
  return fail(
      "the {} calls are {} statements even with loops, and {} are as many as compile in "
      "reasonable time; {}",
      recorded_calls_, out_.statements, options_.most_statements, advice);
}

std::string program_writer::opening_comment() const {
  const size_t processes = options_.selections.size();
  std::string out = fmt::format(
      "{} {} Level Zero calls {} as {} recorded to make them.\n", opening_words, recorded_calls_,
      processes > 1          ? fmt::format("in {} processes", processes)
      : threads_.size() == 1 ? std::string("on one thread")
                             : fmt::format("on {} threads", threads_.size()),
      processes > 1 ? "programs were" : "a program was");
  if (outline_.size() != recorded_calls_)
    out +=
        " * Polls are loops: they ask until they have the answer on which the program went on.\n";
  if (!std::holds_alternative<model::no_symptom>(options_.symptom))
    out += fmt::format(" * Symptom: {}\n", c_comment(model::to_text(options_.symptom)));
  for (const auto& each : out_.symptom_calls)
    out += fmt::format(" *   call {} {} took {}\n", each.number, each.function,
                       model::time_text(each.duration_ns));
  return out + " */\n";
}

// By itself, or because another one needs it.
bool program_writer::needs_helper(std::string_view name) const {
  const auto all = c_helpers(out_.needs.helpers);
  return std::any_of(all.begin(), all.end(), [&](const auto* each) { return each->name == name; });
}

std::string program_writer::includes() const {
  const bool needs_dl = out_.needs.helpers.contains("find_symbol");
  const bool fetches = out_.needs.helpers.contains("fetch_descriptor");
  std::string out =
      needs_dl || has_processes() ? "#define _GNU_SOURCE\n" : "#define _POSIX_C_SOURCE 200809L\n";
  if (needs_dl) out += "#include <dlfcn.h>\n";
  if (needs_helper("waited_us")) out += "#include <fcntl.h>\n";
  out += "#include <level_zero/ze_api.h>\n";
  for (const auto& each : out_.needs.headers)
    out += fmt::format("#include <level_zero/{}>\n", each);
  if (has_threads_) out += "#include <pthread.h>\n";
  if (needs_helper("keep_polling")) out += "#include <sched.h>\n";
  out +=
      "#include <signal.h>\n"
      "#include <stdint.h>\n"
      "#include <stdio.h>\n"
      "#include <stdlib.h>\n"
      "#include <string.h>\n";
  if (has_processes()) out += "#include <sys/mman.h>\n#include <sys/prctl.h>\n";
  if (fetches) out += "#include <sys/syscall.h>\n";
  out +=
      "#include <sys/wait.h>\n"
      "#include <time.h>\n"
      "#include <unistd.h>\n";
  return out;
}

std::string program_writer::objects_code() const {
  std::string out;
  for (const auto& each : layout_->declarations()) out += each + "\n";
  for (const auto& [number, bytes] : out_.needs.host_ranges)
    out += fmt::format("static unsigned char host_{}[{}] __attribute__((aligned(64)));\n", number,
                       bytes);
  if (out_.needs.scratch_bytes != 0)
    out += fmt::format(
        "static char scratch_memory[{}] __attribute__((aligned(64)));\n"
        "static void* const scratch = scratch_memory;\n",
        out_.needs.scratch_bytes);
  if (!finished_.empty() && !has_processes())
    out += fmt::format("static unsigned char finished_calls[{}];\n", finished_.size());
  return out + extension_pointers(trace_.model(), out_.needs);
}

// What each process runs, and the functions that pthread_create takes: one for each thread besides
// the first of its process.
std::vector<process_code> program_writer::process_functions(std::string& code) const {
  std::vector<process_code> out(options_.selections.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto& info = trace_.run().processes[options_.selections[i].process];
    out[i].what =
        c_comment(fmt::format("{}, process {}", info.fact("executable"), info.process_id));
  }
  std::vector<bool> has_first(out.size());
  for (size_t i = 0; i < functions_.size(); ++i) {
    const uint32_t process = has_threads_ ? process_of_thread_[i] : 0;
    auto& own = out[process];
    if (!has_threads_ || !has_first[process]) {
      has_first[process] = true;
      for (const auto& each : functions_[i]) own.steps.push_back(each.name);
      continue;
    }
    own.threads.push_back(fmt::format("thread_{}", i + 1));
    code +=
        fmt::format("\nstatic void* {}(void* unused) {{\n  (void)unused;\n", own.threads.back());
    for (const auto& each : functions_[i]) code += fmt::format("  {}();\n", each.name);
    code += "  return NULL;\n}\n";
  }
  return out;
}

result<void> program_writer::write_sources() {
  auto& helpers = out_.needs.helpers;
  helpers.insert("could_not_run");
  std::vector<std::string> symbols;
  for (const uint16_t index : out_.needs.functions) {
    const auto& f = trace_.model().functions[index];
    const bool is_fetched = std::any_of(seen_.begin(), seen_.end(), [&](const auto& each) {
      return each.needs.by_name.contains(std::string(f.name));
    });
    if (f.api == api::api_name::zex && !is_fetched) {
      helpers.insert("find_symbol");
      symbols.emplace_back(f.name);
    }
  }
  const auto symptom = symptom_variables(options_.symptom, out_.symptom_calls, out_.limits);
  std::string macros = symptom.macros + extension_types(trace_.model(), out_.needs);
  std::string code = symptom.variables + "\n" + objects_code();
  if (has_processes()) {
    const auto shared =
        shared_memory(options_.selections.size(), layout_->shared_fields(), finished_.size());
    macros += shared.macros;
    code += shared.variables;
  }
  for (const auto* helper : c_helpers(helpers)) {
    macros += helper->macros;
    code += helper->code;
  }
  code += blocks_code_;
  std::string threads_code;
  const auto processes = process_functions(threads_code);
  uint64_t lines = 0;
  for (const auto& sequence : functions_)
    for (const auto& each : sequence) lines += each.lines + 1;
  const std::string main =
      threads_code + main_code(processes, symbols, helpers.contains("fetch_descriptor"));

  if (lines <= options_.lines_per_file) {
    std::string text = opening_comment() + includes() + "\n" + macros + "\n" + code;
    for (const auto& sequence : functions_)
      for (const auto& each : sequence) text += "\n" + each.text;
    out_.sources.push_back({"repro.c", text + main});
    return {};
  }
  // Several files: what they share is declared in a header and defined beside main().
  const auto shared = share(code);
  std::string prototypes;
  std::vector<source_file> parts;
  uint64_t in_part = 0;
  for (const auto& sequence : functions_) {
    for (const auto& each : sequence) {
      if (parts.empty() || in_part + each.lines > options_.lines_per_file) {
        parts.push_back({fmt::format("calls_{}.c", parts.size() + 1), "#include \"repro.h\"\n"});
        in_part = 0;
      }
      in_part += each.lines + 1;
      const auto function = share(each.text);
      prototypes += function.declarations;
      parts.back().text += "\n" + function.definitions;
    }
  }
  out_.sources.push_back({"repro.h", "#ifndef REPRO_H\n#define REPRO_H\n\n" + includes() + "\n" +
                                         macros + "\n" + shared.declarations + "\n" + prototypes +
                                         "\n#endif\n"});
  out_.sources.push_back(
      {"repro.c", opening_comment() + "#include \"repro.h\"\n\n" + shared.definitions + main});
  out_.sources.insert(out_.sources.end(), parts.begin(), parts.end());
  return {};
}

}  // namespace

result<c_program> write_program(const trace::trace_file& trace, const program_options& options) {
  // Each process for itself, then all of them twice.
  replay::reading_progress progress(options.progress, trace.calls(), options.selections.size() + 2);
  const auto seen =
      replay::survey_together(trace, options.selections, host_granule_bytes, progress);
  if (!seen) return tl::unexpected(seen.error());
  const auto names = object_names::make(trace, options.selections, *seen);
  if (!names) return tl::unexpected(names.error());
  return program_writer(trace, options, *seen, *names, progress).run();
}

}  // namespace zevent::repro
