#include "replay/call_memory.hpp"

#include <algorithm>
#include <limits>

#include "api/call_codec.hpp"
#include "replay/value_access.hpp"

namespace zevent::replay {
namespace {

using api::value;
using api::value_form;

// Trace contents may be anything: arithmetic saturates.
uint64_t product(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t sum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

const value* named(const std::vector<value>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const value& v) {
    return v.form != value_form::absent && v.origin != nullptr && v.origin->name == name;
  });
  return found == values.end() ? nullptr : &*found;
}

uint64_t number(const std::vector<value>& values, std::string_view name) {
  return scalar_bits(named(values, name));
}

uint64_t element(const value* pointer, size_t position) {
  if (pointer == nullptr || pointer->items.empty()) return 0;
  const value& array = pointer->items.front();
  const bool has_it = array.form == value_form::raw && position < array.element_count();
  return has_it ? array.element(position) : 0;
}

// From the origin of the memory to the last byte of the region.
uint64_t region_bytes(const value& region, uint64_t pitch, uint64_t slice_pitch,
                      uint64_t element_bytes) {
  const auto of = [&](std::string_view name) { return scalar_bits(region.find(name)); };
  const uint64_t last_row = sum(of("originY"), std::max<uint64_t>(of("height"), 1) - 1);
  const uint64_t last_slice = sum(of("originZ"), std::max<uint64_t>(of("depth"), 1) - 1);
  const uint64_t row = product(sum(of("originX"), of("width")), element_bytes);
  return sum(sum(product(last_slice, slice_pitch), product(last_row, pitch)), row);
}

// The host's side of a copy between an image and memory. A texel has at most 16 bytes.
uint64_t image_copy_bytes(const std::vector<value>& siblings) {
  constexpr uint64_t largest_texel_bytes = 16;
  for (const std::string_view name : {"pSrcRegion", "pDstRegion"}) {
    const value* region = named(siblings, name);
    if (region == nullptr || region->items.empty()) continue;
    const uint64_t rows = std::max<uint64_t>(scalar_bits(region->find("height")), 1);
    const uint64_t slices = std::max<uint64_t>(scalar_bits(region->find("depth")), 1);
    const uint64_t tight = product(scalar_bits(region->find("width")), largest_texel_bytes);
    const uint64_t row_pitch =
        std::max({tight, number(siblings, "destRowPitch"), number(siblings, "srcRowPitch")});
    const uint64_t slice_pitch =
        std::max({product(row_pitch, rows), number(siblings, "destSlicePitch"),
                  number(siblings, "srcSlicePitch")});
    return product(slice_pitch, slices);
  }
  return 0;
}

uint64_t timestamps_bytes(const std::vector<value>& siblings) {
  constexpr uint64_t result_bytes = 32;  // of a ze_kernel_timestamp_result_t
  const uint64_t events = number(siblings, "numEvents");
  const value* offsets = named(siblings, "pOffsets");
  if (offsets == nullptr || offsets->items.empty()) return product(events, result_bytes);
  uint64_t furthest = 0;
  for (size_t i = 0; i < offsets->items.front().element_count(); ++i)
    furthest = std::max(furthest, element(offsets, i));
  return sum(furthest, result_bytes);
}

uint64_t special_bytes(const api::variable& variable, const std::vector<value>& siblings,
                       size_t position) {
  const bool is_source = variable.name == "srcptr";
  if (variable.name == "pRanges") return element(named(siblings, "pRangeSizes"), position);
  if (variable.name == "pSystemMemory") return number(siblings, "systemMemorySize");
  if (const value* region = named(siblings, is_source ? "srcRegion" : "dstRegion"))
    return region_bytes(*region, number(siblings, is_source ? "srcPitch" : "dstPitch"),
                        number(siblings, is_source ? "srcSlicePitch" : "dstSlicePitch"), 1);
  if (named(siblings, "hSrcImage") != nullptr || named(siblings, "hDstImage") != nullptr)
    return image_copy_bytes(siblings);
  if (named(siblings, "numEvents") != nullptr) return timestamps_bytes(siblings);
  return number(siblings, "size");
}

class address_walk {
 public:
  address_walk(const api::model& model, const std::function<void(const address_use&)>& visit)
      : model_(model), visit_(visit) {}

  void all(const std::vector<value>& siblings) {
    for (const auto& each : siblings)
      if (each.origin != nullptr) one(each, *each.origin, each.origin->pointee, siblings, 0);
  }

 private:
  // `e`: what the value points at, if it is a pointer.
  void one(const value& v, const api::variable& variable, const api::extent& e,
           const std::vector<value>& siblings, size_t position) {
    if (v.form == value_form::record) return all(v.items);
    if (v.form == value_form::list) {
      for (size_t i = 0; i < v.items.size(); ++i) one(v.items[i], variable, e, siblings, i);
      return;
    }
    if (v.form != value_form::pointer || v.bits == 0) return;
    if (v.declared != nullptr && v.declared->kind == api::type_kind::function) return;
    if (!api::is_followed(e)) {
      visit_({v.bits, &variable, position, bytes_touched(model_, variable, siblings, position)});
      return;
    }
    for (const auto& item : v.items) one(item, variable, variable.inner, siblings, 0);
  }

  const api::model& model_;
  const std::function<void(const address_use&)>& visit_;
};

}  // namespace

uint64_t bytes_touched(const api::model& model, const api::variable& variable,
                       const std::vector<value>& siblings, size_t position) {
  const api::type& pointer = model.types[variable.type_index];
  uint64_t typed = 1;
  if (pointer.kind == api::type_kind::pointer)
    typed = std::max<uint64_t>(model.types[pointer.index].size_bytes, 1);
  return std::max(typed, special_bytes(variable, siblings, position));
}

void for_each_address(const api::model& model, const api::call_values& inputs,
                      const std::function<void(const address_use&)>& visit) {
  address_walk(model, visit).all(inputs.parameters);
}

}  // namespace zevent::replay
