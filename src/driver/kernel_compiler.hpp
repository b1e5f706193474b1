#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace zevent::driver {

// Runs zevent-kernelc, the program that compiles kernels (src/driver/pocl), in a folder that holds
// module.spv. What it said comes back; whether it succeeded is seen by what it has made, because
// the exit status of a child may be taken by a SIGCHLD handler of the application, or be thrown
// away where the application ignores SIGCHLD.
//
// The child has none of the application's descriptors, signal dispositions or environment, but for
// what is needed to find programs and files: whatever the application is traced with stays out.
result<std::string> run_kernel_compiler(const std::filesystem::path& folder,
                                        const std::string& options,
                                        const std::vector<std::string>& kernels);

}  // namespace zevent::driver
