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
// is, each time. Either way a page counts as changed when its content is not what was last noted: a
// page never noted counts as zeros, which is what a driver's fresh memory holds.
//
// Not for several threads at once.
class watched_memory {
 public:
  explicit watched_memory(bool ask_kernel = true) {
    if (ask_kernel) watch_.emplace();
  }

  void add(uint64_t address, uint64_t bytes);
  void remove(uint64_t address);
  bool empty() const { return allocations_.empty(); }
  bool contains(const address_range& range) const;

  // Calls `note` for each piece that changed since the last time. Pieces are runs of changed pages,
  // cut to the allocation and at multiples of piece_bytes from its first page. `is_set_aside`: it
  // changed before the last set_aside(), and not since.
  using note_function =
      std::function<void(uint64_t address, std::span<const std::byte> content, bool is_set_aside)>;
  void note_changes(const note_function& note);

  // Draws a line: what changed until now is told apart from what changes from here on. Nothing is
  // read or copied. False where that cannot be done, since the kernel does not tell what changed.
  bool set_aside();

  static constexpr uint64_t piece_bytes = 15 * page_bytes;

 private:
  struct allocation {
    address_range range;
    std::vector<uint64_t> page_hashes;  // of what was last noted
    bool is_watched = false;            // by the kernel
  };

  address_range pages_of(const address_range& range) const;
  // Whether another allocation lies in the page.
  bool shares_page(uint64_t page, const allocation& own) const;
  void collect_written();
  void note_pages(const address_range& pages, bool is_set_aside, const note_function& note);
  void note_piece(allocation& from, address_range pages, bool is_set_aside,
                  const note_function& note);

  std::map<uint64_t, allocation> allocations_;  // by address
  std::optional<write_watch> watch_;
  std::vector<address_range> written_;    // pages, sorted; kept to save allocations
  std::vector<address_range> set_aside_;  // pages, sorted
  std::vector<std::byte> copy_;
};

}  // namespace zevent::recorder
