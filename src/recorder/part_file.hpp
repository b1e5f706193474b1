#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "api/recording_format.hpp"
#include "base/result.hpp"
#include "recorder/mapped_allocator.hpp"

namespace zevent::recorder {

inline constexpr uint64_t segment_unit_bytes = uint64_t{256} * 1024;

// A segment in memory. Whoever holds it is the only one to write to it.
struct mapped_segment {
  std::byte* begin = nullptr;  // the segment_header
  uint64_t file_offset = 0;
  uint64_t bytes = 0;
  uint64_t position = 0;  // of its header, as long as it is not used again
};

// A place for the packed blocks of one thread.
struct packed_area {
  uint64_t file_offset = 0;
  uint64_t bytes = 0;
  uint64_t used_bytes = 0;
};

// The file of one process: a few segments that are mapped and used again and again, and what was
// packed from them.
//
// Every page of a segment is faulted in before the segment is given out for the first time, for two
// reasons: a disk that is full is found here, as an error code, and not by a SIGBUS in the
// program's thread; and the program's threads take no page faults. Making pages for a file takes
// the kernel longer than it takes to fill them, and threads that make them for one file wait for
// each other. So there are to be few: a full segment is packed, written to the file in one piece,
// and used again.
//
// All functions may be called from any thread; by threads that are undisturbed, since a handler of
// a signal would wait for the thread that it interrupts. The first failure stops the recording for
// good.
class part_file {
 public:
  // Makes the file in `folder` (and the folder). The part stays in the state `recording` until it
  // is closed. An object lives until the process ends: there is no destructor to run too early.
  // The recording stops before all parts in the folder take more than `most_bytes`; 0: no limit.
  static result<part_file*> create(const std::string& folder, recording::memory_mode memory,
                                   uint64_t most_bytes = 0);

  // Gives a segment of at least so many bytes, header included: all of it zeros, its magic not yet
  // stored. Nothing, once the recording has stopped.
  std::optional<mapped_segment> take_segment(uint64_t least_bytes = segment_unit_bytes);

  // Takes back a segment to which nobody will write any more. One of the usual size is used again:
  // what it holds must have been packed.
  void give_back(const mapped_segment& segment);

  // Makes a segment of the usual size new: zeros, at a position of its own.
  void renew(mapped_segment& segment);

  // Writes a block into the thread's area, or into a new one. False once the recording has stopped.
  bool write_block(packed_area& area, std::span<const std::byte> block);
  // Takes back the area of a thread that ended.
  void give_back(const packed_area& area);

  // Writes a blob into a segment of its own, through the descriptor: for large ones that is faster
  // than through memory. `owner` is the thread_record that stands before it. False once the
  // recording has stopped.
  bool write_large_blob(const recording::thread_record& owner, const recording::blob_record& blob,
                        std::span<const std::byte> content);

  // Says why on stderr and in the file; from here on no segment is given out. Only the first call
  // does anything.
  void stop(const std::string& reason, int error_number);
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

  // The process ends in an orderly way. Calls that are made after this are still recorded.
  void close();

  recording::file_header& header() { return *header_; }
  const std::string& path() const { return path_; }

  // Around fork. In the child the parent's part is out of reach: its pages are replaced by memory
  // of the child's own, so that a call that was under way in the forking thread ends nowhere.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void abandon_in_child();

 private:
  // A mapped piece of the file, cut into segments.
  struct chunk {
    std::byte* begin = nullptr;
    uint64_t file_offset = 0;
    uint64_t bytes = 0;
    uint64_t given_bytes = 0;  // segments given out so far
  };

  // What keeps the file from growing, besides an error of the system.
  enum class obstacle : uint8_t { none, limit, full_disk };

  part_file() = default;
  result<void> open(const std::string& folder, recording::memory_mode memory);
  bool is_within_limit(uint64_t more_bytes);
  bool leaves_room_on_disk(uint64_t more_bytes);
  void stop_growing();  // errno says why, or obstacle_
  void stop_because(const std::string& text, int error_number);
  std::optional<mapped_segment> cut_segment(uint64_t bytes);  // mutex_ is held
  bool grow(uint64_t bytes);                                  // mutex_ is held
  bool may_grow(uint64_t bytes);
  bool is_still_open();
  bool allocate(uint64_t offset, uint64_t bytes);
  bool fault_in(const mapped_segment& segment);
  bool write_all(uint64_t offset, std::span<const std::byte> bytes);
  bool begin_area(packed_area& area, uint64_t block_bytes);
  static uint64_t new_position(uint64_t bytes) {
    // relaxed: all that matters is that no two are the same.
    return next_position_.fetch_add(bytes, std::memory_order_relaxed);
  }

  std::string folder_;
  std::string path_;
  uint64_t most_bytes_ = 0;  // of all parts in the folder; 0: no limit
  // relaxed: set by the thread that asks for it next.
  std::atomic<obstacle> obstacle_{obstacle::none};
  int file_ = -1;
  uint64_t file_device_ = 0;  // with the next, what file_ is
  uint64_t file_number_ = 0;
  bool is_in_memory_ = false;  // tmpfs
  recording::file_header* header_ = nullptr;
  // release in stop(), acquire in stopped(): who sees it also sees why in the header.
  std::atomic<bool> stopped_{false};
  // Goes on in the child of a fork: it may return from a call that its parent began, whose position
  // is to mean none of its own.
  static std::atomic<uint64_t> next_position_;

  // Guards everything below.
  std::mutex mutex_;
  uint64_t file_bytes_ = 0;
  uint64_t next_chunk_bytes_ = 4 * segment_unit_bytes;
  mapped_vector<chunk> chunks_;
  mapped_vector<mapped_segment> free_segments_;  // new ones
  mapped_vector<packed_area> free_areas_;
};

}  // namespace zevent::recorder
