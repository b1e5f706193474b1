#include "replay/polls.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"

namespace zevent::replay {
namespace {

// By how much a further ask of a row has to block longer than those that are kept.
constexpr uint64_t notable_growth = 2;

uint64_t timeout_of(const recorded_call& call) {
  const auto* timeout = call.inputs.find("timeout");
  return timeout == nullptr ? 0 : timeout->bits;
}

void hash_scalars(const api::value& v, uint64_t& hash) {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15;
  if (v.form == api::value_form::scalar) {
    hash = (hash ^ v.bits) * multiplier;
    hash ^= hash >> 29;
  }
  for (const auto& item : v.items) hash_scalars(item, hash);
}

}  // namespace

std::optional<poll_mode> parse_poll_mode(std::string_view name) {
  if (name == "until-done") return poll_mode::until_done;
  if (name == "exact") return poll_mode::exact;
  return std::nullopt;
}

poll_options polls_for(poll_mode mode, const model::symptom& symptom) {
  poll_options out{.mode = mode, .named_call = {}};
  if (const auto* slow = std::get_if<model::slow_call>(&symptom)) {
    out.named_call = slow->call.number;
    out.blocking_ns = std::min(out.blocking_ns, slow->longer_than_ns);
  } else if (const auto* with_result = std::get_if<model::call_with_result>(&symptom)) {
    out.named_call = with_result->call.number;
  }
  return out;
}

bool is_ask(const recorded_call& call) {
  const auto name = call.function->name;
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("QueryStatus") || has("QueryKernelTimestamp") || has("QueryTimestamps")) return true;
  const auto* timeout = has("Synchronize") ? call.inputs.find("timeout") : nullptr;
  return timeout != nullptr && timeout->bits != UINT64_MAX;
}

bool is_pinned(const recorded_call& call, const survey& seen) {
  if (seen.host_counters.contains(call.number())) return true;
  // What was found after an answer of NOT_READY is put there after that answer.
  return std::any_of(call.memory.begin(), call.memory.end(), [&](const trace::memory_note& note) {
    return call.call.result == answer_not_yet || !is_after_call(note);
  });
}

// How long an ask blocked beyond what it was allowed to; 0 when it did not.
uint64_t poll_folder::blocked_ns(const recorded_call& call) const {
  const uint64_t timeout_ns = timeout_of(call), took_ns = call.call.duration_ns;
  const bool blocked = took_ns > timeout_ns && took_ns - timeout_ns > options_.blocking_ns;
  return blocked ? took_ns - timeout_ns : 0;
}

// Pointers are left out: they say where the answer goes. An object is told apart from another one
// that had its handle before.
poll_folder::ask_key poll_folder::key_of(const recorded_call& call, const address_book& book) {
  ask_key key{.function = call.call.function};
  bool has_object = false;
  for (const auto& each : call.inputs.parameters) {
    if (!has_object && each.form == api::value_form::scalar && each.declared != nullptr &&
        each.declared->kind == api::type_kind::handle) {
      const auto slot = book.find_handle(each.declared->index, each.bits, call.call.start_ns);
      key.object = slot ? index_of(*slot) : each.bits;
      has_object = true;
    } else {
      hash_scalars(each, key.arguments);
    }
  }
  return key;
}

poll_folder::placement poll_folder::keep(poller& who, const recorded_call& call,
                                         const address_book& book) {
  const auto index = checked_cast<uint32_t>(steps_.size());
  steps_.push_back({.number = call.number(),
                    .turn = call.number(),
                    .first_answer = call.call.result,
                    .time = timed(call, book)});
  ++who.kept;
  who.last_step = index;
  return {.step = index, .is_new = true};
}

poll_folder::placement poll_folder::add(const recorded_call& call, const address_book& book,
                                        bool pinned) {
  poller& who = pollers_[call.call.thread];
  if (options_.mode == poll_mode::exact) return keep(who, call, book);
  if (!is_ask(call)) {
    ++other_calls_;
    who.rows.clear();
    who.done.clear();
    return keep(who, call, book);
  }
  const auto key = key_of(call, book);
  pinned = pinned || options_.named_call == call.number();
  if (call.call.returned() && call.call.result == answer_not_yet)
    return add_not_yet(who, call, key, book, pinned);
  if (call.call.returned() && call.call.result == answer_done)
    return add_done(who, call, key, book, pinned);
  who.rows.erase(key);
  who.done.erase(key);
  return keep(who, call, book);
}

poll_folder::placement poll_folder::add_not_yet(poller& who, const recorded_call& call,
                                                const ask_key& key, const address_book& book,
                                                bool pinned) {
  who.done.erase(key);
  const auto [found, is_first] = who.rows.try_emplace(key);
  row& asked = found->second;
  const uint64_t blocked = blocked_ns(call);
  if (is_first || pinned || blocked > notable_growth * asked.blocked_ns) {
    const auto kept = keep(who, call, book);
    asked.step = kept.step;
    asked.blocked_ns = std::max(asked.blocked_ns, blocked);
    return kept;
  }
  ++steps_[asked.step].asks;
  if (asked.folded_after != who.kept) {
    asked.folded_after = who.kept;
    asked.folded_number = call.number();
    asked.folded_start_ns = call.call.start_ns;
  }
  return {.step = asked.step};
}

poll_folder::placement poll_folder::add_done(poller& who, const recorded_call& call,
                                             const ask_key& key, const address_book& book,
                                             bool pinned) {
  const bool is_plain = blocked_ns(call) == 0 && !pinned;
  if (const auto known = who.done.find(key);
      known != who.done.end() && known->second.other_calls == other_calls_ && is_plain) {
    ++steps_[known->second.step].asks;
    return {.step = known->second.step};
  }
  const auto found = who.rows.find(key);
  const bool has_row = found != who.rows.end();
  const row asked = has_row ? found->second : row{};
  if (has_row) who.rows.erase(found);
  // One that blocked, or needs what the host wrote, is asked where it was asked.
  const bool may_begin_earlier = has_row && is_plain;
  const bool has_folded = may_begin_earlier && asked.folded_after == who.kept;
  const bool completes = may_begin_earlier && asked.step == who.last_step;
  const auto placed =
      completes ? placement{.step = asked.step, .completes = true} : keep(who, call, book);
  auto& loop = steps_[placed.step];
  loop.until_done = true;
  loop.time.may_wait = true;
  if (completes) {
    ++loop.asks;
    loop.time.end_ns = call.call.end_ns();
    loop.time.state = timed(call, book).state;
  } else if (has_folded) {
    loop.turn = asked.folded_number;
    loop.time.start_ns = asked.folded_start_ns;
  }
  who.done[key] = {placed.step, other_calls_};
  return placed;
}

std::vector<uint32_t> turn_order(const std::vector<replay_step>& steps) {
  std::vector<uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto by_turn = [&](uint32_t a, uint32_t b) { return steps[a].turn < steps[b].turn; };
  if (!std::is_sorted(order.begin(), order.end(), by_turn))
    std::sort(order.begin(), order.end(), by_turn);
  return order;
}

}  // namespace zevent::replay
