#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "model/call_view.hpp"
#include "trace/object_table.hpp"
#include "trace/trace_file.hpp"

namespace zevent::report {

struct copy_count {
  uint64_t commands = 0;
  uint64_t bytes = 0;

  void add(const copy_count& more) {
    commands += more.commands;
    bytes += more.bytes;
  }
};

// Counts what copies and fills move, by the kinds of memory on both sides: "host to device", "fill
// of shared". A command counts each time it is given to the device: at its append to an immediate
// list, at each execution of a regular one.
class copy_statistics {
 public:
  explicit copy_statistics(const trace::trace_file& trace);

  // Whether calls of a function are of interest; the others need not be given.
  static bool wants(model::function which);

  static bool is_copy(model::function which);  // of memory, not of images
  // By a copy or a fill; 0 for anything else.
  static uint64_t bytes_moved(const model::call_view& view);

  // The kind of memory at an address, as far as the calls so far tell.
  std::string kind_at(const trace::call& each, uint64_t address) const;

  // Calls come in order of number. Those that do not count are looked at all the same, for the
  // memory and the lists that they make.
  void add(const trace::call& each, const model::call_view& view, bool counts);

  const std::map<std::string, copy_count>& by_kind() const { return by_kind_; }

 private:
  struct list_content {
    bool immediate = false;
    std::map<std::string, copy_count> copies;
  };

  void note_memory(const trace::call& each, const model::call_view& view);
  void add_command(const trace::call& each, const model::call_view& view, std::string kind,
                   uint64_t bytes, bool counts);
  list_content* list_of(const trace::call& each, uint64_t handle);

  const trace::trace_file& trace_;
  uint16_t list_class_;
  std::unordered_map<uint32_t, const char*> kind_of_memory_;  // by object
  std::unordered_map<uint32_t, list_content> lists_;          // by object
  std::map<std::string, copy_count> by_kind_;
};

}  // namespace zevent::report
