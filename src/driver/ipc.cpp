#include "driver/ipc.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "base/checked_cast.hpp"
#include "driver/alignment.hpp"
#include "driver/context.hpp"
#include "driver/event_slot.hpp"
#include "driver/fault_injection.hpp"
#include "driver/fork_safety.hpp"
#include "driver/host_demand.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

// FNV-1a: tells a handle from garbage; it is no protection against somebody who makes handles up,
// which the operating system's own checks on descriptors are.
uint64_t checksum_of(const ipc_handle& handle) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&handle);
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = sizeof handle.descriptor; i < offsetof(ipc_handle, checksum); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  }
  return hash;
}

uint64_t inode_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

// When the process started, in clock ticks since boot; 0 when there is no such process, or it is a
// zombie.
uint64_t start_time_of(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The second field is a name in parentheses that may hold anything; the state and 18 numbers
  // stand between it and the start time.
  const char* rest = std::strrchr(text, ')');
  if (rest == nullptr) return 0;
  char state = 0;
  unsigned long long start = 0;
  const int fields = std::sscanf(rest + 1,
                                 " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                 "%*s %*s %*s %llu",
                                 &state, &start);
  if (fields != 2 || state == 'Z' || state == 'X') return 0;
  return start;
}

// Memory that a handle may name: a memfd, and the one that was meant.
bool is_meant(int descriptor, const ipc_handle& handle) {
  if (descriptor < 0) return false;
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || status.st_ino != handle.inode) return false;
  if (fcntl(descriptor, F_GET_SEALS) < 0) return false;
  return handle.offset <= static_cast<uint64_t>(status.st_size) &&
         handle.bytes <= static_cast<uint64_t>(status.st_size) - handle.offset;
}

// A descriptor of this process for the memory of the handle, to be closed by the caller; -1 when
// there is no way to it.
int find_memory(const ipc_handle& handle) {
  if (is_meant(handle.descriptor, handle)) return fcntl(handle.descriptor, F_DUPFD_CLOEXEC, 0);
  if (start_time_of(handle.exporter) != handle.exporter_start) return -1;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.exporter, handle.export_descriptor);
  int found = open(path, O_RDWR | O_CLOEXEC);
  if (found < 0) {
    const auto process = static_cast<int>(syscall(SYS_pidfd_open, handle.exporter, 0));
    if (process < 0) return -1;
    found = static_cast<int>(syscall(SYS_pidfd_getfd, process, handle.export_descriptor, 0));
    close(process);
  }
  if (found >= 0 && !is_meant(found, handle)) {
    close(found);
    found = -1;
  }
  return found;
}

bool is_handle_of(const ipc_handle& handle, ipc_kind kind) {
  return handle.checksum == checksum_of(handle) &&
         (handle.kind & 0xff) == static_cast<uint32_t>(kind) && handle.bytes > 0;
}

// The handle that the exporter wrote into the file of the memory, for those to whom the descriptor
// came alone.
bool read_note(int descriptor, ipc_handle* out) {
  if (descriptor < 0 || fcntl(descriptor, F_GET_SEALS) < 0) return false;
  const off_t position = lseek(descriptor, 0, SEEK_CUR);
  if (position <= 0 || pread(descriptor, out, sizeof *out, position) != sizeof *out) return false;
  out->descriptor = descriptor;
  return out->inode == inode_of(descriptor);
}

// A descriptor of the same file with a position of its own; failing that, one that shares it.
int open_again(int descriptor, bool* has_own_position) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const int opened = open(path, O_RDWR | O_CLOEXEC);
  *has_own_position = opened >= 0;
  return opened >= 0 ? opened : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

// Who gave out which descriptor.
struct export_table {
  fork_safe_mutex mutex{
      fork_safe_mutex::rank::inner};  // guards the map and the fields of every ipc_export
  std::map<int, ipc_export*> by_descriptor;
  std::set<ipc_export*> with_loss_mark;  // given out once, perhaps open elsewhere still
  pid_t own_process = 0;                 // whose start time this is: after fork it is another
  uint64_t own_start = 0;

  // When this process started.
  uint64_t own_start_time() {
    if (own_process != getpid()) {
      own_process = getpid();
      own_start = start_time_of(own_process);
    }
    return own_start;
  }

  static export_table& instance() {
    static auto* table = new export_table;
    return *table;
  }
};

const made_with_driver exports([] { export_table::instance(); });

}  // namespace

ipc_export::~ipc_export() {
  withdraw();
}

void ipc_export::withdraw() {
  const std::lock_guard lock(export_table::instance().mutex);
  export_table::instance().with_loss_mark.erase(this);
  close_descriptor();
}

void ipc_export::tell_losses() {
  export_table& table = export_table::instance();
  const std::lock_guard lock(table.mutex);
  for (ipc_export* each : table.with_loss_mark)
    if (each->object_.owner->is_lost()) each->object_.lost->set();
}

// A client may have closed the descriptor itself, and the number may be somebody else's by now.
void ipc_export::close_descriptor() {
  if (descriptor_ < 0) return;
  export_table::instance().by_descriptor.erase(descriptor_);
  if (inode_of(descriptor_) == inode_) {
    write_note(ipc_handle{});  // who comes with the descriptor now finds nothing
    close(descriptor_);
  }
  descriptor_ = -1;
  handles_ = 0;
}

ze_result_t ipc_export::open_descriptor(const shared_heap::location& memory) {
  if (descriptor_ >= 0 && inode_of(descriptor_) != inode_) close_descriptor();
  if (descriptor_ >= 0) return ZE_RESULT_SUCCESS;
  descriptor_ = open_again(memory.descriptor, &has_own_position_);
  if (descriptor_ < 0) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  inode_ = inode_of(descriptor_);
  note_offset_ = memory.note_offset;
  export_table::instance().by_descriptor[descriptor_] = this;
  return ZE_RESULT_SUCCESS;
}

ipc_handle ipc_export::describe() const {
  ipc_handle handle{};
  handle.descriptor = descriptor_;
  handle.kind = static_cast<uint32_t>(object_.kind) | object_.flags << ipc_flags_shift;
  handle.exporter = getpid();
  handle.export_descriptor = descriptor_;
  handle.inode = inode_;
  handle.exporter_start = export_table::instance().own_start_time();
  handle.offset = object_.offset;
  handle.bytes = object_.bytes;
  handle.detail = object_.detail;
  handle.checksum = checksum_of(handle);
  return handle;
}

// For whoever is given the descriptor and nothing else.
void ipc_export::write_note(const ipc_handle& handle) const {
  if (!has_own_position_) return;
  const auto place = checked_cast<off_t>(note_offset_);
  static_assert(sizeof handle <= shared_heap::note_bytes);
  // Without a note, such clients are told that theirs is no handle.
  if (pwrite(descriptor_, &handle, sizeof handle, place) == sizeof handle) {
    lseek(descriptor_, place, SEEK_SET);
  }
}

ze_result_t ipc_export::make_handle(const shared_heap::location& memory, const ipc_object& object,
                                    ipc_handle* out) {
  const std::lock_guard lock(export_table::instance().mutex);
  if (const ze_result_t result = open_descriptor(memory); result != ZE_RESULT_SUCCESS) {
    return result;
  }
  host_demand::instance().note_unseen_waiters();
  ++handles_;
  object_ = object;
  if (object.lost != nullptr) {
    export_table::instance().with_loss_mark.insert(this);
    if (object.owner->is_lost()) object.lost->set();  // before anybody was there to be told
  }
  *out = describe();
  write_note(*out);
  return ZE_RESULT_SUCCESS;
}

ze_result_t ipc_export::give_descriptor(const shared_heap::location& memory,
                                        const ipc_object& object, int* out) {
  ipc_handle handle{};
  const ze_result_t result = make_handle(memory, object, &handle);
  if (result == ZE_RESULT_SUCCESS) *out = handle.descriptor;
  return result;
}

bool ipc_export::make_handle_of(int descriptor, ipc_handle* out) {
  export_table& table = export_table::instance();
  const std::lock_guard lock(table.mutex);
  const auto found = table.by_descriptor.find(descriptor);
  if (found == table.by_descriptor.end() || inode_of(descriptor) != found->second->inode_) {
    return false;
  }
  ++found->second->handles_;
  *out = found->second->describe();
  return true;
}

bool ipc_export::put(const ipc_handle& handle) {
  if (handle.exporter != getpid() || handle.checksum != checksum_of(handle)) return false;
  export_table& table = export_table::instance();
  const std::lock_guard lock(table.mutex);
  const auto found = table.by_descriptor.find(handle.export_descriptor);
  // The descriptor's number may have gone to another object since.
  if (found == table.by_descriptor.end() || found->second->inode_ != handle.inode ||
      found->second->object_.offset != handle.offset) {
    return true;
  }
  if (--found->second->handles_ == 0) found->second->close_descriptor();
  return true;
}

ze_result_t ipc_import::open(ipc_handle& handle, ipc_kind kind, std::unique_ptr<ipc_import>* out) {
  if (!is_handle_of(handle, kind)) {
    ipc_handle note{};
    if (!read_note(handle.descriptor, &note) || !is_handle_of(note, kind)) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    // More arrived than the descriptor, and it was damaged on the way.
    if (handle.inode == note.inode || handle.checksum == note.checksum) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    handle = note;
  }
  if (fault_strikes_at(fault::ipc_open_fails)) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  const bool owner_died = fault_strikes_after(fault::ipc_owner_dies);
  const int memory = owner_died ? -1 : find_memory(handle);
  if (memory < 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;

  host_demand::instance().note_unseen_waiters();
  std::unique_ptr<ipc_import> opened(new ipc_import);
  opened->lead_ = handle.offset % page_bytes;
  opened->mapping_bytes_ = opened->lead_ + handle.bytes;
  void* const mapping = mmap(nullptr, opened->mapping_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                             memory, checked_cast<off_t>(handle.offset - opened->lead_));
  close(memory);
  if (mapping == MAP_FAILED) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  opened->mapping_ = mapping;
  opened->exporter_ = handle.exporter;
  opened->exporter_start_ = handle.exporter_start;
  opened->watched_ =
      handle.exporter != getpid() && start_time_of(handle.exporter) == handle.exporter_start;
  *out = std::move(opened);
  return ZE_RESULT_SUCCESS;
}

ipc_import::~ipc_import() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

bool ipc_import::is_orphaned() const {
  return watched_ && start_time_of(exporter_) != exporter_start_;
}

}  // namespace zevent::driver
