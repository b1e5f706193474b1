// The driver's costs, each against the least that the machine takes for the same.

#include <dirent.h>
#include <level_zero/ze_api.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/futex.hpp"
#include "ratio.hpp"

namespace zevent::bench {
namespace {

constexpr uint64_t forever = UINT64_MAX;

void must(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  fmt::print(stderr, "driver_bench: {}: {:#x}\n", what, static_cast<unsigned>(result));
  std::exit(1);
}
#define MUST(call) must(call, #call)

struct level_zero {
  level_zero() {
    MUST(zeInit(0));
    uint32_t count = 1;
    MUST(zeDriverGet(&count, &driver));
    MUST(zeDeviceGet(driver, &count, &device));
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    MUST(zeContextCreate(driver, &desc, &context));
  }

  ze_command_list_handle_t in_order_list() const {
    ze_command_queue_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    ze_command_list_handle_t list = nullptr;
    MUST(zeCommandListCreateImmediate(context, device, &desc, &list));
    return list;
  }

  ze_event_pool_handle_t pool(uint32_t count, ze_event_pool_flags_t flags) const {
    const ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags, count};
    ze_event_pool_handle_t made = nullptr;
    MUST(zeEventPoolCreate(context, &desc, 0, nullptr, &made));
    return made;
  }

  static ze_event_handle_t event(ze_event_pool_handle_t from, uint32_t index) {
    ze_event_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    desc.index = index;
    desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    ze_event_handle_t made = nullptr;
    MUST(zeEventCreate(from, &desc, &made));
    return made;
  }

  ze_event_handle_t counter_event() const {
    ze_event_counter_based_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
    ze_event_handle_t made = nullptr;
    MUST(zeEventCounterBasedCreate(context, device, &desc, &made));
    return made;
  }

  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
};

// Two sides that wake each other through futexes, and do nothing else.
struct futex_pair {
  std::atomic<uint32_t> there{0};
  std::atomic<uint32_t> back{0};

  void round_trip(uint32_t round, futex_scope scope) {
    there.store(round, std::memory_order_release);
    futex_wake(there, scope, 1);
    wait_for(back, round, scope);
  }

  void answer(uint32_t round, futex_scope scope) {
    wait_for(there, round, scope);
    back.store(round, std::memory_order_release);
    futex_wake(back, scope, 1);
  }

  static void wait_for(const std::atomic<uint32_t>& word, uint32_t round, futex_scope scope) {
    for (uint32_t seen = word.load(std::memory_order_acquire); seen != round;
         seen = word.load(std::memory_order_acquire)) {
      futex_wait(word, seen, scope);
    }
  }
};

void copy_bandwidth(const level_zero& ze) {
  constexpr size_t bytes = size_t{256} << 20;
  const ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  void* from = nullptr;
  void* to = nullptr;
  MUST(zeMemAllocDevice(ze.context, &desc, bytes, 0, ze.device, &from));
  MUST(zeMemAllocDevice(ze.context, &desc, bytes, 0, ze.device, &to));
  std::memset(from, 1, bytes);
  std::memset(to, 2, bytes);
  const auto list = ze.in_order_list();
  const auto measured = compare(
      25, 1,
      [&] {
        MUST(zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr));
        MUST(zeCommandListHostSynchronize(list, forever));
      },
      [&] { std::memcpy(to, from, bytes); });
  print_row("copy of 256 MiB / memcpy", measured, "<= 1.05 (0.95 of the bandwidth)");
  MUST(zeCommandListDestroy(list));
  MUST(zeMemFree(ze.context, from));
  MUST(zeMemFree(ze.context, to));
}

void append_and_wait(const level_zero& ze) {
  constexpr uint32_t operations = 2000;
  const auto list = ze.in_order_list();
  const auto regular = level_zero::event(ze.pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE), 0);
  const auto counter = ze.counter_event();
  uint64_t from = 1;
  uint64_t to = 0;

  futex_pair pair;
  uint32_t next = 1;
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (uint32_t round = 1; !done; ++round) pair.answer(round, futex_scope::process);
  });
  const auto bare = [&] {
    for (uint32_t i = 0; i < operations; ++i) pair.round_trip(next++, futex_scope::process);
  };
  const auto with_regular = [&] {
    for (uint32_t i = 0; i < operations; ++i) {
      MUST(zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, regular, 0, nullptr));
      MUST(zeEventHostSynchronize(regular, forever));
      MUST(zeEventHostReset(regular));
    }
  };
  const auto with_counter = [&] {
    for (uint32_t i = 0; i < operations; ++i) {
      MUST(zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, counter, 0, nullptr));
      MUST(zeEventHostSynchronize(counter, forever));
    }
  };
  print_row("append + signal + wait / futex round trip",
            compare(15, operations, with_regular, bare), "<= 2");
  print_row("  the same with a counter-based event", compare(15, operations, with_counter, bare),
            "<= 2");
  done = true;
  pair.round_trip(next++, futex_scope::process);
  other.join();
  MUST(zeEventDestroy(counter));
  MUST(zeCommandListDestroy(list));
}

[[gnu::noinline]] ze_result_t load_only(ze_event_handle_t word) {
  const auto& value = *reinterpret_cast<std::atomic<uint64_t>*>(word);
  return value.load(std::memory_order_acquire) != 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

void query(const level_zero& ze) {
  constexpr uint64_t operations = 2'000'000;
  const auto regular = level_zero::event(ze.pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE), 0);
  const auto counter = ze.counter_event();
  std::atomic<uint64_t> value{0};
  // Through pointers, as both are called in real programs.
  ze_result_t (*volatile peer)(ze_event_handle_t) = load_only;
  ze_result_t (*volatile ours)(ze_event_handle_t) = zeEventQueryStatus;
  const auto loop = [](ze_result_t (*volatile & function)(ze_event_handle_t),
                       ze_event_handle_t handle) {
    const auto call = function;
    for (uint64_t i = 0; i < operations; ++i) {
      if (call(handle) == ZE_RESULT_ERROR_UNKNOWN) std::abort();
    }
  };
  const auto bare = [&] { loop(peer, reinterpret_cast<ze_event_handle_t>(&value)); };
  print_row("zeEventQueryStatus / an atomic load",
            compare(
                15, operations, [&] { loop(ours, regular); }, bare),
            "<= 2");
  print_row("  the same of a counter-based event",
            compare(
                15, operations, [&] { loop(ours, counter); }, bare),
            "-");
}

// The importer: answers every signal of event 0 with one of event 1, and futexes with futexes.
[[noreturn]] void answer_in_another_process(int handle_pipe, futex_pair& pair, uint32_t rounds,
                                            uint32_t operations) {
  ze_ipc_event_pool_handle_t handle;
  if (read(handle_pipe, &handle, sizeof handle) != sizeof handle) std::_Exit(1);
  const level_zero ze;
  ze_event_pool_handle_t pool = nullptr;
  MUST(zeEventPoolOpenIpcHandle(ze.context, handle, &pool));
  const auto there = level_zero::event(pool, 0);
  const auto back = level_zero::event(pool, 1);
  uint32_t next = 1;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t i = 0; i < operations; ++i) pair.answer(next++, futex_scope::shared);
    for (uint32_t i = 0; i < operations; ++i) {
      MUST(zeEventHostSynchronize(there, forever));
      MUST(zeEventHostReset(there));
      MUST(zeEventHostSignal(back));
    }
  }
  std::_Exit(0);
}

// Forks, and so comes before anything that starts threads.
void signal_between_processes() {
  constexpr uint32_t rounds = 15;
  constexpr uint32_t operations = 2000;
  auto* pair = new (mmap(nullptr, sizeof(futex_pair), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) futex_pair;
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t other = fork();
  if (other == 0) answer_in_another_process(ends[0], *pair, rounds, operations);

  const level_zero ze;
  const auto pool = ze.pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
  const auto there = level_zero::event(pool, 0);
  const auto back = level_zero::event(pool, 1);
  ze_ipc_event_pool_handle_t handle;
  MUST(zeEventPoolGetIpcHandle(pool, &handle));
  if (write(ends[1], &handle, sizeof handle) != sizeof handle) std::exit(1);
  uint32_t next = 1;
  const auto measured = compare(
      rounds, operations,
      [&] {
        for (uint32_t i = 0; i < operations; ++i) {
          MUST(zeEventHostSignal(there));
          MUST(zeEventHostSynchronize(back, forever));
          MUST(zeEventHostReset(back));
        }
      },
      [&] {
        for (uint32_t i = 0; i < operations; ++i) pair->round_trip(next++, futex_scope::shared);
      });
  print_row("signal -> wake between processes / futex round trip", measured, "<= 1.5");
  waitpid(other, nullptr, 0);
}

size_t count_entries(const char* folder) {
  size_t count = 0;
  DIR* opened = opendir(folder);
  while (opened != nullptr && readdir(opened) != nullptr) ++count;
  if (opened != nullptr) closedir(opened);
  return count;
}

size_t count_maps() {
  std::ifstream maps("/proc/self/maps");
  size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

void event_churn(const level_zero& ze) {
  constexpr uint32_t at_once = 1000;
  constexpr uint32_t total = 1'000'000;
  const auto list = ze.in_order_list();
  const auto churn = [&](uint32_t events) {
    for (uint32_t done = 0; done < events; done += at_once) {
      const auto pool = ze.pool(at_once, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
      std::vector<ze_event_handle_t> made;
      for (uint32_t i = 0; i < at_once; ++i) {
        made.push_back(level_zero::event(pool, i));
        MUST(zeCommandListAppendSignalEvent(list, made.back()));
      }
      MUST(zeEventHostSynchronize(made.back(), forever));
      MUST(zeCommandListHostSynchronize(list, forever));
      for (const auto each : made) MUST(zeEventDestroy(each));
      MUST(zeEventPoolDestroy(pool));
    }
  };
  churn(total / 10);
  const size_t descriptors = count_entries("/proc/self/fd");
  const size_t maps = count_maps();
  const size_t kib = resident_kib();
  const double ns = measure_ns([&] { churn(total); }, total);
  fmt::print("{:<52} {:>9.0f} ns each; {:+} KiB, {:+} maps, {:+} descriptors\n",
             "1,000,000 events created, used, destroyed", ns,
             static_cast<long>(resident_kib()) - static_cast<long>(kib),
             static_cast<long>(count_maps()) - static_cast<long>(maps),
             static_cast<long>(count_entries("/proc/self/fd")) - static_cast<long>(descriptors));
  MUST(zeCommandListDestroy(list));
}

}  // namespace
}  // namespace zevent::bench

int main() {
  using namespace zevent::bench;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  print_heading("software driver");
  signal_between_processes();
  const level_zero ze;
  copy_bandwidth(ze);
  append_and_wait(ze);
  query(ze);
  event_churn(ze);
}
