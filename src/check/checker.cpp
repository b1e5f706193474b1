#include "check/checker.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "check/rule_sets.hpp"

namespace zevent::check {

// The rules at work on one process.
class process_checker final : public model::listener {
 public:
  process_checker(uint32_t process, finding_list& found, const object_namer& namer,
                  const check_options& options, shared_pools& shared, const blob_reader& blobs,
                  const usage_finder& usage, const std::set<uint32_t>& callback_threads,
                  bool keeps_addresses, bool has_intel_driver, state_kinds unknown)
      : number(process),
        state_(*this),
        look_(process, state_, found, namer, options, shared, blobs, usage, refused_),
        sets_(all_rule_sets(look_)),
        callback_threads_(callback_threads) {
    look_.keeps_addresses = keeps_addresses;
    look_.has_intel_driver = has_intel_driver;
    look_.unknown = unknown;
    for (size_t i = 0; i < model::function_count; ++i) {
      for (const auto& each : sets_) {
        const auto which = static_cast<function>(i);
        if (each->wants(which)) interested_[i].in_begin.push_back(each.get());
        if (each->wants_began(which)) interested_[i].in_began.push_back(each.get());
        if (each->wants_end(which)) interested_[i].in_end.push_back(each.get());
      }
    }
  }

  const uint32_t number;

  void begin(const call_view& call, std::span<const trace::memory_note> notes) {
    look_.set_current(call);
    look_.several_threads |= call.thread != first_thread_.value_or(call.thread);
    first_thread_ = first_thread_.value_or(call.thread);
    look_.has_findings = false;
    look_.unknown |= state_changed_by(call);
    refused_.see(call);
    for (const auto& note : notes) {
      for (const auto& each : sets_) each->noted(note);
    }
    if (!callback_threads_.empty() && callback_threads_.contains(call.thread)) see_callback(call);
    const auto& interested = interested_[static_cast<size_t>(call.which)];
    for (rule_set* each : interested.in_begin) each->begins(call);
    state_.begin(call);
    for (rule_set* each : interested.in_began) each->began(call);
  }

  bool wants_end(const call_view& call) const {
    return look_.unsettled || !interested_[static_cast<size_t>(call.which)].in_end.empty() ||
           state_.learns_at_end(call);
  }

  void end(const call_view& call) {
    look_.set_current(call);
    if (std::exchange(look_.unsettled, false)) {
      for (const auto& each : sets_) each->settles(call);
    }
    for (rule_set* each : interested_[static_cast<size_t>(call.which)].in_end) each->ends(call);
    state_.end(call);
  }

  const refused_calls& refused() const { return refused_; }
  state_kinds unknown() const { return look_.unknown; }

  void calls_end() {
    look_.forget_current();
    for (const auto& each : sets_) each->calls_end();
  }

  void finish(bool cut_off, bool crashed) {
    look_.forget_current();
    look_.cut_off = cut_off;
    look_.crashed = crashed;
    for (const auto& each : sets_) each->finish();
  }

  void starting(const run& about_to) override {
    for (const auto& each : sets_) each->starting(about_to);
  }
  void conflicts(const model::access_map::conflict& found) override {
    for (const auto& each : sets_) each->conflicts(found);
  }

 private:
  // EV-42.
  void see_callback(const call_view& call) {
    look_.report(ev(42), call.name.data(),
                 "{} is called from a thread of the driver, that is from a host function.",
                 call.name);
  }

  model::process_model state_;
  refused_calls refused_;
  inspection look_;
  std::vector<std::unique_ptr<rule_set>> sets_;
  struct listeners {
    std::vector<rule_set*> in_begin, in_began, in_end;
  };
  std::array<listeners, model::function_count> interested_;  // by function
  std::optional<uint32_t> first_thread_;
  const std::set<uint32_t>& callback_threads_;
};

namespace {

std::string name_by_value(uint32_t, model::object_kind kind, uint64_t handle, uint64_t) {
  return fmt::format("{} {:#x}", name_of(kind), handle);
}

}  // namespace

checker::checker(object_namer namer, const check_options& options, blob_reader blobs,
                 usage_finder usage)
    : namer_(namer ? std::move(namer) : name_by_value),
      options_(options),
      blobs_(std::move(blobs)),
      usage_(std::move(usage)),
      found_(options.max_of_a_kind),
      sequence_(*this) {}

checker::~checker() = default;

process_checker& checker::process_of(const model::call_view& call) {
  if (last_ != nullptr && last_->number == call.process) return *last_;
  auto& place = processes_[call.process];
  if (!place) {
    const auto unknown = unknown_effects_.find(call.process);
    place = std::make_unique<process_checker>(
        call.process, found_, namer_, options_, shared_, blobs_, usage_, callback_threads_,
        address_keepers_.contains(call.process), intel_driven_.contains(call.process),
        unknown != unknown_effects_.end() ? unknown->second : state_kinds{0});
  }
  last_ = place.get();
  return *place;
}

void checker::begin(const model::call_view& call) {
  process_of(call).begin(call, notes_);
}

void checker::end(const model::call_view& call) {
  process_of(call).end(call);
}

bool checker::wants_end(const model::call_view& call) {
  return process_of(call).wants_end(call);
}

state_kinds checker::unknown_in(uint32_t process) const {
  const auto found = processes_.find(process);
  return found != processes_.end() ? found->second->unknown() : state_kinds{0};
}

std::vector<finding> checker::finish(const std::set<uint32_t>& incomplete,
                                     const std::set<uint32_t>& cut_off,
                                     const std::set<uint32_t>& crashed) {
  sequence_.finish();
  for (const auto& [number, each] : processes_) {
    each->calls_end();
    if (!incomplete.contains(number))
      each->finish(cut_off.contains(number), crashed.contains(number));
  }
  auto findings = found_.take();
  for (auto& each : findings) {
    const auto from = processes_.find(each.process);
    if (from == processes_.end()) continue;
    each.message += from->second->refused().describe(each.call, crashed.contains(each.process));
  }
  return findings;
}

}  // namespace zevent::check
