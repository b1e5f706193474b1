#include "driver/engine_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <csignal>
#include <memory>
#include <utility>

#include "driver/chaos.hpp"

namespace zevent::driver {
namespace {

// The private memory of a work-group's items is on the stack. Only what is used takes memory.
constexpr size_t engine_stack_bytes = 64 << 20;

struct thread_start {
  const char* name;
  std::function<void()> body;
};

void* run_thread(void* argument) {
  const std::unique_ptr<thread_start> start(static_cast<thread_start*>(argument));
  pthread_setname_np(pthread_self(), start->name);
  // The short sleeps of chaos would each take 50 us longer: Linux's default slack of timers.
  if (has_chaos()) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  start->body();
  return nullptr;
}

}  // namespace

bool start_engine_thread(const char* name, std::function<void()> body) {
  auto start = std::make_unique<thread_start>(thread_start{name, std::move(body)});
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes{};
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, engine_stack_bytes);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, run_thread, start.get()) == 0;
  if (started) static_cast<void>(start.release());
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace zevent::driver
