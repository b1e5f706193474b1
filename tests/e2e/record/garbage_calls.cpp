// Makes every call of the API with arguments that make no sense, each line of its output a result:
//
//   garbage_calls KIND [INDEX...]     but for the calls of these indices
//
// The calls are made by a worker process; when one of them ends it by a signal, another goes on
// behind it.
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/model.hpp"

namespace {

using namespace zevent;

constexpr size_t max_functions = 2048, max_arguments = 16;
constexpr unsigned hang_seconds = 20;
constexpr size_t buffer_bytes = 1 << 16;

enum class pointers { null, one, all_ones, zeroed_buffer, buffer_of_ones };

// What is passed: by `kinds`, in the order of KIND.
struct kind {
  bool has_objects;  // handles are of real objects, else null
  pointers pointed;
  uint64_t count;  // of elements
};
constexpr kind kinds[] = {
    {false, pointers::null, 0},
    {true, pointers::null, 1},
    {true, pointers::one, 1},
    {true, pointers::all_ones, 1},
    {true, pointers::zeroed_buffer, UINT32_MAX},
    {true, pointers::buffer_of_ones, 1},
    {false, pointers::zeroed_buffer, 1},
    {false, pointers::one, UINT32_MAX},
};

struct progress {
  size_t next = 0;
  uint64_t outcomes[max_functions] = {};
};
constexpr uint64_t by_signal = uint64_t{1} << 63, absent = uint64_t{1} << 62;

// Older loaders lack it, so that the program always goes to the driver or the recorder directly.
[[gnu::used]] const auto needs_newer_loader = &zeEventCounterBasedCreate;

#define MUST(call)                                          \
  if (const ze_result_t status = call; status != 0) {       \
    fprintf(stderr, "%s: 0x%x\n", #call, (unsigned)status); \
    _exit(3);                                               \
  }

// One object of each class, by the name of the handle's type. Lists are open and never executed, so
// that no command runs.
std::map<std::string_view, void*> make_objects() {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  uint32_t count = 1;
  MUST(zeInit(0));
  MUST(zeDriverGet(&count, &driver));
  MUST(zeDeviceGet(driver, &count, &device));
  const ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  MUST(zeContextCreate(driver, &context_desc, &context));
  const ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  ze_command_list_handle_t list = nullptr;
  MUST(zeCommandListCreate(context, device, &list_desc, &list));
  const ze_command_queue_desc_t queue_desc = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t queue = nullptr;
  MUST(zeCommandQueueCreate(context, device, &queue_desc, &queue));
  const ze_fence_desc_t fence_desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t fence = nullptr;
  MUST(zeFenceCreate(queue, &fence_desc, &fence));
  const ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                          ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 4};
  ze_event_pool_handle_t pool = nullptr;
  MUST(zeEventPoolCreate(context, &pool_desc, 0, nullptr, &pool));
  const ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  ze_event_handle_t event = nullptr;
  MUST(zeEventCreate(pool, &event_desc, &event));
  return {{"ze_driver_handle_t", driver},       {"ze_device_handle_t", device},
          {"ze_context_handle_t", context},     {"ze_command_list_handle_t", list},
          {"ze_command_queue_handle_t", queue}, {"ze_fence_handle_t", fence},
          {"ze_event_pool_handle_t", pool},     {"ze_event_handle_t", event}};
}

std::byte buffer[buffer_bytes];

uint64_t pointer_of(pointers which) {
  switch (which) {
    case pointers::null:
      return 0;
    case pointers::one:
      return 1;
    case pointers::all_ones:
      return UINT64_MAX;
    case pointers::zeroed_buffer:
      std::memset(buffer, 0, sizeof(buffer));
      return reinterpret_cast<uint64_t>(buffer);
    case pointers::buffer_of_ones:
      std::memset(buffer, 0xff, sizeof(buffer));
      return reinterpret_cast<uint64_t>(buffer);
  }
  return 0;
}

bool is_length(const api::function& f, size_t index) {
  return std::any_of(f.parameters.begin(), f.parameters.end(), [&](const api::variable& each) {
    return each.pointee.kind == api::extent_kind::elements &&
           each.pointee.source == api::length_source::sibling && each.pointee.index == index;
  });
}

// Waits for what never comes, has the program's functions called, or takes what is no integer.
bool is_left_out(const api::model& m, const api::function& f) {
  if (f.name == "zeDeviceSynchronize" || f.parameters.size() > max_arguments) return true;
  return std::any_of(f.parameters.begin(), f.parameters.end(), [&](const api::variable& each) {
    const auto kind = m.types[each.type_index].kind;
    return kind == api::type_kind::record || kind == api::type_kind::floating ||
           kind == api::type_kind::function;
  });
}

// Some functions are found by their names alone.
void* find_function(const std::string& name, const std::map<std::string_view, void*>& objects) {
  void* found = dlsym(RTLD_DEFAULT, name.c_str());
  if (found == nullptr)
    zeDriverGetExtensionFunctionAddress(
        static_cast<ze_driver_handle_t>(objects.at("ze_driver_handle_t")), name.c_str(), &found);
  return found;
}

uint64_t make_call(const api::function& f, const kind& how,
                   const std::map<std::string_view, void*>& objects) {
  const auto& m = api::builtin_model();
  uint64_t a[max_arguments] = {};
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto& each = f.parameters[i];
    const auto& type = m.types[each.type_index];
    if (type.kind == api::type_kind::pointer) {
      a[i] = pointer_of(how.pointed);
    } else if (type.kind == api::type_kind::handle) {
      const auto object = objects.find(type.name);
      const bool is_kept = each.object_role != api::role::released;
      if (how.has_objects && is_kept && object != objects.end())
        a[i] = reinterpret_cast<uint64_t>(object->second);
    } else if (is_length(f, i)) {
      a[i] = how.count;
    } else if (each.name != "timeout") {
      a[i] = how.has_objects ? 1 : 0;
    }
  }
  void* const found = find_function(std::string(f.name), objects);
  if (found == nullptr) return absent;
  // Integers and pointers are passed alike; nobody minds those that are not asked for.
  using any_function =
      uint64_t (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                   uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
  const auto call = reinterpret_cast<any_function>(found);
  const uint64_t result = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                               a[11], a[12], a[13], a[14], a[15]);
  // An address is another one in every process.
  const bool is_status = m.types[f.result_type].name == "ze_result_t";
  return is_status ? result & UINT32_MAX : result != 0;
}

[[noreturn]] void work(progress& at, const kind& how, const std::set<size_t>& skipped) {
  const auto objects = make_objects();
  const auto& m = api::builtin_model();
  while (at.next < m.functions.size()) {
    const size_t index = at.next++;
    const auto& f = m.functions[index];
    if (skipped.contains(index) || is_left_out(m, f)) continue;
    alarm(hang_seconds);
    at.outcomes[index] = make_call(f, how, objects);
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t which = argc > 1 ? strtoul(argv[1], nullptr, 10) : std::size(kinds);
  if (which >= std::size(kinds)) return 2;
  std::set<size_t> skipped;
  for (int i = 2; i < argc; ++i) skipped.insert(strtoul(argv[i], nullptr, 10));
  auto* at = static_cast<progress*>(
      mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto& functions = api::builtin_model().functions;
  if (at == MAP_FAILED || functions.size() > max_functions) return 3;
  while (at->next < functions.size()) {
    const size_t began = at->next;
    const pid_t worker = fork();
    if (worker == 0) work(*at, kinds[which], skipped);
    int status = 0;
    if (waitpid(worker, &status, 0) != worker) return 3;
    if (WIFSIGNALED(status) && at->next > began)
      at->outcomes[at->next - 1] = by_signal | static_cast<uint64_t>(WTERMSIG(status));
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return 3;
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    const uint64_t outcome = at->outcomes[i];
    const char* how = (outcome & by_signal) != 0 ? "signal " : outcome == absent ? "absent " : "";
    printf("%zu %s %s%llx\n", i, std::string(functions[i].name).c_str(), how,
           static_cast<unsigned long long>(outcome & UINT32_MAX));
  }
  return 0;
}
