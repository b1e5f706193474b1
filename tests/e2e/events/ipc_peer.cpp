// The other process of the IPC tests. Its argument says what it does:
//
//   wait          receives a handle, opens it, waits
//   wait_twice    the same, then once more for the next signal of the same event
//   query         receives a handle, opens it, says whether it is signalled
//   take          takes the handle out of a mailbox in shared memory, opens it, waits
//   signal        receives a handle, opens it, signals the event from its own device
//   produce_die   makes an event, sends its handle, ends before it is signalled
#include <level_zero/ze_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "ipc_peer.hpp"
#include "zevent/ipc_event.hpp"
#include "zevent/ipc_transport.hpp"

namespace {

using namespace zevent;
using namespace std::chrono_literals;

ze_device_handle_t device;
ze_context_handle_t context;

void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) throw error(result, call);
}

void set_up() {
  ze_driver_handle_t driver = nullptr;
  uint32_t one = 1;
  check(zeInit(0), "zeInit");
  check(zeDriverGet(&one, &driver), "zeDriverGet");
  one = 1;
  check(zeDeviceGet(driver, &one, &device), "zeDeviceGet");
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  check(zeContextCreate(driver, &desc, &context), "zeContextCreate");
}

void say(char letter) {
  if (write(peer::socket_descriptor, &letter, 1) != 1) std::exit(2);
}

void await_go() {
  char letter = 0;
  if (read(peer::socket_descriptor, &letter, 1) != 1 || letter != peer::go_on) std::exit(2);
}

ipc_event open_and_say(const ipc_handle& handle) {
  try {
    ipc_event opened = ipc_event::open(context, handle);
    say(peer::opened);
    return opened;
  } catch (const error&) {
    say(peer::open_refused);
    std::exit(0);
  }
}

ipc_event receive_event() {
  return open_and_say(receive_ipc_handle(peer::socket_descriptor).handle());
}

void wait_and_say(const ipc_event& event) {
  try {
    say(event.wait(24h) ? peer::signalled : peer::timed_out);
  } catch (const error&) {
    say(peer::lost);
  }
}

void take_from_mailbox() {
  void* memory = mmap(nullptr, sizeof(ipc_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED,
                      peer::memory_descriptor, 0);
  ipc_handle handle;
  if (memory == MAP_FAILED || !static_cast<ipc_mailbox*>(memory)->take(handle, 24h)) std::exit(2);
  wait_and_say(open_and_say(handle));
}

ze_command_list_handle_t in_order_list() {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list = nullptr;
  check(zeCommandListCreateImmediate(context, device, &desc, &list),
        "zeCommandListCreateImmediate");
  return list;
}

void signal_from_here() {
  const ipc_event event = receive_event();
  ze_command_list_handle_t list = in_order_list();
  const bool appended = zeCommandListAppendSignalEvent(list, event.handle()) == ZE_RESULT_SUCCESS;
  check(zeCommandListHostSynchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
  say(appended ? peer::done : peer::refused);
  zeCommandListDestroy(list);
}

void produce_and_die() {
  const ipc_event event = ipc_event::create(context, device);
  const zevent::event never = zevent::event::create(context, device);
  ze_event_handle_t wait = never.handle();
  check(zeCommandListAppendBarrier(in_order_list(), event.handle(), 1, &wait),
        "zeCommandListAppendBarrier");
  send_ipc_handle(peer::socket_descriptor, event.export_handle());
  await_go();
  _exit(0);
}

void run(std::string_view role) {
  if (role == "wait") {
    wait_and_say(receive_event());
  } else if (role == "wait_twice") {
    const ipc_event event = receive_event();
    wait_and_say(event);
    await_go();
    wait_and_say(event);
  } else if (role == "query") {
    say(receive_event().ready() ? peer::signalled : peer::not_yet);
  } else if (role == "take") {
    take_from_mailbox();
  } else if (role == "signal") {
    signal_from_here();
  } else if (role == "produce_die") {
    produce_and_die();
  } else {
    std::exit(2);
  }
}

}  // namespace

int main(int, char** arguments) {
  try {
    set_up();
    run(arguments[1]);
    zeContextDestroy(context);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "ipc_peer %s: %s\n", arguments[1], failure.what());
    return 1;
  }
}
