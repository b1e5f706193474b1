// Events and memory between processes: two peers that are not related to each other, and handles
// that come as bytes or with their descriptor.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ipc_message.hpp"

namespace zevent::driver::test {
namespace {

// A process that does what it is asked.
class peer_process {
 public:
  explicit peer_process(const std::vector<std::string>& more_environment = {}) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    socket_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    std::vector<std::string> environment;
    for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
    environment.insert(environment.end(), more_environment.begin(), more_environment.end());
    std::vector<char*> pointers;
    for (auto& each : environment) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    std::string program = IPC_PEER;
    char* arguments[] = {program.data(), nullptr};
    EXPECT_EQ(
        posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, pointers.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }

  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;

  ~peer_process() {
    close(socket_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }

  void send(ask what, uint64_t argument = 0, const char* handle = nullptr, int descriptor = -1) {
    message asked;
    asked.what = what;
    asked.argument = argument;
    if (handle != nullptr) std::memcpy(asked.handle, handle, sizeof asked.handle);
    ASSERT_TRUE(send_message(socket_, asked, descriptor));
  }

  message receive() {
    message answer;
    int descriptor = -1;
    if (!receive_message(socket_, answer, descriptor)) answer.result = ZE_RESULT_ERROR_UNKNOWN;
    return answer;
  }

  message request(ask what, uint64_t argument = 0, const char* handle = nullptr,
                  int descriptor = -1) {
    send(what, argument, handle, descriptor);
    return receive();
  }

  ze_result_t result(ask what, uint64_t argument = 0, const char* handle = nullptr) {
    return request(what, argument, handle).result;
  }

  void kill() {
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

  pid_t id() const { return process_; }

 private:
  int socket_ = -1;
  pid_t process_ = -1;
};

TEST(shared_pools, are_opened_from_the_bytes_of_a_handle) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  ASSERT_EQ(user.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_event, 1), ZE_RESULT_NOT_READY);
  ASSERT_EQ(owner.result(ask::signal_event, 1), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_event, 1), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_event, 0), ZE_RESULT_NOT_READY);
  EXPECT_EQ(user.result(ask::close_pool), ZE_RESULT_SUCCESS);
}

TEST(shared_pools, are_opened_with_the_descriptor_that_was_sent) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  // What a client does that takes the first four bytes of the handle for a descriptor: here in the
  // middle, since the test is the one who has both sockets.
  int number = -1;
  std::memcpy(&number, exported.handle, sizeof number);
  const std::string path = "/proc/" + std::to_string(owner.id()) + "/fd/" + std::to_string(number);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(descriptor, 0) << "the handle starts with a real descriptor";
  ASSERT_EQ(user.request(ask::open_pool, 0, exported.handle, descriptor).result, ZE_RESULT_SUCCESS);
  close(descriptor);
  ASSERT_EQ(user.result(ask::signal_event, 2), ZE_RESULT_SUCCESS);
  EXPECT_EQ(owner.result(ask::wait_event, 2), ZE_RESULT_SUCCESS);
}

// The owner's descriptor as a socket would carry it: the same open file, with its position.
int carried_descriptor(const peer_process& owner, const message& exported) {
  int number = -1;
  std::memcpy(&number, exported.handle, sizeof number);
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, owner.id(), 0));
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_getfd, process, number, 0));
  close(process);
  return descriptor;
}

// Communication libraries send the descriptor and nothing else; the rest of their handle is
// whatever was in their memory.
TEST(shared_pools, are_opened_with_the_descriptor_alone) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  const int descriptor = carried_descriptor(owner, exported);
  ASSERT_GE(descriptor, 0);
  message garbage = exported;
  std::memset(garbage.handle, 0x5c, sizeof garbage.handle);
  EXPECT_NE(user.request(ask::open_counter, 0, garbage.handle, descriptor).result,
            ZE_RESULT_SUCCESS)
      << "a pool is no event";
  ASSERT_EQ(user.request(ask::open_pool, 0, garbage.handle, descriptor).result, ZE_RESULT_SUCCESS);
  close(descriptor);
  ASSERT_EQ(user.result(ask::signal_event, 2), ZE_RESULT_SUCCESS);
  EXPECT_EQ(owner.result(ask::wait_event, 2), ZE_RESULT_SUCCESS);
  EXPECT_NE(user.result(ask::open_pool, 0, garbage.handle), ZE_RESULT_SUCCESS);
}

TEST(shared_pools, wake_a_waiter_in_another_process) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(user.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
  for (const ask wait : {ask::wait_event, ask::device_wait}) {
    const uint64_t event = wait == ask::wait_event ? 0 : 1;
    user.send(wait, event);
    ASSERT_EQ(owner.result(ask::signal_event, event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(user.receive().result, ZE_RESULT_SUCCESS);
  }
}

TEST(shared_pools, of_a_process_that_died_are_lost_and_not_waited_for_forever) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(user.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
  user.send(ask::wait_event, 0);
  owner.kill();
  EXPECT_EQ(user.receive().result, ZE_RESULT_ERROR_DEVICE_LOST);
}

// What the process is told that asks again and again, instead of waiting.
ze_result_t ask_until_ready(peer_process& user, ask query) {
  for (;;) {
    const ze_result_t answer = user.result(query);
    if (answer != ZE_RESULT_NOT_READY) return answer;
    usleep(1000);
  }
}

TEST(shared_pools, of_a_process_that_died_are_told_to_be_lost_when_asked_for) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(user.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_event), ZE_RESULT_NOT_READY);
  owner.kill();
  EXPECT_EQ(ask_until_ready(user, ask::query_event), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(user.result(ask::query_event), ZE_RESULT_ERROR_DEVICE_LOST) << "and stay so";
}

TEST(shared_pools, of_a_process_that_died_end_a_command_that_waits) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(user.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
  user.send(ask::device_wait, 0);
  owner.kill();
  EXPECT_EQ(user.receive().result, ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST(shared_pools, of_a_process_that_died_cannot_be_opened) {
  peer_process user;
  message exported;
  {
    peer_process owner;
    exported = owner.request(ask::create_pool);
    ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  }
  EXPECT_NE(user.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
}

TEST(shared_pools, cannot_be_opened_from_garbage) {
  peer_process owner;
  peer_process user;
  message handle = owner.request(ask::create_pool);
  for (size_t byte = 4; byte < sizeof handle.handle; ++byte) {
    handle.handle[byte] = static_cast<char>(handle.handle[byte] ^ 0x10);
    EXPECT_NE(user.result(ask::open_pool, 0, handle.handle), ZE_RESULT_SUCCESS) << "byte " << byte;
    handle.handle[byte] = static_cast<char>(handle.handle[byte] ^ 0x10);
  }
  EXPECT_NE(user.result(ask::open_counter, 0, handle.handle), ZE_RESULT_SUCCESS)
      << "a pool is no event";
  EXPECT_EQ(user.result(ask::open_pool, 0, handle.handle), ZE_RESULT_SUCCESS);
}

TEST(shared_pools, of_another_user_cannot_be_opened) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a process of another user";
  peer_process owner;
  peer_process stranger({"IPC_PEER_USER=65534"});
  const message exported = owner.request(ask::create_pool);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  EXPECT_NE(stranger.result(ask::open_pool, 0, exported.handle), ZE_RESULT_SUCCESS);
}

// Opens and closes in another process, 10,000 times.
void expect_nothing_is_left(ask create, ask get_handle, ask reopen) {
  peer_process owner;
  peer_process user;
  message exported = owner.request(create, 100);
  if (get_handle != create) exported = owner.request(get_handle);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  ASSERT_EQ(user.result(reopen, 1, exported.handle), ZE_RESULT_SUCCESS);
  const uint64_t descriptors = user.request(ask::count_descriptors).argument;
  const uint64_t owners_descriptors = owner.request(ask::count_descriptors).argument;
  const uint64_t maps = user.request(ask::count_maps).argument;
  ASSERT_EQ(user.result(reopen, 10'000, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.request(ask::count_descriptors).argument, descriptors);
  EXPECT_EQ(owner.request(ask::count_descriptors).argument, owners_descriptors);
  EXPECT_LE(user.request(ask::count_maps).argument, maps + 2);
  EXPECT_EQ(user.request(ask::count_shared_files).argument, 0u);
}

TEST(shared_pools, opened_and_closed_many_times_leave_nothing_behind) {
  expect_nothing_is_left(ask::create_pool, ask::create_pool, ask::reopen_pool);
}

TEST(shared_counter_events, opened_and_closed_many_times_leave_nothing_behind) {
  expect_nothing_is_left(ask::create_counter, ask::export_counter, ask::reopen_counter);
}

TEST(shared_memory, opened_and_closed_many_times_leaves_nothing_behind) {
  expect_nothing_is_left(ask::create_memory, ask::create_memory, ask::reopen_memory);
}

TEST(shared_counter_events, are_waited_for_in_another_process) {
  peer_process owner;
  peer_process user;
  ASSERT_EQ(owner.result(ask::create_counter), ZE_RESULT_SUCCESS);
  ASSERT_EQ(owner.result(ask::append_signal), ZE_RESULT_SUCCESS);
  const message exported = owner.request(ask::export_counter);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  ASSERT_EQ(user.result(ask::open_counter, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_counter), ZE_RESULT_NOT_READY);
  user.send(ask::wait_counter);
  ASSERT_EQ(owner.result(ask::open_gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.receive().result, ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::close_counter), ZE_RESULT_SUCCESS);
}

TEST(shared_counter_events, two_way_are_signalled_by_whoever_opened_them) {
  peer_process owner;
  peer_process user;
  ASSERT_EQ(owner.result(ask::create_counter), ZE_RESULT_SUCCESS);
  const message exported = owner.request(ask::export_counter);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS) << "two-way: need not be signalled yet";
  ASSERT_EQ(user.result(ask::open_counter, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_counter), ZE_RESULT_SUCCESS) << "complete from creation";
  ASSERT_EQ(user.result(ask::append_signal), ZE_RESULT_SUCCESS);
  EXPECT_EQ(owner.result(ask::query_counter), ZE_RESULT_NOT_READY);
  owner.send(ask::wait_counter);
  ASSERT_EQ(user.result(ask::open_gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(owner.receive().result, ZE_RESULT_SUCCESS);
}

TEST(shared_counter_events, one_way_are_exported_when_signalled_and_only_waited_for) {
  const std::vector<std::string> one_way = {"ZEVENT_IPC_EVENTS=one-way"};
  peer_process owner(one_way);
  peer_process user(one_way);
  ASSERT_EQ(owner.result(ask::create_counter), ZE_RESULT_SUCCESS);
  EXPECT_EQ(owner.result(ask::export_counter), ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "not signalled yet";
  ASSERT_EQ(owner.result(ask::append_signal), ZE_RESULT_SUCCESS);
  const message exported = owner.request(ask::export_counter);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  ASSERT_EQ(user.result(ask::open_counter, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::append_signal), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(owner.result(ask::open_gate), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::wait_counter), ZE_RESULT_SUCCESS);
  ASSERT_EQ(owner.result(ask::append_signal), ZE_RESULT_SUCCESS);
  EXPECT_EQ(user.result(ask::query_counter), ZE_RESULT_SUCCESS)
      << "stands for the signal that was exported";
}

// An event that the owner has yet to signal.
void share_pending_counter(peer_process& owner, peer_process& user) {
  ASSERT_EQ(owner.result(ask::create_counter), ZE_RESULT_SUCCESS);
  ASSERT_EQ(owner.result(ask::append_signal), ZE_RESULT_SUCCESS);
  const message exported = owner.request(ask::export_counter);
  ASSERT_EQ(user.result(ask::open_counter, 0, exported.handle), ZE_RESULT_SUCCESS);
}

TEST(shared_counter_events, of_a_process_that_died_are_told_to_be_lost_when_asked_for) {
  peer_process owner;
  peer_process user;
  ASSERT_NO_FATAL_FAILURE(share_pending_counter(owner, user));
  EXPECT_EQ(user.result(ask::query_counter), ZE_RESULT_NOT_READY);
  owner.kill();
  EXPECT_EQ(ask_until_ready(user, ask::query_counter), ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST(shared_counter_events, of_a_process_that_died_are_lost) {
  peer_process owner;
  peer_process user;
  ASSERT_NO_FATAL_FAILURE(share_pending_counter(owner, user));
  user.send(ask::wait_counter);
  owner.kill();
  EXPECT_EQ(user.receive().result, ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST(shared_memory, is_the_same_in_both_processes) {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4097}, uint64_t{1} << 20}) {
    peer_process owner;
    peer_process user;
    const message exported = owner.request(ask::create_memory, bytes);
    ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
    const message opened = user.request(ask::open_memory, 0, exported.handle);
    ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS);
    EXPECT_EQ(opened.argument, 0x5au);
    EXPECT_EQ(owner.request(ask::read_memory).argument, 0xa5u);
    EXPECT_EQ(user.result(ask::close_memory), ZE_RESULT_SUCCESS);
    EXPECT_EQ(owner.result(ask::put_memory, 0, exported.handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(owner.result(ask::put_memory, 0, exported.handle), ZE_RESULT_SUCCESS)
        << "once more is no harm";
  }
}

TEST(shared_memory, is_opened_with_the_descriptor_alone_until_it_is_given_back) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_memory, 4097);
  ASSERT_EQ(exported.result, ZE_RESULT_SUCCESS);
  const int descriptor = carried_descriptor(owner, exported);
  ASSERT_GE(descriptor, 0);
  message garbage = exported;
  std::memset(garbage.handle, 0x5c, sizeof garbage.handle);
  const message opened = user.request(ask::open_memory, 0, garbage.handle, descriptor);
  ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS);
  EXPECT_EQ(opened.argument, 0x5au);
  EXPECT_EQ(owner.request(ask::read_memory).argument, 0xa5u);
  EXPECT_EQ(user.result(ask::close_memory), ZE_RESULT_SUCCESS);
  EXPECT_EQ(owner.result(ask::put_memory, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_NE(user.request(ask::open_memory, 0, garbage.handle, descriptor).result,
            ZE_RESULT_SUCCESS);
  close(descriptor);
}

TEST(shared_memory, of_a_handle_that_was_given_back_cannot_be_opened) {
  peer_process owner;
  peer_process user;
  const message exported = owner.request(ask::create_memory, 100);
  ASSERT_EQ(owner.result(ask::put_memory, 0, exported.handle), ZE_RESULT_SUCCESS);
  EXPECT_NE(user.result(ask::open_memory, 0, exported.handle), ZE_RESULT_SUCCESS);
}

TEST(shared_memory, exported_and_destroyed_many_times_leaves_nothing_behind) {
  peer_process owner;
  ASSERT_EQ(owner.result(ask::create_memory, 100), ZE_RESULT_SUCCESS);
  ASSERT_EQ(owner.result(ask::create_pool), ZE_RESULT_SUCCESS);
  ASSERT_EQ(owner.result(ask::destroy_all), ZE_RESULT_SUCCESS);
  const uint64_t descriptors = owner.request(ask::count_descriptors).argument;
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(owner.result(ask::create_memory, 100), ZE_RESULT_SUCCESS);
    ASSERT_EQ(owner.result(ask::create_pool), ZE_RESULT_SUCCESS);
    ASSERT_EQ(owner.result(ask::destroy_all), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(owner.request(ask::count_descriptors).argument, descriptors);
}

}  // namespace
}  // namespace zevent::driver::test
