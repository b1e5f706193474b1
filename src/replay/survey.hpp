#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/host_counters.hpp"
#include "model/timestamp_memory.hpp"
#include "model/unfinished_writes.hpp"
#include "replay/address_book.hpp"
#include "replay/reading_progress.hpp"
#include "replay/recorded_call.hpp"

namespace zevent::replay {

// Something that cannot be done again as it was recorded.
struct deviation {
  uint64_t call = 0;
  std::string what;
};

// What a recording asks of a driver.
struct requirements {
  uint32_t drivers = 0, devices = 0;               // as many as the program saw
  std::set<std::pair<uint32_t, uint32_t>> queues;  // ordinal and index
  uint64_t largest_allocation_bytes = 0;
  std::set<std::string> by_name;  // functions that the program fetches by their names
};

// Where an allocation was made: how a driver is asked for what it holds.
struct memory_owner {
  slot_id context{}, device{};
};

// What a first look at all calls shows.
struct survey {
  explicit survey(address_book addresses) : book(std::move(addresses)) {}

  address_book book;
  uint64_t calls = 0;
  uint64_t last_call = 0;              // its number
  std::set<uint32_t> functions;        // indices into the trace's model
  std::set<uint32_t> threads;          // indices into the run's threads
  std::map<uint32_t, uint32_t> maker;  // slot of an object → function that put it out first
  // By slot: how many bytes an image has at most.
  std::map<uint32_t, uint64_t> image_bytes;
  // What was noted of memory, in the order of the calls, and what commands may have been writing of
  // it then.
  std::vector<model::memory_look> looks;
  std::vector<model::unfinished_of_look> unfinished;
  // By look: what of it held times of the device, which are others in every run. Empty where no
  // command writes any.
  std::vector<std::vector<model::byte_range>> times;
  bool device_writes_are_noted = false;  // those of the software driver look like the host's

  // Of the notes of a call, in their order; none where nothing was noted.
  std::span<const model::unfinished_of_look> unfinished_of(trace::call_number call) const;
  // Likewise the times.
  std::span<const std::vector<model::byte_range>> times_of(trace::call_number call) const;
  // Of shared and device allocations; nullopt where no device is known.
  std::optional<memory_owner> owner_of(slot_id memory) const;
  std::map<uint32_t, std::pair<slot_id, std::optional<slot_id>>> made_in;  // by slot of memory
  std::map<uint32_t, slot_id> device_in_use;  // by slot of a context: of a list
  std::set<uint32_t> written;                 // slots of memory that commands may write to
  // Before which calls the host must have written to external counters, by call number.
  std::multimap<uint64_t, model::host_counter_write> host_counters;
  std::vector<deviation> deviations;
  requirements needs;
};

// The parts of a note that the host wrote: without what commands may have been writing then, and,
// where it is told, without what kernels could have.
std::vector<model::byte_range> parts_of_host(const trace::memory_note& note,
                                             const model::unfinished_of_look& unfinished,
                                             bool without_possible);

// Looks at the selected calls. Host memory is kept in granules of so many bytes.
result<survey> survey_calls(const trace::trace_file& trace, call_selection selection,
                            uint64_t host_granule_bytes);

// The same for processes that are replayed together: each selection is of another one. IPC handles
// have the same ids in all of them, and slots are of one only. There is one reading for each.
result<std::vector<survey>> survey_together(const trace::trace_file& trace,
                                            std::span<const call_selection> selections,
                                            uint64_t host_granule_bytes,
                                            reading_progress& progress);

}  // namespace zevent::replay
