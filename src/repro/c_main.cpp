#include "repro/c_main.hpp"

#include <fmt/format.h>

#include "repro/c_render.hpp"
#include "repro/escape.hpp"

namespace zevent::repro {
namespace {

double threshold_us(const model::symptom& symptom) {
  const auto* slow = std::get_if<model::slow_call>(&symptom);
  return slow == nullptr ? 0 : static_cast<double>(slow->longer_than_ns) / 1e3;
}

const model::call_with_result* result_symptom(const model::symptom& symptom) {
  return std::get_if<model::call_with_result>(&symptom);
}

std::string c_result(const model::call_with_result& wanted) {
  return wanted.result.starts_with("0x") ? "((ze_result_t)" + wanted.result + ")"
                                         : "ZE_RESULT_" + wanted.result;
}

constexpr std::string_view signal_handler = R"(
/* The last word of a program that hangs or crashes. A call that hangs and did not return in the
 * recording either is the last there is to see: what was seen before it decides. */
static void on_signal(int number) {
  char text[512];
  int status = 125;
  if (number == SIGALRM && calls_under_way > 0) {
    status = SYMPTOM_IS_HANG || symptom_is_shown() ? 1 : LEFT_IN_CALL;
    snprintf(text, 256, "repro: call %ld did not return in %u s\n", call_under_way, hang_seconds);
  } else if (number == SIGALRM) {
    status = SYMPTOM_IS_HANG ? 1 : 125;
    if (poll_under_way != NULL)
      snprintf(text, 256, "repro: %.160s is still NOT_READY after %u s\n", poll_under_way,
               run_seconds);
    else
      snprintf(text, 256, "repro: the calls were not over in %u s\n", run_seconds);
  } else {
    status = SYMPTOM_IS_CRASH(number) ? 1 : 125;
    snprintf(text, 256, "repro: ended by signal %d\n", number);
  }
  if (status <= 1 && !SYMPTOM_IS_NONE)
    snprintf(text + strlen(text), 256, "repro: symptom %s: %s\n", SYMPTOM,
             status == 1 ? "shown" : "not shown");
  if (write(2, text, strlen(text)) < 0) _exit(125);
  _exit(status);
}

/* Crashes are watched for only where one is the symptom: a driver's compiler may have handlers of
 * its own, which it installs where the program has none. */
static void watch_for_signals(void) {
  static const int signals[] = {SIGALRM, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  struct sigaction action;
  size_t i;
  memset(&action, 0, sizeof(action));
  action.sa_handler = on_signal;
  for (i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i)
    if (signals[i] == SIGALRM || SYMPTOM_IS_CRASH(signals[i])) sigaction(signals[i], &action, NULL);
}
)";

constexpr std::string_view time_printer = R"(
static void print_time(double us) {
  if (us < 1e3)
    printf("%.1f us", us);
  else if (us < 1e6)
    printf("%.1f ms", us / 1e3);
  else
    printf("%.2f s", us / 1e6);
}
)";

constexpr std::string_view verdict_code = R"(
/* Time in which the thread was ready to run and had no processor is not the driver's. */
static int call_shows_symptom(const struct timed_call* call) {
  if (!call->made) return 0;
  if (SYMPTOM_IS_RESULT) return call->result == SYMPTOM_RESULT;
  return call->us - call->waiting_us > SYMPTOM_US;
}

/* The calls that showed it in the recording decide, or any other where there are none. */
static int symptom_is_shown(void) {
  size_t i;
  if (memory_differences != 0) return 1;
  if (TIMED_CALLS == 0) return others_shown != 0;
  for (i = 0; timed_calls[i].name != NULL; ++i)
    if (call_shows_symptom(&timed_calls[i])) return 1;
  return 0;
}

static void print_calls(void) {
  size_t i;
  for (i = 0; timed_calls[i].name != NULL; ++i) {
    if (!timed_calls[i].made) continue;
    printf("%s (call %ld): recorded ", timed_calls[i].name, timed_calls[i].number);
    print_time(timed_calls[i].recorded_us);
    printf(", now ");
    print_time(timed_calls[i].us);
    if (timed_calls[i].waiting_us > 0) {
      printf(", ");
      print_time(timed_calls[i].waiting_us);
      printf(" of it without a processor");
}
if (SYMPTOM_IS_RESULT) printf(", result 0x%x", (unsigned)timed_calls[i].result);
printf("%s\n", call_shows_symptom(&timed_calls[i]) ? ": shows the symptom" : "");
}
}
)";

constexpr std::string_view repeat_code = R"(
static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static void print_times(const struct timed_call* call, double* times, unsigned count) {
  printf("%s (call %ld): recorded ", call->name, call->number);
  print_time(call->recorded_us);
  if (count == 0) {
    printf(", never made\n");
    return;
  }
  qsort(times, count, sizeof(double), by_size);
  printf(", min ");
  print_time(times[0]);
  printf(", median ");
  print_time(times[count / 2]);
  printf(", max ");
  print_time(times[count - 1]);
  printf("\n");
}

/* Each run is a process of its own, which tells its times through a pipe. */
static int run_often(unsigned runs) {
  static struct timed_call told[TIMED_CALLS + 1];
  static unsigned counts[TIMED_CALLS + 1]; /* of the runs that made the call */
  unsigned shown = 0, failed = 0, run;
  size_t i;
  double* times = calloc((size_t)runs * TIMED_CALLS + 1, sizeof(double));
  if (times == NULL) could_not_run("--repeat", "not enough memory");
  for (run = 0; run < runs; ++run) {
    int ends[2], status = 0;
    pid_t child;
    if (pipe(ends) != 0) could_not_run("--repeat", "no pipe");
    fflush(stdout);
    child = fork();
    if (child < 0) could_not_run("--repeat", "no process");
    if (child == 0) {
      close(ends[0]);
      alarm(run_seconds);
      run_calls();
      if (write(ends[1], timed_calls, sizeof(timed_calls)) != (ssize_t)sizeof(timed_calls))
        _exit(125);
      _exit(symptom_is_shown());
    }
    close(ends[1]);
    if (read(ends[0], told, sizeof(told)) == (ssize_t)sizeof(told))
      for (i = 0; timed_calls[i].name != NULL; ++i)
        if (told[i].made) times[i * runs + counts[i]++] = told[i].us;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
      shown += (unsigned)WEXITSTATUS(status);
    else
      ++failed;
  }
  for (i = 0; timed_calls[i].name != NULL; ++i)
    print_times(&timed_calls[i], times + i * runs, counts[i]);
  if (SYMPTOM_IS_NONE)
    printf("all calls were made in %u of %u runs\n", runs - failed, runs);
  else
    printf("symptom %s: shown in %u of %u runs\n", SYMPTOM, shown, runs);
  if (failed != 0) printf("%u runs could not be run\n", failed);
  free(times);
  return shown != 0 ? 1 : failed != 0 ? 125 : 0;
}

int main(int argc, char** argv) {
  unsigned runs = 1;
  char* slash = strrchr(argv[0], '/');
  int i, shown;
  if (slash != NULL && (size_t)(slash - argv[0]) < sizeof(folder)) {
    memcpy(folder, argv[0], (size_t)(slash - argv[0]));
    folder[slash - argv[0]] = 0;
  }
  for (i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) {
      runs = (unsigned)atoi(argv[++i]);
    } else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) {
      hang_seconds = run_seconds = (unsigned)atoi(argv[++i]);
    } else {
      printf("usage: %s [--repeat N] [--timeout SECONDS]\n"
             "exit status: 0 without the symptom, 1 with it, 125 when it could not be run\n",
             argv[0]);
      return strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
  }
  watch_for_signals();
  if (runs > 1) return run_often(runs);
  alarm(run_seconds);
  run_calls();
  shown = symptom_is_shown();
  print_calls();
  if (SYMPTOM_IS_FINDING)
    printf("all calls were made; whether they show %s: zevent check -- %s\n", SYMPTOM, argv[0]);
  else if (SYMPTOM_IS_NONE)
    printf("all calls were made\n");
  else
    printf("symptom %s: %s\n", SYMPTOM, shown ? "shown" : "not shown");
  return shown;
}
)";

std::string function_pointer(const api::model& model, const api::function& f) {
  std::string parameters;
  for (const auto& each : f.parameters) {
    if (!parameters.empty()) parameters += ", ";
    parameters += model.types[each.type_index].name;
  }
  const bool in_header = f.api != api::api_name::zex;
  return fmt::format("static {} (ZE_APICALL* {}{})({});", model.types[f.result_type].name, f.name,
                     in_header ? "_by_name" : "", parameters.empty() ? "void" : parameters);
}

// Fields whose types no header has are written as what they are made of.
std::string field_type(const api::model& model, const api::type& t) {
  if (t.kind == api::type_kind::enumeration || t.kind == api::type_kind::flags)
    return t.name.starts_with("zex_") ? "uint32_t" : std::string(t.name);
  if (t.kind == api::type_kind::pointer && model.types[t.index].kind == api::type_kind::nothing)
    return "const void*";
  return std::string(t.name);
}

}  // namespace

symptom_code symptom_variables(const model::symptom& symptom,
                               const std::vector<symptom_call>& calls, const time_limits& limits) {
  symptom_code out;
  const auto* by_result = result_symptom(symptom);
  const auto* crash = std::get_if<model::crash>(&symptom);
  out.macros = fmt::format(
      "#define SYMPTOM {}\n"
      "#define SYMPTOM_IS_NONE {}\n"
      "#define SYMPTOM_IS_FINDING {}\n"
      "#define SYMPTOM_US {}\n"
      "#define SYMPTOM_IS_RESULT {}\n"
      "#define SYMPTOM_RESULT {}\n"
      "#define SYMPTOM_IS_HANG {}\n"
      "#define SYMPTOM_IS_CRASH(number) {}\n"
      "#define TIMED_CALLS {}\n"
      "\n"
      "struct timed_call {{\n"
      "  const char* name;\n"
      "  long number;\n"
      "  double recorded_us, us;\n"
      "  double waiting_us; /* of us: for a processor */\n"
      "  ze_result_t result;\n"
      "  int made;\n"
      "}};\n",
      c_string(model::to_text(symptom)),
      std::holds_alternative<model::no_symptom>(symptom) ||
              std::holds_alternative<model::rule_finding>(symptom)
          ? 1
          : 0,
      std::holds_alternative<model::rule_finding>(symptom) ? 1 : 0,
      std::holds_alternative<model::slow_call>(symptom)
          ? fmt::format("{:.3f}", threshold_us(symptom))
          : "1e300",
      by_result != nullptr ? 1 : 0,
      by_result != nullptr ? c_result(*by_result) : "ZE_RESULT_SUCCESS",
      std::holds_alternative<model::hang>(symptom) ? 1 : 0,
      crash == nullptr ? std::string("((number) < 0)")
      : crash->signal  ? fmt::format("((number) == {})", *crash->signal)
                       : std::string("((number) > 0)"),
      calls.size());
  out.variables = "static char folder[4096] = \".\";\n";
  out.variables += fmt::format(
      "static unsigned hang_seconds = {}; /* for a call that did not return in the recording */\n"
      "static unsigned run_seconds = {}; /* for all calls */\n",
      limits.hang_s, limits.run_s);
  out.variables +=
      "static volatile long call_under_way = -1;\n"
      "static int calls_under_way; /* of those that did not return in the recording */\n"
      "static const char* volatile poll_under_way; /* the last one that was not done */\n"
      "static unsigned long others_shown;\n"
      "static unsigned long memory_differences;\n"
      "static struct timed_call timed_calls[TIMED_CALLS + 1] = {\n";
  for (const auto& each : calls)
    out.variables +=
        fmt::format("    {{\"{}\", {}, {:.3f}, 0, 0, ZE_RESULT_SUCCESS, 0}},\n", each.function,
                    each.number, static_cast<double>(each.duration_ns) / 1e3);
  out.variables += "    {NULL, 0, 0, 0, 0, ZE_RESULT_SUCCESS, 0},\n};\n";
  return out;
}

symptom_code shared_memory(size_t processes, const std::vector<std::string>& handles,
                           size_t finished_calls) {
  symptom_code out;
  out.macros = fmt::format(
      "\n#define PROCESSES {}\n"
      "\n/* What the processes share: whose turn it is, handles, and what was seen of the symptom. "
      "*/\n"
      "struct shared_memory {{\n"
      "  pthread_mutex_t lock;\n"
      "  pthread_cond_t changed;\n"
      "  unsigned long turn;\n"
      "  int done; /* processes that have made all their calls */\n"
      "  pid_t process_ids[PROCESSES];\n"
      "  struct timed_call timed_calls[TIMED_CALLS + 1];\n"
      "  unsigned long others_shown, memory_differences;\n",
      processes);
  if (finished_calls != 0)
    out.macros += fmt::format("  unsigned char finished_calls[{}];\n", finished_calls);
  for (const auto& each : handles) out.macros += fmt::format("  {}\n", each);
  out.macros += "};\n";
  out.variables = "static struct shared_memory* shared;\n";
  return out;
}

namespace {

// The calls of one process, as the body of a function.
std::string process_body(const process_code& process, const std::vector<std::string>& symbols) {
  const auto& threads = process.threads;
  std::string out;
  if (!threads.empty()) out += fmt::format("  pthread_t threads[{}];\n", threads.size());
  for (const auto& each : symbols) out += fmt::format("  find_symbol(&{}, \"{}\");\n", each, each);
  for (size_t i = 0; i < threads.size(); ++i)
    out += fmt::format(
        "  if (pthread_create(&threads[{}], NULL, {}, NULL) != 0)\n"
        "    could_not_run(\"pthread_create\", \"failed\");\n",
        i, threads[i]);
  for (const auto& each : process.steps) out += fmt::format("  {}();\n", each);
  for (size_t i = 0; i < threads.size(); ++i)
    out += fmt::format("  pthread_join(threads[{}], NULL);\n", i);
  return out;
}

constexpr std::string_view process_code_text = R"(
static void share_memory(void) {
  pthread_mutexattr_t lock;
  pthread_condattr_t changed;
  shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) could_not_run("mmap", "failed");
  pthread_mutexattr_init(&lock);
  pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->lock, &lock);
  pthread_condattr_init(&changed);
  pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->changed, &changed);
}

/* Tells what was seen of the symptom, and stays as long as others may need what it shares. */
static void end_process(void) {
  size_t i;
  pthread_mutex_lock(&shared->lock);
  for (i = 0; timed_calls[i].name != NULL; ++i)
    if (timed_calls[i].made) shared->timed_calls[i] = timed_calls[i];
  shared->others_shown += others_shown;
  shared->memory_differences += memory_differences;
  ++shared->done;
  pthread_cond_broadcast(&shared->changed);
  while (shared->done < PROCESSES) pthread_cond_wait(&shared->changed, &shared->lock);
  pthread_mutex_unlock(&shared->lock);
  _exit(0);
}

static void stop_processes(void) {
  int i;
  for (i = 0; i < PROCESSES; ++i)
    if (shared->process_ids[i] > 0) kill(shared->process_ids[i], SIGKILL);
}

/* When one process fails, so do all. */
static void wait_for_processes(void) {
  int status, ended;
  for (ended = 0; ended < PROCESSES; ++ended) {
    if (waitpid(-1, &status, 0) < 0 || status == 0) continue;
    stop_processes();
    if (WIFEXITED(status) && WEXITSTATUS(status) == LEFT_IN_CALL) return;
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
  }
}

/* Level Zero is not touched before the processes part. */
static void run_calls(void) {
  static void (*const processes[PROCESSES])(void) = {@PROCESSES@};
  size_t i;
  share_memory();
  for (i = 0; i < PROCESSES; ++i) {
    const pid_t child = fork();
    if (child < 0) {
      stop_processes();
      could_not_run("fork", "failed");
    }
    shared->process_ids[i] = child != 0 ? child : getpid();
    if (child != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
@MAY_FETCH@    processes[i]();
    end_process();
  }
  wait_for_processes();
  for (i = 0; timed_calls[i].name != NULL; ++i)
    if (shared->timed_calls[i].made) timed_calls[i] = shared->timed_calls[i];
  others_shown = shared->others_shown;
  memory_differences = shared->memory_differences;
}
)";

void put_in(std::string& text, std::string_view mark, std::string_view by) {
  text.replace(text.find(mark), mark.size(), by);
}

std::string code_of_processes(const std::vector<process_code>& processes,
                              const std::vector<std::string>& symbols, bool may_fetch) {
  std::string out, names;
  for (size_t i = 0; i < processes.size(); ++i) {
    out += fmt::format("\n/* {} */\nstatic void process_{}(void) {{\n{}}}\n", processes[i].what,
                       i + 1, process_body(processes[i], symbols));
    names += fmt::format("{}process_{}", i == 0 ? "" : ", ", i + 1);
  }
  std::string text(process_code_text);
  put_in(text, "@PROCESSES@", names);
  put_in(text, "@MAY_FETCH@",
         may_fetch ? "    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* see "
                     "fetch_descriptor */\n"
                   : "");
  return out + text;
}

}  // namespace

std::string main_code(const std::vector<process_code>& processes,
                      const std::vector<std::string>& symbols, bool fetches_descriptors) {
  std::string out = fmt::format(
      "\n/* How a process ends that is left in a call, as it was in the recording, without the "
      "symptom. */\n"
      "#define LEFT_IN_CALL {}\n",
      processes.size() > 1 ? 124 : 0);
  out += processes.size() > 1 ? code_of_processes(processes, symbols, fetches_descriptors)
                              : "\nstatic void run_calls(void) {\n" +
                                    process_body(processes.front(), symbols) + "}\n";
  out += time_printer;
  out += verdict_code;
  out += signal_handler;
  out += repeat_code;
  return out;
}

std::string extension_types(const api::model& model, const c_needs& needs) {
  std::string out;
  for (const uint16_t index : needs.records) {
    const auto& r = model.records[index];
    out += fmt::format("\ntypedef {} _{} {{\n", r.is_union ? "union" : "struct", r.name);
    for (const auto& field : r.fields)
      out +=
          fmt::format("  {} {}{};\n", field_type(model, model.types[field.type_index]), field.name,
                      field.array_length != 0 ? fmt::format("[{}]", field.array_length) : "");
    out += fmt::format("}} {};\n", r.name);
  }
  return out;
}

std::string extension_pointers(const api::model& model, const c_needs& needs) {
  std::string out;
  for (const uint16_t index : needs.functions)
    out += wrap_line(function_pointer(model, model.functions[index]));
  return out;
}

}  // namespace zevent::repro
