#include "driver/prepared_module.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "driver/fork_safety.hpp"
#include "driver/made_with_driver.hpp"
#include "driver/spirv_aliasing.hpp"
#include "driver/spirv_dimensions.hpp"
#include "driver/spirv_link.hpp"
#include "driver/spirv_validate.hpp"

namespace zevent::driver {
namespace {

constexpr size_t most_remembered = 8;
constexpr size_t most_remembered_bytes = 256 << 10;  // of one module's input

// The modules that were prepared last, the latest first.
class memory_of_modules {
 public:
  static memory_of_modules& instance() {
    static auto* only = new memory_of_modules;
    return *only;
  }

  std::shared_ptr<const prepared_module> find(const XXH128_hash_t& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const auto& each) {
      return XXH128_isEqual(each.first, key) != 0;
    });
    if (found == modules_.end()) return nullptr;
    std::rotate(modules_.begin(), found, found + 1);
    return modules_.front().second;
  }

  void keep(const XXH128_hash_t& key, std::shared_ptr<const prepared_module> module) {
    std::shared_ptr<const prepared_module> forgotten;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    modules_.emplace_front(key, std::move(module));
    if (modules_.size() <= most_remembered) return;
    forgotten = std::move(modules_.back().second);
    modules_.pop_back();
  }

 private:
  fork_safe_mutex mutex_{fork_safe_mutex::rank::inner};
  std::deque<std::pair<XXH128_hash_t, std::shared_ptr<const prepared_module>>> modules_;
};

const made_with_driver memory([] { memory_of_modules::instance(); });

// None where modules are large, or have constants: how long those are only the modules know.
std::optional<XXH128_hash_t> key_of(std::span<const module_input> inputs) {
  size_t bytes = 0;
  for (const module_input& each : inputs) {
    if (each.constants != nullptr && each.constants->numConstants != 0) return std::nullopt;
    bytes += each.bytes.size();
    if (bytes > most_remembered_bytes) return std::nullopt;
  }
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const module_input& each : inputs) {
    const uint64_t size = each.bytes.size();
    XXH3_128bits_update(&state, &size, sizeof(size));
    XXH3_128bits_update(&state, each.bytes.data(), each.bytes.size());
  }
  return XXH3_128bits_digest(&state);
}

result<spirv::binary> read_spirv(const module_input& input, std::string& warnings) {
  auto parsed = spirv::binary::parse(input.bytes);
  if (!parsed) return parsed;
  spirv::order_blocks(*parsed);
  spirv::remove_aliasing_advice(*parsed);
  spirv::answer_for_all_dimensions(*parsed);
  const auto validated = spirv::validate(*parsed);
  if (!validated) return tl::unexpected(validated.error());
  warnings += *validated;
  if (input.constants != nullptr) {
    std::vector<spirv::spec_value> values;
    for (uint32_t i = 0; i < input.constants->numConstants; ++i) {
      values.push_back({input.constants->pConstantIds[i], input.constants->pConstantValues[i]});
    }
    spirv::apply_spec_constants(*parsed, values);
  }
  return parsed;
}

result<spirv::binary> read_and_link(std::span<const module_input> inputs, std::string& warnings) {
  std::vector<spirv::binary> modules;
  for (const module_input& each : inputs) {
    auto read = read_spirv(each, warnings);
    if (!read) return read;
    modules.push_back(std::move(*read));
  }
  if (modules.size() == 1) return std::move(modules.front());
  return spirv::link(modules);
}

result<std::shared_ptr<const prepared_module>> finish(spirv::binary module, std::string warnings) {
  auto signature = spirv::reflect(module);
  if (!signature) return tl::unexpected(signature.error());
  auto lowered = spirv::lower(module);
  if (!lowered) return tl::unexpected(lowered.error());
  return std::make_shared<const prepared_module>(prepared_module{
      std::move(module), std::move(*signature), std::move(*lowered), std::move(warnings)});
}

}  // namespace

result<std::shared_ptr<const prepared_module>> prepare(spirv::binary module) {
  return finish(std::move(module), {});
}

result<std::shared_ptr<const prepared_module>> prepare(std::span<const module_input> inputs) {
  const auto key = key_of(inputs);
  if (key) {
    if (auto known = memory_of_modules::instance().find(*key)) return known;
  }
  std::string warnings;
  auto read = read_and_link(inputs, warnings);
  if (!read) return tl::unexpected(read.error());
  auto made = finish(std::move(*read), std::move(warnings));
  if (made && key) memory_of_modules::instance().keep(*key, *made);
  return made;
}

}  // namespace zevent::driver
