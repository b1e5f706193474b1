/* Nothing but a file name. */
int named_as_intel_driver(void) {
  return 0;
}
