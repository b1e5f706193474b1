#include "repro/call_sequence.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "api/recording_format.hpp"
#include "replay/address_book.hpp"
#include "replay/value_access.hpp"
#include "repro/merged_calls.hpp"

namespace zevent::repro {
namespace {

using api::value;
using api::value_form;
using replay::recorded_call;

class line_writer {
 public:
  line_writer(const trace::trace_file& trace, uint32_t process, replay::inheritance inherits)
      : trace_(trace), book_(trace, process, 1) {
    options_.max_items = SIZE_MAX;
    options_.max_bytes = 256;
    options_.max_text = SIZE_MAX;
    options_.handle_name = [this](const api::handle_class& kind, uint64_t bits, api::call_side) {
      const auto index = static_cast<uint16_t>(&kind - trace_.model().handles.data());
      const auto slot = book_.find_handle(index, bits, time_ns_);
      return slot ? name_of(*slot) : std::string("unknown");
    };
    options_.address_name = [this](uint64_t address, api::call_side) { return place(address); };
    note_plain_memory();
    const auto objects = trace.objects().all();
    const trace::lineage line(trace.run(), process);
    // What the parent of the process had found is the same when the process finds it.
    std::map<uint16_t, std::map<uint64_t, uint32_t>> found_of_class;
    for (uint32_t i = 0; i < objects.size(); ++i) {
      const bool is_own = objects[i].handle.process == process;
      if (!is_own && (inherits != replay::inheritance::everything ||
                      !line.includes(objects[i].handle.process, objects[i].from_ns)))
        continue;
      if (objects[i].created) {
        made_by_[trace::number_of(objects[i].first_call)].push_back(i);
      } else {
        auto& known = found_of_class[objects[i].handle.handle_class];
        const auto ordinal = static_cast<uint32_t>(known.size());
        found_[i] = known.try_emplace(objects[i].handle.value, ordinal).first->second;
      }
    }
  }

  const replay::address_book& book() const { return book_; }

  std::string write(const recorded_call& call) {
    time_ns_ = call.call.start_ns;
    thread_ = threads_.try_emplace(call.call.thread, threads_.size()).first->second;
    note_made(call.number());
    std::string out = fmt::format("{}(", call.function->name);
    for (size_t i = 0; i < call.function->parameters.size(); ++i) {
      const auto& parameter = call.function->parameters[i];
      out += fmt::format("{}{}={}", i == 0 ? "" : ", ", parameter.name,
                         argument(parameter, call.inputs.parameters[i]));
    }
    out += ")";
    // Whether a poll finds something done is a matter of time.
    if (call.call.failed()) out += " -> " + api::print_result(trace_.model(), call.call.result);
    if (!call.call.returned()) out += " does not return";
    return out;
  }

 private:
  // Plain memory that kernels were given; where it cannot be read, its addresses are numbers.
  void note_plain_memory() {
    const auto notes = trace_.memory_notes(trace::call_number{0}, trace::call_number{UINT64_MAX});
    if (!notes) return;
    for (const auto& each : *notes)
      if ((each.flags & recording::memory_is_copy_source) != 0)
        book_.host().add(each.address, each.bytes);
    book_.host().settle();
  }

  struct maker {
    size_t thread = 0;
    uint32_t ordinal = 0;  // among what that thread made of this class
  };

  void note_made(uint64_t call) {
    const auto made = made_by_.find(call);
    if (made == made_by_.end()) return;
    for (const uint32_t each : made->second) {
      const auto kind = trace_.objects().all()[each].handle.handle_class;
      makers_[each] = {thread_, made_[{thread_, kind}]++};
    }
  }

  // Objects are counted by the thread that made them, and those that nobody made by the process:
  // which of two is the first to make or to get one may differ from run to run.
  std::string name_of(replay::slot_id slot) const {
    const uint32_t index = replay::index_of(slot);
    if (index >= trace_.objects().all().size()) return "pointer";
    const auto kind = trace_.objects().all()[index].handle.handle_class;
    const std::string_view what =
        kind < trace_.model().handles.size() ? trace_.model().handles[kind].short_name : "memory";
    const auto made = makers_.find(index);
    if (made == makers_.end()) {
      const auto found = found_.find(index);
      return found != found_.end() ? fmt::format("{}_{}", what, found->second)
                                   : trace_.objects().name(trace::object_id{index}, trace_.model());
    }
    const auto& [thread, ordinal] = made->second;
    return thread == thread_ ? fmt::format("{}_{}", what, ordinal)
                             : fmt::format("{}_{} of thread {}", what, ordinal, thread + 1);
  }

  std::string place(uint64_t address) const {
    const auto found = book_.find_memory(address, time_ns_);
    if (!found) return "host";
    return found->offset == 0 ? name_of(found->slot)
                              : fmt::format("{}+{}", name_of(found->slot), found->offset);
  }

  // Where Linux puts heaps, libraries and mappings. What the verified program's plain memory is was
  // not recorded: any word like this is taken for an address there.
  static bool is_in_mappings(std::span<const std::byte> content) {
    uint64_t word = 0;
    std::memcpy(&word, content.data(), sizeof(word));
    return word >> 46 == 1;
  }

  std::string words(std::span<const std::byte> content) const {
    std::string out;
    const auto pointers = book_.find_argument_pointers(content, time_ns_);
    size_t done = 0;
    const auto plain = [&](size_t end) {
      while (done < end) {
        if (end - done >= sizeof(uint64_t) && is_in_mappings(content.subspan(done))) {
          out += "[host]";
          done += sizeof(uint64_t);
        } else {
          out += fmt::format("{:02x}", static_cast<uint8_t>(content[done++]));
        }
      }
    };
    for (const auto& each : pointers) {
      plain(each.offset);
      out += each.host ? "[host]"
                       : fmt::format("[{}+{}]", name_of(each.target.slot), each.target.offset);
      done += sizeof(uint64_t);
    }
    plain(content.size());
    return out;
  }

  std::string argument(const api::variable& parameter, const value& v) {
    if (v.form == value_form::record && replay::is_opaque(*v.structure)) return "ipc handle";
    if (v.form == value_form::scalar && v.declared->kind == api::type_kind::function)
      return v.bits == 0 ? "null" : "function";
    if (parameter.name == "pUserData") return "data";
    if (v.form != value_form::pointer) return api::print_value(trace_.model(), v, options_);
    if (v.bits == 0) return "null";
    if (parameter.way == api::direction::out) return "out";
    if (!api::is_followed(parameter.pointee)) return place(v.bits);
    if (replay::is_kernel_argument(parameter)) {
      const value* content = replay::pointee_of(&v);
      if (content == nullptr) return "unknown";
      std::string out = words(content->bytes);
      for (const auto& run : content->items) out += fmt::format("({})", words(run.bytes));
      return out;
    }
    return api::print_value(trace_.model(), v, options_);
  }

  const trace::trace_file& trace_;
  replay::address_book book_;
  api::print_options options_;
  uint64_t time_ns_ = 0;
  size_t thread_ = 0;                   // of the call, in the order of first calls
  std::map<uint32_t, size_t> threads_;  // by the run's number
  std::map<std::pair<size_t, uint16_t>, uint32_t> made_;         // by thread and class
  std::unordered_map<uint64_t, std::vector<uint32_t>> made_by_;  // objects by call
  std::unordered_map<uint32_t, maker> makers_;                   // by object
  std::unordered_map<uint32_t, uint32_t> found_;  // the number of an object that nobody made
};

// Where the sequences meet again after position i of the first and k of the second.
std::pair<size_t, size_t> meeting_point(const std::vector<sequence_line>& a, size_t i,
                                        const std::vector<sequence_line>& b, size_t k) {
  constexpr size_t furthest = 200;
  for (size_t distance = 1; distance < furthest; ++distance)
    for (size_t from_a = 0; from_a <= distance; ++from_a) {
      const size_t x = i + from_a, y = k + distance - from_a;
      if (x < a.size() && y < b.size() && a[x].text == b[y].text) return {x, y};
    }
  return {a.size(), b.size()};
}

using thread_lines = std::vector<std::vector<sequence_line>>;

// The lines of each thread, threads in the order of their first calls.
thread_lines by_thread(const std::vector<sequence_line>& lines) {
  thread_lines out;
  std::map<uint32_t, size_t> place;
  for (const auto& each : lines) {
    const auto [found, is_new] = place.try_emplace(each.thread, out.size());
    if (is_new) out.emplace_back();
    out[found->second].push_back(each);
  }
  return out;
}

bool same_calls(const std::vector<sequence_line>& a, const std::vector<sequence_line>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.text == y.text; });
}

// Takes away what both have.
void drop_equal(thread_lines& a, thread_lines& b) {
  for (auto each = a.begin(); each != a.end();) {
    const auto same = std::find_if(b.begin(), b.end(),
                                   [&](const auto& other) { return same_calls(*each, other); });
    if (same == b.end()) {
      ++each;
      continue;
    }
    b.erase(same);
    each = a.erase(each);
  }
}

class difference_writer {
 public:
  explicit difference_writer(size_t most_lines) : most_lines_(most_lines) {}

  void compare(const std::vector<sequence_line>& first, const std::vector<sequence_line>& second) {
    size_t i = 0, k = 0;
    while (i < first.size() || k < second.size()) {
      if (i < first.size() && k < second.size() && first[i].text == second[k].text) {
        ++i, ++k;
        continue;
      }
      const auto [next_i, next_k] = meeting_point(first, i, second, k);
      for (; i < next_i; ++i) add('-', first[i]);
      for (; k < next_k; ++k) add('+', second[k]);
    }
  }

  std::vector<std::string> take() {
    if (differences_ > most_lines_)
      out_.push_back(fmt::format("and {} more", differences_ - most_lines_));
    return std::move(out_);
  }

 private:
  void add(char mark, const sequence_line& line) {
    if (++differences_ <= most_lines_)
      out_.push_back(fmt::format("{} call {} {}", mark, line.number, line.text));
  }

  size_t most_lines_;
  size_t differences_ = 0;
  std::vector<std::string> out_;
};

}  // namespace

result<std::vector<sequence_line>> call_sequence(const trace::trace_file& trace,
                                                 const replay::call_selection& selection,
                                                 replay::poll_mode polls) {
  replay::recorded_calls calls(trace, selection);
  line_writer writer(trace, selection.process, calls.inherits());
  replay::poll_folder folder({.mode = polls, .named_call = {}});
  std::unordered_map<uint32_t, std::set<std::string>>
      asked;  // by thread, since its last other call
  std::vector<sequence_line> out;
  for (;;) {
    const auto next = calls.next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return out;
    const auto& call = **next;
    // What is folded has been asked before, and need not be written to be left out.
    if (!folder.add(call, writer.book()).is_new) continue;
    std::string text = writer.write(call);
    auto& own = asked[call.call.thread];
    if (polls == replay::poll_mode::exact || !replay::is_ask(call))
      own.clear();
    else if (!own.insert(text).second)
      continue;
    out.push_back({call.number(), call.call.thread, std::move(text)});
  }
}

std::vector<std::string> sequence_difference(const std::vector<sequence_line>& first,
                                             const std::vector<sequence_line>& second,
                                             size_t most_lines) {
  difference_writer writer(most_lines);
  auto ours = by_thread(first), theirs = by_thread(second);
  drop_equal(ours, theirs);
  static const std::vector<sequence_line> nothing;
  for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i)
    writer.compare(i < ours.size() ? ours[i] : nothing, i < theirs.size() ? theirs[i] : nothing);
  return writer.take();
}

void match_sequences(const std::vector<std::vector<sequence_line>>& first,
                     std::vector<std::vector<sequence_line>>& second) {
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const auto same = std::find_if(
        second.begin() + static_cast<ptrdiff_t>(i), second.end(),
        [&](const auto& each) { return sequence_difference(first[i], each, 1).empty(); });
    if (same != second.end()) std::swap(second[i], *same);
  }
}

std::map<uint64_t, uint64_t> counterparts(const std::vector<sequence_line>& first,
                                          const std::vector<sequence_line>& second) {
  std::unordered_map<std::string_view, std::vector<uint64_t>> numbers;
  for (const auto& each : second) numbers[each.text].push_back(each.number);
  std::unordered_map<std::string_view, size_t> made;  // so far, by text
  std::map<uint64_t, uint64_t> out;
  for (const auto& each : first) {
    const size_t ordinal = made[each.text]++;
    const auto same = numbers.find(each.text);
    if (same != numbers.end() && ordinal < same->second.size())
      out.emplace(each.number, same->second[ordinal]);
  }
  return out;
}

std::vector<replay::call_selection> select_calls(const trace::trace_file& trace,
                                                 std::span<const uint32_t> processes,
                                                 uint64_t last) {
  std::vector<replay::call_selection> out;
  std::vector<bool> is_wanted(trace.run().processes.size());
  for (const uint32_t each : processes) is_wanted[each] = true;
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    const uint32_t process = trace.process_of(*call);
    if (call->injected() || !is_wanted[process]) continue;
    is_wanted[process] = false;
    // The first calls are those of the process that it was forked off, if it needs them.
    const bool inherits =
        replay::find_inheritance(trace, process, last) != replay::inheritance::nothing;
    const auto first =
        inherits ? trace::lineage(trace.run(), process).members().back().process : process;
    out.push_back({process, last, calls_of_the_loader(trace, first)});
    if (out.size() == processes.size()) break;
  }
  return out;
}

uint64_t calls_of_the_loader(const trace::trace_file& trace, uint32_t process) {
  if (trace.run().processes[process].fact("way in") != "loader") return 0;
  std::string_view first;
  trace::call_reader reader(trace);
  while (const auto* call = reader.next()) {
    if (trace.process_of(*call) != process) continue;
    const auto name = trace.function(*call).name;
    if (!first.empty()) return name == first ? 1 : 0;
    if (!name.starts_with("zeInit")) return 0;
    first = name;
  }
  return 0;
}

}  // namespace zevent::repro
