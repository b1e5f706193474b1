#pragma once

#include <map>
#include <span>

#include "model/call_view.hpp"
#include "model/executor.hpp"
#include "model/freed_memory.hpp"
#include "model/object_table.hpp"

namespace zevent::model {

// What one process of a run did: its objects, its commands and the order they are in. Fed with
// calls one after the other; forgets what is over.
//
// A call has two moments. When it begins, it takes objects away and hands commands to the device;
// when it ends, it has made objects and the host knows what it waited for. Between the two, calls
// of other threads may begin and end. call_sequence.hpp puts the moments of all calls in order.
class process_model {
 public:
  explicit process_model(listener& told) : executor_(told) {}
  ~process_model();

  void begin(const call_view& call);
  void end(const call_view& call);
  // The end of the call, which has begun, would tell something.
  bool learns_at_end(const call_view& call) const;

  object_table<context> contexts;
  object_table<event_pool> pools;
  object_table<event> events;
  object_table<command_list> lists;
  object_table<command_queue> queues;
  object_table<fence> fences;
  object_table<module> modules;
  object_table<kernel> kernels;
  object_table<image> images;
  object_table<sampler> samplers;
  object_table<graph> graphs;
  object_table<executable_graph> executable_graphs;
  handle_map<device> devices;
  uint32_t driver_version = 0;  // as the driver counts; 0: not asked for

  // The live allocation that holds the address; null when there is none.
  allocation* find_memory(uint64_t address) const;
  // The allocation that starts there, alive or freed not long ago.
  allocation* find_memory_by_start(uint64_t address) const { return memory_.find(address); }
  // The live allocation with the lowest address after this one; null when there is none.
  const allocation* find_memory_after(uint64_t address) const;
  // The allocation that held the address and was freed not long ago; null when the address has
  // been given out again since, in whatever way.
  const allocation* find_freed_memory(uint64_t address) const { return freed_.find(address); }

  // Allocations that were never freed, those of destroyed contexts among them.
  template <typename Visit>
  void for_each_unfreed_memory(Visit&& visit) const {
    memory_.for_each_alive([&](const allocation& each) {
      const auto live = live_memory_.find(each.handle);
      const bool is_live = live != live_memory_.end() && live->second.get() == &each;
      if (is_live || (each.owner && !each.owner->alive())) visit(each);
    });
  }

  const std::vector<ref<stream>>& streams() const { return executor_.streams(); }
  access_map& accesses() { return executor_.memory(); }

  // The same device, or one of them a part of the other.
  bool same_device(uint64_t a, uint64_t b) const;

 private:
  void create(const call_view& call);
  void destroy(const call_view& call);
  void create_pool(const call_view& call);
  void create_event(const call_view& call);
  void create_counter_event(const call_view& call);
  void open_counter_event(const call_view& call);
  void create_list(const call_view& call);
  void create_queue(const call_view& call);
  void create_memory(const call_view& call, memory_kind where);
  void create_module(const call_view& call);
  void create_kernel(const call_view& call);
  void destroy_event(event& dead, call_number call);
  void destroy_pool(const call_view& call);
  void destroy_list(const call_view& call);
  void destroy_queue(const call_view& call);
  void free_memory(const call_view& call);
  void open_address_range(const call_view& call);
  void forget_memory_of(const context& destroyed);
  void set_kernel_argument(const call_view& call);
  void note_devices(const call_view& call);
  void note_device_facts(const call_view& call);

  ref<command> make_command(const call_view& call, command_list& list);
  void add_accesses(const call_view& call, command& to);
  void add_kernels(const call_view& call, command& to);
  void bind_signal(const ref<command>& to);
  void append(const call_view& call);
  void append_lists(const call_view& call);
  void execute(const call_view& call);
  void run_list(command_list& list, const ref<stream>& where, call_number call);
  void reset_list(const call_view& call);
  void update_mutable(const call_view& call);
  void identify(const command& made, command_list& list);
  void change_signal(const ref<command>& of, event* signalled);
  void change_waits(command& of, std::span<const uint64_t> handles);
  void clone_list(const command_list& source, command_list& into);
  void take_event_over(const ref<command>& by);
  bool captured(const command& made, command_list& list);
  void begin_capture(const call_view& call);
  void end_capture(const call_view& call);
  void pause_capture(const call_view& call, bool paused);

  void synchronise(const call_view& call);
  void synchronise_device(uint64_t device);

  executor executor_;
  handle_map<ref<graph>> captured_graphs_;  // by the handle that a list told of its capture
  object_table<allocation> memory_;
  std::map<uint64_t, ref<allocation>> live_memory_;  // by start
  freed_memory freed_;
};

}  // namespace zevent::model
