#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "recorder/write_watch.hpp"

namespace zevent::recorder {

// Copies memory that may not be there. False when some of it cannot be read.
bool copy_memory(const void* source, std::span<std::byte> target);

// The allocations of which the recording keeps what they hold, and what is known of them.
//
// Where the kernel tells which pages were written, only those are looked at; elsewhere every page
// is, each time. Either way a page counts as changed when its content is not what was last noted.
// Of a page that was never noted nothing is taken for granted: drivers hand out memory again as it
// was left, so a page that the host has cleared is noted like any other. Where the kernel does not
// help, such a page counts as changed when it is not what it was when the allocation was added. A
// page that changed before the line of set_aside() and again after it counts as changed even when
// it is what was last noted: in between it was something else, which a replay has there.
//
// A device's writes do not go through the page tables of the host, so that the kernel does not tell
// of them. Where they matter, allocations that commands may have written are marked, and looked at
// whatever the kernel says. What the host cannot read is read through the driver.
//
// Not for several threads at once.
class watched_memory {
 public:
  explicit watched_memory(bool ask_kernel = true) {
    if (ask_kernel) watch_.emplace();
  }

  // Reads memory through the driver; false where that cannot be done.
  using device_read = std::function<bool(uint64_t address, std::span<std::byte> target)>;
  void read_devices_by(device_read read) { read_ = std::move(read); }

  void add(uint64_t address, uint64_t bytes);
  // Memory that only the device sees: looked at when it is marked, and read through the driver.
  void add_of_device(uint64_t address, uint64_t bytes);
  void remove(uint64_t address);
  bool empty() const { return allocations_.empty(); }
  // Whether the range is in an allocation that the host can write to.
  bool contains(const address_range& range) const;

  // Commands may write to all allocations, or write to these bytes of one (to any of it, if the
  // range is empty). What they write to memory of the device counts as changed, whatever it is.
  void mark_all_written();
  void mark_written(const address_range& range);
  // Other processes have the allocation too: from now on their commands may write to it.
  void mark_shared(uint64_t address);

  enum class change {
    seen,       // by the host, in memory that commands may have written
    by_host,    // likewise, in memory that none of the marked commands writes
    set_aside,  // before the last set_aside(), and not since
    copied,     // read through the driver
  };
  // Calls `note` for each piece that changed since the last time. Pieces are runs of changed pages,
  // cut to the allocation and at multiples of piece_bytes from its first page.
  using note_function =
      std::function<void(uint64_t address, std::span<const std::byte> content, change how)>;
  void note_changes(const note_function& note) { note_changes(note, false); }
  // Looks at what is marked, too. Unless the device is idle, what was seen there may be something
  // between: it is noted again the next time, whether or not it changes, and stays marked.
  void note_results(const note_function& note, bool device_is_idle);

  // Draws a line: what changed until now is told apart from what changes from here on. Nothing is
  // read or copied. False where that cannot be done, since the kernel does not tell what changed.
  bool set_aside();

  static constexpr uint64_t piece_bytes = 15 * page_bytes;
  static constexpr uint64_t device_piece_bytes = 256 * page_bytes;  // a copy takes its time

 private:
  struct allocation {
    address_range range;
    std::vector<uint64_t> page_hashes;  // of what was last noted, or never_noted
    // By page: it is noted when results are looked at, whatever it holds.
    std::vector<bool> is_unsettled;
    bool is_watched = false;    // by the kernel
    bool is_of_device = false;  // the host cannot read it
    bool is_marked = false;
    bool is_shared = false;  // with other processes
  };

  address_range pages_of(const address_range& range) const;
  // Whether another allocation lies in the page.
  bool shares_page(uint64_t page, const allocation& own) const;
  allocation* find(uint64_t address);
  // Null where it is there already.
  allocation* insert(uint64_t address, uint64_t bytes);
  void collect_written();
  void hash_pages(allocation& own);
  void forget_pages(const address_range& pages);
  void note_changes(const note_function& note, bool with_marked);
  void note_pages(const address_range& pages, change how, const note_function& note);
  void note_piece(allocation& from, address_range pages, change how, const note_function& note);

  std::map<uint64_t, allocation> allocations_;  // by address
  std::optional<write_watch> watch_;
  std::vector<address_range> written_;    // pages, sorted; kept to save allocations
  std::vector<address_range> set_aside_;  // pages, sorted
  std::vector<std::byte> copy_;
  device_read read_;
  bool looks_at_marked_ = false;  // at this time
  bool device_is_idle_ = false;   // likewise
};

}  // namespace zevent::recorder
