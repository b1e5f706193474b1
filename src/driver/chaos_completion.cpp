#include "driver/chaos_completion.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "driver/chaos.hpp"
#include "driver/device_clock.hpp"
#include "driver/engine.hpp"
#include "driver/host_clock.hpp"
#include "driver/stream.hpp"

namespace zevent::driver {
namespace {

// How long whoever was woken early has for looking at what is not there yet, where others wait.
constexpr uint64_t shortest_head_start_ns = 500'000;
constexpr uint64_t longest_head_start_ns = 2'000'000;

// How long what somebody waits for is left where the rest is to come first.
constexpr uint64_t longest_precedence_ns = 50'000'000;

// How long a program may take from one call to the next. Longest at first; it is halved when
// nobody came, and doubled when somebody did.
constexpr uint64_t longest_patience_ns = 50'000'000;
constexpr uint64_t shortest_patience_ns = 3'000'000;
// So many times longer while a thread waits for what another stream does: that may take its time.
constexpr uint64_t more_patience_with_waiters = 10;
// However often it calls, in time that its threads have had.
constexpr uint64_t longest_hold_ns = 1'000'000'000;
// Even of a thread that gets no processor, so that nothing hangs.
constexpr uint64_t longest_starvation_ns = 10'000'000'000;

// How often a stream that holds commands back looks at the program's thread. Seldom where that gets
// no processor: looking takes one, too.
constexpr uint64_t first_step_ns = 200'000;
constexpr uint64_t longest_step_ns = 8'000'000;
constexpr uint64_t longest_step_of_starvation_ns = 128'000'000;

constexpr uint64_t most_worth_of_questions = 1024;

// Relaxed: it is a guess.
constinit std::atomic<uint64_t> patience_ns{longest_patience_ns};

// Streams that have something to do and that nobody waits for, where those come first. Relaxed:
// whoever sees it late waits a little longer.
constinit std::atomic<uint32_t> coming_first{0};

void learn(bool somebody_came) {
  const uint64_t now_ns = patience_ns.load(std::memory_order_relaxed);
  patience_ns.store(somebody_came ? std::min(now_ns * 2, longest_patience_ns)
                                  : std::max(now_ns / 2, shortest_patience_ns),
                    std::memory_order_relaxed);
}

uint64_t next_step_ns(uint64_t step_ns, bool starved, uint64_t longest_ns) {
  if (host_clock::is_stopped()) return first_step_ns;
  return std::min(step_ns * 2, starved ? longest_step_of_starvation_ns : longest_ns);
}

uint64_t patience_now_ns() {
  host_demand& demand = host_demand::instance();
  // One that has no thread may be the one that is waited for.
  const bool is_overrun = engine::instance().is_overrun();
  if (is_overrun || demand.may_have_unseen_waiters()) return shortest_patience_ns;
  const uint64_t patience = patience_ns.load(std::memory_order_relaxed);
  return demand.is_waited_for() ? patience * more_patience_with_waiters : patience;
}

}  // namespace

chaos_completion::chaos_completion(uint64_t stream)
    : stream_(stream),
      window_(size_t{8} << chaos_choice(chaos_purpose::window, stream, 0, 4)),
      pile_(uint64_t{64} << chaos_choice(chaos_purpose::pile, stream, 0, 4)) {}

size_t chaos_completion::completes_next(size_t in_flight) {
  const uint64_t choice =
      chaos_choice(chaos_purpose::next_completion, stream_, completions_++, in_flight * 32);
  return choice < in_flight ? choice : in_flight - 1;  // nearly always the newest
}

void chaos_completion::come_first(bool comes) {
  if (std::exchange(comes_first_, comes) == comes) return;
  coming_first.fetch_add(comes ? 1 : UINT32_MAX, std::memory_order_relaxed);
}

void chaos_completion::begin() {
  gives_way_ = has_contrary_chaos();
  look_at_questions_anew();
}

// What was asked before there was anything to do is not about it.
void chaos_completion::look_at_questions_anew() {
  questions_seen_ = host_demand::instance().vain_questions();
  worth_of_questions_ = 0;
  owed_ = 0;
}

void chaos_completion::before_signal() {
  waited_ = host_demand::instance().waiters();
  has_signalled_ = true;
}

void chaos_completion::hold_back(stream& held) {
  if (std::exchange(has_signalled_, false)) {
    look_at_questions_anew();  // whoever asked may be content with this signal
    let_look();
  }
  if (has_hasty_chaos() || held.complete() < allowed_) return;
  if (is_wanted(held) || is_allowed_by_questions()) return;
  wait_for_demand(held);
}

// All commands are looked at when a fourth of them is gone, so that a long list takes a short time
// for each; and when new ones may bring what the others do not.
void chaos_completion::look_at_promises(stream& held) {
  const bool is_out_of_date = (held.executions() - promised_executions_) * 4 > promised_commands_;
  const bool has_new = held.submitted() != promised_submissions_;
  const bool may_be_about_new = has_new && !host_demand::instance().is_waited_for(promised_);
  if (!is_out_of_date && !may_be_about_new) return;
  promised_submissions_ = held.submitted();
  promised_executions_ = held.executions();
  promised_.clear();
  promised_commands_ = held.promise(promised_);
  promised_.sort();
}

// What has high priority comes with whatever is waited for: programs may count on that.
bool chaos_completion::is_wanted(stream& held) {
  look_at_promises(held);
  host_demand& demand = host_demand::instance();
  const bool is_waited_for = demand.is_waited_for(promised_);
  if (has_contrary_chaos()) {
    come_first(!is_waited_for);
    if (is_waited_for && gives_way_) gives_way_ = give_way();
  } else if (held.priority() != ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH) {
    return is_waited_for;
  }
  return is_waited_for || demand.is_waited_for();
}

// What somebody waits for is left until the rest is done, which goes on while a thread waits. False
// when that takes too long.
bool chaos_completion::give_way() {
  host_demand& demand = host_demand::instance();
  const uint64_t deadline_ns = device_clock::host_now_ns() + longest_precedence_ns;
  while (coming_first.load(std::memory_order_relaxed) > 0 && demand.is_waited_for()) {
    if (device_clock::host_now_ns() >= deadline_ns && !chaos_waits_forever()) return false;
    host_clock::count_look();
    demand.sleep(demand.changes(), first_step_ns);
  }
  return true;
}

void chaos_completion::let_look() {
  if (waited_.empty()) return;
  host_demand& demand = host_demand::instance();
  const std::vector<host_demand::waiter> waiting = demand.waiters();
  const auto still_waits = [&](const host_demand::waiter& who) {
    return std::any_of(waiting.begin(), waiting.end(),
                       [&](const auto& each) { return each.number == who.number; });
  };
  const uint64_t head_start_ns =
      shortest_head_start_ns + chaos_choice(chaos_purpose::head_start, stream_, completions_,
                                            longest_head_start_ns - shortest_head_start_ns);
  const uint64_t deadline_ns = device_clock::host_now_ns() + longest_starvation_ns;
  for (const host_demand::waiter& each : waited_) {
    if (still_waits(each)) continue;
    thread_watch looking(each.thread);
    uint64_t had_ns = 0;
    uint64_t now_ns = device_clock::host_now_ns();
    uint64_t looked_ns = now_ns;
    for (uint64_t step_ns = first_step_ns;
         !demand.is_back(each) && had_ns < head_start_ns && now_ns < deadline_ns;) {
      host_clock::count_look();
      demand.sleep(demand.changes(), step_ns);
      now_ns = device_clock::host_now_ns();
      if (now_ns - looked_ns < first_step_ns) continue;  // calls of others end the sleep: many
      looked_ns = now_ns;
      const uint64_t had_before_ns = std::exchange(had_ns, looking.had_ns());
      step_ns = next_step_ns(step_ns, had_ns == had_before_ns, first_step_ns);
    }
  }
  waited_.clear();
}

bool chaos_completion::is_allowed_by_questions() {
  const uint64_t questions = host_demand::instance().last_vain_question(promised_);
  if (questions > questions_seen_) {
    questions_seen_ = questions;
    worth_of_questions_ = std::clamp<uint64_t>(worth_of_questions_ * 2, 1, most_worth_of_questions);
    owed_ = worth_of_questions_;
  }
  if (owed_ == 0) return false;
  --owed_;
  return true;
}

void chaos_completion::wait_for_demand(stream& held) {
  host_demand& demand = host_demand::instance();
  const uint64_t deadline_ns = device_clock::host_now_ns() + longest_starvation_ns;
  uint64_t calls = demand.calls();
  std::optional<thread_watch> absent(demand.last_caller());
  uint64_t had_ns = 0;          // since the last call
  uint64_t had_earlier_ns = 0;  // between the calls before
  uint64_t step_ns = first_step_ns;
  for (;;) {
    const uint32_t changes = demand.changes();
    const uint64_t submitted = held.submitted();
    if (is_wanted(held) || is_allowed_by_questions()) return learn(true);
    const uint64_t had_before_ns = std::exchange(had_ns, absent->had_ns());
    const bool starved = had_ns == had_before_ns;
    if (demand.calls() != calls) {
      calls = demand.calls();
      absent.emplace(demand.last_caller());
      had_earlier_ns += std::exchange(had_ns, 0);
      step_ns = first_step_ns;
    }
    const bool in_vain = !chaos_waits_forever() && (had_ns >= patience_now_ns() ||
                                                    had_earlier_ns + had_ns >= longest_hold_ns ||
                                                    device_clock::host_now_ns() >= deadline_ns);
    if (in_vain || submitted - held.complete() >= pile_) {
      if (in_vain) learn(false);
      allowed_ = submitted;
      return;
    }
    host_clock::count_look();
    demand.sleep(changes, step_ns);
    step_ns = next_step_ns(step_ns, starved, longest_step_ns);
  }
}

}  // namespace zevent::driver
