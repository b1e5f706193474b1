#pragma once

#include <string>

#include "base/result.hpp"
#include "launch/installation.hpp"

namespace zevent::launch {

struct replay_driver {
  std::string library;
  // "on the software driver; recorded on X, which is not here": what the user has to know. "" for
  // the software driver where nothing else was recorded.
  std::string note;
};

// The driver for what is done again after a recording. In this order: the one that was asked for
// (a library, "software", or ""), the one of the recording where it is here and has a device, the
// software driver. `recorded` is the recording's driver, "" where that is not known.
replay_driver choose_replay_driver(const std::string& asked, const std::string& recorded,
                                   const installation& files);

}  // namespace zevent::launch
