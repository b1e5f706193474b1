#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace zevent::launch {

// The dynamic symbols of an ELF file as far as Level Zero is concerned: names that begin with "ze".
// The file may be anything: what is not a 64-bit ELF file of this machine, or is damaged, is an
// error, never a crash.
struct elf_symbols {
  std::vector<std::string> wanted;   // undefined: another library must have them
  std::vector<std::string> offered;  // defined and exported
  std::vector<std::string> needed_libraries;
  std::string interpreter;  // the dynamic linker that a program asks for; "": none
  std::string rpath;        // DT_RPATH: where libraries are looked for before LD_LIBRARY_PATH
};

result<elf_symbols> read_elf_symbols(const std::string& path);

}  // namespace zevent::launch
