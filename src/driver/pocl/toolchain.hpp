#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.hpp"

// Which versions of PoCL compile kernels for the driver, and with which translator.
//
// Two things of PoCL matter here: how its work-group functions are called
// (driver/kernel_image.hpp), and what `printf` in a kernel leaves in its buffer. Both are the same
// in all of these versions, but for the place of one field. PoCL 7 writes printf's arguments to the
// buffer instead of text, so it is refused.
//
// The translator of PoCL's own LLVM makes bitcode of SPIR-V. Tried once with 6.0, where the module
// was refused (error -42): that version takes SPIR-V itself instead, which is not done here yet.
namespace zevent::pocl {

struct known_release {
  std::string_view version;
  std::string_view library_package;
  std::string_view tested;  // on which system; "" where it is known by reading alone
};

inline constexpr std::array<known_release, 4> known_releases = {{
    {"3.1", "libpocl2", "Debian 12: LLVM 15, make test"},
    {"4.0", "libpocl2", ""},
    {"5.0", "libpocl2t64", ""},
    {"6.0", "libpocl2t64", ""},
}};

struct toolchain {
  std::string pocl_version;  // "3.1"
  std::string llvm_version;  // "15"
  std::string translator() const { return "llvm-spirv-" + llvm_version; }
};

// Of the text that PoCL has as CL_PLATFORM_VERSION, such as "OpenCL 3.0 PoCL 3.1+debian  Linux,
// RELOC, SPIR, LLVM 15.0.6, SLEEF". Fails where that is no known release.
result<toolchain> toolchain_of(std::string_view platform_version);

}  // namespace zevent::pocl
