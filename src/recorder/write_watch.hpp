#pragma once

#include <cstdint>
#include <vector>

namespace zevent::recorder {

struct address_range {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
};

inline constexpr uint64_t page_bytes = 4096;

// Asks the kernel which pages were written (Linux 6.7 and later: userfaultfd with asynchronous
// write protection, read by PAGEMAP_SCAN). The kernel notes the first write to each page and lets
// it through: the program sees no fault and no failing system call, whoever writes. Needs no
// privilege. Where the kernel cannot do it, works() is false.
class write_watch {
 public:
  write_watch();
  write_watch(const write_watch&) = delete;
  write_watch& operator=(const write_watch&) = delete;
  ~write_watch();

  bool works() const { return faults_ >= 0; }

  // From here on writes to these whole pages are noted. False where the memory is of a kind that
  // cannot be watched.
  bool watch(address_range pages);
  void unwatch(address_range pages);

  // Adds the pages of the range written since the last time, as runs, and begins anew. False when
  // the kernel does not say.
  bool take_written(address_range pages, std::vector<address_range>& written);

 private:
  int faults_ = -1;   // userfaultfd
  int pagemap_ = -1;  // /proc/self/pagemap
};

}  // namespace zevent::recorder
