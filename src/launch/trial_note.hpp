#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "launch/way_in.hpp"

namespace zevent::launch {

// Where the driver notes that what a program is tried under had a part in a run: a file without a
// name that the program, and what it starts, reach through our folder of descriptors.
class trial_note {
 public:
  trial_note() : descriptor_(memfd_create("zevent-note", MFD_CLOEXEC)) {}
  trial_note(const trial_note&) = delete;
  trial_note& operator=(const trial_note&) = delete;
  ~trial_note() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  bool usable() const { return descriptor_ >= 0; }
  environment_changes::value_type variable() const {
    return {"ZEVENT_TRIAL_NOTE", fmt::format("/proc/{}/fd/{}", getpid(), descriptor_)};
  }

  // Whether this was noted since the last time something was asked.
  bool take(std::string_view what) {
    std::string notes(4096, '\0');
    const ssize_t length = pread(descriptor_, notes.data(), notes.size(), 0);
    notes.resize(length > 0 ? static_cast<size_t>(length) : 0);
    const bool found = notes.find(fmt::format("{}\n", what)) != std::string::npos;
    if (ftruncate(descriptor_, 0) != 0) return found;
    return found;
  }

 private:
  const int descriptor_;
};

}  // namespace zevent::launch
