#include <algorithm>
#include <unordered_map>

#include "base/checked_cast.hpp"
#include "replay/argument_image.hpp"
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

class compiler {
 public:
  compiler(const trace::trace_file& trace, const compile_options& options, survey& seen)
      : trace_(trace),
        options_(options),
        seen_(seen),
        blobs_(trace, out_.images),
        image_(trace.model(), seen.book, blobs_, out_) {}

  result<program> run();

 private:
  result<void> reserve_host_memory();
  void make_threads();
  void name_slots();
  result<void> add(const recorded_call& call);
  result<void> add_memory(const recorded_call& call, const trace::memory_note& note,
                          call_extras& extras);
  void take_turns();

  const trace::trace_file& trace_;
  const compile_options& options_;
  survey& seen_;
  program out_;
  blob_cache blobs_;
  argument_image image_;
  std::unordered_map<uint32_t, uint32_t> function_;  // of the trace → of this build
  std::unordered_map<uint32_t, uint32_t> thread_;    // of the trace → of the program
  std::vector<timed_call> times_;
};

result<program> compiler::run() {
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
  }
  take_turns();
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

result<void> compiler::add(const recorded_call& call) {
  compiled_call compiled;
  compiled.number = call.number();
  compiled.function = function_.at(call.call.function);
  compiled.thread = thread_.at(call.call.thread);
  compiled.start_ns = call.call.start_ns;
  compiled.duration_ns = call.call.duration_ns;
  compiled.result = call.call.result;
  compiled.returned = call.call.returned();

  call_extras extras;
  if (auto done = image_.build(call, compiled, extras); !done) return done;
  if (extras.fetched_place != nullptr)
    if (const auto* name = call.inputs.find("name"); name != nullptr && !name->items.empty())
      extras.fetched_function = name->items.front().text();
  for (const auto& note : call.memory)
    if (auto done = add_memory(call, note, extras); !done) return done;

  const bool has_extras = !extras.memory_before.empty() || !extras.memory_after.empty() ||
                          !extras.opaque_inputs.empty() || !extras.opaque_outputs.empty() ||
                          extras.returned || extras.fetched_place != nullptr;
  if (has_extras) {
    out_.extras.push_back(std::move(extras));
    compiled.extras = checked_cast<uint32_t>(out_.extras.size());
  }
  out_.threads[compiled.thread].calls.push_back(checked_cast<uint32_t>(out_.calls.size()));
  out_.calls.push_back(compiled);
  times_.push_back(timed(call));
  return {};
}

result<void> compiler::add_memory(const recorded_call& call, const trace::memory_note& note,
                                  call_extras& extras) {
  const auto content = blobs_.get(note.content);
  if (!content) return fail("call {}: {}", call.number(), content.error().message);
  memory_restore restore{.device = {},
                         .content = content->data(),
                         .bytes = std::min<uint64_t>(note.bytes, content->size()),
                         .patches = {}};
  if (const auto place = seen_.book.find_memory(note.address, call.call.start_ns)) {
    const auto* owner = seen_.book.object_of(place->slot);
    const uint64_t room = owner == nullptr || owner->size_bytes < place->offset
                              ? 0
                              : owner->size_bytes - place->offset;
    restore.device = *place;
    restore.bytes = std::min(restore.bytes, room);
  } else {
    restore.host = image_.host_address(note.address);
    if (restore.host == nullptr) return {};
  }
  restore.patches = image_.find_pointers({restore.content, restore.bytes}, call.call.start_ns);
  if (!restore.patches.empty()) {
    // The content is everybody's: patches go into a copy.
    std::byte* own = out_.images.take(restore.bytes);
    std::copy_n(restore.content, restore.bytes, own);
    for (auto& patch : restore.patches)
      patch.place = reinterpret_cast<uint64_t*>(
          own + (reinterpret_cast<std::byte*>(patch.place) - restore.content));
    restore.content = own;
  }
  const bool is_after = (note.flags & recording::memory_is_after_call) != 0;
  auto& list = is_after ? extras.memory_after : extras.memory_before;
  if (restore.bytes != 0) list.push_back(std::move(restore));
  return {};
}

void compiler::take_turns() {
  const auto turns = order_calls(times_, options_.free_threads);
  for (size_t i = 0; i < out_.calls.size(); ++i) out_.calls[i].lets_next_go = turns.lets_next_go[i];
  for (const auto& [index, earlier] : turns.waits_for) {
    auto& call = out_.calls[index];
    if (call.extras == 0) {
      out_.extras.emplace_back();
      call.extras = checked_cast<uint32_t>(out_.extras.size());
    }
    out_.extras[call.extras - 1].waits_for = earlier;
  }
}

}  // namespace

std::vector<uint32_t> program::functions() const {
  std::set<uint32_t> used;
  for (const auto& call : calls) used.insert(call.function);
  return {used.begin(), used.end()};
}

result<program> compile(const trace::trace_file& trace, const compile_options& options) {
  constexpr uint64_t page_bytes = 4096;
  try {
    auto seen = survey_calls(trace, options.selection, page_bytes);
    if (!seen) return tl::unexpected(seen.error());
    return compiler(trace, options, *seen).run();
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory for this trace; replay a part of it with --until");
  }
}

}  // namespace zevent::replay
