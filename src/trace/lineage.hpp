#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/call.hpp"
#include "trace/run_info.hpp"

namespace zevent::trace {

// The processes that made one process what it is: itself, and those it was forked off, each as far
// as its calls had returned by then.
class lineage {
 public:
  struct member {
    uint32_t process = 0;            // index into the run's processes
    uint64_t until_ns = UINT64_MAX;  // since the first call of the run
  };

  lineage(const run_info& run, uint32_t process);

  // The process itself, its parent, and so on.
  std::span<const member> members() const { return members_; }
  std::span<const member> ancestors() const { return members().subspan(1); }
  bool includes(uint32_t process, uint64_t end_ns) const;
  // Whether the process has all that the call did.
  bool includes(uint32_t process, const call& made) const {
    return includes(process, made.returned() ? made.end_ns() : UINT64_MAX);
  }

 private:
  std::vector<member> members_;
};

}  // namespace zevent::trace
