#include "launch/process_stat.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace zevent::launch {
namespace {

// A first thread that has ended stays there, and is counted, as long as others run.
bool has_other_threads(uint32_t process_id) {
  std::error_code error;
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", process_id),
                                                    error);
  return !error && std::distance(begin(threads), end(threads)) > 1;
}

}  // namespace

std::optional<process_stat> read_process_stat(uint32_t process_id) {
  const std::string path = fmt::format("/proc/{}/stat", process_id);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char buffer[1024];
  const ssize_t bytes = read(file, buffer, sizeof(buffer) - 1);
  close(file);
  if (bytes <= 0) return std::nullopt;
  buffer[bytes] = '\0';
  // The name, in brackets, may hold anything; behind it are the state and the other fields.
  const char* name_end = std::strrchr(buffer, ')');
  if (name_end == nullptr) return std::nullopt;
  process_stat read_here;
  unsigned long long start = 0;
  if (std::sscanf(
          name_end + 1,
          " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
          &read_here.state, &start) != 2)
    return std::nullopt;
  read_here.start = start;
  if (const char* last = std::strrchr(name_end, ' ')) read_here.status = std::atoi(last);
  return read_here;
}

bool is_alive(uint32_t process_id, uint64_t start) {
  const auto now = read_process_stat(process_id);
  if (!now || now->start != start || now->state == 'X') return false;
  return now->state != 'Z' || has_other_threads(process_id);
}

}  // namespace zevent::launch
