#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/print.hpp"
#include "trace/call.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

enum class handle_style : uint8_t {
  names,   // event_3
  values,  // 0x26ca1bb8
  both,    // event_3(0x26ca1bb8)
};

// How the objects that a call speaks of are called.
class object_namer {
 public:
  object_namer(const trace::trace_file& trace, handle_style style) : trace_(trace), style_(style) {}

  std::string handle(const trace::call& by, const api::handle_class& kind, uint64_t value,
                     api::call_side side) const;
  struct memory_place {
    std::string memory;  // memory_0
    uint64_t offset = 0;
  };
  // The allocation that an address points into.
  std::optional<memory_place> find_memory(const trace::call& by, uint64_t address,
                                          api::call_side side) const;

  // Empty when no memory is known there.
  std::string address(const trace::call& by, uint64_t address, api::call_side side) const;

 private:
  std::string styled(const std::string& name, uint64_t value) const;

  const trace::trace_file& trace_;
  handle_style style_;
};

}  // namespace zevent::report
