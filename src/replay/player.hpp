#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "replay/driver_library.hpp"
#include "replay/journal.hpp"
#include "replay/program.hpp"

namespace zevent::replay {

enum class pace : uint8_t {
  fast,      // each call as soon as its turn comes
  recorded,  // each call not before its time
};

struct play_options {
  pace speed = pace::fast;
  bool compare_memory = false;
  // What the host found after a wait is put there, whatever the device has written. False: only
  // what the host is known to have written before a call is.
  bool restore_after_waits = true;
};

// Makes the calls of a program, one thread for each that was recorded, and writes down how they
// went. Threads take turns by passing a baton: the thread of call n gives it to that of call n + 1
// when call n has returned, or before it makes call n if that lets the next one go. Whoever has the
// baton may use the live values.
class player {
 public:
  player(const program& what, driver_library& driver, const journal& log,
         const play_options& options);
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  // The first call's thread is the one that calls this. Returns when all calls have returned, and
  // memory has been looked at.
  void run();

 private:
  // One for each thread; on its own cache line, since others spin on it.
  struct alignas(64) turn_taker {
    std::atomic<uint32_t> turn{0};       // 1 + index of the call that may begin; a futex
    std::atomic<uint32_t> completed{0};  // 1 + index of the last call that has returned; a futex
    std::atomic<uint32_t> sleepers{0};   // on either word
    std::thread thread;
    bool started = false;  // guarded by the baton
  };

  void run_thread(uint32_t thread);
  void make_call(uint32_t index, bool passes_baton);
  bool patch_arguments(const compiled_call& call, journal_entry& entry);
  void prepare(const call_extras& extras);
  void finish(const compiled_call& call, const call_extras* extras, uint64_t result);
  std::byte* locate(const memory_restore& memory) const;
  void patch_content(const memory_restore& memory);
  void restore(const memory_restore& memory);
  void compare(const compiled_call& call, const memory_restore& memory);
  void look(const memory_look& at) const;
  void make_added(const added_call& call);
  void wait_until_due(const compiled_call& call) const;
  void pass_baton_to(uint32_t index);
  void wait_for(turn_taker& who, std::atomic<uint32_t>& word, uint32_t least);
  static void tell(turn_taker& who, std::atomic<uint32_t>& word, uint32_t value);

  const program& program_;
  const journal& journal_;
  play_options options_;
  std::vector<void*> targets_;         // by function of the built-in model
  std::vector<uint8_t> gives_result_;  // by function: whether it returns a ze_result_t
  std::vector<uint64_t> live_;         // by slot; guarded by the baton
  std::vector<opaque_handle> live_opaque_;
  std::unique_ptr<turn_taker[]> threads_;
  bool alone_;  // there is one thread, and no baton
  uint64_t start_ns_ = 0;
  turn_taker end_;  // `turn` is set when the last baton has been passed
};

}  // namespace zevent::replay
