#pragma once

#include <functional>
#include <map>
#include <vector>

#include "model/command.hpp"

namespace zevent::model {

// Who touched which bytes and may still be at it. Every stretch of addresses remembers the last
// accesses that something later could be in conflict with:
//   - an access that comes after another one and covers it replaces it, unless it reads what the
//     other one wrote. Whoever is in conflict with the replaced one is so with its successor too;
//   - what the host knows to be complete is forgotten when it is met, and by a sweep whenever the
//     map has doubled.
class access_map {
 public:
  struct conflict {
    const run& earlier;
    const memory_access& earlier_access;
    const run& later;
    const memory_access& later_access;
    byte_range where;
    bool ordered;  // one after the other, but the later one may not see what was written
  };
  class conflict_sink {
   public:
    virtual void conflicts(const conflict& found) = 0;

   protected:
    ~conflict_sink() = default;
  };

  // Adds what `later`, which has just started, does to memory. Each conflict is told once for each
  // pair of accesses.
  void add(const ref<run>& later, conflict_sink& sink);

  // Accesses to [first, end) of runs that are not known to be complete.
  void for_each_pending(uint64_t first, uint64_t end,
                        const std::function<void(const run&, const memory_access&)>& visit);

  // The addresses mean something else from now on.
  void forget(uint64_t first, uint64_t end);

  size_t size() const { return stretches_.size(); }
  void clear() { stretches_.clear(); }

 private:
  struct entry {
    ref<run> who;
    uint32_t access;  // index into the command's accesses

    const memory_access& what() const { return who->what->accesses[access]; }
  };
  struct stretch {
    uint64_t end = 0;
    std::vector<entry> entries;
  };
  using map = std::map<uint64_t, stretch>;

  map::iterator split(uint64_t address);
  void add(const entry& added, conflict_sink& sink);
  void meet(stretch& place, const entry& added, conflict_sink& sink);
  void compare(const entry& earlier, const entry& later, bool in_order, conflict_sink& sink);
  void sweep();

  map stretches_;                           // by first address; they do not overlap
  std::vector<const memory_access*> told_;  // conflicts of the access that is being added
  size_t sweep_at_ = 1024;
};

}  // namespace zevent::model
