// Two threads append to one list, and nothing keeps them apart (EV-40); or, with the argument
// "locked", a lock does. Calls are short and pauses long, so that few of them overlap by
// themselves.

#include <level_zero/ze_api.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

namespace {

void must(ze_result_t result) {
  if (result != ZE_RESULT_SUCCESS) std::abort();
}

}  // namespace

int main(int argument_count, char** arguments) {
  constexpr int appends = 40;
  const bool is_locked = argument_count > 1 && std::string_view(arguments[1]) == "locked";
  uint32_t one = 1;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_command_list_handle_t list = nullptr;
  must(zeInit(0));
  must(zeDriverGet(&one, &driver));
  must(zeDeviceGet(driver, &one, &device));
  const ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  must(zeContextCreate(driver, &context_desc, &context));
  ze_command_queue_desc_t queue_desc{};
  queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  must(zeCommandListCreateImmediate(context, device, &queue_desc, &list));

  std::mutex mutex;  // guards the list, if it is used
  std::atomic<int> made[2] = {0, 0};
  const auto append = [&](int self) {
    while (made[self] < appends || made[1 - self] < appends) {
      {
        std::unique_lock lock(mutex, std::defer_lock);
        if (is_locked) lock.lock();
        must(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
      }
      ++made[self];
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  };
  std::thread other(append, 1);
  append(0);
  other.join();
  must(zeCommandListHostSynchronize(list, UINT64_MAX));
  must(zeCommandListDestroy(list));
  must(zeContextDestroy(context));
}
