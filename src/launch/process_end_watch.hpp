#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "launch/program.hpp"

namespace zevent::launch {

// Sees how the processes of a recording end, and notes it in their parts (recording::process_end).
//
// How the program ended that zevent started is told by waitpid(). The end of any other process is
// its parent's to know; Linux 6.15 and later tell it to everybody who had a descriptor of the
// process while it ran. So the folder of the parts is watched, and of each process that begins a
// part there a descriptor is opened. What is not known in this way is not noted.
class process_end_watch {
 public:
  // An empty folder, or one that cannot be watched: there is only note().
  explicit process_end_watch(const std::string& parts_folder);
  process_end_watch(const process_end_watch&) = delete;
  process_end_watch& operator=(const process_end_watch&) = delete;
  ~process_end_watch();

  // Readable when there is something for look() to do; -1 where nothing is watched.
  int descriptor() const { return watch_; }

  // Takes notice of what happened since it was last called.
  void look();

  // When all processes have ended: takes notice also of those that nobody has waited for yet.
  void finish();

  // How the program ended that was started here.
  void note(const program_end& end);

 private:
  struct watched_process {
    int descriptor = -1;
    uint64_t start = 0;        // as in process_stat
    uint64_t ended_at_ns = 0;  // CLOCK_REALTIME; 0 while it runs
  };

  void see_new_parts();
  void watch(std::string_view part_name);
  void see_end(uint32_t process_id);
  void note_status(uint32_t process_id, int status);
  void forget(uint32_t process_id);

  const std::string folder_;
  const std::string host_;
  int watch_ = -1;  // epoll, of the next and of the processes
  int folder_watch_ = -1;
  std::map<uint32_t, watched_process> processes_;
};

}  // namespace zevent::launch
