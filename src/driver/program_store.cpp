#include "driver/program_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/temporary_folder.hpp"
#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

namespace fs = std::filesystem;

constexpr auto unused_for = std::chrono::hours(24 * 30);  // then a program leaves the cache

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// Machine code is made for this processor; a cache may be shared with others over the network.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string description, line;
  while (std::getline(file, line) && !line.empty()) {
    if (line.starts_with("model name") || line.starts_with("flags")) description += line;
  }
  return description;
}

const std::string& own_processor() {
  static const auto* only = new std::string(processor());
  return *only;
}

const made_with_driver known_processor([] { own_processor(); });

fs::path cache_root() {
  if (const auto chosen = read_environment("ZEVENT_CACHE_DIR")) return *chosen;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches == '/') {
    return fs::path(caches) / "zevent";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "zevent";
  }
  return {};
}

// Machine code is run from there: nobody else may be able to write it.
bool is_private(const fs::path& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         ::access(folder.c_str(), W_OK) == 0;
}

bool make_private(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  return is_private(folder);
}

void touch(const fs::path& folder) {
  ::utimensat(AT_FDCWD, folder.c_str(), nullptr, 0);
}

// Programs that nobody has opened for a long time go when a new one comes.
void remove_unused(const fs::path& programs) {
  std::error_code error;
  const auto oldest = fs::file_time_type::clock::now() - unused_for;
  for (const auto& entry : fs::directory_iterator(programs, error)) {
    const auto used = entry.last_write_time(error);
    if (!error && used < oldest) fs::remove_all(entry.path(), error);
  }
}

// Empty when it cannot be read.
std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  std::string bytes(static_cast<size_t>(size), '\0');
  file.seekg(0);
  file.read(bytes.data(), size);
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

std::string hash_of_file(const fs::path& path) {
  const std::string bytes = bytes_of_file(path);
  return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

// Temporary folders. Programs often end without destroying their modules; a child of fork() may
// destroy those that it has of its parent, who still needs the folders.
class own_folders {
 public:
  static own_folders& instance() {
    static auto* only = new own_folders;
    return *only;
  }

  void add(const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    folders_[folder] = fork_generation();
  }

  void remove(const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    const auto found = folders_.find(folder);
    if (found == folders_.end()) return;
    remove_if_own(*found);
    folders_.erase(found);
  }

  void remove_all() {
    // exit() may have been called in the midst of the above, by a signal handler.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (const auto& each : folders_) remove_if_own(each);
    folders_.clear();
  }

 private:
  static void remove_if_own(const std::pair<const fs::path, uint32_t>& folder) {
    std::error_code error;
    if (folder.second == fork_generation()) fs::remove_all(folder.first, error);
  }

  fork_safe_mutex mutex_{fork_safe_mutex::rank::inner};
  std::map<fs::path, uint32_t> folders_;  // with the generation that made them
};

const made_with_driver registry([] { own_folders::instance(); });

__attribute__((destructor)) void remove_own_folders() {
  own_folders::instance().remove_all();
}

}  // namespace

result<program_store> program_store::open(std::span<const std::string_view> inputs) {
  const fs::path root = cache_root();
  if (!root.empty()) {
    XXH3_state_t* state = XXH3_createState();
    XXH3_128bits_reset(state);
    const auto add = [&](std::string_view part) {
      const uint64_t size = part.size();
      XXH3_128bits_update(state, &size, sizeof(size));
      XXH3_128bits_update(state, part.data(), part.size());
    };
    add(own_processor());
    for (const std::string_view part : inputs) add(part);
    const fs::path programs = root / "kernels";
    const fs::path folder = programs / hex(XXH3_128bits_digest(state));
    XXH3_freeState(state);
    if (is_private(folder)) {
      touch(folder);
      return program_store(folder, false);
    }
    if (make_private(programs) && make_private(folder)) {
      remove_unused(programs);
      return program_store(folder, false);
    }
  }
  const fs::path temporary = temporary_place();
  std::string name = (temporary / "zevent-kernels-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return fail("no folder can be made to compile in: neither a cache (ZEVENT_CACHE_DIR) nor in {}",
                temporary.string());
  }
  own_folders::instance().add(name);
  return program_store(name, true);
}

program_store::program_store(program_store&& other) noexcept
    : folder_(std::move(other.folder_)), is_temporary_(other.is_temporary_) {
  other.folder_.clear();
}

program_store::~program_store() {
  if (is_temporary_ && !folder_.empty()) own_folders::instance().remove(folder_);
}

bool program_store::has(std::string_view file) const {
  std::error_code error;
  return fs::exists(folder_ / file, error);
}

std::string program_store::read(std::string_view file) const {
  return bytes_of_file(folder_ / file);
}

result<void> program_store::write(std::string_view file, std::string_view bytes) const {
  const fs::path unfinished = folder_ / fmt::format("{}.part", file);
  std::ofstream stream(unfinished, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code error;
  if (stream) fs::rename(unfinished, folder_ / file, error);
  if (!stream || error) return fail("cannot write {}", (folder_ / file).string());
  return {};
}

std::optional<fs::path> program_store::find_image(std::string_view kernel) const {
  const std::string prefix = fmt::format("{}-", kernel);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".so")) continue;
    if (name == fmt::format("{}{}.so", prefix, hash_of_file(entry.path()))) return entry.path();
  }
  return std::nullopt;
}

std::optional<fs::path> program_store::keep_image(std::string_view kernel) const {
  const fs::path made = folder_ / fmt::format("{}.so", kernel);
  std::error_code error;
  if (!fs::exists(made, error)) return std::nullopt;
  const fs::path kept = folder_ / fmt::format("{}-{}.so", kernel, hash_of_file(made));
  fs::rename(made, kept, error);
  if (error) return std::nullopt;
  return kept;
}

program_store::making::making(const program_store& store) {
  descriptor_ = ::open((store.folder_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  // Without a lock the same things are made twice, each whole.
  while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

program_store::making::~making() {
  if (descriptor_ < 0) return;
  // Not by closing alone: a child that was forked meanwhile has the file open, too.
  ::flock(descriptor_, LOCK_UN);
  ::close(descriptor_);
}

}  // namespace zevent::driver
