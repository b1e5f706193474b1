#include <level_zero/ze_api.h>

#include <algorithm>
#include <map>

#include "api/recording_format.hpp"
#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using model::byte_range;
using model::byte_region;
using model::complete;
using model::memory_access;
using model::ref;

// EV-47, EV-78. A recording notes what host memory holds whenever something is submitted or waited
// for. A note that differs from the one before shows a write in between; if no command could have
// done it, the host did. It must not have been while a command that reads these bytes
// was under way. A note is made at some moment of its call: what other threads have learned by the
// end of it, they may have known before they wrote.
class host_write_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return false; }

  void noted(const trace::memory_note& note) override {
    using namespace recording;
    if (note.bytes == 0 || given_up_) return;
    // What commands write to is no matter of these, nor is what only the device sees.
    if ((note.flags & memory_is_copied) != 0) return;
    if ((note.flags & (memory_is_snapshot | memory_is_copy_source)) == memory_is_snapshot) return;
    const known_content* before = known_at(note.address, note.bytes);
    if (before != nullptr && before->hash != note.content) compare(*before, note);
    remember(note);
  }

  void settles(const call_view& call) override {
    std::erase_if(suspects_, [&](const suspect& each) {
      if (each.noted != call.number) return false;
      if (!complete(*each.reader)) report(each);
      return true;
    });
    if (!suspects_.empty()) look_.unsettled = true;
  }

  void finish() override {
    for (const auto& each : suspects_) {
      if (!complete(*each.reader)) report(each);
    }
  }

  void starting(const run& about_to) override {
    if (contents_.empty() || given_up_) return;
    // The program's own function may write to whatever it likes.
    if (about_to.what->which == function::zeCommandListAppendHostFunction)
      add_writer(about_to, {0, UINT64_MAX});
    for (const auto& each : about_to.what->accesses) {
      if (!each.writes) continue;
      const auto* memory = look_.state.find_memory(each.region.first);
      if (memory != nullptr && memory->where == model::memory_kind::device) continue;
      add_writer(about_to, each.region);
    }
  }

 private:
  static constexpr size_t most_writers = 4096;
  static constexpr size_t most_contents = 65536;
  static constexpr size_t most_suspects = 4096;

  struct known_content {
    uint64_t bytes = 0;
    trace::blob_hash hash{};
    call_number noted = model::no_call;
  };
  struct writer {
    ref<const run> who;
    byte_region region;
    std::optional<uint32_t> complete_for = std::nullopt;  // the thread that noted after its end
  };
  // A command whose memory was found changed, and the call at which it was found.
  struct suspect {
    ref<const run> reader;
    byte_range changed;
    call_number noted = model::no_call;
    bool is_certain = true;  // false: a kernel that was given a pointer
  };

  const known_content* known_at(uint64_t address, uint64_t bytes) const {
    const auto known = contents_.find(address);
    return known != contents_.end() && known->second.bytes == bytes ? &known->second : nullptr;
  }

  void add_writer(const run& who, const byte_region& region) {
    // Of several that write the same, the last one is enough: it may have changed whatever the
    // others may have.
    const auto [first, last] = writers_.equal_range(region.first);
    const auto same = std::find_if(
        first, last, [&](const auto& each) { return each.second.region.end() == region.end(); });
    if (same != last && same->second.region.contiguous() && region.contiguous()) {
      same->second.who = ref<const run>(&who);
      same->second.complete_for.reset();
      return;
    }
    if (writers_.size() >= most_writers) forget();
    writers_.emplace(region.first, writer{ref<const run>(&who), region});
    longest_ = std::max(longest_, region.end() - region.first);
  }

  // Begins anew: without older notes, only those that are not complete matter.
  void forget() {
    contents_.clear();
    std::erase_if(writers_, [](const auto& each) { return complete(*each.second.who); });
    if (writers_.size() >= most_writers) given_up_ = true;
  }

  // Those that may write to the piece, until `visit` gives false.
  template <typename Visit>
  void for_each_writer(const byte_region& piece, Visit&& visit) {
    auto each = writers_.lower_bound(piece.first - std::min(piece.first, longest_));
    while (each != writers_.end() && each->first < piece.end()) {
      const auto next = std::next(each);
      if (overlap(each->second.region, piece) && !visit(each)) return;
      each = next;
    }
  }

  // Commands that started before there was anything to compare with, and may still write.
  void adopt_pending() {
    look_.state.accesses().for_each_pending(0, UINT64_MAX,
                                            [&](const run& each, const memory_access& what) {
                                              if (what.writes && writers_.size() < most_writers)
                                                add_writer(each, what.region);
                                            });
  }

  void remember(const trace::memory_note& note) {
    if (contents_.size() >= most_contents) contents_.clear();
    if (contents_.empty()) adopt_pending();
    contents_[note.address] = {note.bytes, note.content, note.call};
    const uint32_t thread = look_.current->thread;
    several_threads_ |= thread != first_thread_.value_or(thread);
    if (!first_thread_) first_thread_ = thread;
    for_each_writer({note.address, note.bytes}, [&](const auto& each) {
      writer& by = each->second;
      if (!complete(*by.who)) return true;
      // A thread may have read the memory long before it made the call: only what it notes after
      // another call is certain to be newer than what other threads have waited for.
      if (!several_threads_ || by.complete_for == thread)
        writers_.erase(each);
      else
        by.complete_for = by.complete_for.value_or(thread);
      return true;
    });
    if (writers_.empty()) longest_ = 0;
  }

  void compare(const known_content& before, const trace::memory_note& after) {
    bool written = false;
    for_each_writer({after.address, after.bytes}, [&](const auto&) {
      written = true;
      return false;
    });
    if (written) return;
    const run* reader = nullptr;
    const memory_access* access = nullptr;
    look_.state.accesses().for_each_pending(
        after.address, after.address + after.bytes,
        [&](const run& each, const memory_access& what) {
          const bool noted_since = each.submitted <= before.noted;
          if (reader != nullptr || what.writes || !noted_since) return;
          if (!what.certain && !needs_concurrent_access(after.address)) return;
          reader = &each;
          access = &what;
        });
    if (reader == nullptr) return;
    const auto old_bytes = look_.read_blob(before.hash);
    const auto new_bytes = look_.read_blob(after.content);
    if (!old_bytes || !new_bytes || old_bytes->size() != new_bytes->size()) return;
    const auto changed = first_change(*old_bytes, *new_bytes, after.address, access->region);
    if (!changed || suspects_.size() >= most_suspects) return;
    suspects_.push_back({ref<const run>(reader), *changed, after.call, access->certain});
    look_.unsettled = true;
  }

  // Shared memory of a device that does not let the host in while a kernel may use it (EV-78).
  bool needs_concurrent_access(uint64_t address) const {
    const auto* memory = look_.state.find_memory(address);
    if (memory == nullptr || memory->where != model::memory_kind::shared) return false;
    const auto* device = look_.state.devices.find(memory->device);
    return device != nullptr && device->shared_access &&
           (*device->shared_access & ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT) == 0;
  }

  // The first run of changed bytes that the command reads.
  static std::optional<byte_range> first_change(const std::vector<std::byte>& before,
                                                const std::vector<std::byte>& after,
                                                uint64_t address, const byte_region& read) {
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      size_t end = i;
      while (end < before.size() && before[end] != after[end]) ++end;
      if (const auto found = overlap(read, {address + i, end - i})) return found;
      i = end;
    }
    return std::nullopt;
  }

  void report(const suspect& found) {
    const run& reader = *found.reader;
    const byte_range& where = found.changed;
    finding* made = found.is_certain
                        ? look_.add_at(found.noted, ev(47), "source")
                        : look_.add_at(found.noted, ev(78), "shared", severity::hazard);
    if (made == nullptr) return;
    const auto* memory = look_.state.find_memory(where.first);
    const std::string place =
        memory != nullptr
            ? fmt::format("{} at byte {}", look_.name(*memory), where.first - memory->handle)
            : fmt::format("memory of the host at {:#x}", where.first);
    made->message = fmt::format(
        "Between #{} and this call the host has changed {}, which #{} reads; nothing shows that "
        "#{} "
        "was complete by then.",
        number_of(reader.submitted), place, number_of(reader.what->call),
        number_of(reader.what->call));
    if (!found.is_certain) made->message += " The device does not report concurrent access.";
    made->cause = look_.missing_host_wait(reader);
    made->calls.push_back(
        {reader.what->call, found.is_certain ? "reads the memory" : "was given a pointer to it"});
    if (reader.submitted != reader.what->call)
      made->calls.push_back({reader.submitted, "executes its list"});
    made->calls.push_back({found.noted, "finds it changed"});
  }

  std::map<uint64_t, known_content> contents_;  // by address
  // Commands that may have changed host memory since it was last noted, by first address.
  std::multimap<uint64_t, writer> writers_;
  std::vector<suspect> suspects_;
  uint64_t longest_ = 0;  // bytes from the first to the last that any of them writes
  std::optional<uint32_t> first_thread_;
  bool several_threads_ = false;  // have noted something
  bool given_up_ = false;         // there are more writers than can be kept
};

}  // namespace

std::unique_ptr<rule_set> host_write_rules(inspection& of) {
  return std::make_unique<host_write_rule_set>(of);
}

}  // namespace zevent::check
