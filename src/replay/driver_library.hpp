#pragma once

#include <string>
#include <vector>

#include "api/model.hpp"
#include "base/result.hpp"

namespace zevent::replay {

// A Level Zero driver, or a loader, whose functions are called directly. It stays loaded.
class driver_library {
 public:
  static result<driver_library> open(const std::string& path);

  // The function's address: the exported symbol, or its slot in the dispatch table that the library
  // fills in. Null when it has neither. `function` is one of the built-in model.
  void* find(const api::function& function);

  const std::string& path() const { return path_; }

 private:
  const std::vector<void*>& table(uint16_t index);

  std::string path_;
  void* library_ = nullptr;
  std::vector<std::vector<void*>> tables_;  // by table; empty: not asked for yet
};

}  // namespace zevent::replay
