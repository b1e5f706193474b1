#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/byte_region.hpp"
#include "model/call_view.hpp"
#include "model/clock.hpp"
#include "model/object.hpp"
#include "model/recycled.hpp"
#include "model/ref.hpp"
#include "model/spirv_parameters.hpp"

// The objects of a program and what the model knows of each. An object outlives its handle for as
// long as something refers to it. Objects, commands and their executions refer to one another:
// whoever uses them includes command.hpp, which has them all.
namespace zevent::model {

struct command;
struct run;
struct stream;

struct device {
  uint64_t handle = 0;
  uint64_t root = 0;  // 0 for a root device, or when it is not known
  uint32_t kernel_timestamp_valid_bits = 0;
  uint32_t device_id = 0;                  // 0: not asked for
  uint64_t max_counter_value = 0;          // 0: not asked for
  std::vector<uint64_t> max_fill_pattern;  // by queue group ordinal
  std::vector<uint64_t> peers, not_peers;  // as zeDeviceCanAccessPeer answered
  // ze_memory_access_cap_flags_t, where they were asked for.
  std::optional<uint32_t> shared_access;         // of memory by zeMemAllocShared
  std::optional<uint32_t> shared_system_access;  // of plain host memory
};

struct context : object {
  context() : object(object_kind::context) {}
  uint32_t live_objects = 0;
};

struct event;

struct event_pool : object {
  event_pool() : object(object_kind::event_pool) {}
  ref<context> owner;
  uint32_t flags = 0;  // ze_event_pool_flags_t
  uint32_t count = 0;
  std::vector<uint64_t> devices;  // empty: all
  bool counter_based = false;
  uint32_t counter_flags = 0;
  bool imported = false;
  bool exported = false;
  std::map<uint32_t, event*> slots;  // live events by index
};

struct graph : object {
  graph() : object(object_kind::graph) {}
  uint64_t primary_list = 0;
  bool capturing = false;
  bool paused = false;  // while capturing: commands run as if there were no capture
  call_number begun = no_call;
};

// Where a counter-based event's counter lives.
enum class counter_storage : uint8_t { own, external, aggregate };

enum class event_role : uint8_t { signals, resets, waits };

struct event_use {
  ref<run> who;
  event_role role;
};

struct event : object, recycled<event> {
  event() : object(object_kind::event) {}
  ref<context> owner;
  ref<event_pool> pool;  // null for events without one
  uint32_t index = 0;
  uint64_t device = 0;  // counter-based: of creation, then of the last signal
  uint32_t signal_scope = 0;
  uint32_t wait_scope = 0;
  bool counter_based = false;
  uint32_t counter_flags = 0;
  counter_storage storage = counter_storage::own;
  uint64_t storage_address = 0;  // of the device
  uint64_t storage_increment = 0;
  uint64_t storage_value = 0;
  bool imported = false;
  bool exported = false;
  bool host_visible = true;
  bool timestamps = false;
  bool mapped_timestamps = false;

  // Someone who is not in the recording signals it: what it says about order is not known.
  bool foreign = false;

  // Regular: who signalled it since it was last reset.
  std::vector<ref<run>> signals;
  call_number host_signal = no_call;  // zeEventHostSignal since the last reset
  call_number last_reset = no_call;
  // Regular: commands that signal, reset or wait for it and may be under way.
  std::vector<event_use> uses;
  // Counter-based: the last append that signals it. An aggregate event: all of them.
  ref<command> last_signal;
  std::vector<ref<command>> aggregated;
  // Streams whose next command waits for it.
  std::vector<ref<stream>> parked;
  // Signalled last by a command that was captured, not submitted.
  ref<graph> captured;

  bool signalled() const { return !signals.empty() || host_signal != no_call; }
};

struct executable_graph : object {
  executable_graph() : object(object_kind::executable_graph) {}
  ref<graph> source;
};

// A command that may be changed once its list is closed, as it was appended.
struct identified_command {
  size_t place = 0;  // in the list
  ref<event> signal;
  std::vector<ref<event>> waits;
};

struct command_list : object {
  command_list() : object(object_kind::command_list) {}
  ref<context> owner;
  uint64_t device = 0;
  uint32_t ordinal = 0;
  uint32_t flags = 0;  // of the list, or of the queue behind an immediate list
  bool immediate = false;
  bool in_order = false;
  bool relaxed = false;
  bool synchronous = false;
  bool closed = false;
  bool modifiable = false;        // a mutable list
  call_number updated = no_call;  // mutable: changed and not closed since

  // Regular: what was appended. Immediate: nothing, for each command runs at once.
  std::vector<ref<command>> commands;
  std::map<uint64_t, identified_command> identified;  // mutable: by id
  std::vector<uint64_t> next_ids;                     // ids given out for the next append

  ref<stream> own;  // immediate

  // Regular: the execution that may still be under way.
  ref<stream> executed_on;
  position first_run = 0, last_run = 0;
  call_number executed = no_call;
  uint32_t executions = 0;

  ref<graph> capture;  // what is appended goes there
  bool is_capturing() const { return capture && !capture->paused; }
};

struct command_queue : object {
  command_queue() : object(object_kind::command_queue) {}
  ref<context> owner;
  uint64_t device = 0;
  uint32_t ordinal = 0;
  uint32_t index = 0;
  uint32_t flags = 0;
  bool synchronous = false;
  ref<stream> own;
  uint32_t live_fences = 0;
};

struct fence : object {
  fence() : object(object_kind::fence) {}
  ref<command_queue> queue;
  position pending = 0;  // of the queue's stream: signalled when all up to here is complete
  call_number used = no_call;
};

enum class memory_kind : uint8_t { host, device, shared, imported };

struct allocation : object, recycled<allocation> {
  allocation() : object(object_kind::memory) {}
  uint64_t bytes = 0;
  memory_kind where = memory_kind::device;
  ref<context> owner;
  uint64_t device = 0;
  uint64_t end() const { return handle + bytes; }
};

struct module : object {
  module() :object(object_kind::module) {}
  ref<context> owner;
  std::map<std::string, std::vector<kernel_parameter>, std::less<>> kernels;
  uint32_t live_kernels = 0;
};

struct image : object {
  image() : object(object_kind::image) {}
  ref<context> owner;
  std::vector<ref<run>> uses;
};

struct kernel : object {
  kernel() : object(object_kind::kernel) {}
  struct pointer_argument {
    uint64_t value = 0;
    ref<allocation> target;   // null: not a pointer into known memory
    ref<model::image> image;  // null: not an image
    bool is_set = false;
  };
  ref<module> owner;
  std::string name;
  std::vector<pointer_argument> arguments;
  std::vector<kernel_parameter> parameters;  // empty: not known
  uint32_t parameter_count = 0;              // as the driver says; 0: not asked for
  bool all_set = false;                      // by a launch that came with all arguments
  std::vector<ref<run>> uses;                // that may be under way

  bool is_set(size_t argument_index) const {
    return all_set || (argument_index < arguments.size() && arguments[argument_index].is_set);
  }

  bool may_write(size_t argument_index) const {
    return argument_index >= parameters.size() || parameters[argument_index].may_write;
  }
};

struct sampler : object {
  sampler() : object(object_kind::sampler) {}
  ref<context> owner;
};

}  // namespace zevent::model
