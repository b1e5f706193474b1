#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace zevent::launch {

// Where the files of this zevent are. They lie beside each other, in the build tree as after an
// installation: bin/zevent, lib/libze_zevent.so.1, lib/zevent/direct/libze_loader.so.1,
// libexec/zevent/zevent-kernelc, include/zevent-level-zero/level_zero/ze_api.h.
struct installation {
  std::string driver;            // the software driver
  std::string direct_directory;  // holds the driver under the name of the loader
  std::string recorder;
  std::string record_directory;  // holds the recorder under the name of the loader, and its copies
  std::string kernel_compiler;
  // Holds the Level Zero headers that this zevent was built with; "" where they are missing.
  std::string include_directory;

  // The recorder, and as many copies of it as so many drivers need, separated by commas.
  std::string recorders_for(size_t drivers) const;
};

// Looks from the running program (/proc/self/exe). The error names the places it looked at.
result<installation> find_installation();

// The stock Level Zero loader that a program would get here: the file that the dynamic linker
// would take for libze_loader.so.1, with links resolved. "" when there is none.
std::string find_stock_loader();

// The first file of that name in the dynamic linker's usual places; "" when there is none.
std::string find_library(const std::string& soname);

// The first executable of that name in PATH; "" when there is none.
std::string find_in_path(const std::string& program);

}  // namespace zevent::launch
