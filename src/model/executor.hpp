#pragma once

#include <vector>

#include "model/access_map.hpp"
#include "model/command.hpp"

namespace zevent::model {

// Is told what the model finds out, at the moment it does.
class listener : public access_map::conflict_sink {
 public:
  virtual ~listener() = default;
  // A command is about to start: what it comes after is known, what it does to events is not done.
  virtual void starting(const run& /*about_to*/) {}
  void conflicts(const access_map::conflict& /*found*/) override {}
};

// Plays the part of the device, without time: a command starts as soon as all that it waits for is
// certain to come, whatever the order in which things were submitted. A command that does not start
// holds up its stream. What is held up at the end of a recording waits for something that never
// came.
//
// What the program was seen to know overrules this: a synchronisation that succeeded starts all
// that it covers.
class executor {
 public:
  explicit executor(listener& told) : told_(told) {}
  ~executor() { clear(); }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  ref<stream> open_stream(bool in_order);
  void close_stream(stream& ended);

  // The streams of queues and immediate lists that exist.
  const std::vector<ref<stream>>& streams() const { return streams_; }

  // Adds one execution of the command to the end of the stream. A chain given is that of the list's
  // execution; start() is to be called when all that is submitted together is there.
  ref<run> submit(const ref<command>& what, const ref<stream>& where, const ref<timeline>& chain,
                  call_number submitted, uint32_t execution);
  void start(stream& where);
  // What is submitted from now on starts after all that was submitted before.
  void fence_off(stream& where);

  void host_signals(event& which, call_number call);
  void host_resets(event& which, call_number call);
  // The event can say nothing any more: nobody waits for it.
  void abandon(event& which);

  // The host has seen the event signalled.
  void learn(event& which);
  void learn(run& which);
  // The host has seen all up to the position complete.
  void learn(stream& which, position up_to);

  ref<timeline> new_timeline();
  access_map& memory() { return memory_; }
  const access_map& memory() const { return memory_; }
  void clear();

 private:
  bool ready(const run& r);
  bool ready(const run& r, size_t wait_index);
  void start(const ref<run>& r);
  void start_now(stream& where);
  void enter_chain(run& r);
  void act_on_events(const ref<run>& r);
  void force(stream& where, position up_to);
  void retire(stream& where);
  void wake(std::vector<ref<stream>>& parked);
  void drain();
  clock_ref awaited(const run& waiter, size_t wait_index);
  clock_ref signalled_by(const run& signaller, const run& waiter, const event& which);
  clock_ref everything();

  listener& told_;
  access_map memory_;
  std::vector<ref<stream>> streams_;
  std::vector<ref<stream>> woken_;  // to be looked at again
  uint64_t next_timeline_ = 0;
  bool draining_ = false;
};

}  // namespace zevent::model
