// A program for `zevent record` to record. Its arguments are what it does, one after the other.

#include <level_zero/ze_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "event_program.hpp"
#include "support/other_thread.hpp"

namespace {

using zevent::recorder_test::event_program;

void make_calls(ze_event_handle_t event, int count) {
  for (int i = 0; i < count; ++i) zeEventQueryStatus(event);
}

void echo() {
  for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
  std::fflush(stdout);
}

void say(const char* word) {
  std::puts(word);
  std::fflush(stdout);
}

void wait_for_a_signal() {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    std::signal(number, [](int received) { std::_Exit(100 + received); });
  say("ready");
  while (true) usleep(10'000);
}

volatile std::sig_atomic_t interrupts = 0;

// Ends with the number of interrupts that came.
void count_interrupts() {
  std::signal(SIGINT, [](int) { interrupts = interrupts + 1; });
  say("ready");
  while (interrupts == 0) usleep(1000);  // it may come before one sleeps
  for (int i = 0; i < 30; ++i) usleep(10'000);
  std::_Exit(interrupts);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// `zevent record`, which started this program or the script that did.
int recording_process() {
  for (int process = getppid(); process > 1;) {
    const std::string stat = text_of("/proc/" + std::to_string(process) + "/stat");
    const size_t name = stat.find('('), name_end = stat.rfind(')');
    if (name_end == stat.npos || stat.substr(name + 1, name_end - name - 1) == "zevent")
      return process;
    process = std::atoi(stat.c_str() + name_end + 4);  // after ") S "
  }
  return 0;
}

// Until `zevent record` holds a descriptor of this process, and so sees how it ends.
void wait_until_watched() {
  const auto folder = "/proc/" + std::to_string(recording_process()) + "/fdinfo";
  const auto wanted = "\nPid:\t" + std::to_string(getpid()) + "\n";
  for (;; usleep(1000)) {
    std::error_code error;
    for (const auto& each : std::filesystem::directory_iterator(folder, error))
      if (text_of(each.path()).find(wanted) != std::string::npos) return;
  }
}

// Waits for an event that nobody signals; once it does, `then` is done on another thread.
void get_stuck(ze_event_handle_t event, void (*then)()) {
  std::thread watcher([then] {
    for (int asleep = 0; asleep < 20; usleep(5'000))
      asleep = zevent::test::state_of_thread(getpid()) == 'S' ? asleep + 1 : 0;
    then();
  });
  zeEventHostSynchronize(event, UINT64_MAX);
  watcher.join();
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
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer has its own
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
    if (deed == "tell") say("here");
    if (deed == "linger") usleep(300'000);
    if (deed == "watched") wait_until_watched();
    if (deed == "echo") echo();
    if (deed == "wait") wait_for_a_signal();
    if (deed == "count") count_interrupts();
    if (deed == "stuck") get_stuck(event, [] { say("stuck"); });
    if (deed == "stuck-crash") get_stuck(event, [] { kill(getpid(), SIGSEGV); });
    if (deed == "stuck-leave") get_stuck(event, [] { _exit(3); });
    if (deed == "abort") std::abort();
    if (deed == "kill") std::raise(SIGKILL);
    if (deed == "seven") return 7;
  }
  return 0;
}
