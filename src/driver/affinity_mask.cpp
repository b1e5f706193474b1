#include "driver/affinity_mask.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "driver/made_with_driver.hpp"

namespace zevent::driver {
namespace {

bool read_number(std::string_view text, uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

affinity_mask::affinity_mask(std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t dot = part.find('.');
    entry made{0, all_subdevices};
    if (!read_number(part.substr(0, dot), made.device)) continue;
    if (dot != part.npos && !read_number(part.substr(dot + 1), made.subdevice)) continue;
    entries_.push_back(made);
  }
}

const affinity_mask& affinity_mask::of_environment() {
  static const auto* only = [] {
    const char* text = std::getenv("ZE_AFFINITY_MASK");
    return new affinity_mask(text != nullptr ? text : "");
  }();
  return *only;
}

const made_with_driver mask([] { affinity_mask::of_environment(); });

bool affinity_mask::shows(uint32_t device) const {
  return entries_.empty() || std::any_of(entries_.begin(), entries_.end(),
                                         [&](const entry& each) { return each.device == device; });
}

bool affinity_mask::shows(uint32_t device, uint32_t subdevice) const {
  return entries_.empty() || std::any_of(entries_.begin(), entries_.end(), [&](const entry& each) {
           return each.device == device &&
                  (each.subdevice == all_subdevices || each.subdevice == subdevice);
         });
}

bool affinity_mask::shows_flat(uint32_t number) const {
  return shows(number, all_subdevices);
}

}  // namespace zevent::driver
