#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/context.hpp"
#include "driver/device.hpp"
#include "driver/module_variables.hpp"
#include "driver/object.hpp"
#include "driver/program.hpp"
#include "driver/program_flags.hpp"

namespace zevent::driver {

class module_build_log : public object_of<module_build_log, object_kind::module_build_log> {
 public:
  explicit module_build_log(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }

 private:
  const std::string text_;
};

// A module: SPIR-V, the program made of it, and its variables. A module that imports something has
// no program until it is linked to the modules that export it.
class module : public object_of<module, object_kind::module> {
 public:
  // What can run: fixed once it is there.
  struct executable {
    std::shared_ptr<program> code;
    std::shared_ptr<const module_variables> variables;
  };

  // The log is for success and failure alike.
  static ze_result_t create(context& owner, device& target, const ze_module_desc_t& desc,
                            std::string& log, module** out);
  // Links those of the modules that have imports to those that export what they import.
  static ze_result_t link(std::span<module* const> modules, std::string& log);
  // What the modules import, what of that none of them exports, and what they export.
  static std::string inspect_linkage(std::span<module* const> modules,
                                     ze_linkage_inspection_ext_flags_t flags);

  context& owner_context() const { return *context_; }
  device& owner_device() const { return device_; }
  const program_flags& flags() const { return flags_; }
  const spirv::module_signature& signature() const { return source_->signature; }
  bool has_imports() const { return !signature().imports.empty(); }

  // Null code: the module has to be linked first.
  executable get_executable() const;
  std::vector<uint8_t> native_binary() const;
  module_variables::place find_variable(std::string_view name) const;
  ze_result_t find_function(std::string_view name, void** out) const;

 private:
  module(context& owner, device& target, std::shared_ptr<const prepared_module> source,
         program_flags flags);

  ze_result_t build(std::shared_ptr<const prepared_module> linked,
                    std::vector<std::shared_ptr<const module_variables>> others, std::string& log);
  ze_result_t link_to(std::span<module* const> modules, std::string& log);

  const ref<context> context_;
  device& device_;
  const std::shared_ptr<const prepared_module> source_;
  const program_flags flags_;
  std::shared_ptr<const module_variables> variables_;  // those that it defines

  mutable std::mutex mutex_;  // guards executable_
  executable executable_;
};

}  // namespace zevent::driver
