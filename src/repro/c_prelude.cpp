#include "repro/c_prelude.hpp"

#include <algorithm>

#include "base/invariant.hpp"

namespace zevent::repro {
namespace {

const std::vector<c_helper>& all_helpers() {
  static const std::vector<c_helper> helpers = {
      {"could_not_run", {}, "", R"(
/* The recording cannot be followed any further: neither the symptom nor its absence was shown. */
static void could_not_run(const char* what, const char* detail) {
  fprintf(stderr, "repro: %s: %s\n", what, detail);
  exit(125);
}
)"},
      {"check", {"could_not_run"}, "", R"(
/* Looks at the result of a call. A failure that the recording does not have is the end; whether a
 * poll finds something done is a matter of time. */
static void check(ze_result_t result, ze_result_t recorded, const char* call) {
  char text[64];
  if (result == recorded) return;
  if (result <= ZE_RESULT_NOT_READY && recorded <= ZE_RESULT_NOT_READY) return;
  snprintf(text, sizeof(text), "returned 0x%x, recorded was 0x%x", (unsigned)result,
           (unsigned)recorded);
  if (recorded == ZE_RESULT_SUCCESS) could_not_run(call, text);
  fprintf(stderr, "repro: %s: %s\n", call, text);
}
)"},
      {"CHECK",
       {"check"},
       R"(
/* A call that succeeded. */
#define CHECK(call) check((call), ZE_RESULT_SUCCESS, #call)
)",
       ""},
      {"EXPECT",
       {"check"},
       R"(
/* A call that had another result. */
#define EXPECT(recorded, call) check((call), (recorded), #call)
)",
       ""},
      {"keep_polling", {}, "", R"(
/* What is asked for needs a processor too, to get done. */
static void keep_polling(const char* call) {
  poll_under_way = call;
  sched_yield();
}
)"},
      {"POLL",
       {"check", "keep_polling"},
       R"(
/* Asks until the answer is what the program went on with. */
#define POLL(call)                                                        \
  do {                                                                    \
    ze_result_t answer;                                                   \
    while ((answer = (call)) == ZE_RESULT_NOT_READY) keep_polling(#call); \
    poll_under_way = NULL;                                                \
    check(answer, ZE_RESULT_SUCCESS, #call);                              \
  } while (0)
)",
       ""},
      {"now_us", {}, "", R"(
static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}
)"},
      {"waited_us", {}, "", R"(
/* How long this thread has been ready to run and had no processor, in all; 0 if Linux does not
 * tell. */
static double waited_us(void) {
  char text[128];
  unsigned long long running_ns = 0, waiting_ns = 0;
  const int file = open("/proc/thread-self/schedstat", O_RDONLY);
  const ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  if (file >= 0) close(file);
  text[length < 0 ? 0 : length] = 0;
  return sscanf(text, "%llu %llu", &running_ns, &waiting_ns) == 2 ? (double)waiting_ns / 1e3 : 0;
}
)"},
      {"timed_result", {"now_us", "waited_us", "check", "could_not_run"}, "", R"(
/* Notes the time and the result of a call that showed the symptom. */
static void timed_result(unsigned which, ze_result_t result, ze_result_t recorded, double us,
                         double waited_before_us, const char* call) {
  timed_calls[which].us = us;
  timed_calls[which].waiting_us = waited_us() - waited_before_us;
  if (timed_calls[which].waiting_us > us) timed_calls[which].waiting_us = us;
  timed_calls[which].result = result;
  timed_calls[which].made = 1;
  if (result != recorded && !SYMPTOM_IS_RESULT) check(result, recorded, call);
}
)"},
      {"TIMED",
       {"timed_result"},
       R"(
/* A call that showed the symptom in the recording. */
#define TIMED(which, recorded, call)                                        \
  do {                                                                      \
    double waited = waited_us();                                            \
    double start = now_us();                                                \
    ze_result_t result = (call);                                            \
    timed_result(which, result, recorded, now_us() - start, waited, #call); \
  } while (0)
)",
       ""},
      {"POLL_TIMED",
       {"timed_result", "POLL"},
       R"(
/* The first ask showed the symptom in the recording. */
#define POLL_TIMED(which, recorded, call)                                  \
  do {                                                                     \
    double waited = waited_us();                                           \
    double start = now_us();                                               \
    ze_result_t first = (call);                                            \
    timed_result(which, first, recorded, now_us() - start, waited, #call); \
    if (first == ZE_RESULT_NOT_READY) POLL(call);                          \
  } while (0)
)",
       ""},
      {"watched_result", {"now_us", "check"}, "", R"(
/* A call that did not show the symptom in the recording, and might now. */
static void watched_result(ze_result_t result, ze_result_t recorded, double us, const char* call) {
  if (SYMPTOM_IS_RESULT ? result == SYMPTOM_RESULT : us > SYMPTOM_US) {
    ++others_shown;
    if (others_shown <= 5)
      fprintf(stderr, "repro: %s: result 0x%x after %.1f us: shows the symptom too\n", call,
              (unsigned)result, us);
  } else {
    check(result, recorded, call);
  }
}
)"},
      {"WATCHED",
       {"watched_result"},
       R"(
/* A call of the kind that showed the symptom. */
#define WATCHED(recorded, call)                                  \
  do {                                                           \
    double start = now_us();                                     \
    ze_result_t result = (call);                                 \
    watched_result(result, recorded, now_us() - start, #call);   \
  } while (0)
)",
       ""},
      {"POLL_WATCHED",
       {"watched_result", "POLL"},
       R"(
/* The first ask is of the kind that showed the symptom. */
#define POLL_WATCHED(recorded, call)                             \
  do {                                                           \
    double start = now_us();                                     \
    ze_result_t first = (call);                                  \
    watched_result(first, recorded, now_us() - start, #call);    \
    if (first == ZE_RESULT_NOT_READY) POLL(call);                \
  } while (0)
)",
       ""},
      {"HANGS",
       {},
       R"(
/* A call that did not return in the recording. */
#define HANGS(number, call)                                             \
  do {                                                                  \
    const long before = call_under_way;                                 \
    call_under_way = number;                                            \
    __atomic_add_fetch(&calls_under_way, 1, __ATOMIC_SEQ_CST);          \
    alarm(hang_seconds);                                                \
    (void)(call);                                                       \
    call_under_way = before;                                            \
    if (__atomic_sub_fetch(&calls_under_way, 1, __ATOMIC_SEQ_CST) == 0) \
      alarm(run_seconds);                                               \
  } while (0)
)",
       ""},
      {"at", {}, "", R"(
static void* at(void* memory, size_t offset) {
  return (char*)memory + offset;
}
)"},
      {"load", {"could_not_run"}, "", R"(
/* The content of a file beside this program. It stays in memory. */
static void* load(const char* name, size_t bytes) {
  static struct loaded {
    const char* name;
    void* content;
    struct loaded* next;
  }* files;
  struct loaded* known;
  char path[4096];
  FILE* file;
  for (known = files; known != NULL; known = known->next)
    if (strcmp(known->name, name) == 0) return known->content;
  known = malloc(sizeof(*known));
  if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
    could_not_run(name, "lies too deep");
  file = fopen(path, "rb");
  if (known == NULL || file == NULL) could_not_run(path, "cannot be opened");
  known->name = name;
  known->content = malloc(bytes);
  known->next = files;
  files = known;
  if (known->content == NULL || fread(known->content, 1, bytes, file) != bytes)
    could_not_run(path, "cannot be read");
  fclose(file);
  return known->content;
}
)"},
      {"store_pointer", {}, "", R"(
static void store_pointer(void* place, void* pointer) {
  memcpy(place, &pointer, sizeof(pointer));
}
)"},
      {"store_counter", {}, "", R"(
/* While a command waits for it. */
static void store_counter(void* place, uint64_t value) {
  __atomic_store_n((uint64_t*)place, value, __ATOMIC_RELEASE);
}
)"},
      {"progress32", {}, "", R"(
/* first, first + step, first + 2 step, ... */
static void progress32(void* memory, uint32_t first, uint32_t step, size_t count) {
  uint32_t* words = memory;
  size_t i;
  for (i = 0; i < count; ++i) words[i] = first + (uint32_t)i * step;
}
)"},
      {"progress64", {}, "", R"(
/* first, first + step, first + 2 step, ... */
static void progress64(void* memory, uint64_t first, uint64_t step, size_t count) {
  uint64_t* words = memory;
  size_t i;
  for (i = 0; i < count; ++i) words[i] = first + i * step;
}
)"},
      {"compare", {"load"}, "", R"(
/* Commands should have written what they wrote in the recording. */
static void compare(const void* memory, const void* recorded, size_t bytes) {
  const unsigned char *a = memory, *b = recorded;
  size_t i = 0;
  while (i < bytes && a[i] == b[i]) ++i;
  if (i == bytes) return;
  ++memory_differences;
  if (memory_differences <= 5)
    fprintf(stderr, "repro: byte %zu of %zu is 0x%02x, recorded was 0x%02x\n", i, bytes, a[i],
            b[i]);
}
)"},
      {"called_back", {}, "", R"(
/* Stands for whatever the program wanted to have called back. */
static void called_back(void* data) {
  (void)data;
}
)"},
      {"turns",
       {},
       R"(
/* Threads take turns as they did in the recording. */
)",
       R"(
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static unsigned long turn;

static void take_turn(unsigned long number) {
  pthread_mutex_lock(&turn_lock);
  while (turn < number) pthread_cond_wait(&turn_changed, &turn_lock);
  pthread_mutex_unlock(&turn_lock);
}

static void pass_turn(unsigned long number) {
  pthread_mutex_lock(&turn_lock);
  turn = number;
  pthread_cond_broadcast(&turn_changed);
  pthread_mutex_unlock(&turn_lock);
}
)"},
      {"finished", {"turns"}, "", R"(
/* A call that another thread waits for. */
static void finished(unsigned long call) {
  pthread_mutex_lock(&turn_lock);
  finished_calls[call] = 1;
  pthread_cond_broadcast(&turn_changed);
  pthread_mutex_unlock(&turn_lock);
}
)"},
      {"wait_for_call", {"turns"}, "", R"(
static void wait_for_call(unsigned long call) {
  pthread_mutex_lock(&turn_lock);
  while (!finished_calls[call]) pthread_cond_wait(&turn_changed, &turn_lock);
  pthread_mutex_unlock(&turn_lock);
}
)"},
      {"process_turns", {}, "", R"(
/* Processes and their threads take turns as they did in the recording. */
static void take_turn(unsigned long number) {
  pthread_mutex_lock(&shared->lock);
  while (shared->turn < number) pthread_cond_wait(&shared->changed, &shared->lock);
  pthread_mutex_unlock(&shared->lock);
}

static void pass_turn(unsigned long number) {
  pthread_mutex_lock(&shared->lock);
  shared->turn = number;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->lock);
}
)"},
      {"process_finished", {"process_turns"}, "", R"(
/* A call that somebody else waits for. */
static void finished(unsigned long call) {
  pthread_mutex_lock(&shared->lock);
  shared->finished_calls[call] = 1;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->lock);
}
)"},
      {"process_wait_for_call", {"process_turns"}, "", R"(
static void wait_for_call(unsigned long call) {
  pthread_mutex_lock(&shared->lock);
  while (!shared->finished_calls[call]) pthread_cond_wait(&shared->changed, &shared->lock);
  pthread_mutex_unlock(&shared->lock);
}
)"},
      {"fetch_descriptor", {}, "", R"(
/* The first four bytes of a handle are a file descriptor of the process that made it, which the
 * program had sent along. Where the kernel does not let us fetch it, the driver may find a way. */
static void fetch_descriptor(void* handle, pid_t owner) {
  int descriptor, process = (int)syscall(SYS_pidfd_open, owner, 0);
  memcpy(&descriptor, handle, sizeof(descriptor));
  descriptor = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
  if (descriptor >= 0) memcpy(handle, &descriptor, sizeof(descriptor));
  if (process >= 0) close(process);
}
)"},
      {"find_symbol", {"could_not_run"}, "", R"(
/* A function of the driver that no header has. */
static void find_symbol(void* place, const char* name) {
  void* address = dlsym(RTLD_DEFAULT, name);
  if (address == NULL) could_not_run(name, "there is no such function");
  memcpy(place, &address, sizeof(address));
}
)"},
  };
  return helpers;
}

const c_helper& helper_named(std::string_view name) {
  const auto& all = all_helpers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  ZEVENT_INVARIANT(found != all.end());
  return *found;
}

void add(std::string_view name, std::vector<const c_helper*>& out) {
  const c_helper& helper = helper_named(name);
  if (std::find(out.begin(), out.end(), &helper) != out.end()) return;
  for (const auto each : helper.needs) add(each, out);
  out.push_back(&helper);
}

constexpr std::string_view static_word = "static ";

}  // namespace

std::vector<const c_helper*> c_helpers(const std::set<std::string>& names) {
  std::vector<const c_helper*> out;
  for (const auto& each : names)
    if (each != "scratch") add(each, out);
  return out;
}

// A declaration begins at "static" and ends at the first of: an opening brace, which is that of a
// function's body, a semicolon, an equals sign. Parentheses say nothing of what is declared: a
// pointer to a function has them, and an attribute.
shared_code share(std::string_view code) {
  shared_code out;
  while (!code.empty()) {
    const size_t end = std::min(code.find('\n'), code.size() - 1) + 1;
    std::string_view line = code.substr(0, end);
    if (line.starts_with(static_word)) {
      const std::string_view rest = code.substr(static_word.size());
      const size_t stop = rest.find_first_of("{;=");
      std::string declaration(rest.substr(0, stop));
      while (!declaration.empty() && declaration.back() == ' ') declaration.pop_back();
      const bool is_function = stop != rest.npos && rest[stop] == '{';
      out.declarations += (is_function ? "" : "extern ") + declaration + ";\n";
      line.remove_prefix(static_word.size());
    }
    out.definitions += line;
    code.remove_prefix(end);
  }
  return out;
}

}  // namespace zevent::repro
