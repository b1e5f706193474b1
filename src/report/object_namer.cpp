#include "report/object_namer.hpp"

#include <fmt/format.h>

namespace zevent::report {
namespace {

// An object that a call puts out begins to live when the call ends.
uint64_t time_of(const trace::call& by, api::call_side side) {
  return side == api::call_side::went_in ? by.start_ns : by.end_ns();
}

}  // namespace

std::string object_namer::styled(const std::string& name, uint64_t value) const {
  return style_ == handle_style::both ? fmt::format("{}({:#x})", name, value) : name;
}

std::string object_namer::handle(const trace::call& by, const api::handle_class& kind,
                                 uint64_t value, api::call_side side) const {
  const auto handle_class = static_cast<uint16_t>(&kind - trace_.model().handles.data());
  const auto found =
      style_ == handle_style::values
          ? std::nullopt
          : trace_.objects().find({trace_.process_of(by), handle_class, value}, time_of(by, side));
  if (!found) return fmt::format("{:#x}", value);
  return styled(trace_.objects().name(*found, trace_.model()), value);
}

std::optional<object_namer::memory_place> object_namer::find_memory(const trace::call& by,
                                                                    uint64_t address,
                                                                    api::call_side side) const {
  const auto& objects = trace_.objects();
  const auto found = objects.find_memory(trace_.process_of(by), address, time_of(by, side));
  if (!found) return std::nullopt;
  return memory_place{objects.name(*found, trace_.model()), address - objects[*found].handle.value};
}

std::string object_namer::address(const trace::call& by, uint64_t address,
                                  api::call_side side) const {
  if (style_ == handle_style::values) return {};
  const auto found = find_memory(by, address, side);
  if (!found) return {};
  const auto& [name, offset] = *found;
  return styled(offset == 0 ? name : fmt::format("{}+{:#x}", name, offset), address);
}

}  // namespace zevent::report
