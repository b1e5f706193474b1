#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/recycled.hpp"
#include "model/ref.hpp"

// Who comes before whom, without a graph to walk.
//
// A timeline is a numbered sequence. There are two kinds:
//   - a chain: each of its commands is complete before the next one starts (the commands of an
//     in-order list; commands of other lists that wait for one another by events);
//   - a stream: the commands of a queue or of an immediate list in the order of submission. To have
//     come to a position of a stream means that *all* commands up to there are complete, as a
//     barrier or a synchronisation of the queue ensures it.
// A command is a position on its stream and perhaps one on a chain. A clock says how far of each
// timeline is complete before something starts. So "is A before B" is one look into B's clock, and
// commands that wait for nothing share the clock of the one before them.
//
// What the host has seen to be complete comes before everything that is submitted later. It is kept
// in the timelines themselves (`known`), and clocks forget what is known anyway: their size is the
// number of timelines on which something is under way.
namespace zevent::model {

// From 1; 0 is before everything.
using position = uint64_t;

struct timeline : counted, recycled<timeline> {
  uint64_t id = 0;     // in the order of creation
  position last = 0;   // handed out so far
  position known = 0;  // the host knows that everything up to here is complete

  void learn(position complete) {
    if (complete > known) known = complete;
  }
};

struct clock_entry {
  ref<timeline> where;
  position ordered = 0;  // complete up to here
  position visible = 0;  // and its writes are seen: never more than `ordered`
};

class clock : public counted, public recycled<clock> {
 public:
  explicit clock(std::vector<clock_entry> entries) : entries_(std::move(entries)) {}

  std::span<const clock_entry> entries() const { return entries_; }

 private:
  std::vector<clock_entry> entries_;  // sorted by id
};

// A clock that may be null, which is the empty one.
using clock_ref = ref<const clock>;

// How far the clock has come on the timeline.
clock_entry look(const clock_ref& when, const timeline& where);

// After both. Gives back one of the two when the other adds nothing.
clock_ref join(const clock_ref& a, const clock_ref& b);

// After `when` and after that much of one more timeline.
clock_ref join(const clock_ref& when, const clock_entry& more);

// After whichever of the two came first: what both have in common.
clock_ref meet(const clock_ref& a, const clock_ref& b);

// The host has seen that everything in the clock is complete.
void learn(const clock_ref& when);

}  // namespace zevent::model
