#pragma once

#include <string>

#include "base/result.hpp"
#include "launch/installation.hpp"

namespace zevent::launch {

// What a recording says of its driver.
struct recorded_driver {
  std::string library;  // "" where it is not known
  std::string boot;     // the boot id of the machine
};

struct replay_driver {
  std::string library;
  // "on the software driver; recorded on X, which is not here": what the user has to know. "" for
  // the software driver where nothing else was recorded.
  std::string note;
};

// The driver for what is done again after a recording. In this order: the one that was asked for
// (a library, "software", or ""), the one of the recording where it is here, has a device and can
// be trusted, the software driver.
//
// A recording may come from anyone, and loading a library runs its code. So the library that it
// names is loaded only where the system has it installed, or where the recording was made on this
// machine since it booted: nobody elsewhere knows the boot id.
replay_driver choose_replay_driver(const std::string& asked, const recorded_driver& recorded,
                                   const installation& files);

// Whether the file and all folders above it are root's, nobody else may write to them, and it is
// where systems install libraries.
bool is_installed_by_system(const std::string& library);

}  // namespace zevent::launch
