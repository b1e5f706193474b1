#include "model/call_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/symptom.hpp"

namespace zevent::model {
namespace {

// What a page fault takes at most as a rule: to get a zeroed page, and to read one from a disk.
constexpr uint64_t minor_fault_ns = 2'000;
constexpr uint64_t major_fault_ns = 10'000'000;

// Who holds a lock runs for no longer than this until it gives it back, and gets a processor again
// before that, however busy the machine is.
constexpr uint64_t max_lock_held_ns = 1'000'000;
constexpr uint64_t max_preempted_ns = 200'000'000;

// Of the duration, below which a rest does not count.
constexpr uint64_t substantial_share = 4;
// As many times the threshold count whatever their share.
constexpr uint64_t certain_thresholds = 100;

// A rare call is one in so many, and shorter than this.
constexpr uint64_t calls_for_rare = 1000;
constexpr uint64_t max_rare_ns = 10'000'000;
// Where there are as many calls, those that stand out take so many times as long as 99 % of them.
constexpr uint64_t times_p99 = 10;

// A first use may take as long as this: a query loads nothing, an append may start threads.
constexpr uint64_t max_first_query_ns = 10'000'000;
constexpr uint64_t max_first_append_ns = 100'000'000;

constexpr uint64_t less(uint64_t a, uint64_t b) {
  return a - std::min(a, b);
}

}  // namespace

call_time explain_time(uint64_t duration_ns, const trace::call_usage* usage, uint64_t allowed_ns) {
  call_time time;
  time.duration_ns = duration_ns;
  time.allowed_ns = std::min(duration_ns, allowed_ns);
  uint64_t left = duration_ns - time.allowed_ns;
  if (usage == nullptr) return time;
  time.has_note = true;
  const auto take = [&](uint64_t ns) {
    const uint64_t taken = std::min(left, ns);
    left -= taken;
    return taken;
  };

  const uint64_t watched_ns = usage->before_ns + duration_ns + usage->after_ns;
  const uint64_t off_processor_ns = less(watched_ns, usage->processor_ns);
  // A thread that never slept and did not run was waiting, also where the kernel does not count it:
  // for a processor of a virtual machine that had none itself.
  const bool slept = usage->voluntary_switches != 0;
  const uint64_t delayed_ns = slept ? usage->run_delay_ns : off_processor_ns;
  time.no_processor_ns = take(delayed_ns);

  const uint64_t slept_ns =
      slept ? std::min(left, less(less(off_processor_ns, delayed_ns), time.allowed_ns)) : 0;
  if (usage->has_others()) {
    // One that ran meanwhile was at work: the call waited for that, not for its processor. It may
    // also have run before the call, and while this thread, awake again, had no processor.
    const uint64_t last_delay_ns = delayed_ns / std::max(1u, usage->voluntary_switches);
    const uint64_t other_ran_ns =
        less(usage->other_processor_ns, usage->others_before_ns + last_delay_ns);
    if (other_ran_ns <= max_lock_held_ns)
      time.behind_ns = take(std::min({slept_ns, usage->other_run_delay_ns, max_preempted_ns}));
  }
  time.page_faults = usage->minor_faults + usage->major_faults;
  time.faults_ns = take(std::min(usage->processor_ns, usage->minor_faults * minor_fault_ns));
  time.faults_ns +=
      take(std::min(less(slept_ns, time.behind_ns), usage->major_faults * major_fault_ns));
  time.processor_ns = std::min(left, less(usage->processor_ns, time.faults_ns));
  return time;
}

std::string explanation_text(const call_time& time) {
  std::string text;
  const auto add = [&](uint64_t ns, const std::string& what) {
    if (ns == 0) return;
    text += (text.empty() ? "" : ", and ") + what;
  };
  add(time.no_processor_ns,
      fmt::format("its thread waited {} for a processor", time_text(time.no_processor_ns)));
  add(time.behind_ns,
      fmt::format("{} slept {} while another thread of the process waited for a "
                  "processor",
                  time.no_processor_ns == 0 ? "its thread" : "it", time_text(time.behind_ns)));
  add(time.faults_ns, fmt::format("about {} went to {} page fault{}", time_text(time.faults_ns),
                                  time.page_faults, time.page_faults == 1 ? "" : "s"));
  return text;
}

bool is_unexplained(const call_time& time, uint64_t threshold_ns) {
  const uint64_t rest_ns = time.unexplained_ns();
  if (rest_ns <= threshold_ns) return false;
  return rest_ns >= (time.duration_ns - time.allowed_ns) / substantial_share ||
         rest_ns / certain_thresholds >= threshold_ns;
}

size_t stall_judge::use_hash::operator()(const call_use& use) const {
  constexpr uint64_t multiplier = 0x9e37'79b9'7f4a'7c15;
  uint64_t hash = (use.list ^ use.function) * multiplier;
  hash = (std::rotl(hash, 29) ^ use.kernel) * multiplier;
  return static_cast<size_t>(hash ^ hash >> 32);
}

stall_judge::candidate stall_judge::add(const call_use& use, const call_time& time) {
  if (use.function >= functions_.size()) functions_.resize(use.function + size_t{1});
  auto& all = functions_[use.function];
  const bool is_append = use.list != 0 || use.kernel != 0;
  const bool is_first = is_append ? appends_.insert(use).second : all.calls == 0;
  ++all.calls;
  ++all.by_bits[static_cast<size_t>(std::bit_width(time.unexplained_ns()))];
  const bool is_slow = time.duration_ns - time.allowed_ns > threshold_ns_;
  const bool is_stall = is_slow && is_unexplained(time, threshold_ns_);
  if (is_slow && time.has_note) ++(is_stall ? all.unexplained : all.explained);
  if (!is_first) {
    ++all.repeated;
    if (is_stall) ++all.slow_repeated;
  }
  return {use, time, is_first};
}

stall_verdict stall_judge::judge(const candidate& call) const {
  if (call.time.duration_ns - call.time.allowed_ns <= threshold_ns_) return stall_verdict::quick;
  if (!is_unexplained(call.time, threshold_ns_)) return stall_verdict::explained;
  const auto& all = functions_[call.use.function];
  if (!call.time.has_note && all.explained != 0 && all.unexplained == 0 &&
      call.time.unexplained_ns() < max_rare_ns)
    return stall_verdict::unnoted;
  if (is_first_use(call, all)) return stall_verdict::first_use;
  return stands_out(call, all) ? stall_verdict::stall : stall_verdict::rare;
}

bool stall_judge::is_first_use(const candidate& call, const function_times& all) const {
  if (!call.is_first) return false;
  const uint64_t rest_ns = call.time.unexplained_ns();
  if (all.repeated != 0)
    return all.slow_repeated == 0 &&
           rest_ns <= (call.use.list != 0 ? max_first_append_ns : max_first_query_ns);
  // Of an append that was never made again nothing proves it, but loading keeps a processor busy.
  return call.use.list != 0 && rest_ns <= max_first_query_ns &&
         call.time.processor_ns >= rest_ns / 2;
}

bool stall_judge::stands_out(const candidate& call, const function_times& all) const {
  if (all.calls < calls_for_rare) return true;
  const uint64_t rest_ns = call.time.unexplained_ns();
  if (all.slow_repeated <= all.calls / calls_for_rare && rest_ns < max_rare_ns) return false;
  // Where one call in a hundred is slow, that is how the function is.
  if (all.slow_repeated >= all.calls / 100) return true;
  uint64_t quicker = 0;
  size_t bits = 0;
  while (bits < all.by_bits.size() && (quicker += all.by_bits[bits]) < all.calls / 100 * 99) ++bits;
  return bits < 60 && rest_ns >= times_p99 << bits;
}

}  // namespace zevent::model
