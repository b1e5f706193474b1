#pragma once

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace zevent::test {

// The letter that ps shows for a thread of this process: S sleeps. 0 when there is no such thread.
inline char state_of_thread(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t end_of_name = line.rfind(')');  // the name may have parentheses itself
  return end_of_name + 2 < line.size() ? line[end_of_name + 2] : '\0';
}

// A thread that makes one call. The destructor waits until the call has returned.
class calling_thread {
 public:
  explicit calling_thread(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          id_ = gettid();
          call();
          has_returned_ = true;
        }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~calling_thread() {
    if (thread_.joinable()) thread_.join();
  }
  calling_thread(const calling_thread&) = delete;
  calling_thread& operator=(const calling_thread&) = delete;

  pid_t id() const { return id_; }
  bool has_returned() const { return has_returned_; }

  // Waits until the call sleeps, and goes on sleeping while others run; or returns, which is false.
  bool blocks() const {
    constexpr int enough_looks = 20;
    for (int asleep = 0; asleep < enough_looks; std::this_thread::yield()) {
      if (has_returned_) return false;
      asleep = state_of_thread(id_) == 'S' ? asleep + 1 : 0;
    }
    return !has_returned_;
  }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> has_returned_{false};
  std::thread thread_;
};

}  // namespace zevent::test
