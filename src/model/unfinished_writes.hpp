#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/process_model.hpp"
#include "trace/trace_file.hpp"

namespace zevent::model {

// Memory that was looked at when a call was made, or when it had returned.
struct memory_look {
  call_number call = no_call;
  byte_range where;
  bool before_call = false;
};

// What a command may have been writing of it.
struct unfinished_write {
  byte_range where;
  bool certain = true;  // false: a kernel could write there, and need not have
};
using unfinished_of_look = std::vector<unfinished_write>;

// Listens to the model of one process, whose calls are given to begin() and end().
class unfinished_writes final : public listener {
 public:
  // In the order of their calls.
  explicit unfinished_writes(std::span<const memory_look> looks)
      : looks_(looks), out_(looks.size()), state_(*this) {}

  void begin(const call_view& call);
  void end(const call_view& call);
  void starting(const run& about_to) override;
  std::vector<unfinished_of_look> take() { return std::move(out_); }

 private:
  // The looks of a call: from and to in looks_.
  std::pair<size_t, size_t> looks_of(call_number call) const;
  // A run in its stream.
  using run_id = std::pair<const void*, uint64_t>;
  static run_id id_of(const run& each) { return {&*each.where, each.at}; }

  void look(size_t which);
  void remember_pending(size_t look);
  void add_completed_by_others(size_t look);
  bool touches(size_t look, const memory_access& access) const;
  void add(size_t look, const memory_access& access);

  std::span<const memory_look> looks_;
  std::vector<unfinished_of_look> out_;
  process_model state_;
  // Of calls under way, by look after the call: what was pending there when the call began, or has
  // started since.
  std::unordered_map<size_t, std::vector<std::pair<run_id, memory_access>>> pending_;
  // By thread that has made no other call since: from and to in looks_.
  std::unordered_map<uint32_t, std::pair<size_t, size_t>> looking_;
};

// For each look what commands may have been writing of it at that time, so that what was seen there
// may have been something between: those that nobody had waited for, and, after a call, those that
// other threads submitted before the thread that looked went on, and those that only another thread
// waited for while the call was under way. The looks are in the order of their calls.
std::vector<unfinished_of_look> seen_unfinished(const trace::trace_file& trace, uint32_t process,
                                                std::span<const memory_look> looks);

}  // namespace zevent::model
