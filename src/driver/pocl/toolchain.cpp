#include "driver/pocl/toolchain.hpp"

#include <algorithm>

namespace zevent::pocl {
namespace {

// The characters from where `name` ends to the first that is no digit, nor a dot if there may be
// one.
std::string number_after(std::string_view text, std::string_view name, std::string_view digits) {
  const size_t found = text.find(name);
  if (found == text.npos) return "";
  text.remove_prefix(found + name.size());
  return std::string(text.substr(0, text.find_first_not_of(digits)));
}

std::string known_versions() {
  std::string all;
  for (const auto& each : known_releases) {
    if (!all.empty()) all += ", ";
    all += each.version;
  }
  return all;
}

}  // namespace

result<toolchain> toolchain_of(std::string_view platform_version) {
  const toolchain found{number_after(platform_version, "PoCL ", "0123456789."),
                        number_after(platform_version, "LLVM ", "0123456789")};
  const bool is_known =
      std::any_of(known_releases.begin(), known_releases.end(),
                  [&](const known_release& each) { return each.version == found.pocl_version; });
  if (!is_known) {
    return fail("kernels are compiled by PoCL of one of the versions {}, not by \"{}\"",
                known_versions(), platform_version);
  }
  if (found.llvm_version.empty()) {
    return fail("PoCL does not say which LLVM it was built with: \"{}\"", platform_version);
  }
  return found;
}

}  // namespace zevent::pocl
