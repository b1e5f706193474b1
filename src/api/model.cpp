#include "api/model.hpp"

#include <algorithm>
#include <tuple>

#include "base/checked_cast.hpp"

namespace zevent::api {

const enumerator* enumeration::find(uint32_t value) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const enumerator& e) { return e.value == value; });
  return found == values.end() ? nullptr : &*found;
}

const function* model::find_function(std::string_view name) const {
  const auto found = std::lower_bound(
      functions_by_name.begin(), functions_by_name.end(), name,
      [&](uint16_t index, std::string_view n) { return functions[index].name < n; });
  if (found == functions_by_name.end() || functions[*found].name != name) return nullptr;
  return &functions[*found];
}

const record* model::find_record(std::string_view name) const {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const record& r) { return r.name == name; });
  return found == records.end() ? nullptr : &*found;
}

const record* model::find_chained(api_name api, uint32_t stype) const {
  const std::tuple key(stype_space(api), stype);
  const auto found = std::lower_bound(
      stypes.begin(), stypes.end(), key,
      [](const stype_meaning& m, const auto& k) { return std::tuple(m.space, m.stype) < k; });
  if (found == stypes.end() || std::tuple(found->space, found->stype) != key) return nullptr;
  return &records[found->record];
}

uint16_t model::index_of(const function& f) const {
  return checked_cast<uint16_t>(&f - functions.data());
}

}  // namespace zevent::api
