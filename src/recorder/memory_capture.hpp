#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "api/recording_format.hpp"
#include "recorder/watched_memory.hpp"

namespace zevent::recorder {

class thread_log;

// Keeps what the memory held that commands read, so that a replay can give them the same.
//
//   plain host memory   the sources of copies: when the copy is appended to an immediate list, or
//                       each time that the regular list is executed
//   host and shared     the pages that changed (watched_memory): before commands that read memory
//   allocations         are given to the device. When the host has waited for commands, a line is
//                       drawn: what changed before it may be theirs. Where results are wanted, or
//                       the kernel cannot help, pages are looked at then too.
//   snapshots           where results are wanted: what the host can write to of a copy, its plain
//                       source and its target, when it is submitted, when the host first waits
//                       afterwards and when it has waited. A replay has no use for them; a checker
//                       sees whether the host wrote there too early.
//
// The hooks tell it what happens. `call` is the place of the call in the part; calls that are not
// recorded (0) are not looked at. Everything may be called from any thread. What is called before
// the driver is entered says whether it took a while.
class memory_capture {
 public:
  explicit memory_capture(recording::memory_mode mode) : mode_(mode) {}

  // The one of this process; null when no memory is kept. relaxed is enough: it is set before the
  // first call is recorded.
  static memory_capture* current() { return current_.load(std::memory_order_relaxed); }
  static void make_current(memory_capture* capture) {
    current_.store(capture, std::memory_order_relaxed);
  }

  // The host can write to it. Device memory is known too: it is not plain host memory.
  enum class allocation_kind { host_visible, device };
  void allocated(const void* address, uint64_t bytes, allocation_kind kind);
  bool freed(const void* address);

  void list_created(ze_command_list_handle_t list, bool is_immediate);
  void list_cloned(ze_command_list_handle_t list, ze_command_list_handle_t from);
  bool list_reset(ze_command_list_handle_t list);
  bool list_destroyed(ze_command_list_handle_t list);
  void image_created(ze_image_handle_t image, const ze_image_desc_t& desc);
  bool image_destroyed(ze_image_handle_t image);

  // Commands that read memory, as they are appended.
  bool copy_appended(uint64_t call, ze_command_list_handle_t list, const void* target,
                     const void* source, uint64_t bytes);
  bool region_copy_appended(uint64_t call, ze_command_list_handle_t list, const void* source,
                            const ze_copy_region_t* region, uint32_t pitch, uint32_t slice_pitch);
  bool image_copy_appended(uint64_t call, ze_command_list_handle_t list, ze_image_handle_t image,
                           const void* source, const ze_image_region_t* region, uint32_t pitch,
                           uint32_t slice_pitch);
  bool reading_command_appended(uint64_t call, ze_command_list_handle_t list);

  bool lists_executed(uint64_t call, std::span<const ze_command_list_handle_t> lists);

  // The host is about to wait for commands, or to ask whether they are done. Polls come here: one
  // load decides.
  bool waits(uint64_t call) {
    return copies_unasked_for_.load(std::memory_order_relaxed) && note_before_wait(call);
  }
  // The host knows that some commands are done.
  void waited(uint64_t call);

 private:
  class turn;
  struct list_state {
    bool is_immediate = false;
    std::vector<address_range> plain_sources;
    std::vector<address_range> targets;  // of copies, that the host can write to
  };
  // The beginning of a copy's source or target.
  struct copy_operand {
    address_range range;
    bool is_source = false;
    unsigned waits_left = 0;  // it is looked at after so many waits more
  };

  bool note_before_wait(uint64_t call);
  void note_targets(uint64_t call);
  bool is_plain(const address_range& range) const;  // mutex_ is held, as for all that follow
  bool source_appended(uint64_t call, ze_command_list_handle_t list, const address_range& source);
  void note_source(uint64_t call, const address_range& source);
  bool note_changes(uint64_t call, uint8_t flags);
  void hold_operand(const address_range& range, bool is_source);
  void target_submitted(uint64_t call, const address_range& target);
  void note_snapshot(uint64_t call, const copy_operand& of, uint8_t flags);
  void note(uint64_t call, uint64_t address, std::span<const std::byte> content, uint8_t flags);

  static std::atomic<memory_capture*> current_;

  const recording::memory_mode mode_;
  // Whether there is anything to watch, for a look without the lock; relaxed: a thread that
  // allocates and then submits sees its own store.
  std::atomic<bool> watches_anything_{false};
  // Whether commands were given to the device since the host last waited; relaxed, as above.
  std::atomic<bool> commands_under_way_{false};
  // Whether copies were given to the device since the host last asked for anything; relaxed, as
  // above.
  std::atomic<bool> copies_unasked_for_{false};

  // Guards all below.
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> known_ranges_;  // all allocations: address and end
  watched_memory watched_;
  std::unordered_map<ze_command_list_handle_t, list_state> lists_;
  std::unordered_map<ze_image_handle_t, ze_image_desc_t> images_;
  std::vector<copy_operand> operands_;  // of copies that may be under way, oldest first
  std::vector<std::byte> copy_;
};

}  // namespace zevent::recorder
