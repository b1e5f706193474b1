#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/symptom.hpp"
#include "model/symptom_search.hpp"
#include "replay/survey.hpp"
#include "replay/turns.hpp"

// Polls: how a program finds out that the device is done.
//
// An ask is a call that is answered "done" (SUCCESS) or "not yet" (NOT_READY): a query, or a wait
// with a time limit. A program relies on "done": it frees, resets and uses again. It cannot rely on
// "not yet", which may be over by the time it is read. So a replay may ask more or less often than
// the recording did, but it goes on where the program went on:
//
//   recorded                          replayed
//   query(A) NOT_READY
//   query(A) NOT_READY  ...     ──►   while (query(A) == NOT_READY);
//   query(A) SUCCESS
//
//   query(A) NOT_READY                query(A);    once, with either answer
//   query(B) NOT_READY                query(B);
//   query(A) NOT_READY  ...     ──►
//   query(A) SUCCESS                  while (query(A) == NOT_READY);
//   query(B) SUCCESS                  while (query(B) == NOT_READY);
//
// Asks of one thread are folded as long as it makes no other calls. No call changes its place among
// the others of its thread. Asks that blocked are kept, for they may be what is looked for.
namespace zevent::replay {

enum class poll_mode : uint8_t {
  until_done,  // as above
  exact,       // every recorded ask once
};

// By name: "until-done", "exact".
std::optional<poll_mode> parse_poll_mode(std::string_view name);

struct poll_options {
  poll_mode mode = poll_mode::until_done;
  // What may be the symptom is not folded: this call, and asks that block for longer than that.
  std::optional<uint64_t> named_call;
  uint64_t blocking_ns = model::blocking_ns;
};
poll_options polls_for(poll_mode mode, const model::symptom& symptom);

// Results of an ask, as numbers of ze_result_t.
inline constexpr uint32_t answer_done = 0, answer_not_yet = 1;

constexpr bool is_answer(uint32_t result) {
  return result == answer_done || result == answer_not_yet;
}

// Whether a call asks if something is done: a query of an event or a fence, of their timestamps, or
// a wait with a time limit.
bool is_ask(const recorded_call& call);

// Whether what the host wrote belongs to this very ask: it has to be there before.
bool is_pinned(const recorded_call& call, const survey& seen);

// A call that is to be made, or a loop of asks.
struct replay_step {
  uint64_t number = 0;        // of the call that it is, or of its first ask
  uint64_t turn = 0;          // by which steps of all threads are ordered: a call number too
  uint64_t asks = 1;          // recorded calls that it stands for
  uint32_t first_answer = 0;  // recorded result of the call or first ask
  bool until_done = false;    // asked again until the answer is SUCCESS
  timed_call time;            // from the beginning of the first ask to the end of the last one
};

// Takes the calls of a recording in order and says which are steps of their own.
class poll_folder {
 public:
  explicit poll_folder(const poll_options& options) : options_(options) {}

  struct placement {
    uint32_t step = 0;       // index into steps(): where the call belongs
    bool is_new = false;     // it is the first call of its step
    bool completes = false;  // it is the SUCCESS with which the loop of an earlier step ended
  };
  // `book` is that of the call's process.
  placement add(const recorded_call& call, const address_book& book, bool pinned = false);

  // In the order of their numbers; those that are loops are complete when all calls were added.
  const std::vector<replay_step>& steps() const { return steps_; }

 private:
  struct ask_key {
    uint32_t function = 0;
    uint64_t object = 0;     // slot of what is asked about, or the handle
    uint64_t arguments = 0;  // hash of the others
    auto operator<=>(const ask_key&) const = default;
  };
  // NOT_READY answers to one ask, since its last SUCCESS.
  struct row {
    uint32_t step = 0;        // the last that was kept of them
    uint64_t blocked_ns = 0;  // the longest time that a kept one blocked
    // The first that was folded after `folded_after` steps of the thread.
    uint64_t folded_after = 0, folded_number = 0, folded_start_ns = 0;
  };
  // SUCCESS, which stays the answer as long as nobody makes calls other than asks.
  struct answered {
    uint32_t step = 0;
    uint64_t other_calls = 0;  // as of then
  };
  struct poller {
    std::map<ask_key, row> rows;
    std::map<ask_key, answered> done;
    uint64_t kept = 0;  // steps so far
    uint32_t last_step = 0;
  };

  static ask_key key_of(const recorded_call& call, const address_book& book);
  uint64_t blocked_ns(const recorded_call& call) const;
  placement keep(poller& who, const recorded_call& call, const address_book& book);
  placement add_not_yet(poller& who, const recorded_call& call, const ask_key& key,
                        const address_book& book, bool pinned);
  placement add_done(poller& who, const recorded_call& call, const ask_key& key,
                     const address_book& book, bool pinned);

  poll_options options_;
  std::vector<replay_step> steps_;
  uint64_t other_calls_ = 0;                      // of all threads, that are no asks
  std::unordered_map<uint32_t, poller> pollers_;  // by thread of the run
};

// Indices of steps in the order in which they take turns.
std::vector<uint32_t> turn_order(const std::vector<replay_step>& steps);

}  // namespace zevent::replay
