#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/context.hpp"
#include "driver/device.hpp"
#include "driver/spirv_lower.hpp"

namespace zevent::driver {

// The module-scope variables of a program, in device memory, and the table in which its kernels
// find their addresses.
class module_variables {
 public:
  struct place {
    void* address = nullptr;
    uint64_t size_bytes = 0;
  };

  // Variables that one of `others` has under the same name are that one's: they are imported, or
  // come from a module that was linked to this one. An imported variable that nobody has is left
  // out, and its address is null.
  static ze_result_t create(context& owner, device& on,
                            std::span<const spirv::module_variable> variables,
                            std::vector<std::shared_ptr<const module_variables>> others,
                            std::shared_ptr<const module_variables>& out);
  ~module_variables();
  module_variables(const module_variables&) = delete;
  module_variables& operator=(const module_variables&) = delete;

  // Address null: there is none of that name.
  place find(std::string_view name) const;
  const uint64_t* table() const { return table_.data(); }

 private:
  explicit module_variables(std::vector<std::shared_ptr<const module_variables>> others)
      : others_(std::move(others)) {}

  place find_in_others(std::string_view name) const;
  void store_addresses(std::span<const spirv::module_variable> variables) const;

  const std::vector<std::shared_ptr<const module_variables>> others_;
  void* memory_ = nullptr;  // of its own variables; null when it has none
  std::vector<std::string> names_;
  std::vector<bool> is_own_;
  std::vector<uint64_t> sizes_bytes_;
  std::vector<uint64_t> table_;  // addresses
};

}  // namespace zevent::driver
