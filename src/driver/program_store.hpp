#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace zevent::driver {

// The folder in which a program's files are made and kept: its SPIR-V, what the compiler wants to
// find again, and the machine code of its kernels.
//
//   <cache>/kernels/<hash of everything that the machine code depends on>/
//     module.spv              written by the driver
//     module-LLVM.bc, pocl/        the compiler's own
//     program                 the module has been built
//     log                     what the compiler said then
//     zk0-<hash of it>.so     the first kernel's machine code
//     zk0@8x4x1-<hash>.so     the same for groups of that size and launches without an offset
//     lock                    held while something of the above is made
//
// Where there is no cache, because its folder cannot be written or belongs to someone else, a store
// is a temporary folder that goes with the object.
class program_store {
 public:
  // `inputs` are what the program is made from. Fails only where not even a temporary folder can be
  // made.
  static result<program_store> open(std::span<const std::string_view> inputs);

  program_store(program_store&& other) noexcept;
  program_store& operator=(program_store&&) = delete;
  ~program_store();

  const std::filesystem::path& folder() const { return folder_; }
  bool is_temporary() const { return is_temporary_; }

  bool has(std::string_view file) const;
  std::string read(std::string_view file) const;  // "" when there is none
  // Whole or not at all.
  result<void> write(std::string_view file, std::string_view bytes) const;

  // The machine code of a kernel, if it is here and undamaged.
  std::optional<std::filesystem::path> find_image(std::string_view kernel) const;
  // Takes over <kernel>.so, which the compiler has made.
  std::optional<std::filesystem::path> keep_image(std::string_view kernel) const;

  // Keeps other threads and processes from making the same things while it lives.
  class making {
   public:
    explicit making(const program_store& store);
    ~making();
    making(const making&) = delete;
    making& operator=(const making&) = delete;

   private:
    int descriptor_ = -1;
  };

 private:
  program_store(std::filesystem::path folder, bool is_temporary)
      : folder_(std::move(folder)), is_temporary_(is_temporary) {}

  std::filesystem::path folder_;
  bool is_temporary_;
};

}  // namespace zevent::driver
