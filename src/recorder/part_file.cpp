#include "recorder/part_file.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "api/program_image.hpp"
#include "base/byte_size.hpp"
#include "base/checked_cast.hpp"
#include "base/invariant.hpp"
#include "recorder/directory_entry.hpp"
#include "recorder/tick_clock.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace zevent::recorder {
namespace {

using recording::file_header;
using recording::part_state;
using recording::segment_header;

constexpr uint64_t largest_chunk_bytes = 16 * segment_unit_bytes;
constexpr uint64_t area_bytes = 4 * segment_unit_bytes;
// What is left on a disk for others: a 64th of it, but no more than this.
constexpr uint64_t most_bytes_left_on_disk = uint64_t{256} << 20;
constexpr uint64_t share_left_on_disk = 64;
constexpr mode_t private_file = 0600;
constexpr mode_t private_folder = 0700;

std::string host_name() {
  char name[64] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "host";
  std::string text(name);
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

// The kernel gives every program that it starts 16 other random bytes, which all libraries of the
// process find. They protect the stack: only their hash is given away.
uint64_t identify_program() {
  const auto* random = reinterpret_cast<const void*>(getauxval(AT_RANDOM));
  return random != nullptr ? XXH3_64bits(random, 16) : 0;
}

// Field 22 of /proc/self/stat; the second field may hold blanks and brackets.
uint64_t process_start() {
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char buffer[1024];
  const ssize_t bytes = read(file, buffer, sizeof(buffer));
  close(file);
  const std::string text(buffer, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  size_t at = text.rfind(')');
  if (at == std::string::npos) return 0;
  for (int field = 2; field < 22; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return 0;
  }
  return std::strtoull(text.c_str() + at, nullptr, 10);
}

uint64_t whole_units(uint64_t bytes) {
  return (bytes + segment_unit_bytes - 1) / segment_unit_bytes * segment_unit_bytes;
}

template <typename T>
void store_release(T& target, T value) {
  std::atomic_ref<T>(target).store(value, std::memory_order_release);
}

// A file that may not grow raises SIGXFSZ, which would be the program's: ask before.
bool may_reach(uint64_t file_bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      file_bytes <= limit.rlim_cur)
    return true;
  errno = EFBIG;
  return false;
}

// What all parts in the folder take: those of other processes, on whatever host, too. Does without
// malloc(), which a signal handler may have interrupted.
uint64_t bytes_of_parts(const std::string& folder) {
  const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0;
  uint64_t sum = 0;
  alignas(linux_dirent64) char entries[4096];
  ssize_t bytes = 0;
  while ((bytes = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const linux_dirent64*>(entries + at);
      struct stat part {};
      if (std::string_view(entry->d_name).ends_with(recording::part_suffix) &&
          fstatat(directory, entry->d_name, &part, AT_SYMLINK_NOFOLLOW) == 0)
        sum += static_cast<uint64_t>(part.st_size);
      at += entry->d_reclen;
    }
  }
  close(directory);
  return sum;
}

}  // namespace

std::atomic<uint64_t> part_file::next_position_{segment_unit_bytes};

result<part_file*> part_file::create(const std::string& folder, recording::memory_mode memory,
                                     uint64_t most_bytes) {
  auto* part = new part_file;
  part->most_bytes_ = most_bytes;
  if (auto opened = part->open(folder, memory); !opened) {
    if (part->file_ >= 0) ::close(part->file_);
    delete part;
    return tl::unexpected(opened.error());
  }
  return part;
}

result<void> part_file::open(const std::string& folder, recording::memory_mode memory) {
  if (mkdir(folder.c_str(), private_folder) != 0 && errno != EEXIST)
    return fail("cannot make {}: {}", folder, std::strerror(errno));
  folder_ = folder;
  const std::string host = host_name();
  for (int n = 0; file_ < 0; ++n) {
    path_ = fmt::format("{}/{}-{}-{}{}", folder, host, getpid(), n, recording::part_suffix);
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, private_file);
    if (file_ < 0 && errno != EEXIST)
      return fail("cannot make {}: {}", path_, std::strerror(errno));
  }
  struct stat made {};
  if (fstat(file_, &made) != 0) return fail("cannot read {}: {}", path_, std::strerror(errno));
  file_device_ = made.st_dev;
  file_number_ = made.st_ino;
  struct statfs where {};
  is_in_memory_ = fstatfs(file_, &where) == 0 && where.f_type == TMPFS_MAGIC;
  if (!allocate(0, sizeof(file_header)))
    return fail("cannot write {}: {}", path_, std::strerror(errno));
  file_bytes_ = sizeof(file_header);
  void* memory_of_header =
      mmap(nullptr, sizeof(file_header), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory_of_header == MAP_FAILED) return fail("cannot map {}: {}", path_, std::strerror(errno));
  if (!fault_in({static_cast<std::byte*>(memory_of_header), 0, sizeof(file_header)}))
    return fail("cannot write {}: {}", path_, std::strerror(errno));

  header_ = static_cast<file_header*>(memory_of_header);
  header_->version = recording::format_version;
  header_->header_bytes = sizeof(file_header);
  header_->segment_unit_bytes = segment_unit_bytes;
  header_->process_id = checked_cast<uint32_t>(getpid());
  header_->parent_process_id = checked_cast<uint32_t>(getppid());
  header_->process_start = process_start();
  header_->open_ticks = ticks();
  recording::set_program_image(*header_, identify_program());
  header_->ticks_per_second = estimate_ticks_per_second();
  header_->clock = process_clock;
  header_->state = part_state::recording;
  header_->memory = memory;
  std::strncpy(header_->host, host.c_str(), sizeof(header_->host) - 1);
  store_release(header_->magic, recording::file_magic);
  return {};
}

// Some programs close every descriptor that is not their own, and open files that get its number.
bool part_file::is_still_open() {
  struct stat now {};
  if (fstat(file_, &now) != 0) return false;
  if (now.st_dev == file_device_ && now.st_ino == file_number_) return true;
  errno = EBADF;
  return false;
}

bool part_file::is_within_limit(uint64_t more_bytes) {
  if (most_bytes_ == 0 || bytes_of_parts(folder_) + more_bytes <= most_bytes_) return true;
  obstacle_.store(obstacle::limit, std::memory_order_relaxed);
  errno = EFBIG;
  return false;
}

// A recording that takes the last byte of a disk leaves none to the program, nor to the trace that
// is made of it.
bool part_file::leaves_room_on_disk(uint64_t more_bytes) {
  struct statvfs disk {};
  if (fstatvfs(file_, &disk) != 0 || disk.f_blocks == 0) return true;
  const uint64_t left = std::min(uint64_t{disk.f_blocks} * disk.f_frsize / share_left_on_disk,
                                 most_bytes_left_on_disk);
  if (uint64_t{disk.f_bavail} * disk.f_frsize >= left + more_bytes) return true;
  obstacle_.store(obstacle::full_disk, std::memory_order_relaxed);
  errno = ENOSPC;
  return false;
}

bool part_file::allocate(uint64_t offset, uint64_t bytes) {
  if (!is_still_open() || !may_reach(offset + bytes)) return false;
  int status = 0;
  do {
    status = fallocate(file_, 0, checked_cast<off_t>(offset), checked_cast<off_t>(bytes));
  } while (status != 0 && errno == EINTR);
  if (status == 0) return true;
  // Some file systems cannot reserve space; there, fault_in finds out.
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  return ftruncate(file_, checked_cast<off_t>(offset + bytes)) == 0;
}

// A file system on a disk makes pages for one large write in less than half the time that it takes
// to make them for a fault each. In memory, fallocate() has made them.
bool part_file::fault_in(const mapped_segment& segment) {
  static std::byte zeros[segment_unit_bytes];  // never written: takes no memory
  if (!is_in_memory_)
    for (uint64_t at = 0; at < segment.bytes; at += sizeof(zeros))
      if (!write_all(segment.file_offset + at,
                     std::span(zeros).first(std::min(sizeof(zeros), segment.bytes - at))))
        return false;
  int status = 0;
  do {
    status = madvise(segment.begin, segment.bytes, MADV_POPULATE_WRITE);
  } while (status != 0 && errno == EINTR);
  // Kernels before 5.14 do not have it: the threads fault the pages in, which are there.
  if (status == 0 || errno == EINVAL) return true;
  // The kernel says "bad address" for a page that the file system could not provide.
  if (errno == EFAULT) errno = ENOSPC;
  return false;
}

bool part_file::may_grow(uint64_t bytes) {
  return is_within_limit(bytes) && leaves_room_on_disk(bytes);
}

bool part_file::grow(uint64_t bytes) {
  if (!may_grow(bytes) || !allocate(file_bytes_, bytes)) return false;
  void* begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                     checked_cast<off_t>(file_bytes_));
  if (begin == MAP_FAILED) return false;
  chunks_.push_back({static_cast<std::byte*>(begin), file_bytes_, bytes});
  file_bytes_ += bytes;
  return true;
}

std::optional<mapped_segment> part_file::cut_segment(uint64_t bytes) {
  if (bytes > segment_unit_bytes) {
    if (!grow(bytes)) return std::nullopt;
  } else if (chunks_.empty() || chunks_.back().given_bytes == chunks_.back().bytes) {
    if (!grow(next_chunk_bytes_)) return std::nullopt;
    next_chunk_bytes_ = std::min(2 * next_chunk_bytes_, largest_chunk_bytes);
  }
  chunk& last = chunks_.back();
  const mapped_segment segment{last.begin + last.given_bytes, last.file_offset + last.given_bytes,
                               bytes, new_position(bytes)};
  last.given_bytes += bytes;
  return segment;
}

std::optional<mapped_segment> part_file::take_segment(uint64_t least_bytes) {
  if (stopped()) return std::nullopt;
  const uint64_t bytes = whole_units(least_bytes);
  std::unique_lock lock(mutex_);
  if (bytes == segment_unit_bytes && !free_segments_.empty()) {
    const mapped_segment segment = free_segments_.back();
    free_segments_.pop_back();
    return segment;
  }
  const auto segment = cut_segment(bytes);
  lock.unlock();
  if (segment && fault_in(*segment)) return segment;
  stop_growing();
  return std::nullopt;
}

void part_file::give_back(const mapped_segment& segment) {
  const std::lock_guard lock(mutex_);
  if (segment.bytes == segment_unit_bytes) {
    free_segments_.push_back(segment);
    return;
  }
  // A larger one has a mapping of its own.
  const auto owner = std::find_if(chunks_.begin(), chunks_.end(),
                                  [&](const chunk& c) { return segment.begin == c.begin; });
  ZEVENT_INVARIANT(owner != chunks_.end() && owner->bytes == segment.bytes);
  munmap(owner->begin, owner->bytes);
  chunks_.erase(owner);
}

void part_file::renew(mapped_segment& segment) {
  auto* header = reinterpret_cast<segment_header*>(segment.begin);
  // The magic goes before anything else does: a segment without one holds nothing. The fence keeps
  // it so for a reader of the file, and in the order of the stores of a thread that is killed. (The
  // standard's own fence is not compiled where threads are sanitized.)
  std::atomic_ref(header->magic).store(0, std::memory_order_relaxed);
  __sync_synchronize();
  std::memset(segment.begin, 0, segment.bytes);
  segment.position = new_position(segment.bytes);
}

// Gives an area with room for the block: one that was left, or a new one.
bool part_file::begin_area(packed_area& area, uint64_t block_bytes) {
  const std::lock_guard lock(mutex_);
  const auto left = std::find_if(
      free_areas_.begin(), free_areas_.end(),
      [&](const packed_area& each) { return each.bytes - each.used_bytes >= block_bytes; });
  if (left != free_areas_.end()) {
    area = *left;
    free_areas_.erase(left);
    return true;
  }
  const segment_header header{
      recording::packed_area_magic,
      std::max(area_bytes, whole_units(sizeof(segment_header) + block_bytes)), 0};
  if (!may_grow(header.bytes) || !allocate(file_bytes_, header.bytes) ||
      !write_all(file_bytes_, std::as_bytes(std::span(&header, 1))))
    return false;
  area = {file_bytes_, header.bytes, sizeof(header)};
  file_bytes_ += header.bytes;
  return true;
}

bool part_file::write_block(packed_area& area, std::span<const std::byte> block) {
  if (stopped()) return false;
  if ((area.bytes - area.used_bytes >= block.size() || begin_area(area, block.size())) &&
      is_still_open() && may_reach(area.file_offset + area.used_bytes + block.size()) &&
      write_all(area.file_offset + area.used_bytes, block)) {
    area.used_bytes += block.size();
    return true;
  }
  stop_growing();
  return false;
}

void part_file::give_back(const packed_area& area) {
  if (area.bytes == area.used_bytes) return;
  const std::lock_guard lock(mutex_);
  free_areas_.push_back(area);
}

bool part_file::write_all(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), checked_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

bool part_file::write_large_blob(const recording::thread_record& owner,
                                 const recording::blob_record& blob,
                                 std::span<const std::byte> content) {
  if (stopped()) return false;
  const segment_header segment{
      recording::segment_magic,
      whole_units(sizeof(segment_header) + sizeof(owner) + sizeof(blob) + content.size()), 0};
  uint64_t offset = 0;
  bool written = false;
  {
    const std::lock_guard lock(mutex_);
    offset = file_bytes_;
    written = may_grow(segment.bytes) && allocate(offset, segment.bytes);
    if (written) file_bytes_ += segment.bytes;
  }
  // The segment's magic goes last: until then a reader steps over all of this.
  const uint64_t owner_at = offset + sizeof(segment);
  const uint64_t blob_at = owner_at + sizeof(owner);
  written = written && write_all(owner_at, std::as_bytes(std::span(&owner, 1))) &&
            write_all(blob_at, std::as_bytes(std::span(&blob, 1))) &&
            write_all(blob_at + sizeof(blob), content) &&
            write_all(offset + offsetof(segment_header, bytes),
                      std::as_bytes(std::span(&segment.bytes, 1))) &&
            write_all(offset, std::as_bytes(std::span(&segment.magic, 1)));
  if (!written) stop_growing();
  return written;
}

void part_file::stop_growing() {
  const int error_number = errno;
  switch (obstacle_.load(std::memory_order_relaxed)) {
    case obstacle::none:
      return stop("the recording cannot grow", error_number);
    case obstacle::limit:
      return stop_because(fmt::format("it would become larger than the {} that are allowed",
                                      byte_size_text(most_bytes_)),
                          error_number);
    case obstacle::full_disk:
      return stop_because("the disk is almost full", error_number);
  }
}

void part_file::stop(const std::string& reason, int error_number) {
  stop_because(fmt::format("{}: {}", reason, std::strerror(error_number)), error_number);
}

void part_file::stop_because(const std::string& text, int error_number) {
  if (stopped_.exchange(true, std::memory_order_acq_rel)) return;
  header_->stop_ticks = ticks();
  header_->stop_error = static_cast<uint32_t>(error_number);
  std::strncpy(header_->stop_reason, text.c_str(), sizeof(header_->stop_reason) - 1);
  store_release(header_->state, part_state::stopped);
  const std::string message =
      fmt::format("zevent: recording stopped: {} ({}); the program goes on\n", text, path_);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
}

void part_file::close() {
  auto expected = part_state::recording;
  std::atomic_ref(header_->state)
      .compare_exchange_strong(expected, part_state::closed, std::memory_order_release);
}

void part_file::abandon_in_child() {
  for (const chunk& c : chunks_)
    mmap(c.begin, c.bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mmap(header_, sizeof(file_header), PROT_READ | PROT_WRITE,
       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_still_open()) ::close(file_);
  mutex_.unlock();  // which this thread took before the fork
}

}  // namespace zevent::recorder
