#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "small_program.hpp"

// Programs of two processes that share events or memory, or of which one has what the other one
// made.
namespace small_programs {
namespace {

// What the processes have in common besides Level Zero.
struct notes {
  std::atomic<uint32_t> step;
  int sockets[2];  // of the parent and of the child
  ze_ipc_event_pool_handle_t pool;
  ze_ipc_event_counter_based_handle_t counter;
  ze_ipc_mem_handle_t memory;

  void reach(uint32_t number) { step.store(number, std::memory_order_release); }
  void wait_for(uint32_t number) const {
    while (step.load(std::memory_order_acquire) < number) usleep(200);
  }
};

// When one of the processes fails, the other has nothing to wait for.
pid_t other_process = 0;

void end_with_the_other(int) {
  const int interrupted = errno;
  siginfo_t how{};
  const bool ended =
      waitid(P_PID, static_cast<id_t>(other_process), &how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      how.si_pid == other_process;
  if (ended && (how.si_code != CLD_EXITED || how.si_status != 0)) _exit(3);
  errno = interrupted;
}

// Level Zero is not touched before the fork, unless the caller has done so.
template <typename Parent, typename Child>  // void(notes&)
void in_two_processes(const Parent& parent, const Child& child) {
  auto* common = static_cast<notes*>(
      mmap(nullptr, sizeof(notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (common == MAP_FAILED) exit_once(3);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, common->sockets) != 0) exit_once(3);
  other_process = fork();
  if (other_process < 0) exit_once(3);
  if (other_process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    child(*common);
    exit_once(0);
  }
  std::signal(SIGCHLD, end_with_the_other);
  end_with_the_other(SIGCHLD);  // it may be too late for the signal
  parent(*common);
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(other_process, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended != other_process || status != 0) exit_once(3);
}

// The file descriptor in the first four bytes of a handle on its way to another process.
struct descriptor_message {
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};

  descriptor_message() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
  void* place() { return CMSG_DATA(reinterpret_cast<cmsghdr*>(control)); }
};

void send_descriptor(int socket, const void* handle) {
  descriptor_message message;
  auto* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(message.place(), handle, sizeof(int));
  if (sendmsg(socket, &message.header, 0) != 1) exit_once(3);
}

// The number it has here, which is not the one that it has there, takes its place.
void receive_descriptor(int socket, void* handle) {
  descriptor_message message;
  if (recvmsg(socket, &message.header, 0) != 1) exit_once(3);
  int descriptor = -1;
  std::memcpy(&descriptor, message.place(), sizeof(descriptor));
  descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 200);
  std::memcpy(handle, &descriptor, sizeof(descriptor));
}

constexpr ze_event_pool_flags_t shared_pool =
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC;

// The owner's device signals one event, the other's host the next one.
void pool_of_the_parent() {
  in_two_processes(
      [](notes& common) {
        const machine m;
        const auto pool = m.pool(2, shared_pool);
        const auto there = event(pool), back = event(pool, 1);
        MUST(zeEventPoolGetIpcHandle(pool, &common.pool));
        common.reach(1);
        const auto list = m.immediate();
        fill(list, m.shared_memory(), 2, page, there);
        wait(back);
        finish(list);
        common.wait_for(2);
        MUST(zeEventPoolPutIpcHandle(m.context, common.pool));
      },
      [](notes& common) {
        common.wait_for(1);
        const machine m;
        ze_event_pool_handle_t pool = nullptr;
        MUST(zeEventPoolOpenIpcHandle(m.context, common.pool, &pool));
        const auto there = event(pool), back = event(pool, 1);
        wait(there);
        MUST(zeEventHostSignal(back));
        MUST(zeEventDestroy(there));
        MUST(zeEventDestroy(back));
        MUST(zeEventPoolCloseIpcHandle(pool));
        common.reach(2);
      });
}

// A command of the child waits for the parent, on two threads each. The handle's descriptor is
// sent.
void pool_of_the_child() {
  in_two_processes(
      [](notes& common) {
        const machine m;
        common.wait_for(1);
        ze_ipc_event_pool_handle_t handle = common.pool;
        receive_descriptor(common.sockets[0], &handle);
        ze_event_pool_handle_t pool = nullptr;
        MUST(zeEventPoolOpenIpcHandle(m.context, handle, &pool));
        const auto go = event(pool), done = event(pool, 1);
        std::thread waits([&] { wait(done); });
        MUST(zeEventHostSignal(go));
        waits.join();
        MUST(zeEventHostReset(go));
        common.reach(2);
      },
      [](notes& common) {
        const machine m;
        const auto pool = m.pool(2, shared_pool);
        const auto go = event(pool), done = event(pool, 1);
        const auto list = m.immediate();
        fill(list, m.shared_memory(), 7, page, done, {go});
        MUST(zeEventPoolGetIpcHandle(pool, &common.pool));
        send_descriptor(common.sockets[1], &common.pool);
        common.reach(1);
        std::thread waits([&] { finish(list); });
        waits.join();
        wait(done);
        common.wait_for(2);
      });
}

void counter_event_of_the_parent() {
  in_two_processes(
      [](notes& common) {
        const machine m;
        const auto done = m.counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IPC);
        const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
        char* memory = m.shared_memory(64 * page);
        fill(list, memory, 4, 64 * page, done);
        MUST(zeEventCounterBasedGetIpcHandle(done, &common.counter));
        common.reach(1);
        finish(list);
        common.wait_for(2);
      },
      [](notes& common) {
        const machine m;
        common.wait_for(1);
        ze_event_handle_t done = nullptr;
        MUST(zeEventCounterBasedOpenIpcHandle(m.context, common.counter, &done));
        const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
        fill(list, m.shared_memory(), 5, page, nullptr, {done});
        wait(done);
        finish(list);
        MUST(zeEventCounterBasedCloseIpcHandle(done));
        common.reach(2);
      });
}

// The child's memory, filled by the parent and read by the child when the parent's event says so.
void memory_of_the_child() {
  in_two_processes(
      [](notes& common) {
        const machine m;
        common.wait_for(1);
        ze_event_pool_handle_t pool = nullptr;
        MUST(zeEventPoolOpenIpcHandle(m.context, common.pool, &pool));
        const auto filled = event(pool);
        void* memory = nullptr;
        MUST(zeMemOpenIpcHandle(m.context, m.device, common.memory, 0, &memory));
        const auto list = m.immediate();
        fill(list, memory, 0x55, page, filled);
        finish(list);
        MUST(zeMemCloseIpcHandle(m.context, memory));
        common.wait_for(2);
      },
      [](notes& common) {
        const machine m;
        char* memory = m.device_memory();
        const auto pool = m.pool(1, shared_pool);
        const auto filled = event(pool);
        const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
        char* result = m.host_memory();
        MUST(zeMemGetIpcHandle(m.context, memory, &common.memory));
        MUST(zeEventPoolGetIpcHandle(pool, &common.pool));
        copy(list, result, memory, page, nullptr, {filled});
        common.reach(1);
        finish(list);
        if (result[0] != 0x55) exit_once(3);
        MUST(zeMemPutIpcHandle(m.context, common.memory));
        common.reach(2);
      });
}

// All that a device can be asked for from a new context on: the child has to find nothing.
void work_on(const machine& m) {
  const auto pool = m.pool(2);
  const auto filled = event(pool), copied = event(pool, 1);
  const auto list = m.immediate();
  char* shared = m.shared_memory();
  char* host = m.host_memory();
  fill(list, shared, 0x5a5a5a5a, page, filled);
  copy(list, host, shared, page, copied, {filled});
  wait(copied);
  if (host[page - 1] != 0x5a) exit_once(3);
  MUST(zeEventDestroy(filled));
  MUST(zeEventDestroy(copied));
  MUST(zeEventPoolDestroy(pool));
  MUST(zeCommandListDestroy(list));
}

// The driver of a process that was initialised before it was forked off.
machine without_init() {
  machine m(machine::not_yet);
  uint32_t count = 1;
  MUST(zeDriverGet(&count, &m.driver));
  count = 1;
  MUST(zeDeviceGet(m.driver, &count, &m.device));
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(m.driver, &desc, &m.context));
  return m;
}

// A second zeInit of the child does not come so far where a loader swallows it. This one makes
// none.
void child_without_init() {
  const machine m;
  work_on(m);
  in_two_processes([&](notes&) { work_on(m); }, [](notes&) { work_on(without_init()); });
}

void child_of_an_idle_parent() {
  MUST(zeInit(0));
  in_two_processes([](notes&) {}, [](notes&) { work_on(without_init()); });
}

void child_that_initialises_again() {
  const machine m;
  in_two_processes([](notes&) {}, [](notes&) { work_on(machine()); });
}

// The child goes on with what the parent had made, while the parent takes its own apart.
void child_with_objects_of_the_parent() {
  const machine m;
  const auto pool = m.pool(2);
  const auto first = event(pool), second = event(pool, 1);
  const auto list = m.immediate();
  char* shared = m.shared_memory();
  char* host = m.host_memory();
  fill(list, shared, 0x11, page, first);
  wait(first);
  in_two_processes(
      [&](notes& common) {
        common.wait_for(1);
        MUST(zeEventDestroy(first));
        MUST(zeEventDestroy(second));
        MUST(zeEventPoolDestroy(pool));
        MUST(zeMemFree(m.context, host));
        common.reach(2);
      },
      [&](notes& common) {
        common.reach(1);
        common.wait_for(2);
        MUST(zeEventQueryStatus(first));
        copy(m.immediate(), host, shared, page, second, {first});
        wait(second);
        if (host[0] != 0x11) exit_once(3);
        MUST(zeEventDestroy(second));
        MUST(zeMemFree(m.context, host));
        work_on(m);
      });
}

constexpr program programs[] = {
    {"pool_of_the_parent", pool_of_the_parent},
    {"pool_of_the_child", pool_of_the_child},
    {"counter_event_of_the_parent", counter_event_of_the_parent},
    {"memory_of_the_child", memory_of_the_child},
    {"child_without_init", child_without_init},
    {"child_of_an_idle_parent", child_of_an_idle_parent},
    {"child_that_initialises_again", child_that_initialises_again},
    {"child_with_objects_of_the_parent", child_with_objects_of_the_parent},
};

}  // namespace

std::span<const program> process_programs() {
  return programs;
}

}  // namespace small_programs
