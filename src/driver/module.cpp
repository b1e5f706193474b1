#include "driver/module.hpp"

#include <algorithm>

#include "driver/last_error.hpp"
#include "driver/module_binary.hpp"
#include "driver/spirv_link.hpp"

namespace zevent::driver {
namespace {

bool has_null(const module_input& input) {
  if (input.bytes.data() == nullptr) return true;
  const ze_module_constants_t* constants = input.constants;
  if (constants == nullptr || constants->numConstants == 0) return false;
  if (constants->pConstantIds == nullptr || constants->pConstantValues == nullptr) return true;
  const void* const* values = constants->pConstantValues;
  return std::find(values, values + constants->numConstants, nullptr) !=
         values + constants->numConstants;
}

std::string_view text_or_empty(const char* text) {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

module* find_exporter(std::span<module* const> modules, const module* importer,
                      const std::string& name, size_t& count) {
  module* found = nullptr;
  count = 0;
  for (module* each : modules) {
    if (each == importer) continue;
    const auto& exports = each->signature().exports;
    const bool has_it = std::any_of(exports.begin(), exports.end(),
                                    [&](const auto& symbol) { return symbol.name == name; });
    if (!has_it) continue;
    found = each;
    ++count;
  }
  return found;
}

}  // namespace

module::module(context& owner, device& target, std::shared_ptr<const prepared_module> source,
               program_flags flags) :context_(&owner),
    device_(target), source_(std::move(source)), flags_(std::move(flags)) {}

ze_result_t module::create(context& owner, device& target, const ze_module_desc_t& desc,
                           std::string& log, module** out) {
  const auto fails = [&](ze_result_t status, const failure& reason) {
    log += fmt::format("error: {}\n", reason.message);
    return status;
  };
  if (desc.format != ZE_MODULE_FORMAT_IL_SPIRV && desc.format != ZE_MODULE_FORMAT_NATIVE) {
    return fails(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                 {fmt::format("modules are SPIR-V or native binaries; format {} is not supported",
                              static_cast<int64_t>(desc.format))});
  }
  std::vector<module_input> inputs;
  std::string flags;
  const auto* several = find_in_chain<ze_module_program_exp_desc_t>(
      desc.pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC);
  module_binary native;
  if (several != nullptr) {
    if (desc.format != ZE_MODULE_FORMAT_IL_SPIRV || several->count == 0) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (several->inputSizes == nullptr || several->pInputModules == nullptr) {
      return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    for (uint32_t i = 0; i < several->count; ++i) {
      const auto* constants = several->pConstants != nullptr ? several->pConstants[i] : nullptr;
      inputs.push_back({{several->pInputModules[i], several->inputSizes[i]}, constants});
      if (several->pBuildFlags == nullptr) continue;
      flags += fmt::format("{} ", text_or_empty(several->pBuildFlags[i]));
    }
  } else {
    if (desc.pInputModule == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc.inputSize == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    std::span<const uint8_t> bytes(desc.pInputModule, desc.inputSize);
    flags = text_or_empty(desc.pBuildFlags);
    if (desc.format == ZE_MODULE_FORMAT_NATIVE) {
      auto read = read_module_binary(bytes);
      if (!read) return fails(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, read.error());
      native = std::move(*read);
      bytes = {reinterpret_cast<const uint8_t*>(native.words.data()), native.words.size() * 4};
      flags = native.flags;
    }
    inputs.push_back({bytes, desc.format == ZE_MODULE_FORMAT_IL_SPIRV ? desc.pConstants : nullptr});
  }

  if (std::any_of(inputs.begin(), inputs.end(), has_null)) {
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  }
  program_flags parsed_flags = parse_program_flags(flags);
  log += parsed_flags.warnings;
  auto source = prepare(inputs);
  if (!source) return fails(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, source.error());
  log += (*source)->warnings;

  auto made =
      ref<module>::adopt(new module(owner, target, std::move(*source), std::move(parsed_flags)));
  // A module that is still to be linked has its variables already: others may import them.
  const ze_result_t status =
      made->has_imports()
          ? module_variables::create(owner, target, made->source_->lowered.variables, {},
                                     made->variables_)
          : made->build(made->source_, {}, log);
  if (status != ZE_RESULT_SUCCESS) return status;
  *out = made.get();
  made->add_reference();
  return ZE_RESULT_SUCCESS;
}

ze_result_t module::build(std::shared_ptr<const prepared_module> linked,
                          std::vector<std::shared_ptr<const module_variables>> others,
                          std::string& log) {
  auto code = program::build(std::move(linked), flags_.compiler_options);
  if (!code) {
    log += fmt::format("error: {}\n", code.error().message);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  }
  log += (*code)->log();
  std::shared_ptr<const module_variables> variables;
  const ze_result_t status = module_variables::create(*context_, device_, (*code)->variables(),
                                                      std::move(others), variables);
  if (status != ZE_RESULT_SUCCESS) return status;
  const std::lock_guard lock(mutex_);
  if (variables_ == nullptr) variables_ = variables;
  executable_ = {std::move(*code), std::move(variables)};
  return ZE_RESULT_SUCCESS;
}

ze_result_t module::link(std::span<module* const> modules, std::string& log) {
  for (module* each : modules) {
    if (!each->has_imports() || each->get_executable().code != nullptr) continue;
    const ze_result_t status = each->link_to(modules, log);
    if (status != ZE_RESULT_SUCCESS) return status;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t module::link_to(std::span<module* const> modules, std::string& log) {
  // Whoever exports something that is needed, and what those need in turn.
  std::vector<module*> needed = {this};
  bool complete = true;
  for (size_t i = 0; i < needed.size(); ++i) {
    for (const spirv::linked_symbol& each : needed[i]->signature().imports) {
      size_t count = 0;
      module* exporter = find_exporter(modules, needed[i], each.name, count);
      if (count != 1) {
        complete = false;
        log += fmt::format("error: {} \"{}\" is {}\n", each.is_function ? "function" : "variable",
                           each.name,
                           count == 0 ? "imported, but none of the modules exports it"
                                      : "exported by more than one module");
      } else if (std::find(needed.begin(), needed.end(), exporter) == needed.end()) {
        needed.push_back(exporter);
      }
    }
  }
  if (!complete) return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;

  const auto fails = [&](const failure& reason) {
    log += fmt::format("error: {}\n", reason.message);
    return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
  };
  std::vector<spirv::binary> parts;
  std::vector<std::shared_ptr<const module_variables>> variables;
  for (const module* each : needed) {
    parts.push_back(each->source_->spirv);
    if (each != this) spirv::remove_kernels(parts.back());
    variables.push_back(each->variables_);
  }
  auto linked = spirv::link(parts);
  if (!linked) return fails(linked.error());
  auto source = prepare(std::move(*linked));
  if (!source) return fails(source.error());
  const ze_result_t status = build(std::move(*source), std::move(variables), log);
  return status == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ? ZE_RESULT_ERROR_MODULE_LINK_FAILURE
                                                        : status;
}

std::string module::inspect_linkage(std::span<module* const> modules,
                                    ze_linkage_inspection_ext_flags_t flags) {
  std::string text;
  const auto list = [&](const char* title, auto&& wanted) {
    text += fmt::format("{}:\n", title);
    for (const module* each : modules) wanted(*each);
  };
  const auto line = [&](const spirv::linked_symbol& symbol) {
    text += fmt::format("  {}\n", symbol.name);
  };
  if ((flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS) != 0) {
    list("imports", [&](const module& each) {
      for (const auto& symbol : each.signature().imports) line(symbol);
    });
  }
  if ((flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS) != 0) {
    list("unresolvable imports", [&](const module& each) {
      for (const auto& symbol : each.signature().imports) {
        size_t count = 0;
        find_exporter(modules, &each, symbol.name, count);
        if (count == 0) line(symbol);
      }
    });
  }
  if ((flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS) != 0) {
    list("exports", [&](const module& each) {
      for (const auto& symbol : each.signature().exports) line(symbol);
    });
  }
  return text;
}

module::executable module::get_executable() const {
  const std::lock_guard lock(mutex_);
  return executable_;
}

std::vector<uint8_t> module::native_binary() const {
  return write_module_binary({flags_.canonical, source_->spirv.write()});
}

module_variables::place module::find_variable(std::string_view name) const {
  return variables_ != nullptr ? variables_->find(name) : module_variables::place{};
}

ze_result_t module::find_function(std::string_view name, void** out) const {
  const executable runs = get_executable();
  if (runs.code == nullptr) return ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
  const auto address = runs.code->function_address(name);
  if (!address) {
    set_last_error(address.error().message);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  }
  if (*address == nullptr) return ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
  *out = *address;
  return ZE_RESULT_SUCCESS;
}

}  // namespace zevent::driver
