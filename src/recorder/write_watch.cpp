#include "recorder/write_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace zevent::recorder {
namespace {

// The kernel's interface, by its numbers: Debian's headers are older than it.
constexpr uint64_t feature_wp_hugetlbfs_shmem = uint64_t{1} << 12;
constexpr uint64_t feature_wp_unpopulated = uint64_t{1} << 13;
constexpr uint64_t feature_wp_async = uint64_t{1} << 15;
constexpr int user_mode_only = 1;

struct page_region {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};

struct pagemap_scan {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t regions;
  uint64_t region_count;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};

constexpr unsigned long scan_request = _IOWR('f', 16, pagemap_scan);
constexpr uint64_t scan_protect_again = 1;
constexpr uint64_t scan_only_watched = 2;
constexpr uint64_t page_is_written = 2;

int open_userfaultfd() {
  const auto descriptor =
      static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | user_mode_only));
  if (descriptor < 0) return -1;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = feature_wp_async | feature_wp_unpopulated | feature_wp_hugetlbfs_shmem;
  if (ioctl(descriptor, UFFDIO_API, &api) == 0) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

write_watch::write_watch() : faults_(open_userfaultfd()) {
  if (faults_ < 0) return;
  pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::vector<address_range> none;
  // An old kernel has the one and not the other.
  if (pagemap_ < 0 || !take_written({0, 0}, none)) {
    close(faults_);
    faults_ = -1;
  }
}

write_watch::~write_watch() {
  if (faults_ >= 0) close(faults_);
  if (pagemap_ >= 0) close(pagemap_);
}

bool write_watch::watch(address_range pages) {
  if (!works()) return false;
  uffdio_register area{};
  area.range = {pages.begin, pages.size()};
  area.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(faults_, UFFDIO_REGISTER, &area) != 0) return false;
  uffdio_writeprotect protect{};
  protect.range = area.range;
  protect.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  if (ioctl(faults_, UFFDIO_WRITEPROTECT, &protect) == 0) return true;
  unwatch(pages);
  return false;
}

void write_watch::unwatch(address_range pages) {
  if (!works()) return;
  uffdio_range range{pages.begin, pages.size()};
  ioctl(faults_, UFFDIO_UNREGISTER, &range);
}

bool write_watch::take_written(address_range pages, std::vector<address_range>& written) {
  std::array<page_region, 64> regions{};
  uint64_t start = pages.begin;
  do {
    pagemap_scan scan{};
    scan.size = sizeof(scan);
    scan.flags = scan_protect_again | scan_only_watched;
    scan.start = start;
    scan.end = pages.end;
    scan.regions = reinterpret_cast<uint64_t>(regions.data());
    scan.region_count = regions.size();
    scan.category_mask = page_is_written;
    scan.return_mask = page_is_written;
    const int found = ioctl(pagemap_, scan_request, &scan);
    if (found < 0) return false;
    for (int i = 0; i < found; ++i)
      written.push_back(
          {regions[static_cast<size_t>(i)].start, regions[static_cast<size_t>(i)].end});
    if (scan.walk_end <= start) break;
    start = scan.walk_end;
  } while (start < pages.end);
  return true;
}

}  // namespace zevent::recorder
