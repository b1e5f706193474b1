#include "base/invariant.hpp"

#include <cstdio>
#include <cstdlib>

namespace zevent {

void broken_invariant(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "zevent: broken invariant at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace zevent
