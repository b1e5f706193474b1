#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/device_memory_reader.hpp"
#include "api/recording_format.hpp"
#include "recorder/linked_blocks.hpp"
#include "recorder/watched_memory.hpp"

namespace zevent::recorder {

class thread_log;

// Keeps what the memory held that commands read, so that a replay can give them the same.
//
//   plain host memory   the sources of copies: when the copy is appended to an immediate list, or
//                       each time that the regular list is executed
//   plain host memory   what kernels get the addresses of, when they are launched: what the heap
//   of kernels          and the mappings tell of its extent. Not while commands use it that the
//                       host has not waited for: what changes there is theirs. Also the blocks of
//                       the heap whose addresses stand in memory that was kept (linked_blocks).
//   host and shared     the pages that changed (watched_memory): before commands that read memory
//   allocations         are given to the device. When the host has waited for commands, a line is
//                       drawn: what changed before it may be theirs. Where results are wanted, or
//                       the kernel cannot help, pages are looked at then too.
//   results             where they are wanted: host, shared and device allocations that commands
//                       may have written, when the host has waited. What only the device sees is
//                       read by copies of the recorder's own (api::device_memory_reader).
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
  explicit memory_capture(recording::memory_mode mode);

  // What device memory is read with: set when the driver is loaded, before the first call.
  static void use_driver(const api::memory_copy_calls& calls) { driver_calls_ = calls; }

  // The one of this process; null when no memory is kept. relaxed is enough: it is set before the
  // first call is recorded.
  static memory_capture* current() { return current_.load(std::memory_order_relaxed); }
  static void make_current(memory_capture* capture) {
    current_.store(capture, std::memory_order_relaxed);
  }

  // What is not of the host is known too: it is not plain host memory. Behind reserved addresses
  // there need not be any memory.
  enum class allocation_kind { host, shared, device, reserved };
  void allocated(const void* address, uint64_t bytes, allocation_kind kind,
                 ze_context_handle_t context, ze_device_handle_t device);
  // Other processes get it, too.
  void exported(const void* address);
  // Memory of another process, which is no plain memory either.
  void imported(const void* address);
  bool freed(const void* address);
  bool context_destroyed(ze_context_handle_t context);

  void list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                    ze_device_handle_t device);
  void immediate_list_created(ze_command_list_handle_t list, ze_context_handle_t context,
                              ze_device_handle_t device, const ze_command_queue_desc_t* desc);
  void queue_created(ze_command_queue_handle_t queue, const ze_command_queue_desc_t* desc);
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
  // ... and kernels, with the addresses among their arguments.
  bool launch_appended(uint64_t call, ze_command_list_handle_t list,
                       std::span<const uint64_t> addresses);
  // Only tells how large a piece of plain memory is.
  bool fill_appended(const void* target, uint64_t bytes);

  // A command that writes so many bytes there (0: it is not known how many), or wherever it likes.
  void write_appended(ze_command_list_handle_t list, const void* target, uint64_t bytes) {
    if (mode_ == recording::memory_mode::results) note_write(list, range_of(target, bytes));
  }
  void write_appended(ze_command_list_handle_t list) {
    if (mode_ == recording::memory_mode::results) note_write(list, std::nullopt);
  }

  bool lists_executed(uint64_t call, std::span<const ze_command_list_handle_t> lists,
                      const void* stream);

  // The driver has returned from a submission to an immediate list or a queue. If that is
  // synchronous, the host has waited.
  void submitted(uint64_t call, const void* stream) {
    if (mode_ == recording::memory_mode::results) note_submission(call, stream);
  }

  // The host is about to wait for commands, or to ask whether they are done. Polls come here: one
  // load decides.
  bool waits(uint64_t call) {
    return copies_unasked_for_.load(std::memory_order_relaxed) && note_before_wait(call);
  }
  // Commands that wait for the host may go on, with what it has written since they were submitted.
  bool host_signals(uint64_t call) {
    return commands_under_way_.load(std::memory_order_relaxed) && note_before_signal(call);
  }
  // The host knows that some commands are done: all of the stream (a queue or an immediate list),
  // if there is one.
  void waited(uint64_t call, const void* stream = nullptr);

 private:
  class turn;
  struct list_state {
    bool is_immediate = false;
    std::vector<address_range> plain_sources;
    std::vector<address_range> targets;     // of copies, that the host can write to
    std::vector<address_range> of_kernels;  // plain memory
    bool launches = false;
    // Where results are wanted: what its commands write to.
    std::vector<address_range> written;
    bool writes_anywhere = false;
  };
  // Where an allocation was made.
  struct allocation_owner {
    ze_context_handle_t context = nullptr;
    ze_device_handle_t device = nullptr;
  };
  // The beginning of a copy's source or target.
  struct copy_operand {
    address_range range;
    bool is_source = false;
    unsigned waits_left = 0;  // it is looked at after so many waits more
  };

  static address_range range_of(const void* address, uint64_t bytes) {
    const auto begin = reinterpret_cast<uint64_t>(address);
    return {begin, begin + bytes};
  }
  bool note_before_wait(uint64_t call);
  bool note_before_signal(uint64_t call);
  void note_write(ze_command_list_handle_t list, std::optional<address_range> target);
  void note_submission(uint64_t call, const void* stream);
  void note_results(uint64_t call, const void* stream);
  void note_targets(uint64_t call);
  bool is_plain(const address_range& range) const;  // mutex_ is held, as for all that follow
  bool source_appended(uint64_t call, ze_command_list_handle_t list, const address_range& source);
  void note_source(uint64_t call, const address_range& source);
  void note_pieces(uint64_t call, const address_range& range);
  void note_of_kernel(uint64_t call, const address_range& range);
  bool note_linked(uint64_t call);
  bool is_used_by_kernel(const address_range& range) const;
  void remember_plain(const address_range& range);
  std::optional<address_range> known_plain_block(uint64_t address) const;
  std::optional<address_range> plain_block(uint64_t address) const;
  bool note_changes(uint64_t call, uint8_t flags, bool with_results = false);
  bool read_device(uint64_t address, std::span<std::byte> target);
  void hold_operand(const address_range& range, bool is_source);
  void target_submitted(uint64_t call, const address_range& target);
  void note_snapshot(uint64_t call, const copy_operand& of, uint8_t flags);
  void note(uint64_t call, uint64_t address, std::span<const std::byte> content, uint8_t flags);

  static std::atomic<memory_capture*> current_;
  static api::memory_copy_calls driver_calls_;

  const recording::memory_mode mode_;
  // Whether there is anything to watch, for a look without the lock; relaxed: a thread that
  // allocates and then submits sees its own store.
  std::atomic<bool> watches_anything_{false};
  // Whether commands were given to the device since the host last waited; relaxed, as above.
  std::atomic<bool> commands_under_way_{false};
  // Whether copies were given to the device since the host last asked for anything; relaxed, as
  // above.
  std::atomic<bool> copies_unasked_for_{false};

  // Whether plain_in_use_ has something; relaxed, as above.
  std::atomic<bool> kernels_use_plain_{false};

  // Guards all below.
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> known_ranges_;  // all allocations: address and end
  watched_memory watched_;
  std::unordered_map<ze_command_list_handle_t, list_state> lists_;
  std::unordered_map<ze_image_handle_t, ze_image_desc_t> images_;
  // Streams with commands that the host has not waited for; those that wait by themselves.
  std::unordered_set<const void*> busy_streams_, synchronous_streams_;
  std::map<uint64_t, allocation_owner> owners_;  // of shared and device allocations: by address
  std::unordered_map<ze_context_handle_t, ze_device_handle_t> device_in_use_;  // of a list
  api::device_memory_reader reader_;
  std::map<uint64_t, uint64_t> plain_blocks_;  // of copies and fills: address and end
  linked_blocks linked_;
  uint64_t* left_out_ = nullptr;  // counter in the part, once there is something to count
  // Plain memory of kernels that were launched since the host last waited.
  std::vector<address_range> plain_in_use_;
  std::vector<copy_operand> operands_;  // of copies that may be under way, oldest first
  std::vector<std::byte> copy_;
};

}  // namespace zevent::recorder
