#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace zevent::driver {

// Runs zevent-kernelc, the program that compiles kernels (src/driver/pocl), in folders that hold
// module.spv. Whether it succeeded is seen by what it has made, because the exit status of a child
// may be taken by a SIGCHLD handler of the application, or be thrown away where the application
// ignores SIGCHLD.
//
// It has none of the application's descriptors, signal dispositions or environment, but for what is
// needed to find programs and files, as it was when this object was made: whatever the application
// is traced with stays out.
class kernel_compiler {
 public:
  explicit kernel_compiler(std::string options);

  // Compiles as a child of this process, and returns what it said.
  result<std::string> run(const std::filesystem::path& folder,
                          const std::vector<std::string>& kernels) const;

  // Compiles one kernel while the application does something else. So nothing may come to its
  // notice: it gets no child to wait for and no SIGCHLD. To be called on a thread that is deaf to
  // signals. False where the compiler could not be run or not be waited for.
  bool run_apart(const std::filesystem::path& folder, const std::string& kernel) const;

 private:
  std::vector<std::string> arguments(const std::filesystem::path& folder,
                                     const std::vector<std::string>& kernels) const;

  const std::string options_;
  const result<std::filesystem::path> program_;
  const std::vector<std::string> environment_;
};

}  // namespace zevent::driver
