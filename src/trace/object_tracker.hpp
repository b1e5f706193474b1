#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "api/model.hpp"
#include "api/value.hpp"
#include "trace/call.hpp"
#include "trace/call_block.hpp"
#include "trace/object_table.hpp"

namespace zevent::trace {

// Finds the objects of a run: which calls make them, put them out and take them back.
class object_tracker {
 public:
  explicit object_tracker(const api::model& model);

  // True of functions whose calls must be given to add(); the others make and end nothing.
  bool concerns(uint32_t function) const { return concerns_[function]; }

  // Calls come in order of their number. Arguments that cannot be decoded are passed over.
  void add(const call& each, uint32_t process, call_arguments arguments);

  std::vector<object> take() { return std::move(objects_); }

 private:
  void visit(const api::value& each, api::role role, const call& by, uint32_t process,
             uint64_t size_bytes);
  void begin_life(const handle_key& handle, const call& by, bool created, uint64_t size_bytes);
  void end_life(const handle_key& handle, const call& by);
  // The last of the lives of a handle that began at that time or before; null if there is none.
  object* life_at(const handle_key& handle, uint64_t time_ns);
  std::vector<uint32_t>::iterator first_after(std::vector<uint32_t>& lives, uint64_t time_ns);

  const api::model& model_;
  std::vector<bool> concerns_;
  std::vector<object> objects_;
  std::unordered_map<handle_key, std::vector<uint32_t>, handle_key_hash> lives_;  // by beginning
};

}  // namespace zevent::trace
