#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/kernel_code.hpp"
#include "driver/object.hpp"

namespace zevent::driver {

// The values of a kernel's arguments, in memory aligned for any of them.
class argument_values {
 public:
  // A vector of sixteen 64-bit numbers is the largest thing that is loaded at once.
  static constexpr size_t alignment_bytes = 128;

  // Adds an argument that is passed by value (pointers are), all zero.
  void add_value(size_t size_bytes);
  // Adds an argument that is a pointer to local memory.
  void add_local(size_t size_bytes);

  size_t count() const { return slots_.size(); }
  void set_value(size_t argument, const void* bytes, size_t size_bytes);
  void set_local_size(size_t argument, size_t size_bytes);
  // Keeps what the value of an argument refers to, in place of what was kept for it.
  void keep(size_t argument, ref<object> needed);

  // All local memory that a group needs, with room for alignment.
  size_t local_bytes() const;

  // Fills in what a work-group function wants: `pointers` and `local_pointers` have count()
  // entries; `local_memory` has local_bytes().
  void bind(void** pointers, void** local_pointers, char* local_memory) const;

 private:
  struct slot {
    bool is_local;
    size_t offset;      // of a value, in values_
    size_t size_bytes;  // of a value or of local memory
  };
  struct alignas(alignment_bytes) line {
    std::array<std::byte, alignment_bytes> bytes;
  };

  std::vector<slot> slots_;
  std::vector<ref<object>> kept_;  // by argument; empty: nothing is
  std::vector<line> values_;
};

struct launch_options {
  bool uses_printf = false;
  bool flushes_denormals = false;
  uint32_t sub_group_size = 0;  // not 0: the kernel runs one work-item, and they meet
  size_t item_argument = 0;     // then: which argument is the pointer to the work-item
  bool is_cooperative = false;  // all groups run at the same time and may wait for one another
};

// Runs all groups of a launch and returns when they are done. Short launches run on the calling
// thread; when one takes longer, the other processors help.
//
// False where a cooperative launch cannot have as many threads as it has groups, or there is no
// memory for the stacks of work-items.
bool run_launch(kernel_code& code, const launch_shape& shape, const argument_values& arguments,
                const launch_options& options);

// The most groups that a cooperative launch may have.
uint32_t most_cooperative_groups();

}  // namespace zevent::driver
