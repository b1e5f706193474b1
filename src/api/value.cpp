#include "api/value.hpp"

#include <algorithm>
#include <cstring>

namespace zevent::api {
namespace {

const value* named(const std::vector<value>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const value& v) {
    return v.form != value_form::absent && v.origin != nullptr && v.origin->name == name;
  });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

const value* value::find(std::string_view name) const {
  if (form == value_form::pointer) return items.empty() ? nullptr : items.front().find(name);
  return form == value_form::record ? named(items, name) : nullptr;
}

size_t value::element_count() const {
  if (form == value_form::list || form == value_form::runs) return items.size();
  return declared == nullptr || declared->size_bytes == 0 ? 0 : bytes.size() / declared->size_bytes;
}

uint64_t value::element(size_t index) const {
  uint64_t out = 0;
  const size_t size = std::min<size_t>(declared->size_bytes, sizeof(out));
  std::memcpy(&out, bytes.data() + index * declared->size_bytes, size);
  return out;
}

const value* call_values::find(std::string_view name) const {
  return named(parameters, name);
}

}  // namespace zevent::api
