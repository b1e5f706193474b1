#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "api/device_memory_reader.hpp"
#include "replay/driver_library.hpp"
#include "replay/journal.hpp"
#include "replay/meeting_place.hpp"
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
// went. Threads take turns at the meeting place, with those of other processes too where there are
// several. Whoever has the baton may use the live values.
class player {
 public:
  player(const program& what, driver_library& driver, const journal& log,
         const meeting_place& place, const play_options& options);
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  // The thread that makes the program's first call is the one that calls this. Returns when all
  // calls of the program have returned, and memory has been looked at.
  void run();

 private:
  struct own_thread {
    std::thread thread;
    bool started = false;  // guarded by the baton
  };

  void run_thread(uint32_t thread);
  void make_call(uint32_t index, bool passes_baton);
  uint64_t ask_until_done(const compiled_call& call, journal_entry& entry, uint64_t answer);
  bool patch_arguments(const compiled_call& call, journal_entry& entry);
  void prepare(const call_extras& extras);
  void finish(const compiled_call& call, const call_extras* extras, uint64_t result);
  std::byte* locate(const memory_restore& memory) const;
  void patch_content(const memory_restore& memory);
  void restore(const memory_restore& memory);
  void compare(const compiled_call& call, const memory_restore& memory);
  void release_reader(uint64_t context);
  bool read_through_driver(const memory_restore& memory, std::span<std::byte> target);
  std::optional<uint64_t> name_of_place(uint64_t address) const;
  void look(const memory_look& at) const;
  void make_added(const added_call& call);
  void wait_until_due(const compiled_call& call) const;
  void take_handle(const opaque_patch& patch) const;
  void put_handle_back(const opaque_patch& patch) const;
  void start(uint32_t thread);
  void start_others(uint32_t first);
  void pass_baton(uint32_t index);

  const program& program_;
  const journal& journal_;
  const meeting_place& place_;
  play_options options_;
  std::vector<void*> targets_;            // by function of the built-in model
  std::vector<uint8_t> gives_result_;     // by function: whether it returns a ze_result_t
  std::vector<uint64_t> live_;            // by slot; guarded by the baton
  std::atomic<uint32_t> handed_over_{0};  // how often, by threads of this process
  std::vector<own_thread> threads_;
  bool alone_;  // there is one thread, and no baton
  api::memory_copy_calls copy_calls_;
  uint32_t context_destroy_ = UINT32_MAX;  // the function, where memory is compared
  std::mutex reader_mutex_;                // guards reader_: calls that overlap end at any time
  api::device_memory_reader reader_{copy_calls_};
};

}  // namespace zevent::replay
