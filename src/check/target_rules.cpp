#include <level_zero/ze_api.h>

#include <algorithm>

#include "api/recording_format.hpp"
#include "check/rule_sets.hpp"

namespace zevent::check {
namespace {

using model::byte_range;
using model::byte_region;
using model::command;
using model::complete;
using model::memory_access;
using model::no_call;
using model::ref;

// EV-47, of the memory that a copy writes to. A recording has snapshots of it: when the copy is
// submitted, when the host first waits afterwards, and when it has waited. Until the copy is
// complete each byte is what it was or what the copy makes of it, which is what the last snapshot
// has; anything else that the host finds when it begins to wait it has written itself. Where the
// source is known too, so is what the last snapshot must hold.
//
// Only of programs of one thread: in others, some thread may have known more. What the host wrote
// where the copy came later, and before the wait, leaves no trace.
class target_rule_set final : public rule_set {
 public:
  using rule_set::rule_set;

  bool wants(function) const override { return false; }

  void noted(const trace::memory_note& note) override {
    using namespace recording;
    if ((note.flags & (memory_is_snapshot | memory_is_copy_source)) == 0) return;
    judge_finished(note.call);
    if (noted_at_ != note.call) {
      noted_.clear();
      noted_at_ = note.call;
    }
    const bool is_source = (note.flags & memory_is_copy_source) != 0;
    const snapshot seen{{note.address, note.bytes}, note.content, is_source};
    if (is_source) forget_changed_source(seen);
    if ((note.flags & memory_is_after_call) != 0) return see_after_wait(seen);
    if (is_source || is_submission(look_.current->which))
      noted_.push_back(seen);
    else
      see_before_wait(seen);
  }

  void starting(const run& about_to) override {
    judge_finished(look_.current->number);
    drop_written_by(about_to);
    if (noted_at_ == look_.current->number && about_to.submitted == noted_at_)
      add_targets(about_to);
  }

  void settles(const call_view& call) override {
    judge_finished(call.number);
    if (has_unjudged()) look_.unsettled = true;
  }

  void finish() override { judge_finished(no_call); }

 private:
  static constexpr size_t max_targets = 64;
  static constexpr size_t max_waits = 4;  // that a target is looked at before

  struct snapshot {
    byte_range where;
    trace::blob_hash content{};
    bool of_source = false;
  };
  struct look_before_wait {
    call_number call = no_call;
    trace::blob_hash content{};
  };
  struct target {
    ref<const run> writer;
    byte_range where;
    trace::blob_hash before{};       // when the copy was submitted
    std::optional<snapshot> source;  // what the copy reads, if that is known
    std::vector<look_before_wait> waits;
    std::optional<trace::blob_hash> after;  // of the wait that is not judged yet
    call_number waited = no_call;
  };

  static bool is_submission(function which) {
    return is_append(which) || which == function::zeCommandQueueExecuteCommandLists;
  }

  // May write to memory that the model does not know of.
  static bool writes_anywhere(const command& what) {
    using enum function;
    switch (what.which) {
      case zeCommandListAppendHostFunction:
      case zeCommandListAppendImageCopyToMemory:
      case zeCommandListAppendImageCopyToMemoryExt:
      case other_append:
        return true;
      default:
        return is_launch(what.which);
    }
  }

  bool has_unjudged() const {
    return std::any_of(targets_.begin(), targets_.end(),
                       [](const target& each) { return each.after.has_value(); });
  }

  void drop_written_by(const run& about_to) {
    if (writes_anywhere(*about_to.what)) {
      if (!is_launch(about_to.what->which)) last_unknown_ = ref<const run>(&about_to);
      return targets_.clear();
    }
    std::erase_if(targets_, [&](const target& each) {
      const auto& accesses = about_to.what->accesses;
      return std::any_of(accesses.begin(), accesses.end(), [&](const memory_access& access) {
        return access.writes && overlap(access.region, region_of(each.where));
      });
    });
  }

  static byte_region region_of(const byte_range& range) { return {range.first, range.bytes}; }

  void add_targets(const run& writer) {
    if (look_.several_threads || targets_.size() >= max_targets) return;
    if (last_unknown_ && !complete(*last_unknown_)) return;
    for (const auto& access : writer.what->accesses) {
      if (!access.writes || !access.certain || !access.region.contiguous()) continue;
      const auto* before = find_noted(access.region, false);
      if (before == nullptr || is_being_written(before->where)) continue;
      target made{ref<const run>(&writer), before->where, before->content, {}, {}, {}, no_call};
      made.source = source_of(writer, before->where.bytes);
      targets_.push_back(std::move(made));
    }
  }

  const snapshot* find_noted(const byte_region& region, bool of_source) const {
    const auto found = std::find_if(noted_.begin(), noted_.end(), [&](const snapshot& each) {
      return each.of_source == of_source && each.where.first == region.first &&
             each.where.end() <= region.end();
    });
    return found != noted_.end() ? &*found : nullptr;
  }

  bool is_being_written(const byte_range& range) {
    bool found = false;
    look_.state.accesses().for_each_pending(
        range.first, range.end(),
        [&](const run&, const memory_access& what) { found |= what.writes; });
    return found;
  }

  std::optional<snapshot> source_of(const run& writer, uint64_t bytes) {
    for (const auto& access : writer.what->accesses) {
      if (access.writes || !access.certain || !access.region.contiguous()) continue;
      const auto* found = find_noted(access.region, true);
      if (found != nullptr && found->where.bytes >= bytes && !is_being_written(found->where))
        return *found;
    }
    return std::nullopt;
  }

  // That is another matter: host_write_rules.cpp.
  void forget_changed_source(const snapshot& seen) {
    for (auto& each : targets_) {
      if (each.source && each.source->where.first == seen.where.first &&
          (each.source->where != seen.where || each.source->content != seen.content))
        each.source.reset();
    }
  }

  void see_before_wait(const snapshot& seen) {
    for (auto& each : targets_) {
      if (each.where == seen.where && each.waits.size() < max_waits)
        each.waits.push_back({look_.current->number, seen.content});
    }
  }

  void see_after_wait(const snapshot& seen) {
    for (auto& each : targets_) {
      if (each.where != seen.where) continue;
      each.after = seen.content;
      each.waited = look_.current->number;
      look_.unsettled = true;
    }
  }

  // Of waits before the current call the model knows by now what they were for.
  void judge_finished(call_number current) {
    if (!has_unjudged()) return;
    std::erase_if(targets_, [&](target& each) {
      if (!each.after || each.waited == current) return false;
      if (!complete(*each.writer)) {
        each.after.reset();
        return false;
      }
      if (!look_.several_threads) judge(each);
      return true;
    });
  }

  void judge(const target& of) {
    for (const auto& each : of.waits) {
      if (each.content == of.before || each.content == *of.after) continue;
      if (const auto byte = first_foreign(of, each.content, of.before, *of.after))
        return report(of, *byte, each.call);
    }
    if (!of.source || of.source->content == *of.after) return;
    if (const auto byte = first_foreign(of, *of.after, of.source->content, of.source->content))
      report(of, *byte, of.waited);
  }

  // The first byte that is as in neither of the two others.
  std::optional<uint64_t> first_foreign(const target& of, const trace::blob_hash& content,
                                        const trace::blob_hash& one,
                                        const trace::blob_hash& other) const {
    const auto found = look_.read_blob(content);
    const auto a = look_.read_blob(one);
    const auto b = look_.read_blob(other);
    if (!found || !a || !b) return std::nullopt;
    const auto size = static_cast<size_t>(of.where.bytes);
    if (found->size() < size || a->size() < size || b->size() < size) return std::nullopt;
    for (size_t i = 0; i < size; ++i) {
      if ((*found)[i] != (*a)[i] && (*found)[i] != (*b)[i]) return i;
    }
    return std::nullopt;
  }

  void report(const target& of, uint64_t byte, call_number found_at) {
    const run& writer = *of.writer;
    finding* made = look_.add_at(found_at, ev(47), "target");
    if (made == nullptr) return;
    const uint64_t address = of.where.first + byte;
    const auto* memory = look_.state.find_memory(address);
    const std::string place =
        memory != nullptr
            ? fmt::format("{} at byte {}", look_.name(*memory), address - memory->handle)
            : fmt::format("memory of the host at {:#x}", address);
    const auto number = number_of(writer.what->call);
    made->message = fmt::format(
        "Between #{} and this call the host has written to {}, where #{} writes; nothing shows "
        "that #{} was complete by then.",
        number_of(writer.submitted), place, number, number);
    made->calls.push_back({writer.what->call, "writes to the memory"});
    if (writer.submitted != writer.what->call)
      made->calls.push_back({writer.submitted, "executes its list"});
    made->calls.push_back({found_at, "finds what the host has written"});
  }

  std::vector<snapshot> noted_;  // at the call that is about to begin
  call_number noted_at_ = no_call;
  std::vector<target> targets_;
  ref<const run> last_unknown_;  // that may write anywhere
};

}  // namespace

std::unique_ptr<rule_set> target_rules(inspection& of) {
  return std::make_unique<target_rule_set>(of);
}

}  // namespace zevent::check
