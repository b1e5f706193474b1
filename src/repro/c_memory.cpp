// The part of c_call_writer that is about what memory holds.
#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string_view>

#include "replay/call_memory.hpp"
#include "repro/c_call.hpp"
#include "repro/escape.hpp"

namespace zevent::repro {
namespace {

using replay::recorded_call;

constexpr size_t max_inline_memory_bytes = 32;

// Memory that was noted in several pieces and is one.
struct noted_memory {
  uint64_t address = 0;
  std::vector<std::byte> content;
  bool is_devices = false;  // a command may have written it
  std::optional<replay::slot_id> owner;
};

template <typename Word>
Word word_at(std::span<const std::byte> content, size_t index) {
  Word word;
  std::memcpy(&word, content.data() + index * sizeof(Word), sizeof(Word));
  return word;
}

// Whether the words go up by the same step from each to the next.
template <typename Word>
bool is_progression(std::span<const std::byte> content) {
  const size_t count = content.size() / sizeof(Word);
  if (content.size() % sizeof(Word) != 0 || count < 2) return false;
  const auto step = static_cast<Word>(word_at<Word>(content, 1) - word_at<Word>(content, 0));
  for (size_t i = 2; i < count; ++i)
    if (static_cast<Word>(word_at<Word>(content, i) - word_at<Word>(content, i - 1)) != step)
      return false;
  return true;
}

std::string escaped(std::span<const std::byte> content) {
  std::string out = "\"";
  for (const auto each : content) out += fmt::format("\\{:03o}", static_cast<uint8_t>(each));
  return out + "\"";
}

}  // namespace

// The shortest way to write the content down: a fill, a progression, a literal or a file.
std::string c_call_writer::fill_text(const std::string& target, std::string_view stem,
                                     std::span<const std::byte> content) {
  const auto bytes = [&] { return text_.number(content.size(), number_form::u8); };
  const bool is_one_byte = std::all_of(content.begin(), content.end(),
                                       [&](std::byte each) { return each == content.front(); });
  if (is_one_byte)
    return fmt::format("memset({}, {}, {});", target,
                       text_.number(static_cast<uint8_t>(content.front()), number_form::u1),
                       bytes());
  const bool is_short = content.size() <= max_inline_memory_bytes;
  if (!is_short && is_progression<uint32_t>(content)) {
    needs_.helpers.insert("progress32");
    const auto first = word_at<uint32_t>(content, 0), second = word_at<uint32_t>(content, 1);
    return fmt::format("progress32({}, {}, {}, {});", target, text_.number(first, number_form::u4),
                       text_.number(second - first, number_form::u4),
                       text_.number(content.size() / 4, number_form::u8));
  }
  if (!is_short && is_progression<uint64_t>(content)) {
    needs_.helpers.insert("progress64");
    const auto first = word_at<uint64_t>(content, 0), second = word_at<uint64_t>(content, 1);
    return fmt::format("progress64({}, {}, {}, {});", target, text_.number(first, number_form::u8),
                       text_.number(second - first, number_form::u8),
                       text_.number(content.size() / 8, number_form::u8));
  }
  if (is_short) return fmt::format("memcpy({}, {}, {});", target, escaped(content), bytes());
  needs_.helpers.insert("load");
  const std::string file = files_.add("data", stem, ".bin", content);
  return fmt::format("memcpy({}, load({}, {}), {});", target, c_string(file), content.size(),
                     content.size());
}

// Where commands write, and what kernels get pointers to.
void c_call_writer::note_device_writes(const recorded_call& call) {
  const uint64_t time_ns = call.call.start_ns;
  const auto note = [&](uint64_t address) {
    if (const auto place = seen_.book.find_memory(address, time_ns))
      written_by_device_.insert(replay::index_of(place->slot));
    else
      held_by_host_.clear();
  };
  const auto name = call.function->name;
  if (name.find("Append") != name.npos)
    replay::for_each_address(model_, call.inputs, [&](const replay::address_use& use) {
      if (use.variable->name == "dstptr" || use.variable->name == "ptr") note(use.address);
    });
  note_kernel_pointers(call.inputs.parameters, false, time_ns);
}

// Arguments of kernels stand among the parameters, or in the descriptors of an update.
void c_call_writer::note_kernel_pointers(const std::vector<api::value>& values, bool are_arguments,
                                         uint64_t time_ns) {
  for (const api::value& each : values) {
    const bool is_argument =
        are_arguments || (each.origin != nullptr && replay::is_kernel_argument(*each.origin));
    if (is_argument) {
      for (const auto& found : seen_.book.find_argument_pointers(each.bytes, time_ns)) {
        if (found.host)
          held_by_host_.clear();
        else
          written_by_device_.insert(replay::index_of(found.target.slot));
      }
    }
    note_kernel_pointers(each.items, is_argument, time_ns);
  }
}

bool c_call_writer::device_may_have_written(uint64_t address, uint64_t time_ns) const {
  const auto place = seen_.book.find_memory(address, time_ns);
  return place && written_by_device_.contains(replay::index_of(place->slot));
}

bool c_call_writer::host_holds(uint64_t begin, std::span<const std::byte> content) {
  const held_content held{begin + content.size(),
                          std::hash<std::string_view>{}(
                              {reinterpret_cast<const char*>(content.data()), content.size()})};
  const auto same = held_by_host_.find(begin);
  if (same != held_by_host_.end() && same->second.end == held.end && same->second.hash == held.hash)
    return true;
  auto next = held_by_host_.lower_bound(held.end);
  while (next != held_by_host_.begin() && std::prev(next)->second.end > begin)
    next = held_by_host_.erase(std::prev(next));
  held_by_host_[begin] = held;
  return false;
}

std::vector<shaped_text> c_call_writer::memory_statements(uint64_t begin,
                                                          std::span<const std::byte> content,
                                                          uint64_t time_ns) {
  std::vector<shaped_text> out;
  std::string stem = "host";
  if (const auto place = seen_.book.find_memory(begin, time_ns)) {
    const auto* owner = seen_.book.object_of(place->slot);
    const uint64_t size = owner == nullptr ? 0 : owner->size_bytes;
    const uint64_t room = size < place->offset ? 0 : size - place->offset;
    content = content.first(std::min<uint64_t>(content.size(), room));
    const auto name = names_.of(place->slot);
    stem = names_.classes()[name.object_class].names[name.ordinal];
  } else if (seen_.book.find_argument_pointers(content, time_ns).empty() &&
             host_holds(begin, content)) {
    return out;  // a copy reads once more what another one may still be reading
  }
  if (content.empty()) return out;
  text_ = {};
  const std::string target = address(begin, time_ns);
  const auto pointers = seen_.book.find_argument_pointers(content, time_ns);
  const auto plain = replay::without_pointers(content, pointers);
  out.push_back(text_.finish(fill_text(target, stem, plain)));
  for (const auto& pointer : pointers) {
    text_ = {};
    needs_.helpers.insert("store_pointer");
    needs_.helpers.insert("at");
    const std::string place = address(begin + pointer.offset, time_ns);
    const std::string value = target_text(pointer);
    out.push_back(text_.finish(fmt::format("store_pointer({}, {});", place, value)));
  }
  return out;
}

result<std::vector<shaped_text>> c_call_writer::write_memory(const recorded_call& call,
                                                             moment when) {
  call_ = &call;
  const bool is_after = when == moment::after_call;
  const uint64_t time_ns = is_after ? call.call.end_ns() : call.call.start_ns;
  std::vector<noted_memory> noted;
  const auto unfinished = seen_.unfinished_of(call.call.number);
  const auto times = seen_.times_of(call.call.number);
  for (size_t i = 0; i < call.memory.size(); ++i) {
    const auto& note = call.memory[i];
    if (replay::is_after_call(note) != is_after) continue;
    // The host of the reproducer does not see it either.
    if (replay::is_copied(note)) continue;
    const bool before_wait = (note.flags & recording::memory_before_wait) != 0;
    const bool is_devices = (is_after || before_wait) && replay::may_be_devices(note) &&
                            device_may_have_written(note.address, time_ns);
    if (is_devices && !compare_memory_) continue;
    const auto content = trace_.read_blob(note.content);
    if (!content) return fail("call {}: {}", call.number(), content.error().message);
    // Allocations may lie side by side: each has a statement of its own.
    const auto place = seen_.book.find_memory(note.address, time_ns);
    const auto owner = place ? std::optional(place->slot) : std::nullopt;
    // Times of the device are others in every run.
    model::unfinished_of_look left_out;
    if (!times.empty())
      for (const auto& each : times[i]) left_out.push_back({each, true});
    const auto parts =
        is_devices ? replay::parts_of_host(note, left_out, true)
                   : replay::parts_of_host(note, unfinished[i], seen_.device_writes_are_noted);
    for (const auto& part : parts) {
      const bool goes_on = !noted.empty() && noted.back().is_devices == is_devices &&
                           noted.back().owner == owner &&
                           noted.back().address + noted.back().content.size() == part.first;
      if (!goes_on) noted.push_back({part.first, {}, is_devices, owner});
      const auto bytes =
          std::span(*content).subspan(std::min<size_t>(part.first - note.address, content->size()));
      const auto own = bytes.first(std::min<size_t>(part.bytes, bytes.size()));
      noted.back().content.insert(noted.back().content.end(), own.begin(), own.end());
    }
  }
  std::vector<shaped_text> out;
  if (!is_after) {
    // Noted by nobody, but it must have been there when the wait was over.
    const auto counters = seen_.host_counters.equal_range(call.number());
    for (auto each = counters.first; each != counters.second; ++each) {
      text_ = {};
      needs_.helpers.insert("store_counter");
      const std::string place = address(each->second.address, time_ns);
      out.push_back(text_.finish(fmt::format("store_counter({}, {});", place,
                                             text_.number(each->second.value, number_form::u8))));
    }
  }
  for (const auto& each : noted) {
    if (!each.is_devices) {
      const auto statements = memory_statements(each.address, each.content, time_ns);
      out.insert(out.end(), statements.begin(), statements.end());
      continue;
    }
    text_ = {};
    needs_.helpers.insert("compare");
    const std::string file = files_.add("data", "recorded", ".bin", each.content);
    out.push_back(
        text_.finish(fmt::format("compare({}, load({}, {}), {});", address(each.address, time_ns),
                                 c_string(file), each.content.size(), each.content.size())));
  }
  return out;
}

}  // namespace zevent::repro
