#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/kernel_code.hpp"
#include "driver/kernel_compiler.hpp"
#include "driver/prepared_module.hpp"
#include "driver/program_store.hpp"

namespace zevent::driver {

// A program: SPIR-V that has been turned into something that can run. It knows nothing of modules,
// kernels and handles of the API, which stand on it.
class program : public std::enable_shared_from_this<program> {
 public:
  // Compiles, or finds what was compiled before. A failure's message is the build log; so is the
  // text of a success, where the compiler had something to say (`log`).
  static result<std::shared_ptr<program>> build(std::shared_ptr<const prepared_module> source,
                                                const std::string& compiler_options);

  const spirv::module_signature& signature() const { return source_->signature; }
  const std::vector<spirv::module_variable>& variables() const {
    return source_->lowered.variables;
  }
  const spirv::lowered_kernel& lowered_kernel(size_t kernel) const {
    return source_->lowered.kernels[kernel];
  }
  const std::string& log() const { return log_; }

  // The machine code of a kernel. Small programs are compiled as a whole; of large ones each kernel
  // when it is first wanted.
  result<std::shared_ptr<kernel_code>> kernel(size_t index);

  // Where the machine code of an exported function is, as far as kernels can call it there; null
  // when there is none of that name.
  result<void*> function_address(std::string_view name);

  program(const program&) = delete;
  program& operator=(const program&) = delete;

 private:
  program(std::shared_ptr<const prepared_module> source, program_store store,
          kernel_compiler compiler);

  // A kernel by the name and the arguments that the compiler knows it by.
  struct compiled_kernel {
    std::string name;
    std::string arguments;
  };
  compiled_kernel describe(size_t kernel) const;

  result<std::string> compile(const std::vector<compiled_kernel>& kernels);
  // Machine code of a kernel for groups of one size and launches without a global offset.
  std::shared_ptr<const kernel_image> specialise(const compiled_kernel& kernel,
                                                 const std::array<uint64_t, 3>& group_size) const;
  result<std::shared_ptr<const kernel_image>> load(const compiled_kernel& kernel);

  const std::shared_ptr<const prepared_module> source_;
  const program_store store_;
  const kernel_compiler compiler_;
  std::string log_;

  std::mutex mutex_;                                            // guards all below
  std::vector<std::shared_ptr<kernel_code>> kernels_;           // null: not loaded yet
  std::vector<std::shared_ptr<const kernel_image>> functions_;  // likewise, by function
};

}  // namespace zevent::driver
