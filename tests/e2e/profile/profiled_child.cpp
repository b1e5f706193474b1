#include "profiled_child.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "trace/pack.hpp"

namespace zevent::profile_test {

void findings::add(uint64_t value) {
  if (place_->count < most) place_->values[place_->count++] = value;
}

void findings::add_bytes(const void* bytes, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  add(hash);
}

void findings::executed(uint64_t commands) {
  std::atomic_ref(place_->executed).fetch_add(commands);
}

ProfiledChild::outcome ProfiledChild::run(const program& what, bool profiled,
                                          const settings& environment) {
  auto* place =
      static_cast<findings::shared*>(mmap(nullptr, sizeof(findings::shared), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const std::string output = folder_ + "/" + std::to_string(runs_++) + ".zev";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("ZEVENT_RECORD", output.c_str(), 1);
    setenv("ZEVENT_RECORD_MEMORY", "off", 1);
    setenv("ZEVENT_PROFILE", profiled ? "1" : "", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    findings found(place);
    what(found);
    std::exit(0);
  }
  outcome end;
  while (waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
  }
  end.executed = place->executed;
  end.values.assign(place->values, place->values + place->count);
  munmap(place, sizeof(findings::shared));
  if (!profiled) return end;

  trace_.reset();
  const auto packed = trace::pack_recording(output + recording::parts_suffix, output);
  EXPECT_TRUE(packed) << packed.error().message;
  if (!packed) return end;
  EXPECT_EQ(packed->damage, std::vector<std::string>());
  auto opened = trace::trace_file::open(output);
  EXPECT_TRUE(opened) << opened.error().message;
  if (opened) trace_ = std::make_unique<trace::trace_file>(std::move(*opened));
  return end;
}

void ProfiledChild::expect_unchanged(const program& what, const settings& environment) {
  const auto plain = run(what, false, environment);
  EXPECT_EQ(plain.status, 0) << "without the profiler";
  const auto profiled = run(what, true, environment);
  EXPECT_EQ(profiled.status, 0) << "with the profiler";
  EXPECT_EQ(plain.values, profiled.values);
  EXPECT_EQ(times().size(), profiled.executed);
  EXPECT_EQ(untimed(), 0u);
}

void ProfiledChild::expect_all_timed(const program& what, const settings& environment) {
  const auto profiled = run(what, true, environment);
  EXPECT_EQ(profiled.status, 0);
  EXPECT_EQ(times().size(), profiled.executed);
  EXPECT_EQ(untimed(), 0u);
}

const trace::trace_file& ProfiledChild::trace() {
  return *trace_;
}

std::vector<trace::device_time> ProfiledChild::times() {
  if (!trace_) return {};
  auto all = trace_->device_times();
  EXPECT_TRUE(all);
  return all ? *all : std::vector<trace::device_time>();
}

uint64_t ProfiledChild::untimed() {
  uint64_t count = 0;
  if (!trace_) return 0;
  for (const auto& process : trace_->run().processes)
    for (const auto& [name, value] : process.counters)
      if (name == "commands not timed") count += value;
  return count;
}

std::map<std::string, uint64_t> ProfiledChild::times_by_function() {
  std::map<uint64_t, uint64_t> by_call;
  for (const auto& each : times()) ++by_call[number_of(each.call)];
  std::map<std::string, uint64_t> by_function;
  trace::call_reader reader(*trace_);
  while (const auto* call = reader.next())
    if (const auto found = by_call.find(number_of(call->number)); found != by_call.end())
      by_function[std::string(trace_->function(*call).name)] += found->second;
  return by_function;
}

void device_program::check(ze_result_t result) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::fprintf(stderr, "a call failed with %#x\n", static_cast<unsigned>(result));
  std::_Exit(99);
}

device_program::device_program() {
  check(zeInit(0));
  uint32_t count = 1;
  check(zeDriverGet(&count, &driver));
  count = 1;
  check(zeDeviceGet(driver, &count, &device));
  context = new_context();
}

ze_context_handle_t device_program::new_context() const {
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t made = nullptr;
  check(zeContextCreate(driver, &desc, &made));
  return made;
}

ze_event_pool_handle_t device_program::pool(uint32_t count, ze_event_pool_flags_t flags) const {
  const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                  ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags, count};
  ze_event_pool_handle_t made = nullptr;
  check(zeEventPoolCreate(context, &desc, 0, nullptr, &made));
  return made;
}

ze_event_handle_t device_program::event(ze_event_pool_handle_t pool, uint32_t index) {
  const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
  ze_event_handle_t made = nullptr;
  check(zeEventCreate(pool, &desc, &made));
  return made;
}

ze_event_handle_t device_program::counter_event(ze_event_counter_based_flags_t flags) const {
  const ze_event_counter_based_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, nullptr,
                                           flags, ZE_EVENT_SCOPE_FLAG_HOST,
                                           ZE_EVENT_SCOPE_FLAG_DEVICE};
  ze_event_handle_t made = nullptr;
  check(zeEventCounterBasedCreate(context, device, &desc, &made));
  return made;
}

ze_command_list_handle_t device_program::immediate(ze_command_queue_flags_t flags,
                                                   ze_context_handle_t in) const {
  const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     nullptr,
                                     0,
                                     0,
                                     flags,
                                     ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t made = nullptr;
  check(zeCommandListCreateImmediate(in != nullptr ? in : context, device, &desc, &made));
  return made;
}

ze_command_list_handle_t device_program::regular(ze_command_list_flags_t flags,
                                                 ze_context_handle_t in) const {
  const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, flags};
  ze_command_list_handle_t made = nullptr;
  check(zeCommandListCreate(in != nullptr ? in : context, device, &desc, &made));
  return made;
}

ze_command_queue_handle_t device_program::queue(ze_context_handle_t in) const {
  const ze_command_queue_desc_t desc{
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t made = nullptr;
  check(zeCommandQueueCreate(in != nullptr ? in : context, device, &desc, &made));
  return made;
}

void* device_program::memory(size_t bytes, ze_context_handle_t in) const {
  const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                             0};
  const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* made = nullptr;
  check(zeMemAllocShared(in != nullptr ? in : context, &on_device, &on_host, bytes, 64, device,
                         &made));
  std::memset(made, 0, bytes);
  return made;
}

}  // namespace zevent::profile_test
