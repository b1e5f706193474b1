#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace zevent::driver {

// A unit of work in a command list: what the device does for one append.
//
// To add a kind of command, derive from this class, do the work in run(), and hand an instance to
// command_list::append (see command_list.hpp). The engine sees to everything else: it holds the
// command back until its wait events are complete and the list's order allows it, takes the start
// and end time, signals the event and deletes the command when it is no longer needed.
//
// A command of a regular list runs once per execution of the list, so run() leaves the command as
// it found it. It holds references (ref<T>, shared_ptr) to whatever it uses: handles may be
// destroyed while it is in flight.
class command {
 public:
  // How the command stands to its neighbours in a list that is not in-order.
  enum class order {
    free,     // starts after those before it have started
    barrier,  // starts when its wait events are complete, or, if it has none, when all those before
              // it are complete; holds back all those after it
  };

  virtual ~command() = default;
  command(const command&) = delete;
  command& operator=(const command&) = delete;

  // Does the work, on an engine thread and with no lock held. Any result but success means that the
  // device is lost, as it would be after a fault on a GPU.
  virtual ze_result_t run() = 0;

  order ordering() const { return ordering_; }

 protected:
  command() = default;
  explicit command(order ordering) : ordering_(ordering) {}

 private:
  order ordering_ = order::free;
};

}  // namespace zevent::driver
