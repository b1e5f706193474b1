#include "driver/trial_note.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/environment.hpp"

namespace zevent::driver {

void note_for_trial(std::string_view what) {
  const auto path = read_environment("ZEVENT_TRIAL_NOTE");
  if (!path) return;
  const int file = open(path->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  const std::string line = std::string(what) + "\n";
  // Nothing can be done about a note that is not taken.
  [[maybe_unused]] const auto written = write(file, line.data(), line.size());
  close(file);
}

}  // namespace zevent::driver
