/* To be preloaded: /proc/thread-self/schedstat says each time that the thread has waited for a
 * processor for another 100 s. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int open(const char* path, int flags, ...) {
  static unsigned long long waited_ns;
  char text[64];
  int file;
  mode_t mode;
  va_list rest;
  if (strcmp(path, "/proc/thread-self/schedstat") != 0) {
    int (*next)(const char*, int, ...);
    *(void**)&next = dlsym(RTLD_NEXT, "open");
    va_start(rest, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return next(path, flags, mode);
  }
  waited_ns += 100000000000ull;
  snprintf(text, sizeof(text), "0 %llu 1\n", waited_ns);
  file = memfd_create("schedstat", 0);
  if (write(file, text, strlen(text)) < 0) return -1;
  lseek(file, 0, SEEK_SET);
  return file;
}
