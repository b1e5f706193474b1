#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "driver/fork_safety.hpp"
#include "driver/sync_cell.hpp"

namespace zevent::driver {

class stream;

// Where streams stand whose next command waits for something. Whoever raises a cell that has the
// stream_waits bit lets those go that have waited enough. The bit, not the lot, is what a signal
// looks at: cells nobody waits for cost a signal nothing.
//
// Nobody in this process raises a cell for another process or for the user's own memory: streams
// that wait for those are looked after by a thread that polls, and that exists only once there has
// been such a wait.
class parking_lot {
 public:
  static parking_lot& instance();

  // Parks the stream until the point is reached. False when it is reached already: the stream goes
  // on. After true the stream may be running on another thread. `check` tells when the wait can
  // never end (null: it always can); then the stream is abandoned.
  bool park(stream& parked, const wait_point& point, abandonment* check);

  // Makes those streams ready whose points in this cell are reached.
  void unpark(sync_cell& cell);

  // Whether a stream is parked for a point that the function accepts.
  template <typename Predicate>
  bool has_parked(Predicate&& accepts) {
    for (bucket& home : buckets_) {
      const std::lock_guard lock(home.mutex);
      for (const place* each = home.first; each != nullptr; each = each->next) {
        if (accepts(each->point)) return true;
      }
    }
    return false;
  }

  // One stream's place; every stream has one.
  struct place {
    stream* occupant = nullptr;
    wait_point point;
    abandonment* check = nullptr;
    place* next = nullptr;

    bool is_polled() const { return point.cell == nullptr || point.scope == futex_scope::shared; }
  };

 private:
  parking_lot();
  void forget_after_fork();

  struct bucket {
    // Guards `first` and the places linked from it.
    fork_safe_mutex mutex{fork_safe_mutex::rank::parking};
    place* first = nullptr;
  };
  // All are locked at a fork; the thread sanitizer follows no more than 64 locks of a thread.
  static constexpr size_t bucket_count = 32;

  bucket& bucket_of(const std::atomic<uint64_t>* value);
  void count_polled(int change);
  void poll_bucket(bucket& home, bool check_abandonment);
  void poll_forever();

  std::array<bucket, bucket_count> buckets_;
  std::atomic<uint32_t> polled_{0};  // futex word of the polling thread: places to look at
  std::atomic<bool> poller_runs_{false};
};

}  // namespace zevent::driver
