#include "report/unfinished_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/invariant.hpp"

namespace zevent::report {
namespace {

// What the handler removes. The name is complete before it is stored and outlives it; the handler
// runs in this process only, so that the order of the program is enough.
std::atomic<const char*> removed_by_signal = nullptr;

// A second signal, as timeout(1) sends it, waits until this is done.
void remove_and_end(int number) {
  if (const char* path = removed_by_signal.load(std::memory_order_relaxed)) unlink(path);
  signal(number, SIG_DFL);
  raise(number);  // which it is when this returns
}

}  // namespace

unfinished_file::unfinished_file(std::string final_path)
    : final_path_(std::move(final_path)),
      path_(fmt::format("{}.{}.unfinished", final_path_, getpid())) {
  ZEVENT_INVARIANT(removed_by_signal.load(std::memory_order_relaxed) == nullptr);
  unlink(path_.c_str());
  removed_by_signal.store(path_.c_str(), std::memory_order_relaxed);
  struct sigaction removing {};
  removing.sa_handler = remove_and_end;
  for (const int each : signals) sigaddset(&removing.sa_mask, each);
  for (size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &removing, nullptr);
  }
}

unfinished_file::~unfinished_file() {
  unlink(path_.c_str());
  removed_by_signal.store(nullptr, std::memory_order_relaxed);
  for (size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

result<void> unfinished_file::finish() {
  if (std::rename(path_.c_str(), final_path_.c_str()) != 0)
    return fail("cannot write {}: {}", final_path_, std::strerror(errno));
  return {};
}

}  // namespace zevent::report
