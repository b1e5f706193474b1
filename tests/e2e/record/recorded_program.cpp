// A program for `zevent record` to record. Its arguments are what it does, one after the other.

#include <level_zero/ze_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "event_program.hpp"

namespace {

using zevent::recorder_test::event_program;

void make_calls(ze_event_handle_t event, int count) {
  for (int i = 0; i < count; ++i) zeEventQueryStatus(event);
}

void echo() {
  for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
  std::fflush(stdout);
}

void wait_for_a_signal() {
  std::signal(SIGTERM, [](int) { std::_Exit(33); });
  std::puts("ready");
  std::fflush(stdout);
  while (true) pause();
}

void fork_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    const event_program program;
    make_calls(program.create_event(0), 5);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const event_program program;
  const auto event = program.create_event(0);
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view deed = arguments[i];
    if (deed == "calls") make_calls(event, 1000);
    if (deed == "threads") {
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t) threads.emplace_back([&] { make_calls(event, 100); });
      for (auto& each : threads) each.join();
    }
    if (deed == "fork") fork_a_child();
    if (deed == "exec") {
      // The rest is the next program's to do.
      arguments[i] = arguments[0];
      execv("/proc/self/exe", arguments + i);
    }
    if (deed == "tell") {
      std::puts("here");
      std::fflush(stdout);
    }
    if (deed == "linger") usleep(300'000);
    if (deed == "echo") echo();
    if (deed == "wait") wait_for_a_signal();
    if (deed == "abort") std::abort();
    if (deed == "kill") std::raise(SIGKILL);
    if (deed == "seven") return 7;
  }
  return 0;
}
