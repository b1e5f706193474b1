#include "repro/data_files.hpp"

#include <fmt/format.h>

namespace zevent::repro {

std::string data_files::add(std::string_view folder, std::string_view stem, std::string_view suffix,
                            std::span<const std::byte> content) {
  const auto [known, is_new] = known_.try_emplace(trace::hash_of(content));
  if (!is_new) return known->second;
  const std::string base = fmt::format("{}/{}", folder, stem);
  const uint32_t number = count_[base + std::string(suffix)]++;
  known->second = number == 0 ? fmt::format("{}{}", base, suffix)
                              : fmt::format("{}_{}{}", base, number, suffix);
  files_.push_back({known->second, {content.begin(), content.end()}});
  return known->second;
}

}  // namespace zevent::repro
