// For programs that end as real ones do, without destroying their Level Zero objects: under the
// address sanitizer these would count as leaks of the driver, which made them.
extern "C" const char* __asan_default_options();
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=0";
}
