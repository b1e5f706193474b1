#pragma once

#include <dlfcn.h>

namespace zevent::launch {

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace zevent::launch
