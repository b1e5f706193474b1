#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <vector>

#include "driver/in_order_counter.hpp"
#include "driver/object.hpp"
#include "driver/submission_order.hpp"
#include "driver/sync_cell.hpp"

namespace zevent::driver {

class event;

// What a command waits for: an event's state, as it was bound when the command was appended.
struct command_wait {
  ref<event> source;  // keeps the memory that `point` looks at
  wait_point point;

  ref<in_order_counter> counter;  // likewise, where the event is bound to a list's counter

  // The event was last signalled by a regular list: the point moves with that list's runs, and each
  // execution of the waiting list has its own target (see batch).
  bool moves = false;
  uint32_t moving_index = 0;
};

// What a command does to its signal event when it is complete.
struct command_signal {
  enum class action : uint8_t {
    none,
    raise,    // set the cell to 1: regular events
    publish,  // tell other processes that signal number `value` is complete
    counter,  // nothing but the list's own counter, to which the event is bound
    add,      // add `value` to memory of the user
  };
  ref<event> target;
  action act = action::none;
  uint64_t value = 0;
  // Of a regular list: each execution has its own number (see batch), but for the one that `value`
  // was issued for.
  uint32_t published_index = 0;
  uint64_t first_run = 0;
};

// How a command hangs together with others.
struct command_links {
  std::vector<command_wait> waits;
  command_signal signal;

  // In-order regular lists: what the list's counter goes to when the command is complete; 0 where
  // nobody has ever looked at it. It stays when the event is taken away, since others may still
  // wait for this command.
  uint64_t counted = 0;
};

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
  enum class order : uint8_t {
    free,      // starts after those before it have started
    at_start,  // likewise, and is done before the next one starts: what is only about events is not
               // given to an engine, but done by whoever starts the commands
    barrier,   // starts when its wait events are complete, or, if it has none, when all those
               // before it are complete; holds back all those after it
  };

  command();
  explicit command(order ordering);
  virtual ~command();
  command(const command&) = delete;
  command& operator=(const command&) = delete;

  // Does the work, on an engine thread and with no lock held. Any result but success means that the
  // device is lost, as it would be after a fault on a GPU.
  virtual ze_result_t run() = 0;

  // What run() itself raises; null for nearly all, which signal by their links.
  virtual const std::atomic<uint64_t>* raised() const { return nullptr; }

  order ordering() const { return ordering_; }

 private:
  friend class batch;
  friend class command_fifo;
  friend class command_list;
  friend class recording;
  friend class stream;

  order ordering_ = order::free;
  bool is_batch_ = false;
  command_links links_;  // of a regular list: kept by the recording

  // Set by the stream that the command is submitted to.
  uint64_t number_ = 0;
  submission_order::turn turn_;
  command* next_ = nullptr;
};

}  // namespace zevent::driver
