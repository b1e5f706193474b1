#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/survey.hpp"

namespace zevent::repro {

// Objects of one C type, told apart by their ordinals. A loop over them needs an array.
struct object_class {
  std::string c_type;  // "ze_event_handle_t", "void*"
  std::string kind;    // "event"
  std::string plural;  // "events"
  // "shared->" where the objects lie in memory that processes share, and are declared there.
  std::string owner;
  std::vector<std::string> names;  // by ordinal: "event_memfill"
};

struct object_reference {
  uint32_t object_class = 0;
  uint32_t ordinal = 0;
};

// What the objects of a recording are called in a C program: by what they are, and events by the
// command that signals them first.
class object_names {
 public:
  // Of processes that were surveyed together.
  static result<object_names> make(const trace::trace_file& trace,
                                   std::span<const replay::call_selection> selections,
                                   std::span<const replay::survey> seen);

  object_reference of(replay::slot_id slot) const { return by_slot_[replay::index_of(slot)]; }
  object_reference of(replay::opaque_id handle) const {
    return by_opaque_[static_cast<uint32_t>(handle)];
  }
  const std::vector<object_class>& classes() const { return classes_; }

 private:
  std::vector<object_class> classes_;
  std::vector<object_reference> by_slot_;
  std::vector<object_reference> by_opaque_;
};

// Letters, digits and underscores only; at most so many.
std::string c_identifier(std::string_view text, size_t most = 40);

}  // namespace zevent::repro
