#include "report_target.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/terminal.hpp"

namespace zevent::tool {

namespace fs = std::filesystem;

report_target::report_target(std::string path, std::FILE* otherwise)
    : path_(std::move(path)), stream_(otherwise) {
  if (path_ != "-") return;
  path_.clear();
  stream_ = stdout;
}

result<void> report_target::check() const {
  if (path_.empty()) return {};
  std::error_code error;
  if (fs::is_directory(path_, error)) return fail("cannot write {}: it is a folder", path_);
  const fs::path folder = fs::path(path_).parent_path();
  const bool is_there = fs::exists(path_, error);
  const std::string looked_at = is_there ? path_ : folder.empty() ? "." : folder.string();
  if (access(looked_at.c_str(), W_OK) != 0)
    return fail("cannot write {}: {}", path_, std::strerror(errno));
  return {};
}

result<void> report_target::write(const std::function<void(report::text_output&)>& print) const {
  const std::string name = path_.empty() ? "the report" : path_;
  const int descriptor = path_.empty()
                             ? dup(fileno(stream_))
                             : open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return fail("cannot write {}: {}", name, std::strerror(errno));
  int problem = 0;
  try {
    report::text_output out(descriptor);
    print(out);
    out.flush();
  } catch (const std::system_error& error) {
    problem = error.code().value();
  }
  if (close(descriptor) != 0 && problem == 0) problem = errno;
  if (problem != 0 && problem != EPIPE)
    return fail("cannot write {}: {}", name, std::strerror(problem));
  return {};
}

result<void> report_target::write(std::string_view text) const {
  return write([&](report::text_output& out) { out.write(text); });
}

bool report_target::is_terminal() const {
  return path_.empty() && isatty(fileno(stream_)) != 0;
}

bool report_target::wants_colour() const {
  return path_.empty() && zevent::wants_colour(stream_);
}

unsigned report_target::columns(unsigned fallback) const {
  return is_terminal() ? terminal_width(stream_, fallback) : fallback;
}

}  // namespace zevent::tool
